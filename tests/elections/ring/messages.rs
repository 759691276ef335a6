//! Tests that the size of a ring's messages as JSON has a bound, for any list that a peer sends.
//! `src/remote/wire/tests` has the bytes of a bridge, and `messages.txt` of the unit tests has the form of each
//! message.

use actix_bully::protocol::{Incarnation, Term};
use bully_classics::ring::{Entrant, MOST, RingElectionId, RingMessage};

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
