//! What a link is sent, byte by byte: for which receivers, and within which limits.

use actix_bully::{
    protocol::{Incarnation, MemberKind},
    remote::{
        Limits, Peer,
        internals::wire::{
            Frame, Hello, RawReceivers, RosterContent, Targets, encode_payload, encode_ping,
        },
    },
};
use bully_core::protocol::Member;

use super::kit::{INCARNATION, Raw, Scene, framed, hello, id, nack, patient, play, roster, until};

/// What no agent of the scene says by itself.
const TERM: u64 = 77;

/// Until PING `token` is answered: the receivers of each message named `TERM`, how long the longest frame
/// was, and how many PINGs were answered.
#[derive(Debug, Default)]
struct Heard {
    to: Vec<Option<u32>>,
    longest: usize,
    answers: usize,
}

async fn hear(raw: &mut Raw, token: u64) -> Heard {
    let said = framed(|out| encode_payload(&nack(TERM), out).unwrap());
    let mut heard = Heard::default();
    loop {
        let body = raw.hear().await.unwrap();
        heard.longest = heard.longest.max(body.len());
        let frame = Frame::decode(&body, Limits::default().bounds()).unwrap();
        if let Frame::Pong {
            token: answered, ..
        } = frame
        {
            heard.answers += 1;
            if answered == token {
                return heard;
            }
        } else if let Frame::Messages(messages) = frame {
            for message in messages.map(Result::unwrap) {
                if message.payload == said {
                    let to = message.to;
                    let one = if let RawReceivers::One(number) = to {
                        Some(number)
                    } else {
                        None
                    };
                    heard.to.push(one);
                }
            }
        }
    }
}

fn observer(agent: &str, incarnation: Incarnation) -> Member {
    Member::up(id(agent), MemberKind::Observer, None, incarnation)
}

async fn ping(raw: &mut Raw, token: u64) {
    let seq = raw.next();
    raw.say(&framed(|out| encode_ping(seq, token, out))).await;
}

/// As long as a peer has not told everything, messages to its agents wait; meanwhile the agent may
/// leave, and its number be another one's.
#[test]
fn a_message_that_waits_is_for_the_agent_that_was_named_and_for_no_other() {
    let (back, other) = (Incarnation(10), "x2");
    let cases = [
        (
            "its number is another one's",
            None,
            0,
            other,
            INCARNATION,
            vec![],
        ),
        (
            "the group began anew",
            Some("g"),
            0,
            other,
            INCARNATION,
            vec![],
        ),
        ("it came back", None, 1, "x1", back, vec![Some(1)]),
    ];
    for (what, opens, number, agent, incarnation, expected) in cases {
        play(async {
            let mut scene = Scene::set(&patient(), vec![Peer::inbound("x")]).await;
            let mut raw = Raw::dial(scene.at()).await.greet("x").await;
            raw.announce("x1").await;
            let is_member = |agent, incarnation| {
                let members = scene.group().members();
                members.get(&id(agent)).and_then(|m| m.incarnation) == Some(incarnation)
            };
            until("x1 is there", || is_member("x1", INCARNATION)).await;
            scene.say_to("x1", nack(TERM));
            let content = RosterContent {
                left: if opens.is_none() { vec![0] } else { vec![] },
                members: vec![(number, observer(agent, incarnation))],
                leader: None,
            };
            let change = roster(raw.next(), 0, opens, &content);
            raw.say(&change).await;
            until("it is changed", || is_member(agent, incarnation)).await;
            ping(&mut raw, 5).await;
            assert_eq!(hear(&mut raw, 5).await.to, expected, "{what}");
            assert_eq!(scene.lost("x") > 0, expected.is_empty(), "{what}");
            scene.is_unhurt().await;
        });
    }
}

#[test]
fn no_frame_is_longer_than_the_peer_takes() {
    play(async {
        let scene = Scene::set(&patient(), vec![Peer::inbound("x")]).await;
        let mine = Hello {
            frame: 4 * 1024,
            ..hello("x")
        };
        let mut raw = Raw::dial(scene.at()).await.greet_with(mine).await;
        raw.announce("x1").await;
        let is_member = || scene.group().members().get(&id("x1")).is_some();
        until("x1 is there", is_member).await;
        for _ in 0..2_000 {
            scene.say_to("x1", nack(TERM));
        }
        ping(&mut raw, 5).await;
        let heard = hear(&mut raw, 5).await;
        assert_eq!(heard.to, vec![Some(0); 2_000]);
        assert!(heard.longest <= 4 * 1024, "{} bytes", heard.longest);
    });
}

#[test]
fn a_peer_that_pings_many_times_at_once_gets_the_newest_answer() {
    play(async {
        let mut scene = Scene::set(&patient(), vec![Peer::inbound("x")]).await;
        let mut raw = Raw::dial(scene.at()).await.greet("x").await;
        raw.message(Targets::All, &nack(1)).await;
        let pings = framed(|out| (1..=200).for_each(|token| encode_ping(raw.next(), token, out)));
        raw.say(&pings).await;
        let answers = hear(&mut raw, 200).await.answers;
        assert!(answers <= 100, "{answers} answers wait at once");
        scene.is_unhurt().await;
    });
}
