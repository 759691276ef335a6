//! A hostile peer that publishes texts about agents: texts that break the rules, texts about agents of others, and texts
//! of former incarnations. Nothing of them is shown.

use actix_bully::{
    protocol::{About, Incarnation, MemberKind, Presence},
    remote::{
        BridgeEvent, MayBe, Peer,
        internals::wire::{RosterContent, encode_ping},
    },
};
use bully_core::protocol::Member;

use super::{
    kit::{INCARNATION, Raw, Scene, frame, framed, id, node, patient, play, roster, until},
    members::may_be,
};

/// The bytes of a text in MessagePack, whatever its bytes are.
fn text(bytes: &[u8]) -> Vec<u8> {
    let long = u16::try_from(bytes.len()).unwrap();
    let head = match u8::try_from(long) {
        Ok(short @ ..32) => vec![0xa0 | short],
        Ok(len) => vec![0xd9, len],
        Err(_) => [&[0xda], &long.to_be_bytes()[..]].concat(),
    };
    [&head, bytes].concat()
}

/// What takes the place of a text, and why it ends the link.
fn breaches() -> Vec<(Vec<u8>, &'static str)> {
    const LONG: &str = "a text in the peer's packet is too long";
    const VALUE: &str = "a field of the peer's packet has a value that this release does not allow";
    const TYPE: &str = "a value in the peer's packet has another type than expected";
    let mut all = vec![
        (text(&[b'x'; 257]), LONG),
        (text(&[b'x'; 60_000]), LONG),
        (
            text(b"http://\xff"),
            "a text in the peer's packet is not UTF-8",
        ),
        (
            text(b"\xc0\x80"),
            "a text in the peer's packet is not UTF-8",
        ),
        (text(b""), VALUE),
        (vec![0x07], TYPE),
        (vec![0xc4, 1, b'x'], TYPE),
        (vec![0x91, 0xa1, b'x'], TYPE),
    ];
    let obeyed = [
        "\0",
        "\n",
        "\r",
        "\u{1b}[2J",
        "\u{7f}",
        "\u{85}",
        "\u{9b}1m",
        "\u{2028}",
        "\u{2029}",
        "\u{200e}",
        "\u{200f}",
        "\u{61c}",
        "\u{202a}",
        "\u{202e}",
        "\u{2066}",
        "\u{2069}",
    ];
    let hidden = obeyed.map(|it| (text(format!("http://a{it}b").as_bytes()), VALUE));
    all.extend(hidden);
    all
}

/// `x1` in that incarnation, with that text.
fn member(incarnation: u64, about: Option<&str>) -> Member {
    let incarnation = Incarnation(incarnation);
    Member {
        about: about.map(|text| About::new(text).unwrap()),
        ..Member::up(id("x1"), MemberKind::Observer, None, incarnation)
    }
}

fn saying(raw: &mut Raw, opens: Option<&str>, number: u32, member: Member) -> Vec<u8> {
    let content = RosterContent {
        members: vec![(number, member)],
        ..RosterContent::default()
    };
    roster(raw.next(), 0, opens, &content)
}

/// The roster of `x1`, with these bytes in the place of its text.
fn spoilt(raw: &mut Raw, opens: Option<&str>, says: &[u8]) -> Vec<u8> {
    let whole = saying(raw, opens, 0, member(INCARNATION.0, None));
    // Its last bytes are the text and the leader: both nil.
    let (kept, last) = whole.split_at(whole.len() - 2);
    assert_eq!(last, b"\xc0\xc0");
    frame(&[&kept[4..], says, b"\xc0"].concat())
}

/// What the victim shows of that agent: its incarnation and its text. `None` if it is not a member.
fn shown(scene: &Scene, name: &str) -> Option<(Option<Incarnation>, Option<String>)> {
    let members = scene.group().members();
    let member = members.get(&id(name))?;
    let about = member.about.as_ref().map(ToString::to_string);
    Some((member.incarnation, about))
}

/// All that was sent before was read: the link still answers.
async fn read_all(raw: &mut Raw) {
    let seq = raw.next();
    raw.say(&framed(|out| encode_ping(seq, 0xabcd, out))).await;
    while !raw.hear().await.unwrap().ends_with(b"\xcd\xab\xcd") {}
}

/// Why the victim closed links of `x` since this was asked last.
fn causes(scene: &mut Scene) -> Vec<(&'static str, String)> {
    let refused = |event| {
        let BridgeEvent::Refused {
            node: by,
            name,
            reason,
            ..
        } = event
        else {
            return None;
        };
        (by == Some(node("x"))).then_some((name, reason))
    };
    scene.told().into_iter().filter_map(refused).collect()
}

