//! The commands of a run as a script of the example `cluster`.
//!
//! Decided here: that a script is made only where it is the run. The example names its agents `agent-1` and so on, gives
//! each its number as its score, and begins with delays of 1 to 3 ms; commands that it has no word for are named.

use super::{
    BoundedText, NetworkRecord, RecordedCommand, Recording, TraceEntry, Untold, What,
    lines::MOST_WRITTEN,
};
use crate::protocol::{AgentId, MemberKind, Score, Time, VoterChange};

pub(super) fn to_script(recording: &Recording) -> Result<String, Untold> {
    check(recording)?;
    let header = recording.header();
    let mut script = BoundedText::new(MOST_WRITTEN);
    script.append(format_args!(
        "# cargo run --example cluster -- --protocol {} --agents {} --seed {} --script \"$(cat FILE)\"\n",
        header.protocol,
        header.agents.len(),
        header.seed
    ))?;
    let mut reached = Time::ZERO;
    let mut network = header.network.unwrap_or_default();
    let first = begun_by_itself(recording);
    for TraceEntry { at, what } in recording.entries().iter().skip(first) {
        if *at > reached && matches!(what, What::Command(_) | What::Ended) {
            script.append(format_args!("until {}\n", span(at.as_nanos())))?;
        }
        if let What::Command(command) = what {
            let said = words(command, &mut network).ok_or_else(|| Untold::Command {
                at: *at,
                command: format!("{command:?}"),
            })?;
            script.append(format_args!("{said}\n"))?;
        }
        if matches!(what, What::Command(_) | What::Settled { .. }) {
            reached = *at;
        }
    }
    Ok(script.whole()?)
}

/// How many entries there are until the example has done what it does before any script: under the ASTRA rules it
/// tells each agent to campaign, and then it waits until all is settled.
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

/// Whether all that is needed is there; also for a test in Rust.
pub(super) fn can_be_told(recording: &Recording) -> Result<(), Untold> {
    let header = recording.header();
    let forgotten = header.forgotten;
    if forgotten > 0 {
        return Err(Untold::Forgotten { forgotten });
    }
    if header.agents.is_empty() {
        return Err(Untold::NoAgents);
    }
    let protocol = &header.protocol;
    if !CLUSTERS.contains(&protocol.as_str()) {
        let protocol = protocol.clone();
        return Err(Untold::Protocol { protocol });
    }
    Ok(())
}

