//! The text of a run: entries become lines, and lines become text.
//!
//! Decided here: which entries share a line. Several entries of one agent at one moment share a line, and agents with
//! the same entry at one moment share a line. So an election of five agents takes about ten lines. A command has no
//! line, because its effects have lines. The first line names the unit of the times.

use std::fmt::{self, Write as _};

use super::{BoundedText, MessageText, TraceEntry, What};
use crate::protocol::{AgentId, Role, Time};

/// One line of the text.
#[derive(Clone, Debug)]
pub struct Line<'a> {
    pub(super) at: Time,
    pub(super) subject: Subject<'a>,
    pub(super) what: String,
}

/// The agents of a line.
#[derive(Clone, Debug)]
pub enum Subject<'a> {
    /// All agents.
    All,
    /// The listed agents.
    Agents(Vec<&'a AgentId>),
    /// The sender and the receivers of a message.
    Message {
        /// The sender of the message.
        from: &'a AgentId,
        /// The fate of the message.
        way: Way,
        /// The receivers of the message.
        to: Vec<&'a AgentId>,
    },
}

/// The fate of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// The message left.
    Sent,
    /// The message never arrives.
    Lost,
    /// The message arrived.
    Arrived,
    /// The message arrived, and its receiver dropped it.
    Dropped,
}

/// Joins entries into lines.
pub fn lines<'a>(
    entries: impl IntoIterator<Item = &'a TraceEntry, IntoIter: Clone>,
) -> Vec<Line<'a>> {
    let mut joined: Vec<Line<'a>> = Vec::new();
    let mut entries = entries.into_iter();
    while let Some(entry) = entries.next() {
        if tells_nothing(entry, entries.clone()) {
            continue;
        }
        let Some(line) = line(entry) else { continue };
        match joined
            .last_mut()
            .filter(|last| last.is_of_same_agent(&line))
        {
            Some(last) => {
                last.what.push_str("; ");
                last.what.push_str(&line.what);
            }
            None => joined.push(line),
        }
    }
    let mut shared: Vec<Line<'a>> = Vec::new();
    for line in joined {
        if !shared.last_mut().is_some_and(|last| last.shares(&line)) {
            shared.push(line);
        }
    }
    shared
}

/// Returns the lines as text.
pub fn to_text(lines: &[Line<'_>], forgotten: u64) -> String {
    let mut text = BoundedText::new(MOST_WRITTEN);
    if forgotten > 0 {
        text.append(format_args!(
            "({forgotten} earlier entries are forgotten)\n"
        ))
        .ok();
    }
    if !lines.is_empty() {
        text.push(UNIT).ok();
    }
    let width = |text: &String| text.chars().count();
    let subjects: Vec<String> = lines.iter().map(|line| line.subject.to_string()).collect();
    let whens: Vec<String> = lines.iter().map(|line| line.at.to_string()).collect();
    let subject_width = subjects.iter().map(width).max().unwrap_or(0).min(32);
    let when_width = whens.iter().map(width).max().unwrap_or(0).max(9);
    for ((line, subject), when) in lines.iter().zip(subjects).zip(whens) {
        let what = &line.what;
        let written = format!("{when:>when_width$}  {subject:<subject_width$}  {what}");
        if text
            .append(format_args!("{}\n", written.trim_end()))
            .is_err()
        {
            break;
        }
    }
    text.ended_by("(the run goes on: this is all that is written of it)\n")
}

const UNIT: &str = "(times in ms)\n";

/// Largest size of a text, diagram, script or test of a run, in bytes.
pub(super) const MOST_WRITTEN: usize = 16 << 20;

impl Line<'_> {
    fn is_of_same_agent(&self, next: &Self) -> bool {
        match (&self.subject, &next.subject) {
            (Subject::Agents(mine), Subject::Agents(theirs)) => {
                self.at == next.at && mine == theirs
            }
            _ => false,
        }
    }

    /// Adds the agents of the next line to this line, if both lines have the same content. Returns whether the agents
    /// were added.
    fn shares(&mut self, next: &Self) -> bool {
        if (self.at, &self.what) != (next.at, &next.what) {
            return false;
        }
        match (&mut self.subject, &next.subject) {
            (Subject::Agents(mine), Subject::Agents(theirs)) => mine.extend(theirs),
            (
                Subject::Message { from, way, to },
                Subject::Message {
                    from: next_from,
                    way: next_way,
                    to: next_to,
                },
            ) if from == next_from && way == next_way => to.extend(next_to),
            _ => return false,
        }
        true
    }
}

impl<'a> Subject<'a> {
    fn message(message: &'a MessageText, way: Way) -> Self {
        Self::Message {
            from: &message.from,
            way,
            to: vec![&message.to],
        }
    }
}

impl fmt::Display for Subject<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |names: &[&AgentId]| {
            let names: Vec<&str> = names.iter().map(|name| name.as_str()).collect();
            names.join(", ")
        };
        match self {
            Self::All => f.write_str("=="),
            Self::Agents(agents) => f.write_str(&list(agents)),
            Self::Message { from, way, to } => {
                let to = list(to);
                match way {
                    Way::Sent => write!(f, "{from} -> {to}"),
                    Way::Lost => write!(f, "{from} -x {to}"),
                    Way::Arrived => write!(f, "{to} <- {from}"),
                    Way::Dropped => write!(f, "{to} x- {from}"),
                }
            }
        }
    }
}

/// Returns the line of an entry; `None` if other entries already show the content of the entry.
fn line(entry: &TraceEntry) -> Option<Line<'_>> {
    let at = entry.at;
    let (subject, what) = match &entry.what {
        What::Sent { message, arrives } => {
            let mut what = message.text.clone();
            for arrival in arrives
                .iter()
                .filter(|arrival| **arrival > at || arrives.len() > 1)
            {
                let span = Time::ZERO.after(arrival.since(at));
                append(&mut what, format_args!("  +{span}"));
            }
            (Subject::message(message, Way::Sent), what)
        }
        What::Lost { message, why } => {
            let what = format!("{}  lost: {why}", message.text);
            (Subject::message(message, Way::Lost), what)
        }
        What::Delivered(message) => (
            Subject::message(message, Way::Arrived),
            message.text.clone(),
        ),
        What::Dropped { message, why } => {
            let what = format!("{}  dropped: {why}", message.text);
            (Subject::message(message, Way::Dropped), what)
        }
        What::Role { agent, role } => (Subject::Agents(vec![agent]), role.to_string()),
        What::Event { agent, event } => (Subject::Agents(vec![agent]), event.to_string()),
        What::Happened { agent, what } => (Subject::Agents(vec![agent]), what.to_string()),
        What::Mark(text) => (Subject::All, text.clone()),
        What::Violation(text) => (Subject::All, format!("BROKEN: {text}")),
        What::Command(_) | What::Settled { .. } | What::Ended => return None,
    };
    Some(Line { at, subject, what })
}

/// Returns whether an event of the same moment already shows that an agent follows or leads.
fn tells_nothing<'a>(
    entry: &TraceEntry,
    mut following: impl Iterator<Item = &'a TraceEntry>,
) -> bool {
    let What::Role {
        agent,
        role: Role::Leader | Role::Follower,
    } = &entry.what
    else {
        return false;
    };
    following
        .by_ref()
        .take_while(|later| later.at == entry.at)
        .any(|later| matches!(&later.what, What::Event { agent: of, .. } if of == agent))
}

/// Appends to a string, which cannot fail.
pub(crate) fn append(text: &mut String, what: fmt::Arguments<'_>) {
    text.write_fmt(what).unwrap_or_default();
}
