//! A ring's messages as JSON: flat, and bounded whatever a peer says. The bytes of a bridge: `tests/adversary/bytes`.

use actix_bully::protocol::{Incarnation, Leader, Term};
use bully_classics::ring::{
    Answer, Bounded, Collect, Coordinator, Entrant, HopAck, Lap, MOST, Nominate, Probe,
    RingElectionId, RingMessage,
};
use bully_core::protocol::PeerMessage;

use crate::ring::kit::id;

fn election() -> RingElectionId {
    RingElectionId {
        term: Term(7),
        score: Some(3.into()),
        origin: id("a"),
        incarnation: Incarnation(2),
    }
}

fn entrant(name: &str) -> Entrant {
    Entrant {
        id: id(name),
        incarnation: Incarnation(1),
        score: None,
        defers: false,
    }
}

fn all() -> [RingMessage; 7] {
    let mut entrants = Bounded::of(entrant("a"));
    assert!(entrants.push(entrant("b")));
    let coordinator = Coordinator {
        leader: id("b"),
        incarnation: Incarnation(1),
        score: (2, -30).into(),
        term: Term(7),
        beat: 0,
    };
    [
        Collect {
            election: election(),
            entrants,
        }
        .into(),
        Nominate {
            election: election(),
            winner: id("b"),
            incarnation: Incarnation(1),
            passed: Bounded::of(id("a")),
        }
        .into(),
        coordinator.clone().into(),
        Coordinator {
            beat: 4,
            ..coordinator
        }
        .into(),
        HopAck {
            lap: Lap::Collect,
            term: Term(7),
            about: id("a"),
            beat: 0,
            known: Term(6),
        }
        .into(),
        Probe { known: Term(7) }.into(),
        Answer {
            known: Term(6),
            leader: Some(Leader {
                id: id("b"),
                incarnation: Incarnation(1),
                term: Term(7),
            }),
        }
        .into(),
    ]
}

#[test]
fn every_message_is_read_as_it_is_written() {
    for message in all() {
        let text = serde_json::to_string(&message).unwrap();
        let read: RingMessage = serde_json::from_str(&text).unwrap();
        assert_eq!(read, message, "{text}");
        assert_eq!(read.term(), Term(7));
    }
}

#[test]
fn every_message_has_a_name_and_one_line() {
    let said = all().map(|message| format!("{}: {message}", message.kind()));
    assert_eq!(
        said,
        [
            "collect: collect 7 by a: a b",
            "nominate: nominate 7 by a: b, passed by a",
            "coordinator: coordinator b term 7 score (2, -30)",
            "beat: beat 4 of b term 7",
            "hop_ack: ack collect 7 by a",
            "probe: probe knows term 7",
            "answer: answer follows b in term 7",
        ]
    );
    let repeated = all().map(|message| message.is_repeated());
    assert_eq!(repeated, [false, false, false, true, false, true, true]);
}

#[test]
fn a_list_beyond_its_bound_is_refused_when_it_is_read() {
    let mut list: Vec<serde_json::Value> = Vec::new();
    for number in 0..=MOST {
        list.push(serde_json::to_value(entrant(&format!("n{number}"))).unwrap());
    }
    let read = |list: &[serde_json::Value]| {
        let election = serde_json::to_value(election()).unwrap();
        let text = serde_json::json!({ "collect": { "election": election, "entrants": list } });
        serde_json::from_str::<RingMessage>(&text.to_string())
    };
    assert!(read(&list[..MOST]).is_ok());
    let refused = read(&list).unwrap_err().to_string();
    let bound = format!("a list of at most {MOST} items");
    assert!(refused.contains(&bound), "{refused}");
}

#[test]
fn an_unknown_field_is_refused() {
    for text in [
        r#"{ "probe": { "known": 1, "more": 2 } }"#,
        r#"{ "halt": {} }"#,
        r#"{ "hop_ack": { "lap": "halt", "term": 1, "about": "a", "beat": 0, "known": 0 } }"#,
        r#"{ "answer": { "known": 1, "leader": { "id": "a b", "incarnation": 1, "term": 1 } } }"#,
    ] {
        assert!(serde_json::from_str::<RingMessage>(text).is_err(), "{text}");
    }
}

#[test]
fn of_two_elections_the_later_then_the_better_is_stronger() {
    let of = |term, score: Option<i32>, origin| RingElectionId {
        term: Term(term),
        score: score.map(Into::into),
        origin: id(origin),
        incarnation: Incarnation(1),
    };
    let ordered = [
        of(1, None, "z"),
        of(1, Some(-5), "a"),
        of(1, Some(3), "a"),
        of(1, Some(3), "b"),
        of(2, None, "a"),
    ];
    assert!(ordered.is_sorted_by(|a, b| a < b));
}
