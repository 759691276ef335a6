//! The output: a line for each event, for people or for programs.
//!
//! As JSON, `t` is the host's clock since its boot, in microseconds: the same for all processes of one host, so that
//! their lines can be merged.

use std::{
    io::{Write, stdout},
    process,
    time::Duration,
};

use actix_bully::{
    agent::{Diagnosis, Voters},
    clock::{BootClock, Clock},
    protocol::{AgentId, Changed, Leader, Term, Time},
};
use serde_json::{Map, Value, json};

/// Prints what happens.
#[derive(Clone, Debug)]
pub(crate) struct Screen {
    clock: BootClock,
    began: Time,
    node: String,
    json: bool,
}

/// An event that is printed.
#[derive(Clone, Debug)]
pub(crate) enum Happening {
    /// No voter has a disk. The group has a leader at the latest after this time, counted from the start of a majority.
    Begins { worst_case_start: Duration },
    /// The node takes part.
    Ready { listen: Option<String> },
    /// The node follows a leader, or leads.
    Leader(Leader),
    /// The node knows no leader.
    NoLeader,
    /// The node's work as a leader begins. In the quorum mode it has a fence.
    Leads { term: Term, fence: Option<u64> },
    /// The node checked at this time that it leads.
    Works { at: Time, term: Term },
    /// Its work has ended, because it hands over or no longer leads.
    Released { term: Term },
    /// An event of the bridge to other hosts.
    Bridge { what: String },
    /// The voters of the node's group.
    Voters(Voters),
    /// The reason for the present leader, or for its absence, and the measurements.
    Why(Box<Diagnosis>),
    /// The voters were changed as requested.
    Changed { command: String, changed: Changed },
    /// No answer came in time whether the voters were changed.
    Unanswered { command: String, why: String },
    /// A command that cannot be understood.
    Unknown { command: String },
    /// A command that cannot be carried out.
    Refused { command: String, why: String },
    /// The node hands over and leaves.
    Leaving,
    /// The node's agent has ended for good, without being asked to.
    Ended,
    /// The node has left.
    Left { politely: bool },
}

impl Screen {
    pub(crate) fn new(clock: BootClock, node: &str, json: bool) -> Self {
        let (began, node) = (clock.now(), node.to_owned());
        Self {
            clock,
            began,
            node,
            json,
        }
    }

    pub(crate) fn now(&self) -> Time {
        self.clock.now()
    }

    /// Prints a line. If the reader is gone, the node ends as well.
    pub(crate) fn say(&self, what: &Happening) {
        let at = if let Happening::Works { at, .. } = what {
            *at
        } else {
            self.now()
        };
        let line = if self.json {
            self.object(at, what).to_string()
        } else {
            let since = at.since(self.began).as_secs_f64();
            format!("{since:9.3} s  {}", words(what))
        };
        if writeln!(stdout().lock(), "{line}").is_err() {
            process::exit(1);
        }
    }

