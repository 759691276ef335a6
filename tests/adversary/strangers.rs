//! Before a link is ready: other protocols, bad greetings, and strangers that claim to be another node.

use actix::clock::sleep;
use actix_bully::remote::{
    BridgeEvent, ClusterId, Farewell, LinkId, NodeIncarnation, Peer, Proof,
    internals::wire::{
        Hello, RosterContent, Targets, Versions, encode_goodbye, encode_ping, encode_proof,
    },
};

use super::kit::{
    MS, Raw, Scene, conditions, frame, framed, hello, message_frame, nack, node, patient, play,
    roster,
};

fn honest_hello(name: &str) -> Vec<u8> {
    framed(|out| hello(name).encode(out))
}

/// Says this on a connection of its own; that is all that is counted, and the connection ends.
async fn refused(scene: &mut Scene, bytes: &[u8], why: &str) -> Option<Farewell> {
    let before = scene.counts();
    let mut raw = Raw::dial(scene.at()).await;
    raw.say(bytes).await;
    let farewell = raw.ends().await;
    scene.counted(&before, &[(why, 1)]).await;
    farewell
}

fn cut(bytes: &[u8], off: usize) -> Vec<u8> {
    frame(&bytes[4..bytes.len() - off])
}

/// What is said, what it is, and under which name it is counted.
type Case = (&'static str, Vec<u8>, &'static str);

fn other_protocols() -> Vec<Case> {
    let mut noise = [0; 512];
    fastrand::Rng::with_seed(4).fill(&mut noise);
    noise[0] = 0xff; // or it might announce a frame that never comes
    vec![
        (
            "HTTP",
            b"GET / HTTP/1.1\r\nHost: a\r\n\r\n".to_vec(),
            "frame_too_large",
        ),
        (
            "TLS",
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".to_vec(),
            "tls",
        ),
        (
            "SSH",
            b"SSH-2.0-OpenSSH_9.2\r\n".to_vec(),
            "frame_too_large",
        ),
        ("noise", noise.to_vec(), "frame_too_large"),
        ("framed noise", frame(&noise), "malformed"),
        ("an empty frame", vec![0; 4], "malformed"),
    ]
}

fn bad_greetings() -> Vec<Case> {
    let hello = honest_hello("x");
    let content = RosterContent::default();
    vec![
        (
            "a greeting of 1,025 bytes",
            frame(&[0x9b; 1_025]),
            "frame_too_large",
        ),
        ("a cut greeting", cut(&hello, 1), "malformed"),
        (
            "a greeting and more",
            frame(&[&hello[4..], b"\xc0"].concat()),
            "malformed",
        ),
        (
            "another magic",
            [&hello[..6], b"wooly", &hello[11..]].concat(),
            "malformed",
        ),
        (
            "READY first",
            framed(|out| encode_proof(LinkId([7; 16]), &[], out)),
            "protocol",
        ),
        (
            "ROSTER first",
            roster(1, 0, Some("g"), &content),
            "protocol",
        ),
        (
            "MESSAGES first",
            message_frame(1, 0, 0, Targets::All, &nack(1)),
            "protocol",
        ),
        (
            "PING first",
            framed(|out| encode_ping(1, 1, out)),
            "protocol",
        ),
        ("HELLO twice", [&hello[..], &hello].concat(), "protocol"),
        (
            "GOODBYE",
            framed(|out| encode_goodbye(Farewell::Auth, out)),
            "goodbye",
        ),
    ]
}

/// After a HELLO that is right.
fn bad_agreements() -> Vec<Case> {
    let hello = honest_hello("x");
    vec![
        (
            "READY without conditions",
            [
                &hello[..],
                &framed(|out| encode_proof(LinkId([7; 16]), &[], out)),
            ]
            .concat(),
            "protocol",
        ),
        (
            "conditions twice",
            [
                &hello[..],
                &framed(|out| conditions().encode(out)),
                &framed(|out| conditions().encode(out)),
            ]
            .concat(),
            "protocol",
        ),
        (
            "a proof that was not asked for",
            [
                &hello[..],
                &framed(|out| conditions().encode(out)),
                &framed(|out| encode_proof(LinkId([7; 16]), &[Proof([7; 32])], out)),
            ]
            .concat(),
            "protocol",
        ),
        (
            "another link",
            [
                &hello[..],
                &framed(|out| conditions().encode(out)),
                &framed(|out| encode_proof(LinkId([7; 16]), &[], out)),
            ]
            .concat(),
            "wrong_link",
        ),
    ]
}

