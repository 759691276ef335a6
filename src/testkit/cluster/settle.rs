//! Waits until the cluster is settled, and returns the cost or the obstacle.
//!
//! Decided here: *settled* means that on each side of the network the running agents follow one of them, that only this
//! agent of the side considers itself leader, that no message of an election is on its way, and that no agent is about
//! to ask its leader for the leadership (rule `ask-in-turn` of the bully). A side on which no agent may be elected, or
//! with too few voters, is settled without a leader. Not here: the check whether a cluster is settled (`judge.rs`).

use std::{fmt, time::Duration};

use actix::clock::{sleep, timeout};

use super::{Cluster, ClusterError, journal::open};
use crate::{
    clock::Clock,
    protocol::{AgentId, Election},
    record::{RecordedCommand, RecordedSide, What},
};

/// The leaders of a settled cluster, and the time and messages since the last command to the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Settled {
    /// The sides of the network; one side unless the network is separated. The agents of a side reach each other, some
    /// of them perhaps only through other agents. A side has no leader if no agent of the side may be elected, or if it
    /// has too few voters. Agents that are down or hang are on no side.
    pub sides: Vec<RecordedSide>,
    /// Time until the last agent changed its leader.
    pub took: Duration,
    /// Number of election messages that were sent, without the kinds that agents repeat, such as heartbeats and
    /// gossip. [`kinds`](bully_sim::trace::Trace::kinds) of the cluster's trace counts the messages of every kind.
    pub messages: u64,
}

impl Settled {
    /// Returns the leaders, one for each side that has a leader.
    pub fn leaders(&self) -> impl Iterator<Item = &AgentId> {
        self.sides.iter().filter_map(|side| side.leader.as_ref())
    }

    /// Returns the entry for a recording.
    fn entry(&self) -> What {
        What::Settled {
            sides: self.sides.clone(),
            took_ns: u64::try_from(self.took.as_nanos()).unwrap_or(u64::MAX),
            messages: self.messages,
        }
    }

    /// Returns the leader, if exactly one agent leads.
    pub fn leader(&self) -> Option<&AgentId> {
        let mut leaders = self.leaders();
        leaders.next().filter(|_| leaders.next().is_none())
    }
}

impl fmt::Display for Settled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let leaders = listed(self.leaders());
        match self.leaders().count() {
            0 => f.write_str("settled: no agent leads")?,
            1 => write!(f, "settled: {leaders} leads")?,
            _ => write!(f, "settled: {leaders} lead, each on its side")?,
        }
        let s = if self.messages == 1 { "" } else { "s" };
        write!(f, "; {:?}, {} message{s}", self.took, self.messages)
    }
}

/// The reason why a cluster is not settled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Obstacle {
    /// An event happened a moment ago.
    Busy,
    /// Messages of an election are on their way.
    UnderWay {
        /// Number of the messages.
        messages: usize,
    },
    /// The listed agents hold an election, or wait for its outcome.
    Electing(String),
    /// A leader is handing over.
    Draining(String),
    /// The listed agents know no leader, although one of them could be elected.
    Leaderless(String),
    /// Some agents follow an agent that does not run, or whose messages do not reach them.
    Astray {
        /// The agents.
        agents: String,
        /// The agent that they follow.
        leader: AgentId,
    },
    /// The listed agents reach each other and do not follow the same leader.
    Divided(String),
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Busy => f.write_str("the cluster is never idle"),
            Self::UnderWay { messages } => write!(f, "{messages} messages are under way"),
            Self::Electing(names) => write!(f, "still electing: {names}"),
            Self::Draining(names) => write!(f, "still handing over: {names}"),
            Self::Leaderless(names) => write!(
                f,
                "no leader is known at {names}; under the ASTRA rules, command `campaign` at one of them"
            ),
            Self::Astray { agents, leader } => {
                write!(f, "{agents} follow {leader} and cannot hear it")
            }
            Self::Divided(names) => write!(
                f,
                "no agreement among {names}; see `status`, and `heal` what is cut"
            ),
        }
    }
}

impl<E: Election> Cluster<E> {
    /// Waits until the cluster is settled.
    ///
    /// Time and messages are counted from the last command to the cluster. The call returns a moment after the last
    /// event; this moment is not counted.
    ///
    /// # Errors
    /// [`ClusterError::NotSettled`] when the cluster does not settle within a time that follows from the timings, see
    /// [`timeout`](super::ClusterBuilder::timeout). Only time has passed.
    pub async fn settle(&self) -> Result<Settled, ClusterError> {
        let begun = self.clock.now();
        open(&self.journal).command(&RecordedCommand::Settle);
        let mut obstacle = Obstacle::Busy;
        loop {
            let before = open(&self.journal).activity();
            sleep(MOMENT).await; // every agent that has something to do has done it
            let is_quiet = open(&self.journal).activity() == before;
            if is_quiet {
                match self.judge() {
                    Ok(sides) => return Ok(self.settled(sides)),
                    Err(found) => obstacle = found,
                }
            }
            let waited = self.clock.now().since(begun);
            let left = self.timeout.saturating_sub(waited);
            if left.is_zero() {
                let obstacle = obstacle.to_string();
                return Err(ClusterError::NotSettled { waited, obstacle });
            }
            let pause = left.saturating_sub(MOMENT).min(DOUBT);
            if is_quiet && !pause.is_zero() {
                let update = open(&self.journal).next_activity();
                drop(timeout(pause, update).await);
            }
        }
    }

    fn settled(&self, sides: Vec<RecordedSide>) -> Settled {
        let settled = self.seen_settled(sides);
        let mut journal = open(&self.journal);
        let now = journal.now();
        journal.trace.settled(now, || settled.entry());
        settled
    }

    /// Like `settled`, but records nothing: a query must not change a recording.
    pub(super) fn seen_settled(&self, sides: Vec<RecordedSide>) -> Settled {
        let journal = open(&self.journal);
        Settled {
            sides,
            took: journal.took(),
            messages: journal.messages(),
        }
    }
}

/// Interval of the checks.
const MOMENT: Duration = Duration::from_millis(1);
/// Time after which the check is repeated if no event comes: an agent may lose its leader without an event.
const DOUBT: Duration = Duration::from_millis(20);

/// Returns the first names of a list, as a text.
pub(super) fn listed<'a>(names: impl IntoIterator<Item = &'a AgentId>) -> String {
    let names: Vec<&str> = names.into_iter().map(AgentId::as_str).collect();
    let first: Vec<&str> = names.iter().copied().take(LISTED).collect();
    match names.len().saturating_sub(LISTED) {
        _ if names.is_empty() => "none".to_owned(),
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

/// Largest number of names in a message.
const LISTED: usize = 10;
