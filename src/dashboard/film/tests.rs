//! What a page is given of a recording, frame by frame, and how many bytes of it.

use super::{film as film_within, *};
use crate::{
    protocol::MemberKind,
    record::{Happening, Header, MessageText, RecordedAgent, RecordedSide},
};

fn id(name: &str) -> AgentId {
    name.parse().unwrap()
}

fn recording(entries: impl IntoIterator<Item = (u64, What)>) -> Recording {
    let agents = [("a", 1), ("b", 2)].map(|(name, score)| RecordedAgent {
        name: id(name),
        kind: MemberKind::Voter,
        score: Some(score.into()),
    });
    let mut header = Header::of(agents, 1, None);
    "bully".clone_into(&mut header.protocol);
    let entries = entries.into_iter().map(|(at, what)| TraceEntry {
        at: Time::from_millis(at),
        what,
    });
    Recording::new(header, entries, Time::from_millis(50_000))
}

fn read(recording: &Recording) -> Value {
    serde_json::from_str(&film_within(recording, MOST_ROOM).unwrap()).unwrap()
}

fn happened(agent: &str, what: Happening) -> What {
    let agent = id(agent);
    What::Happened { agent, what }
}

fn sent(text: &str) -> What {
    let message = MessageText {
        from: id("a"),
        to: id("b"),
        kind: "elect".into(),
        text: text.to_owned(),
    };
    let arrives = vec![Time::from_millis(3)];
    What::Sent { message, arrives }
}

#[test]
fn events_of_one_instant_make_one_frame() {
    let film = read(&recording([
        (0, happened("a", Happening::Started)),
        (0, happened("b", Happening::Started)),
        (1, sent("elect 1")),
        (2, What::Violation("two leaders".to_owned())),
        (
            3,
            What::Settled {
                sides: vec![RecordedSide {
                    agents: vec![id("a"), id("b")],
                    leader: Some(id("b")),
                    term: crate::protocol::Term(1),
                }],
                took_ns: 2_000_000,
                messages: 1,
            },
        ),
    ]));
    assert_eq!(film["snapshot"]["moment"]["agents"][0]["state"], "unseen");
    let frames = film["frames"].as_array().unwrap();
    assert_eq!(frames.len(), 4, "{frames:#?}");
    assert_eq!(frames[0]["agents"].as_array().unwrap().len(), 2);
    assert_eq!(frames[0]["agents"][1][1]["state"], "up");
    assert_eq!(frames[1]["said"][0]["text"], "elect 1");
    assert!(frames[1].get("agents").is_none(), "no agent differs");
    assert_eq!(frames[2]["why"][0], "A promise was broken: two leaders");
    assert_eq!(film["broken"][0]["at_ms"], 2.0);
    let election = &frames[3]["said"][0];
    assert_eq!(election["leaders"], serde_json::json!(["b"]));
    assert_eq!(election["cause"], "a starts; b starts; two leaders");
}

#[test]
fn cuts_sides_and_joins_are_seen() {
    let command = What::Command;
    let film = read(&recording([
        (1, command(RecordedCommand::CutOneWay(id("a"), id("b")))),
        (2, command(RecordedCommand::Mend(id("b"), id("a")))),
        (3, command(RecordedCommand::Partition(vec![vec![id("b")]]))),
        (4, command(RecordedCommand::Isolate(id("a")))),
        (5, command(RecordedCommand::Rejoin(id("a")))),
        (6, happened("c", Happening::Joined)),
    ]));
    let frames = film["frames"].as_array().unwrap();
    assert_eq!(frames[0]["cuts"], serde_json::json!([[0, 1]]));
    assert_eq!(frames[1]["cuts"], serde_json::json!([]));
    assert_eq!(frames[2]["agents"][0][1]["side"], 1);
    assert_eq!(frames[3]["agents"][0][1]["isolated"], true);
    assert_eq!(frames[4]["agents"][0][1]["isolated"], false);
    assert_eq!(frames[5]["moment"]["agents"][2]["name"], "c");
    assert_eq!(frames[5]["said"][0]["text"], "joins");
}

#[test]
fn of_a_run_that_is_too_long_the_newest_frames_are_played() {
    let film = read(&recording((0..10_005).map(|at| {
        let what = if at == 2 {
            happened("b", Happening::Started)
        } else {
            sent("x")
        };
        (at, what)
    })));
    assert_eq!(film["frames"].as_array().unwrap().len(), 9_999);
    // With the last entry, the end, there are 10,006 instants.
    assert_eq!(film["skipped"], 6);
    let agents = &film["snapshot"]["moment"]["agents"];
    assert_eq!(agents[1]["state"], "up", "what was skipped has happened");
}

/// An agent comes and goes among many others: each frame has all of them.
#[test]
fn a_small_recording_gives_its_newest_frames_within_a_bound() {
    let agents = (0..300).map(|number| RecordedAgent {
        name: id(&format!("a{number}")),
        kind: MemberKind::Voter,
        score: None,
    });
    let entries = (1..=1_000).map(|at| {
        let what = if at % 2 == 0 {
            Happening::Left
        } else {
            Happening::Joined
        };
        TraceEntry {
            at: Time::from_millis(at),
            what: happened("z", what),
        }
    });
    let recording = Recording::new(
        Header::of(agents, 1, None),
        entries,
        Time::from_millis(1_001),
    );
    let read = recording.to_jsonl().len();
    let all = film_within(&recording, usize::MAX).unwrap();
    assert!(all.len() > 100 * read, "{} of {read}", all.len());
    let some = film_within(&recording, room(read)).unwrap();
    assert!(
        some.len() <= 16 * read + (256 << 10),
        "{} of {read}",
        some.len()
    );
    let film: Value = serde_json::from_str(&some).unwrap();
    let frames = film["frames"].as_array().unwrap();
    assert!(frames.len() > 10, "{}", frames.len());
    assert_eq!(
        film["skipped"].as_u64().unwrap() + u64::try_from(frames.len()).unwrap(),
        1_000
    );
    assert_eq!(frames.last().unwrap()["at_ms"], 1_000.0);
    assert!(
        film_within(&recording, 10_000).is_err(),
        "not even one moment"
    );
}
