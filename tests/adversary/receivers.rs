//! The bytes that a link sends: the receivers of messages, and the number of answers.

use actix_bully::{
    protocol::{Incarnation, MemberKind},
    remote::{
        Limits, Peer,
        internals::wire::{
            Frame, RawReceivers, RosterContent, Targets, encode_payload, encode_ping,
        },
    },
};
use bully_core::protocol::Member;

use super::kit::{INCARNATION, Raw, Scene, framed, id, nack, patient, play, roster, until};

/// Term of the test's messages. No agent of the scene uses it.
const TERM: u64 = 77;

/// Reads until PING `token` is answered. Returns the receiver of each message with the term [`TERM`], and the number
/// of answered PINGs.
async fn hear(raw: &mut Raw, token: u64) -> (Vec<Option<u32>>, usize) {
    let said = framed(|out| encode_payload(&nack(TERM), out).unwrap());
    let (mut receivers, mut answers) = (Vec::new(), 0);
    loop {
        let body = raw.hear().await.unwrap();
        let frame = Frame::decode(&body, Limits::default().bounds()).unwrap();
        if let Frame::Pong {
            token: answered, ..
        } = frame
        {
            answers += 1;
            if answered == token {
                return (receivers, answers);
            }
        } else if let Frame::Messages(messages) = frame {
            for message in messages.map(Result::unwrap) {
                if message.payload == said {
                    receivers.push(match message.to {
                        RawReceivers::One(number) => Some(number),
                        RawReceivers::All | RawReceivers::Several(_) => None,
                    });
                }
            }
        }
    }
}

/// Messages to the agents of a peer wait until the peer has announced all its agents. Meanwhile the agent may leave,
/// and another agent may get its number.
#[test]
fn a_message_that_waits_is_for_the_agent_that_was_named_and_for_no_other() {
    let (back, other) = (Incarnation(10), "x2");
    let anew = Some("g");
    let cases = [
        (
            "its number is another one's",
            None,
            0,
            other,
            INCARNATION,
            vec![],
        ),
        ("the group began anew", anew, 0, other, INCARNATION, vec![]),
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
                members: vec![(
                    number,
                    Member::up(id(agent), MemberKind::Observer, None, incarnation),
                )],
                leader: None,
            };
            let change = roster(raw.next(), 0, opens, &content);
            raw.say(&change).await;
            until("it is changed", || is_member(agent, incarnation)).await;
            let seq = raw.next();
            raw.say(&framed(|out| encode_ping(seq, 5, out))).await;
            assert_eq!(hear(&mut raw, 5).await.0, expected, "{what}");
            assert_eq!(scene.lost("x") > 0, expected.is_empty(), "{what}");
            scene.is_unhurt().await;
        });
    }
}

#[test]
fn a_peer_that_pings_many_times_at_once_gets_the_newest_answer() {
    play(async {
        let mut scene = Scene::set(&patient(), vec![Peer::inbound("x")]).await;
        let mut raw = Raw::dial(scene.at()).await.greet("x").await;
        raw.message(Targets::All, &nack(1)).await;
        let pings = framed(|out| (1..=200).for_each(|token| encode_ping(raw.next(), token, out)));
        raw.say(&pings).await;
        let (_, answers) = hear(&mut raw, 200).await;
        assert!(answers <= 100, "{answers} answers wait at once");
        scene.is_unhurt().await;
    });
}
