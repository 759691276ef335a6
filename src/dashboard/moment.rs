//! The facts that the page shows of one moment, and their JSON.
//!
//! Decided here: the facts about an agent, the links and the clock, their names, and the limits of a page. Durations
//! are milliseconds under keys that end in `_ms`, and nanoseconds in the facts of a network, as in a recording; terms
//! and incarnations are text, because they may exceed 2^53. Names are JSON strings: the page shows every name as text,
//! whatever characters it has. Not here: the sources of the facts (`running.rs`, `stage/facts.rs`), and the difference
//! of two moments (`change.rs`).

use std::time::Duration;

use serde::{Serialize, Serializer};

use crate::{
    protocol::{About, AgentId, Incarnation, MemberKind, Role, Score, Term},
    record::NetworkRecord,
    shown,
};

/// All facts that a page shows of one moment, without the messages.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct PageMoment {
    /// Time since the page's clock began.
    #[serde(rename = "at_ms", serialize_with = "shown::millis")]
    pub(crate) at: Duration,
    /// The agents, in an order that does not change.
    pub(crate) agents: Vec<AgentFacts>,
    /// The groups of the agents, the worst first.
    pub(crate) groups: Vec<GroupFacts>,
    /// Wall-clock time at which the page's clock began, in milliseconds since 1970; `None` without a wall clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) began_unix_ms: Option<u64>,
    /// Number of agents, including the agents that are not shown.
    pub(crate) agent_count: usize,
    /// The connections that are cut: for each the positions of the sending and the receiving agent.
    pub(crate) cuts: Vec<(usize, usize)>,
    /// The epoch of the list of voters, if the list can be changed.
    pub(crate) voters: Option<u64>,
    /// The hosts to which a bridge has links.
    pub(crate) peers: Vec<PeerFacts>,
    /// The faults that the network applies to every message, if they can be set.
    pub(crate) network: Option<NetworkRecord>,
    /// Explanations why the leader leads, or why no agent does: a text for each agent that was asked.
    pub(crate) why: Vec<Reason>,
    /// The speed of the page's clock.
    pub(crate) clock: ClockFacts,
    /// The scenario that is played.
    pub(crate) scenario: Option<&'static str>,
    /// Number of commands that were given so far on a stage, to the first election and to the second.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) given: Vec<u64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
pub(crate) const fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The known facts of one agent.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own, and any of them may be true with any other"
)]
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct AgentFacts {
    pub(crate) name: AgentId,
    /// The agent's group, if the node has several groups.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) group: String,
    /// An observer with a score is a learner, which can be made a voter.
    pub(crate) kind: MemberKind,
    #[serde(serialize_with = "shown::optional_text::serialize")]
    pub(crate) score: Option<Score>,
    pub(crate) state: AgentState,
    /// The agent's role; `None` for an agent on another host.
    pub(crate) role: Option<Role>,
    #[serde(serialize_with = "shown::optional_text::serialize")]
    pub(crate) term: Option<Term>,
    #[serde(serialize_with = "shown::optional_text::serialize")]
    pub(crate) incarnation: Option<Incarnation>,
    pub(crate) leader: Option<AgentId>,
    /// The text that the agent publishes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) about: Option<About>,
    /// Whether the agent leads, as the agent itself or one of its followers reports.
    pub(crate) leads: bool,
    pub(crate) draining: bool,
    /// End of the agent's lease, by the page's clock. For a leader on another host, it is the end that its followers
    /// here know. `None` if the leadership has no end, or if only the leader's host knows it.
    #[serde(
        rename = "lease_until_ms",
        serialize_with = "shown::optional_millis",
        skip_serializing_if = "Option::is_none"
    )]
    pub(crate) lease_until: Option<Duration>,
    /// Whether the lease of a leader on another host has run out, as far as its followers here know.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) lease_out: bool,
    /// The number of the side of a partition on which the agent is.
    pub(crate) side: usize,
    pub(crate) isolated: bool,
    /// Whether the agent runs on another host, so that only the members of its group here report it.
    pub(crate) remote: bool,
    /// The agent's host; `None` for the page's own host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) host: Option<String>,
}

