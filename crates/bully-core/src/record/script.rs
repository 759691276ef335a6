//! The commands of a run as a script of the example `cluster`.
//!
//! Decided here: a script is made only if it repeats the run. The example names its agents `agent-1` and so on, uses
//! the number of each agent as its score, and begins with delays of 1 to 3 ms. Not here: the words of a command
//! (`words.rs`).

use super::{
    BoundedText, NetworkRecord, RecordedAgent, RecordedCommand, Recording, TraceEntry, Untold,
    What, lines::MOST_WRITTEN, words::span,
};
use crate::protocol::{MemberKind, Score, Time};

pub(super) fn to_script(recording: &Recording) -> Result<String, Untold> {
    check(recording)?;
    let header = recording.header();
    let mut script = BoundedText::new(MOST_WRITTEN);
    script.append(format_args!(
        "# cargo run --example cluster -- --protocol {} --agents {} --seed {} --script \"$(cat FILE)\"\n",
        header.protocol,
        agents(recording).count(),
        header.seed
    ))?;
    let mut reached = Time::ZERO;
    let first = begun_by_itself(recording);
    for TraceEntry { at, what } in recording.entries().iter().skip(first) {
        if *at > reached && matches!(what, What::Command(_) | What::Ended) {
            script.append(format_args!("until {}\n", span(at.as_nanos())))?;
        }
        if let What::Command(command) = what {
            script.append(format_args!("{}\n", told(*at, command)?))?;
        }
        if matches!(what, What::Command(_) | What::Settled { .. }) {
            reached = *at;
        }
    }
    Ok(script.whole()?)
}

/// Returns the number of entries that the example's own start adds. Before a script, the example lets each agent
/// campaign if the rules are the rules of ASTRA, and then waits until the leadership is settled.
fn begun_by_itself(recording: &Recording) -> usize {
    let is_first = |entry: &TraceEntry| {
        let is_told = matches!(&entry.what, What::Command(RecordedCommand::Campaign(_)));
        entry.at == Time::ZERO
            && (!matches!(&entry.what, What::Command(_)) || is_told && is_astra(recording))
    };
    let entries = recording.entries();
    let before = entries.iter().take_while(|entry| is_first(entry)).count();
    let settle = What::Command(RecordedCommand::Settle);
    match entries.get(before) {
        Some(entry) if entry.at == Time::ZERO && entry.what == settle => before.saturating_add(1),
        Some(_) | None => 0,
    }
}

fn is_astra(recording: &Recording) -> bool {
    recording.header().protocol == "astra"
}

/// Checks that the recording has all commands of a run of a cluster.
pub(super) fn must_be_whole(recording: &Recording) -> Result<(), Untold> {
    let header = recording.header();
    if header.began_unix_ms.is_some() {
        return Err(Untold::Node);
    }
    if let Some(again) = header.again.clone() {
        return Err(Untold::History { again });
    }
    let forgotten = header.forgotten;
    if forgotten > 0 {
        return Err(Untold::Forgotten { forgotten });
    }
    if header.agents.is_empty() {
        return Err(Untold::NoAgents);
    }
    Ok(())
}

/// Checks that the recording has all facts that a script or a test in Rust needs.
pub(super) fn can_be_told(recording: &Recording) -> Result<(), Untold> {
    must_be_whole(recording)?;
    let protocol = &recording.header().protocol;
    if !CLUSTERS.contains(&protocol.as_str()) {
        let protocol = protocol.clone();
        return Err(Untold::Protocol { protocol });
    }
    Ok(())
}

fn check(recording: &Recording) -> Result<(), Untold> {
    can_be_told(recording)?;
    let is_usual = agents(recording).zip(1_u32..).all(|(agent, number)| {
        agent.name.as_str() == format!("agent-{number}")
            && agent.kind == MemberKind::Voter
            && agent.score == Some(Score::from(number))
    });
    if !is_usual {
        let what = "other names or scores";
        return Err(Untold::Beginning { what });
    }
    if recording.header().network != Some(USUAL) {
        let what = "another network";
        return Err(Untold::Beginning { what });
    }
    Ok(())
}

/// Returns the agents at the beginning of a cluster. In a cluster of lease agents the register is left out, because the
/// cluster itself adds the register.
pub(super) fn agents(recording: &Recording) -> impl Iterator<Item = &RecordedAgent> {
    let has_register = recording.header().protocol == "lease";
    recording
        .agents()
        .filter(move |agent| !has_register || agent.name.as_str() != "register")
}

/// Returns the words of a command. A name that cannot be part of such words is refused: the words must be read as the
/// same command.
pub(super) fn told(at: Time, command: &RecordedCommand) -> Result<String, Untold> {
    let text = command.to_string();
    let read = text.parse::<RecordedCommand>();
    if read.is_ok_and(|read| read.to_string() == text) {
        return Ok(text);
    }
    let command = text;
    Err(Untold::Command { at, command })
}

/// The names of the elections for which the example `cluster` can build a cluster.
const CLUSTERS: [&str; 8] = [
    "bully",
    "astra",
    "quorum",
    "lease",
    "ballot",
    "ring",
    "reorganization",
    "invitation",
];

/// The network conditions of the example.
const USUAL: NetworkRecord = NetworkRecord {
    delay_ns: (1_000_000, 3_000_000),
    loss: 0,
    duplication: 0,
    slow: 0,
    slow_by_ns: (0, 0),
    any_order: false,
};
