//! The text, the drawing and the words of a recording, and reading its text again.

use super::{
    Happening, Header, MessageText, RecordedAgent, RecordedCommand, RecordedSide, Recording,
    RecordingError, TraceEntry, Untold, What,
};
use crate::elections::fixture::is_as_reviewed;
use crate::protocol::{AgentId, Event, Leader, MemberKind, Score, Term, Time};

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

/// Returns the text of a recording with each kind of entry.
fn full() -> String {
    include_str!("version_1.jsonl").replace("VERSION", env!("CARGO_PKG_VERSION"))
}