/// State of an agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AgentState {
    #[default]
    Up,
    Hung,
    Restarting,
    Down,
    Suspect,
    Unseen,
    /// The host of the agent is not linked.
    Unreachable,
}

/// A host that the node's bridge knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct PeerFacts {
    pub(crate) node: String,
    /// `linked`, `dialing` or `waiting`.
    pub(crate) link: String,
    pub(crate) error: Option<String>,
}

/// The speed of the page's clock.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct ClockFacts {
    /// Whether the speed of the clock can be set.
    pub(crate) is_virtual: bool,
    pub(crate) paused: bool,
    /// Seconds of the page's clock that pass in one real second.
    pub(crate) speed: f64,
    /// The progress of a run that is being repeated before it continues live; `None` if no run is being repeated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) again: Option<PlayedAgain>,
}

/// The progress of a run that is being repeated.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct PlayedAgain {
    /// The moment that the repetition has reached.
    #[serde(rename = "at_ms", serialize_with = "shown::millis")]
    pub(crate) at: Duration,
    /// The moment from which the run continues live.
    #[serde(rename = "until_ms", serialize_with = "shown::millis")]
    pub(crate) until: Duration,
}

impl Default for ClockFacts {
    fn default() -> Self {
        Self {
            is_virtual: false,
            paused: false,
            speed: 1.0,
            again: None,
        }
    }
}

impl AgentFacts {
    /// Returns an agent of which only the name is known.
    pub(crate) fn named(name: AgentId) -> Self {
        Self {
            name,
            group: String::new(),
            kind: MemberKind::Voter,
            score: None,
            state: AgentState::Up,
            role: None,
            term: None,
            incarnation: None,
            leader: None,
            about: None,
            leads: false,
            draining: false,
            lease_until: None,
            lease_out: false,
            side: 0,
            isolated: false,
            remote: false,
            host: None,
        }
    }
}

/// A group of the moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct GroupFacts {
    /// The name of the group; empty if the source has no names.
    pub(crate) name: String,
    pub(crate) trouble: Trouble,
    /// Start of the trouble, by the page's clock; `None` if it is unknown.
    #[serde(
        rename = "since_ms",
        serialize_with = "shown::optional_millis",
        skip_serializing_if = "Option::is_none"
    )]
    pub(crate) since: Option<Duration>,
}

/// Trouble of a group, the worst first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Trouble {
    /// No agent leads.
    NoLeader,
    /// More agents than one lead.
    SeveralLeaders,
    /// Fewer voters can be reached than an election needs.
    FewVoters,
    /// A member is not up, or is cut off.
    Away,
    #[default]
    None,
}

/// An explanation on the page. Its JSON is only the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reason {
    /// The group that the explanation is about; empty if the source has no names of groups.
    pub(crate) group: String,
    pub(crate) text: String,
}

impl From<String> for Reason {
    fn from(text: String) -> Self {
        let group = String::new();
        Self { group, text }
    }
}

impl Serialize for Reason {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.text)
    }
}

impl PageMoment {
    /// Returns the leading agents among the shown agents.
    pub(crate) fn leaders(&self) -> impl Iterator<Item = &AgentFacts> {
        self.agents.iter().filter(|agent| agent.leads)
    }

    /// Cuts the moment to the limits of a page.
    pub(crate) fn bounded(mut self) -> Self {
        self.agent_count = self.agents.len();
        self.agents.truncate(MOST_AGENTS);
        let shown = self.agents.len();
        self.cuts.retain(|(from, to)| from.max(to) < &shown);
        self.cuts.truncate(MOST_CUTS);
        self.peers.truncate(MOST_AGENTS);
        for peer in &mut self.peers {
            peer.error = peer.error.take().map(short);
        }
        self.groups.truncate(MOST_AGENTS);
        cut(&mut self.why, MOST_TEXTS);
        let worst = self.why.first().map(|reason| reason.group.clone());
        for reason in &mut self.why {
            // The explanations of the worst group are not shortened.
            if Some(&reason.group) != worst.as_ref() || reason.group.is_empty() {
                reason.text = short(std::mem::take(&mut reason.text));
            }
        }
        self.why.truncate(MOST_AGENTS);
        self
    }
}

