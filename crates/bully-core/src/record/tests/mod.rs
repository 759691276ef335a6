//! The text, the drawing and the words of a recording, and reading its text again.

use super::{
    Happening, Header, MessageText, RecordedAgent, RecordedCommand, RecordedSide, Recording,
    RecordingError, TraceEntry, Untold, What,
};
use crate::elections::fixture::is_as_reviewed;
use crate::protocol::{
    AgentId, Event, Incarnation, Leader, LostReason, MemberKind, Role, Score, Term, Time,
};

mod drawn;
mod places;
mod read;
mod ring;
mod text;
mod told;
mod words;

const AT: fn(u64) -> Time = Time::from_millis;

/// Compares the text with a golden file beside the tests, which `BLESS=1` writes.
#[track_caller]
fn golden(name: &str, text: &str) {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/record/tests");
    is_as_reviewed(&format!("{folder}/{name}"), text);
}

fn id(name: &str) -> AgentId {
    AgentId::new(name).unwrap()
}

fn message(from: &str, to: &str, text: &str) -> MessageText {
    MessageText {
        from: id(from),
        to: id(to),
        kind: text.to_owned().into(),
        text: format!("{text} 1.1"),
    }
}

/// Returns each kind of entry, with each kind of command and some kinds of events.
fn every_entry() -> Vec<What> {
    let (a, b) = (id("a"), id("b"));
    let mut all = vec![
        What::Sent {
            message: message("a", "b", "elect"),
            arrives: vec![AT(9), Time::from_nanos(9_000_001)],
        },
        What::Lost {
            message: message("a", "b", "elect"),
            why: "cut".to_owned(),
        },
        What::Delivered(message("b", "a", "ok")),
        What::Dropped {
            message: message("b", "a", "ok"),
            why: "no receiver".to_owned(),
        },
        What::Role {
            agent: a.clone(),
            role: Role::Waiting,
        },
        What::Happened {
            agent: a.clone(),
            what: Happening::Paused,
        },
        What::Mark("a \"mark\"\n<of> two lines".to_owned()),
        What::Settled {
            sides: vec![RecordedSide {
                agents: vec![a.clone(), b.clone()],
                leader: Some(b.clone()),
                term: Term(3),
            }],
            took_ns: 5,
            messages: 6,
        },
        What::Violation("two lead".to_owned()),
    ];
    all.extend(some_events().map(|event| What::Event {
        agent: a.clone(),
        event,
    }));
    all.extend(every_command().into_iter().map(What::Command));
    all
}

fn some_events() -> [Event; 6] {
    let leader = Leader {
        id: id("b"),
        incarnation: Incarnation(2),
        term: Term(3),
    };
    [
        Event::Acquired { term: Term(1) },
        Event::Renewed { term: Term(2) },
        Event::Draining {
            term: Term(2),
            to: Some(id("a")),
        },
        Event::Lost {
            term: Term(2),
            reason: LostReason::LeaseExpired,
        },
        Event::NewLeader(leader),
        Event::NoLeader { term: Term(3) },
    ]
}

/// Returns a command of each form that a person may write.
fn every_command() -> Vec<RecordedCommand> {
    let forms = RecordedCommand::FORMS.iter();
    forms.map(|(form, _)| form.parse().expect(form)).collect()
}

fn usual_network() -> super::NetworkRecord {
    super::NetworkRecord {
        delay_ns: (1_000_000, 3_000_000),
        ..super::NetworkRecord::default()
    }
}

/// Returns a recording of `agent-1` and further agents that begins like a recording of the example `cluster`.
fn usual(agents: u32, entries: impl IntoIterator<Item = (u64, What)>, ended: u64) -> Recording {
    let agents = (1..=agents).map(|number| RecordedAgent {
        name: id(&format!("agent-{number}")),
        kind: MemberKind::Voter,
        score: Some(number.into()),
    });
    let mut header = Header::of(agents, 7, None);
    "bully".clone_into(&mut header.protocol);
    header.network = Some(usual_network());
    let entries = entries
        .into_iter()
        .map(|(at, what)| TraceEntry { at: AT(at), what });
    Recording::new(header, entries, AT(ended))
}

/// Returns a recording with each kind of entry.
fn full() -> Recording {
    let mut recording = usual(2, (1..).zip(every_entry()), 100);
    let header = recording.header_mut();
    header.again = Some("again".to_owned());
    header.began_unix_ms = Some(1);
    header.timings_ns.insert("lease".to_owned(), 5);
    recording
}
