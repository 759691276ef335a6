//! What is said stays what it is on its way, and nothing foreign is taken for it.

use std::time::Duration;

use actix_bully::{
    elections::{
        AnyMessage,
        bully::{Elect, Elected, Ok},
        quorum::Vote,
    },
    protocol::{AgentId, Incarnation, Leader, Round, Score, Term, Time},
};
use bully_core::{
    elections::{
        bully::{Behind, Heartbeat, Resign, Yield},
        quorum::{
            Ack, Candidate, Claim, ClaimReply, Leadership, Micros, Nack, Recover, Recovered,
            Refusal, Takeover,
        },
    },
    protocol::PeerMessage,
};

const TERM: Term = Term(7);
const SEEN: Term = Term(6);
const ROUND: Round = Round {
    incarnation: Incarnation(3),
    counter: 4,
};

fn all() -> Vec<AnyMessage> {
    let mut all = questions();
    all.extend(answers());
    all
}

/// What no receiver was asked for.
fn questions() -> Vec<AnyMessage> {
    let id = AgentId::new("api-1").unwrap();
    let score = Score::from((5, -2));
    let sent_at = Some(Time::from_millis(99));
    let former = Some(Leadership {
        id: id.clone(),
        term: SEEN,
    });
    let released = Some(Leader {
        id: id.clone(),
        incarnation: ROUND.incarnation,
        term: SEEN,
    });
    let elect = Elect {
        round: ROUND,
        score,
        seen: SEEN,
        takeover: former,
        released: None,
    };
    let claim = Claim {
        term: TERM,
        score,
        released,
        successor: None,
    };
    let heartbeat = Heartbeat {
        term: TERM,
        score,
        sent_at,
    };
    let resign = Resign {
        term: TERM,
        successor: Some(id),
        given: Some(TERM),
    };
    let takeover = Takeover { term: TERM };
    let recover = Recover {
        round: ROUND,
        seen: TERM,
    };
    vec![
        recover.into(),
        elect.into(),
        claim.into(),
        heartbeat.into(),
        resign.into(),
        takeover.into(),
    ]
}

fn answers() -> Vec<AnyMessage> {
    let ok = |refusal| Ok {
        round: ROUND,
        seen: SEEN,
        refusal,
    };
    let retry = Micros(1_500);
    let reply = |granted| ClaimReply {
        term: TERM,
        seen: SEEN,
        granted,
        retry,
        incarnation: ROUND.incarnation,
        candidate: Candidate {
            id: AgentId::new("api-1").unwrap(),
            incarnation: ROUND.incarnation,
        },
        seal: None,
        clock: None,
    };
    let yields = Yield {
        round: ROUND,
        seen: SEEN,
        released: Some(TERM),
        clock: None,
    };
    let elected = Elected {
        term: TERM,
        score: 5.into(),
        answer: Some(ROUND),
        sent_at: None,
    };
    let ack = Ack {
        term: TERM,
        echo: Time::from_millis(99),
        score: None,
        slow: false,
        promise: retry,
        incarnation: ROUND.incarnation,
    };
    vec![
        ok(None).into(),
        ok(Some(Refusal::Stale)).into(),
        ok(Some(Refusal::NotFree { retry })).into(),
        yields.into(),
        reply(false).into(),
        reply(true).into(),
        elected.into(),
        ack.into(),
        Nack {
            term: TERM,
            of: SEEN,
            incarnation: ROUND.incarnation,
        }
        .into(),
        Behind { seen: TERM }.into(),
        RECOVERED.into(),
    ]
}

const RECOVERED: Recovered = Recovered {
    round: ROUND,
    term: TERM,
    recovering: true,
    clock: SEEN,
};

#[test]
fn every_message_survives_its_way() {
    for message in all() {
        let text = serde_json::to_string(&message).unwrap();
        assert!(
            text.starts_with(&format!("{{\"{}\":", message.kind())),
            "{text}"
        );
        let back: AnyMessage = serde_json::from_str(&text).unwrap();
        assert_eq!(back, message);
    }
}

#[test]
fn an_unknown_field_is_refused() {
    for message in all() {
        let mut value = serde_json::to_value(&message).unwrap();
        let fields = value.as_object_mut().and_then(|m| m.values_mut().next());
        let fields = fields.and_then(|v| v.as_object_mut()).unwrap();
        fields.insert(String::from("more"), 1.into());
        assert!(
            serde_json::from_value::<AnyMessage>(value).is_err(),
            "{message}"
        );
    }
}

#[test]
fn a_record_says_what_was_promised_and_has_room() {
    let vote = Vote {
        term: TERM,
        voted_for: Some(Candidate {
            id: AgentId::new("api-2").unwrap(),
            incarnation: Incarnation(5),
        }),
        promise: Micros(300_000),
        ..Vote::default()
    };
    let text = serde_json::to_string(&vote).unwrap();
    assert_eq!(
        text,
        r#"{"term":7,"voted_for":{"id":"api-2","incarnation":5},"promise":300000,"incarnation":null,"others":{},"voters":null}"#
    );
    assert_eq!(serde_json::from_str::<Vote>(&text).unwrap(), vote);
    for (reserved, other) in [("voters", "7"), ("voters", "[]")] {
        let other = text.replace(
            &format!("\"{reserved}\":null"),
            &format!("\"{reserved}\":{other}"),
        );
        assert!(serde_json::from_str::<Vote>(&other).is_err(), "{other}");
    }
}

#[test]
fn every_message_has_a_line_of_its_own() {
    let mut lines: Vec<String> = all().iter().map(ToString::to_string).collect();
    for expected in [
        "elect 3.4 score (5, -2) to take over api-1 in term 6",
        "ok 3.4 but not free for 1.5ms",
        "claim term 7 score (5, -2) released: api-1 in term 6",
        "refuses term 7, knows 6",
        "ack term 7 echo 99.000",
    ] {
        assert!(
            lines.iter().any(|line| line == expected),
            "{expected}: {lines:?}"
        );
    }
    lines.sort();
    lines.dedup();
    assert_eq!(lines.len(), all().len());
}

#[test]
fn the_highest_term_is_named() {
    for message in all() {
        let low = matches!(message, AnyMessage::Elect(_) | AnyMessage::Ok(_));
        assert_eq!(message.term(), Term(if low { 6 } else { 7 }), "{message}");
    }
}

#[test]
fn a_span_is_rounded_up_and_a_promise_down() {
    assert_eq!(Micros::at_most(Duration::from_nanos(1_999)), Micros(1));
    assert_eq!(Micros::at_most(Duration::MAX), Micros(u64::MAX));
    assert_eq!(Micros::from(Duration::from_nanos(1)), Micros(1));
    assert_eq!(Micros::from(Duration::MAX), Micros(u64::MAX));
    assert_eq!(Duration::from(Micros(1_500)), Duration::from_micros(1_500));
}