/// Rounds the end of a lease down to a multiple of 20 ms. The clock and the lease are read at different moments, so two
/// readings of the same end differ a little; a small difference must not count as a change.
pub(crate) fn coarse(until: Duration) -> Duration {
    let grains = until.as_nanos() / GRAIN.as_nanos();
    GRAIN.saturating_mul(u32::try_from(grains).unwrap_or(u32::MAX))
}

/// Cuts a text to 2,000 characters.
pub(crate) fn short(text: String) -> String {
    match text.char_indices().nth(LONGEST_TEXT) {
        Some((end, _)) => format!("{} ..", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

/// Writes times as an array of milliseconds.
pub(crate) fn all_millis<S: Serializer>(times: &[Duration], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(times.iter().map(|time| shown::in_millis(*time)))
}

/// Largest number of agents that are shown. A ring of more agents would look like a line.
pub(crate) const MOST_AGENTS: usize = 1_000;
const GRAIN: Duration = Duration::from_millis(20);
/// Keeps all reasons of the first group, and as many reasons of the other groups as fit into `most`.
pub(super) fn cut(reasons: &mut Vec<Reason>, most: usize) {
    let first = reasons.first().map(|reason| reason.group.clone());
    let mut kept = 0;
    reasons.retain(|reason| {
        kept += 1;
        kept <= most || Some(&reason.group) == first.as_ref()
    });
}

/// Largest number of shown cuts. Chosen: all cuts among 45 agents. A partition needs no entries here: each agent has
/// its `side`.
const MOST_CUTS: usize = 2_000;
/// Number of explanations that are kept for all groups; beyond it, only explanations of the worst group are kept.
/// Chosen: each may have 2,000 characters.
const MOST_TEXTS: usize = 8;
const LONGEST_TEXT: usize = 2_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_json_in_which_no_name_ends_a_string_or_a_line() {
        let name = AgentId::new("<b>\"x\"&amp;").unwrap();
        let mut agent = AgentFacts::named(name.clone());
        agent.term = Some(Term(u64::MAX));
        agent.lease_until = Some(Duration::from_micros(1_500));
        let moment = PageMoment {
            agents: vec![agent],
            why: vec!["one\ntwo".to_owned().into()],
            ..PageMoment::default()
        };
        let json = serde_json::to_string(&moment.bounded()).unwrap();
        assert!(
            !json.contains('\n'),
            "a line of an event stream has no end inside"
        );
        let read: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(read["agents"][0]["name"], name.as_str());
        assert_eq!(read["agents"][0]["term"], "18446744073709551615");
        assert_eq!(read["agents"][0]["lease_until_ms"], 1.5);
        assert_eq!(read["agent_count"], 1);
        assert_eq!(read["why"][0], "one\ntwo");
    }

    #[test]
    fn a_page_is_given_no_more_than_its_share() {
        let agent = |number: usize| AgentFacts::named(format!("a{number}").parse().unwrap());
        let moment = PageMoment {
            agents: (0..1_200).map(agent).collect(),
            cuts: (0..3_000).map(|at| (at % 1_200, 0)).collect(),
            why: vec![
                Reason {
                    group: "g".to_owned(),
                    text: "ä".repeat(5_000)
                };
                20
            ],
            ..PageMoment::default()
        }
        .bounded();
        assert_eq!((moment.agents.len(), moment.agent_count), (1_000, 1_200));
        assert_eq!(moment.cuts.len(), 2_000);
        assert!(moment.cuts.iter().all(|(from, _)| *from < 1_000));
        assert_eq!(moment.why.len(), 20, "of one group all");
        assert_eq!(moment.why[0].text.chars().count(), 5_000);
        assert_eq!(short("ä".repeat(2_000)).chars().count(), 2_000);
    }
}