    fn object(&self, at: Time, what: &Happening) -> Value {
        let (event, more) = match what {
            Happening::Begins { worst_case_start } => {
                let millis = worst_case_start.as_secs_f64() * 1e3;
                ("begins", json!({ "worst_case_start_ms": millis }))
            }
            Happening::Ready { listen } => ("ready", json!({ "listen": listen })),
            Happening::Leader(Leader {
                id,
                incarnation,
                term,
            }) => (
                "leader",
                json!({ "leader": id.as_str(), "incarnation": incarnation.0, "term": term.0 }),
            ),
            Happening::NoLeader => ("no_leader", json!({})),
            Happening::Leads { term, fence } => {
                ("leads", json!({ "term": term.0, "fence": fence }))
            }
            Happening::Works { term, .. } => ("works", json!({ "term": term.0 })),
            Happening::Released { term } => ("released", json!({ "term": term.0 })),
            Happening::Bridge { what } => ("bridge", json!({ "what": what })),
            Happening::Unknown { command } => ("unknown", json!({ "command": command })),
            Happening::Refused { command, why } => {
                ("refused", json!({ "command": command, "why": why }))
            }
            Happening::Voters(Voters { epoch, ids }) => {
                let ids: Vec<_> = ids.iter().map(AgentId::as_str).collect();
                ("voters", json!({ "epoch": epoch, "voters": ids }))
            }
            Happening::Why(diagnosis) => ("why", json!({ "diagnosis": diagnosis })),
            Happening::Changed { command, changed } => (
                "changed",
                json!({
                    "command": command,
                    "epoch": changed.epoch,
                    "voters": changed.voters.iter().map(AgentId::as_str).collect::<Vec<_>>(),
                    "already": changed.already,
                }),
            ),
            Happening::Unanswered { command, why } => {
                ("unanswered", json!({ "command": command, "why": why }))
            }
            Happening::Leaving => ("leaving", json!({})),
            Happening::Ended => ("ended", json!({})),
            Happening::Left { politely } => ("left", json!({ "politely": politely })),
        };
        let mut object = Map::new();
        object.insert("t".into(), json!(at.as_nanos() / 1_000));
        object.insert("node".into(), json!(self.node));
        object.insert("event".into(), json!(event));
        if let Value::Object(more) = more {
            object.extend(more);
        }
        Value::Object(object)
    }
}

fn words(what: &Happening) -> String {
    match what {
        Happening::Begins { worst_case_start } => format!(
            "no voter has a disk: one leads within {:.1} s of when most of them have begun",
            worst_case_start.as_secs_f64()
        ),
        Happening::Ready { listen: Some(at) } => format!("listens at {at}"),
        Happening::Ready { listen: None } => String::from("takes part, and does not listen"),
        Happening::Leader(Leader { id, term, .. }) => format!("{id} leads in term {term}"),
        Happening::NoLeader => String::from("no leader is known"),
        Happening::Leads { term, fence } => match fence {
            Some(fence) => format!("I lead in term {term}; my fencing token is {fence}"),
            None => format!("I lead in term {term}"),
        },
        Happening::Works { term, .. } => format!("I still lead in term {term}"),
        Happening::Released { term } => format!("my work in term {term} has ended"),
        Happening::Bridge { what } => what.clone(),
        Happening::Unknown { command } => format!(
            "{command:?} is not a command: score N, withdraw, campaign, step-down [NAME], why, voters, add-voter NAME [NODE ADDRESS], remove-voter NAME, replace-voter OLD NAME [NODE ADDRESS], add-peer NODE ADDRESS, remove-peer NODE, panic, leave"
        ),
        Happening::Refused { command, why } => format!("{command:?} is refused: {why}"),
        Happening::Voters(Voters { epoch, ids }) => {
            format!("the voters of epoch {epoch} are {}", list(ids))
        }
        Happening::Why(diagnosis) => diagnosis.to_string(),
        Happening::Changed { command, changed } => {
            let (epoch, ids) = (changed.epoch, list(&changed.voters));
            format!("{command:?} is done: the voters of epoch {epoch} are {ids}")
        }
        Happening::Unanswered { command, why } => format!("{command:?}: {why}"),
        Happening::Leaving => String::from("leaving"),
        Happening::Ended => String::from("the agent has ended for good"),
        Happening::Left { politely: true } => String::from("left"),
        Happening::Left { politely: false } => {
            String::from("left without a hand-over: that took too long")
        }
    }
}

fn list(ids: &[AgentId]) -> String {
    let ids: Vec<_> = ids.iter().map(AgentId::as_str).collect();
    ids.join(", ")
}

/// Returns the name, if the text is one.
pub(crate) fn name(text: &str) -> Option<AgentId> {
    AgentId::new(text).ok()
}

/// Prints the reason why the node does not start or does not go on.
pub(crate) fn error(wrong: &dyn std::error::Error) {
    let mut screen = std::io::stderr().lock();
    // If this fails too, no place is left to report it.
    writeln!(screen, "node: {wrong}").ok();
}
