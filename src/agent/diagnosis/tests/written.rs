//! The text and the JSON of a diagnosis.

use super::*;
use crate::agent::diagnosis::Diagnosis;

fn two_lost() -> Diagnosis {
    let mut facts = quorum();
    facts.members.truncate(2);
    facts.members[0].is_reachable = false;
    facts.peers = vec![PeerReport {
        unlinked_for: Some(MS(12_345)),
        last_error: Some("connection refused".to_owned()),
        advice: Some("no process listens there"),
        ..peer("host-c")
    }];
    Diagnosis::new("jobs".to_owned(), facts)
}

#[test]
fn for_people_it_is_a_line_for_each_finding() {
    assert_eq!(
        two_lost().to_string(),
        "b has known no leader of jobs for 1.0 s\n\
         - 1 of 3 voters can be reached, and 2 are needed: start a, c or mend the links\n\
         - host-c at 10.0.0.2:7400 has not been linked for 12.3 s: connection refused: no process listens there"
    );
    let led = |name| Diagnosis::new("jobs".to_owned(), led_by(name)).to_string();
    assert_eq!(
        led("c"),
        "b follows c in jobs, in term 7\n\
         - c leads, because it ranks highest of the eligible voters that can be reached"
    );
    assert!(led("b").starts_with("b leads jobs in term 7\n"));
}

#[test]
fn in_the_log_it_is_one_line() {
    let line = two_lost().summary();
    assert!(line.starts_with("1 of 3 voters") && !line.contains('\n'));
    let nothing = Diagnosis::new("jobs".to_owned(), vacant()).summary();
    assert!(
        nothing.starts_with("no obstacle to an election"),
        "{nothing}"
    );
}

#[test]
fn for_programs_it_is_json() {
    let json = serde_json::to_value(two_lost()).unwrap();
    let expected = r#"{
        "node": "b", "group": "jobs", "leader": null, "leaderless_ms": 1000.0,
        "voters": {"reachable": 1, "all": 3, "needed": 2},
        "findings": [
            {"kind": "few_voters", "reachable": 1, "all": 3, "needed": 2, "missing": ["a", "c"],
             "text": "1 of 3 voters can be reached, and 2 are needed: start a, c or mend the links"},
            {"kind": "peer_unlinked", "node": "host-c", "address": "10.0.0.2:7400",
             "error": "connection refused", "advice": "no process listens there", "since_ms": 12345.0,
             "text": "host-c at 10.0.0.2:7400 has not been linked for 12.3 s: connection refused: no process listens there"}
        ],
        "measured": {"echo_ms": 0.0, "write_ms": 0.0, "stall_ms": 0.0},
        "peers": [
            {"node": "host-c", "address": "10.0.0.2:7400", "unlinked_ms": 12345.0,
             "last_error": "connection refused", "advice": "no process listens there", "echo_ms": null, "is_name_disputed": false, "is_contested": false, "has_twin": false,
             "is_clock_ahead": false, "lacks_group": false, "shares_no_group": false, "other_groups": [], "timings": null,
             "mismatch": null, "epoch": null, "refused": []}
        ]
    }"#;
    let expected: serde_json::Value = serde_json::from_str(expected).unwrap();
    assert_eq!(json, expected);
    let led = serde_json::to_value(Diagnosis::new("jobs".to_owned(), led_by("b"))).unwrap();
    assert_eq!(
        led["leader"],
        serde_json::json!({"id": "b", "incarnation": "1", "term": "7"})
    );
    assert_eq!(led["leaderless_ms"], serde_json::Value::Null);
    let because = &led["findings"][0]["because"];
    assert_eq!(because, &serde_json::json!({"why": "unknown"}));
}