#[test]
fn a_text_that_breaks_the_rules_ends_the_link_and_is_not_shown() {
    play(async {
        let mut scene = Scene::set(&patient(), may_be(MayBe::Observer)).await;
        // An agent that was announced with a good text keeps that one; another agent is never announced.
        for is_known in [false, true] {
            for (at, (says, cause)) in breaches().into_iter().enumerate() {
                // An address of its own: a bridge reports only some refusals of each.
                let from = format!("127.0.{}.{}", 1 + u8::from(is_known), at + 1);
                let raw = Raw::try_dial_from(from.parse().unwrap(), scene.at())
                    .await
                    .unwrap();
                let mut raw = raw.greet("x").await;
                let before = scene.counts();
                if is_known {
                    let good = member(INCARNATION.0, Some("good"));
                    let opening = saying(&mut raw, Some("g"), 0, good);
                    raw.say(&opening).await;
                    until("it is shown", || {
                        shown(&scene, "x1") == Some((Some(INCARNATION), Some("good".into())))
                    })
                    .await;
                }
                let bad = spoilt(&mut raw, (!is_known).then_some("g"), &says);
                raw.say(&bad).await;
                assert_eq!(raw.ends().await, None, "{says:02x?}");
                scene.counted(&before, &[("malformed", 1)]).await;
                let why = format!(
                    "the peer sent malformed bytes: {cause}; look whether its address belongs to another program"
                );
                assert_eq!(causes(&mut scene), [("malformed", why)], "{says:02x?}");
                let known = is_known.then(|| (Some(INCARNATION), Some("good".to_owned())));
                assert_eq!(shown(&scene, "x1"), known, "{says:02x?}");
            }
        }
        scene.is_unhurt().await;
    });
}

/// Of its leader, of an honest follower, and of an agent that nobody has.
#[test]
fn a_text_about_an_agent_of_another_node_is_not_shown() {
    play(async {
        let mut scene = Scene::set(&patient(), vec![Peer::inbound("x")]).await;
        let known = ["a1", "b1"].map(|name| shown(&scene, name));
        assert!(known.iter().all(|it| matches!(it, Some((_, None)))));
        let mut raw = Raw::dial(scene.at()).await.greet("x").await;
        let before = scene.counts();
        for (number, (name, of)) in (0..).zip(["a1", "b1"].iter().zip(&known)) {
            // As of the incarnation that is known, and of a later one.
            let incarnation = of.clone().unwrap().0.unwrap().0;
            for incarnation in [incarnation, incarnation + 1] {
                let forged = Member {
                    id: id(name),
                    ..member(incarnation, Some("http://x"))
                };
                let opens = (raw.seq == 0).then_some("g");
                let bytes = saying(&mut raw, opens, number, forged);
                raw.say(&bytes).await;
            }
        }
        read_all(&mut raw).await;
        assert_eq!(["a1", "b1"].map(|name| shown(&scene, name)), known);
        assert_eq!(scene.since(&before), [], "the link stays");
        let taken = scene.told().into_iter().filter_map(|event| {
            let BridgeEvent::NameTaken {
                node: by, agent, ..
            } = event
            else {
                return None;
            };
            (by == node("x")).then_some(agent)
        });
        let mut taken: Vec<_> = taken.collect();
        taken.dedup();
        assert_eq!(taken, [id("a1"), id("b1")]);
        scene.is_unhurt().await;
    });
}

#[test]
fn a_text_about_an_agent_beyond_its_rights_ends_the_link() {
    play(async {
        let mut scene = Scene::set(&patient(), may_be(MayBe::Observer)).await;
        let mut raw = Raw::dial(scene.at()).await.greet("x").await;
        let before = scene.counts();
        let forged = Member {
            id: id("a2"),
            ..member(INCARNATION.0, Some("http://x"))
        };
        let bytes = saying(&mut raw, Some("g"), 0, forged);
        raw.say(&bytes).await;
        assert_eq!(raw.ends().await, None);
        scene.counted(&before, &[("from_not_allowed", 1)]).await;
        let causes = causes(&mut scene);
        assert!(
            matches!(&causes[..], [("from_not_allowed", _)]),
            "{causes:?}"
        );
        assert_eq!(shown(&scene, "a2"), None);
        scene.is_unhurt().await;
    });
}

#[test]
fn a_text_of_a_former_incarnation_is_not_shown() {
    play(async {
        let mut scene = Scene::set(&patient(), may_be(MayBe::Observer)).await;
        let mut raw = Raw::dial(scene.at()).await.greet("x").await;
        let before = scene.counts();
        let suspect = |incarnation| Member {
            presence: Presence::Suspect,
            ..member(incarnation, Some("former"))
        };
        // What is said in turn, and what is shown then.
        for (step, (said, incarnation, about)) in [
            (member(9, Some("now")), 9, Some("now")),
            (member(8, Some("former")), 9, Some("now")),
            (suspect(8), 9, Some("now")),
            (member(10, None), 10, None),
            (member(9, Some("now")), 10, None),
            (suspect(9), 10, None),
            (member(10, Some("next")), 10, Some("next")),
        ]
        .into_iter()
        .enumerate()
        {
            let opens = (step == 0).then_some("g");
            let bytes = saying(&mut raw, opens, 0, said);
            raw.say(&bytes).await;
            read_all(&mut raw).await;
            let due = (Some(Incarnation(incarnation)), about.map(str::to_owned));
            assert_eq!(shown(&scene, "x1"), Some(due), "step {step}");
        }
        assert_eq!(scene.since(&before), [], "a late report is no breach");
        scene.is_unhurt().await;
    });
}