#[test]
fn bytes_that_are_no_greeting_end_the_connection() {
    play(async {
        let mut scene = Scene::set(&patient(), vec![Peer::inbound("x")]).await;
        let all = [other_protocols(), bad_greetings(), bad_agreements()];
        for (what, bytes, why) in all.into_iter().flatten() {
            let farewell = refused(&mut scene, &bytes, why).await;
            assert_eq!(farewell, None, "{what}: its sender learns nothing");
        }
        scene.is_unhurt().await;
    });
}

#[test]
fn a_connection_that_is_refused_again_and_again_is_told_of_a_few_times_and_counted() {
    const TIMES: u64 = 300;
    play(async {
        let mut scene = Scene::set(&patient(), vec![Peer::inbound("x")]).await;
        scene.told();
        let before = scene.counts();
        for _ in 0..TIMES {
            let mut raw = Raw::dial(scene.at()).await;
            raw.say(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").await;
            raw.ends().await;
        }
        scene.counted(&before, &[("frame_too_large", TIMES)]).await;
        let told = scene.told();
        let is_refusal = |event: &&BridgeEvent| matches!(event, BridgeEvent::Refused { .. });
        let refused = told.iter().filter(is_refusal).count();
        assert!((8..60).contains(&refused), "{refused} in a few seconds");
        // A second later there is room for one more, which says how many are missing.
        sleep(MS(1_100)).await;
        let mut raw = Raw::dial(scene.at()).await;
        raw.say(&[0; 4]).await;
        raw.ends().await;
        let moved = [("frame_too_large", TIMES), ("malformed", 1)];
        scene.counted(&before, &moved).await;
        let more = scene.told();
        let left_out = |event: &BridgeEvent| {
            if let BridgeEvent::LeftOut { events } = event {
                Some(*events)
            } else {
                None
            }
        };
        let left_out: u64 = told.iter().chain(&more).filter_map(left_out).sum();
        let told = u64::try_from(refused).unwrap();
        assert_eq!(told + left_out, TIMES);
        assert!(matches!(more.last(), Some(BridgeEvent::Refused { .. })));
        scene.is_unhurt().await;
    });
}

/// Which nodes may not connect, and what they are told.
fn refusals() -> [(Hello, &'static str, Farewell); 6] {
    [
        (
            Hello {
                cluster: ClusterId::new("other").unwrap(),
                ..hello("x")
            },
            "cluster",
            Farewell::Cluster,
        ),
        (
            Hello {
                versions: Versions { min: 3, max: 9 },
                ..hello("x")
            },
            "version",
            Farewell::Version,
        ),
        (hello("a"), "self", Farewell::IsSelf),
        (hello("stranger"), "auth_failed", Farewell::Auth),
        // The honest peer's name, in an incarnation before its own.
        (
            Hello {
                incarnation: NodeIncarnation(999),
                ..hello("b")
            },
            "stale",
            Farewell::Stale,
        ),
        // Wrong in every way: the first check counts.
        (
            Hello {
                versions: Versions { min: 3, max: 9 },
                cluster: ClusterId::new("other").unwrap(),
                node: node("a"),
                ..hello("x")
            },
            "version",
            Farewell::Version,
        ),
    ]
}

#[test]
fn a_node_that_may_not_connect_is_told_why_and_counted() {
    play(async {
        let mut scene = Scene::set(&patient(), vec![Peer::inbound("x")]).await;
        for (hello, why, farewell) in refusals() {
            let bytes = framed(|out| hello.encode(out));
            assert_eq!(refused(&mut scene, &bytes, why).await, Some(farewell));
        }
        scene.is_unhurt().await;
    });
}
