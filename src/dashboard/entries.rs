//! Turns a run's record into entries of the page's log.
//!
//! Decided here: the largest number of messages in a frame, so that an election of two hundred agents does not flood
//! its viewers; further messages are only counted. Every event that is not a message becomes an entry.

use std::time::Duration;

use super::said::{Happened, Said, Tone, joined};
use crate::{
    protocol::{AgentId, Event, Time},
    record::{Happening, MessageText, TraceEntry, What},
};

/// The entries since the last frame.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub(crate) said: Vec<Said>,
    /// Number of messages without an entry.
    pub(crate) more: u64,
    /// Texts of the actions on the agents and the network since the last frame.
    pub(crate) causes: Vec<String>,
    messages: usize,
}

impl Told {
    /// Adds a recorded entry.
    pub(crate) fn add(&mut self, entry: &TraceEntry) {
        let at = entry.at.since(Time::ZERO);
        match &entry.what {
            What::Sent { .. } | What::Lost { .. } if self.messages >= MOST_MESSAGES => {
                self.more += 1;
            }
            What::Sent { message, arrives } => {
                let arrives = arrives.iter().map(|at| at.since(Time::ZERO)).collect();
                self.message(at, message, arrives, None);
            }
            What::Lost { message, why } => {
                self.message(at, message, Vec::new(), Some(why.clone()));
            }
            What::Dropped { message, why } => {
                let text = format!("dropped {} of {}: {why}", message.kind, message.from);
                self.agent(at, &message.to, text, Tone::Plain);
            }
            What::Role { agent, role } => self.agent(at, agent, format!("is {role}"), Tone::Plain),
            What::Event { agent, event } => {
                self.agent(at, agent, event.to_string(), tone_of(event));
            }
            What::Happened { agent, what } => {
                let tone = match what {
                    Happening::Crashed | Happening::Stopped | Happening::Paused => Tone::Bad,
                    Happening::Started
                    | Happening::Joined
                    | Happening::Left
                    | Happening::Restarted
                    | Happening::Resumed => Tone::Plain,
                };
                self.causes.push(format!("{agent} {what}"));
                self.agent(at, agent, what.to_string(), tone);
            }
            What::Mark(text) | What::Violation(text) => {
                self.causes.push(text.clone());
                let what = Happened::Mark { text: text.clone() };
                self.said.push(Said { at, what });
            }
            // The facts below need no entry: the page draws a message when it is sent; the effects of a command have
            // entries of their own; and the page itself finds the end of an election.
            What::Delivered(_) | What::Command(_) | What::Settled { .. } | What::Ended => {}
        }
    }

    /// Adds a recorded entry, and the election if the entry ends one. `causes` has the actions (such as a crash) since
    /// the last election; they become its cause.
    pub(crate) fn follow(&mut self, entry: &TraceEntry, causes: &mut Vec<String>) {
        self.add(entry);
        causes.append(&mut self.causes);
        let What::Settled {
            sides,
            took_ns,
            messages,
        } = &entry.what
        else {
            return;
        };
        let leaders = sides.iter().filter_map(|side| side.leader.clone());
        self.said.push(Said {
            at: entry.at.since(Time::ZERO),
            what: Happened::Election {
                cause: joined(std::mem::take(causes)),
                leaders: leaders.collect(),
                took: Duration::from_nanos(*took_ns),
                messages: *messages,
            },
        });
    }

    fn message(
        &mut self,
        at: Duration,
        message: &MessageText,
        arrives: Vec<Duration>,
        lost: Option<String>,
    ) {
        self.messages += 1;
        self.said.push(Said {
            at,
            what: Happened::Sent {
                from: message.from.clone(),
                to: message.to.clone(),
                kind: message.kind.clone(),
                text: message.text.clone(),
                arrives,
                lost,
            },
        });
    }

    fn agent(&mut self, at: Duration, agent: &AgentId, text: String, tone: Tone) {
        let agent = agent.clone();
        let what = Happened::Agent { agent, text, tone };
        self.said.push(Said { at, what });
    }
}

const fn tone_of(event: &Event) -> Tone {
    match event {
        Event::Acquired { .. } | Event::Renewed { .. } => Tone::Good,
        Event::Lost { .. } | Event::NoLeader { .. } => Tone::Bad,
        // A later core may have more variants: `tests/layering` fails if this list lacks a variant.
        Event::Draining { .. } | Event::NewLeader(_) | Event::Voters(_) | _ => Tone::Plain,
    }
}

/// Largest number of messages of one frame, so that an election of many agents does not flood the viewers.
const MOST_MESSAGES: usize = 400;

#[cfg(test)]
mod tests {
    use super::*;
    use MessageText;

    fn sent(number: u64) -> TraceEntry {
        let message = MessageText {
            from: "a".parse().unwrap(),
            to: "b".parse().unwrap(),
            kind: "elect".into(),
            text: format!("elect {number}"),
        };
        let arrives = vec![Time::from_millis(number + 2)];
        TraceEntry {
            at: Time::from_millis(number),
            what: What::Sent { message, arrives },
        }
    }

    #[test]
    fn messages_beyond_the_limit_are_counted_and_faults_are_told_all_the_same() {
        let mut told = Told::default();
        (0..1_000).for_each(|number| told.add(&sent(number)));
        told.add(&TraceEntry {
            at: Time::from_millis(5),
            what: What::Happened {
                agent: "a".parse().unwrap(),
                what: Happening::Crashed,
            },
        });
        assert_eq!((told.said.len(), told.more), (401, 600));
        assert_eq!(told.causes, ["a crashes"]);
        let Happened::Sent { arrives, .. } = &told.said[0].what else {
            unreachable!("{:?}", told.said[0])
        };
        assert_eq!(*arrives, [Duration::from_millis(2)]);
    }

    #[test]
    fn a_lost_message_says_why() {
        let mut told = Told::default();
        let TraceEntry {
            what: What::Sent { message, .. },
            at,
        } = sent(1)
        else {
            unreachable!("it is a message")
        };
        let why = "cut".to_owned();
        told.add(&TraceEntry {
            at,
            what: What::Lost { message, why },
        });
        let json = serde_json::to_value(&told.said).unwrap();
        assert_eq!(json[0]["lost"], "cut");
        assert_eq!(json[0]["arrives_ms"], serde_json::json!([]));
    }
}