fn check(recording: &Recording) -> Result<(), Untold> {
    can_be_told(recording)?;
    let is_usual = recording.agents().zip(1_u32..).all(|(agent, number)| {
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

/// The command in the words of the example; `None` if it has none.
fn words(command: &RecordedCommand, network: &mut NetworkRecord) -> Option<String> {
    let several = |verb: &str, agents: &[AgentId]| {
        let names: Option<Vec<&str>> = agents.iter().map(word).collect();
        Some(format!("{verb} {}", names?.join(" ")))
    };
    match command {
        RecordedCommand::Crash(agents) => several("crash", agents),
        RecordedCommand::Stop(agents) => several("stop", agents),
        // The agents of the example have no process of their own.
        RecordedCommand::Kill(agent) => Some(format!("stop {}", word(agent)?)),
        RecordedCommand::Restart(agent) => Some(format!("restart {}", word(agent)?)),
        RecordedCommand::Hang(agent) | RecordedCommand::Freeze(agent) => {
            Some(format!("hang {}", word(agent)?))
        }
        RecordedCommand::Resume(agent) => Some(format!("resume {}", word(agent)?)),
        RecordedCommand::Join {
            agent,
            kind: MemberKind::Voter,
            score,
        } => Some(format!("join {} {}", word(agent)?, rating(*score))),
        RecordedCommand::Leave(agent) => Some(format!("leave {}", word(agent)?)),
        RecordedCommand::Score { agent, score } => {
            Some(format!("score {} {}", word(agent)?, rating(*score)))
        }
        RecordedCommand::StepDown { agent, to: None } => {
            Some(format!("step-down {}", word(agent)?))
        }
        RecordedCommand::StepDown {
            agent,
            to: Some(to),
        } => Some(format!("step-down {} {}", word(agent)?, word(to)?)),
        RecordedCommand::ChangeVoters(change) => change_voters(change),
        RecordedCommand::Campaign(agent) => Some(format!("campaign {}", word(agent)?)),
        RecordedCommand::Partition(sides) => {
            let sides: Option<Vec<String>> = sides
                .iter()
                .map(|side| {
                    let names: Option<Vec<&str>> = side.iter().map(word).collect();
                    names.map(|names| names.join(" "))
                })
                .collect();
            Some(format!("partition {}", sides?.join(" | ")))
        }
        RecordedCommand::Cut(one, other) => Some(format!("cut {} {}", word(one)?, word(other)?)),
        RecordedCommand::CutOneWay(from, to) => {
            Some(format!("cut {} > {}", word(from)?, word(to)?))
        }
        RecordedCommand::Isolate(agent) => Some(format!("isolate {}", word(agent)?)),
        RecordedCommand::Mend(one, other) => Some(format!("mend {} {}", word(one)?, word(other)?)),
        RecordedCommand::Rejoin(agent) => Some(format!("rejoin {}", word(agent)?)),
        RecordedCommand::Heal => Some("heal".to_owned()),
        RecordedCommand::Network(next) => changes(network, *next),
        RecordedCommand::Settle => Some("settle".to_owned()),
        RecordedCommand::Expire(_)
        | RecordedCommand::Join {
            kind: MemberKind::Observer,
            ..
        } => None,
    }
}

fn change_voters(change: &VoterChange) -> Option<String> {
    Some(match change {
        VoterChange::Add(new) => format!("add-voter {}", word(&new.id)?),
        VoterChange::Remove(old) => format!("remove-voter {}", word(old)?),
        VoterChange::Replace { old, new } => {
            format!("replace-voter {} {}", word(old)?, word(&new.id)?)
        }
    })
}

/// What is said to come from one network to another: one command, because each has a line in the run.
fn changes(network: &mut NetworkRecord, next: NetworkRecord) -> Option<String> {
    let before = std::mem::replace(network, next);
    let (only_delay, only_loss, only_duplication) = (
        NetworkRecord {
            delay_ns: next.delay_ns,
            ..before
        },
        NetworkRecord {
            loss: next.loss,
            ..before
        },
        NetworkRecord {
            duplication: next.duplication,
            ..before
        },
    );
    if next == only_delay {
        let (min, max) = next.delay_ns;
        Some(format!("delay {}..{}", span(min), span(max)))
    } else if next == only_loss {
        Some(format!("loss {}", per_cent(next.loss)))
    } else if next == only_duplication {
        Some(format!("duplicate {}", per_cent(next.duplication)))
    } else {
        None
    }
}

/// A name that the example reads as one.
fn word(agent: &AgentId) -> Option<&str> {
    let name = agent.as_str();
    let is_one = !name.contains(|c: char| c.is_whitespace() || ";|>#".contains(c));
    (is_one && !name.starts_with('-')).then_some(name)
}

fn rating(score: Option<Score>) -> String {
    let Some(score) = score else {
        return "none".to_owned();
    };
    let [a, b, c, d] = score.parts();
    match (b, c, d) {
        (0, 0, 0) => a.to_string(),
        _ => format!("{a},{b},{c},{d}"),
    }
}

fn per_cent(per_mille: u16) -> String {
    format!("{}.{}%", per_mille / 10, per_mille % 10)
}

/// Whole milliseconds if it is some.
fn span(nanos: u64) -> String {
    if nanos.is_multiple_of(1_000_000) {
        format!("{}ms", nanos / 1_000_000)
    } else {
        format!("{nanos}ns")
    }
}

/// The elections that the example `cluster` begins by their names.
const CLUSTERS: [&str; 7] = [
    "bully",
    "astra",
    "quorum",
    "ballot",
    "ring",
    "reorganization",
    "invitation",
];

/// The network of the example.
const USUAL: NetworkRecord = NetworkRecord {
    delay_ns: (1_000_000, 3_000_000),
    loss: 0,
    duplication: 0,
    slow: 0,
    slow_by_ns: (0, 0),
    any_order: false,
};
