//! The messages and events of a run, each as an entry of the page's log.
//!
//! Decided here: the kinds of entries and their JSON; and the text for a change of an agent that is known only from two
//! moments. Not here: the text of a message (its `Display`).

use std::{borrow::Cow, time::Duration};

use serde::Serialize;

use super::moment::{AgentFacts, AgentState, PageMoment, all_millis, short};
use crate::{agent::SpokenTerm, protocol::AgentId, shown};

/// An entry of the log.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Said {
    #[serde(rename = "at_ms", serialize_with = "shown::millis")]
    pub(crate) at: Duration,
    #[serde(flatten)]
    pub(crate) what: Happened,
}

/// The event of an entry.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub(crate) enum Happened {
    /// A message was sent. It arrives at each of the contained times; without a time, it is lost.
    Sent {
        from: AgentId,
        to: AgentId,
        kind: Cow<'static, str>,
        text: String,
        #[serde(rename = "arrives_ms", serialize_with = "all_millis")]
        arrives: Vec<Duration>,
        #[serde(skip_serializing_if = "Option::is_none")]
        lost: Option<String>,
    },
    /// An agent reported an event, or a command changed it.
    Agent {
        agent: AgentId,
        text: String,
        /// The colour of the entry: good (the agent leads, or is present), bad (for example: it has ended, hangs or has
        /// lost its leader), or plain.
        tone: Tone,
    },
    /// Any other event.
    Mark { text: String },
    /// An election has ended.
    Election {
        /// The cause of the election.
        cause: String,
        leaders: Vec<AgentId>,
        #[serde(rename = "took_ms", serialize_with = "shown::millis")]
        took: Duration,
        messages: u64,
    },
}

/// Mark of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Tone {
    Good,
    Bad,
    Plain,
}

/// Joins the first few causes of an election into one text.
pub(crate) fn joined(mut causes: Vec<String>) -> String {
    let hidden = causes.len().saturating_sub(CAUSES);
    causes.truncate(CAUSES);
    let causes = causes.join("; ");
    if hidden > 0 {
        return format!("{causes}; and {hidden} more");
    }
    causes
}

/// Returns entries for the change from one moment to another, one for each change of an agent.
pub(crate) fn told(old: &PageMoment, new: &PageMoment) -> Vec<Said> {
    let pairs = old.agents.iter().zip(&new.agents);
    let lines = pairs.filter(|(before, now)| before.name == now.name);
    let lines = lines.flat_map(|(before, now)| lines_of(before, now).map(move |line| (now, line)));
    let said = |(agent, (text, tone)): (&AgentFacts, (String, Tone))| Said {
        at: new.at,
        what: Happened::Agent {
            agent: agent.name.clone(),
            text,
            tone,
        },
    };
    lines.map(said).take(MOST).collect()
}

fn lines_of(before: &AgentFacts, now: &AgentFacts) -> impl Iterator<Item = (String, Tone)> + use<> {
    let term = now
        .term
        .map(|term| format!(" in term {}", SpokenTerm(term)))
        .unwrap_or_default();
    let state = (before.state != now.state).then(|| match now.state {
        AgentState::Up => (String::from("is there"), Tone::Good),
        AgentState::Hung => (String::from("hangs"), Tone::Bad),
        AgentState::Restarting => (String::from("crashed, and will be restarted"), Tone::Bad),
        AgentState::Down => (String::from("is down"), Tone::Bad),
        AgentState::Suspect => (String::from("is suspected to have ended"), Tone::Bad),
        AgentState::Unreachable => (String::from("cannot be reached"), Tone::Bad),
        AgentState::Unseen => (String::from("has not been seen"), Tone::Bad),
    });
    let leads = match (before.leads, now.leads) {
        (false, true) => Some((format!("leads{term}"), Tone::Good)),
        (true, false) => Some((String::from("does not lead any more"), Tone::Bad)),
        _ => None,
    };
    let follows = match &now.leader {
        _ if now.leads || now.remote || before.leader == now.leader => None,
        Some(leader) => Some((format!("follows {leader}{term}"), Tone::Plain)),
        None => Some((String::from("knows no leader"), Tone::Bad)),
    };
    [state, leads, follows].into_iter().flatten()
}

/// Cuts the text of an entry to the limit of a page.
pub(crate) fn shorten(said: &mut Said) {
    match &mut said.what {
        Happened::Sent { text, .. }
        | Happened::Mark { text }
        | Happened::Agent { text, .. }
        | Happened::Election { cause: text, .. } => {
            *text = short(std::mem::take(text));
        }
    }
}

/// Largest number of causes in the text of an election.
const CAUSES: usize = 3;
/// Largest number of entries for the change between two moments.
const MOST: usize = 500;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Term;

    fn moment(change: impl Fn(&mut AgentFacts)) -> PageMoment {
        let mut agent = AgentFacts::named("a".parse().unwrap());
        change(&mut agent);
        PageMoment {
            agents: vec![agent],
            ..PageMoment::default()
        }
    }

    fn texts(old: &PageMoment, new: &PageMoment) -> Vec<String> {
        let text = |said: Said| {
            let Happened::Agent { agent, text, .. } = &said.what else {
                unreachable!("{said:?}")
            };
            format!("{agent} {text}")
        };
        told(old, new).into_iter().map(text).collect()
    }

    #[test]
    fn a_change_is_told_in_words() {
        let before = moment(|_| {});
        let leads = moment(|agent| {
            agent.leads = true;
            agent.term = Some(Term(7));
            agent.leader = Some("a".parse().unwrap());
        });
        let down = moment(|agent| agent.state = AgentState::Down);
        assert_eq!(texts(&before, &before), [""; 0]);
        assert_eq!(texts(&before, &leads), ["a leads in term 7"]);
        assert_eq!(
            texts(&leads, &down),
            ["a is down", "a does not lead any more", "a knows no leader"]
        );
        let follows = moment(|agent| agent.leader = Some("b".parse().unwrap()));
        assert_eq!(texts(&before, &follows), ["a follows b"]);
        // Of an agent that has moved to another host nothing is known about whom it follows.
        let moved = moment(|agent| agent.remote = true);
        assert_eq!(texts(&follows, &moved), [""; 0]);
    }

    #[test]
    fn an_entry_is_flat_json() {
        let said = told(&moment(|_| {}), &moment(|agent| agent.leads = true));
        let json = serde_json::to_value(&said).unwrap();
        let line = serde_json::json!({"at_ms": 0.0, "what": "agent", "agent": "a", "text": "leads", "tone": "good"});
        assert_eq!(json, serde_json::json!([line]));
    }
}
