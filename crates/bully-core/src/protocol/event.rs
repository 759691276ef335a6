//! Events of a machine for the application.
//!
//! Contract, at one agent: between [`Acquired`](Event::Acquired) and [`Lost`](Event::Lost) of its own leadership only
//! [`Renewed`](Event::Renewed) and [`Draining`](Event::Draining) occur; there is exactly one `Lost` for each
//! `Acquired`; terms of [`NewLeader`](Event::NewLeader) never decrease within one incarnation (except under the rules
//! of ASTRA, which compare no terms).
//!
//! Decided here: the reasons why a leadership ends, and for each reason its label in metrics, its text, and whether such
//! an end was requested. Not here: which of them is logged or counted; the crate that runs the agents decides that.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{AgentId, Incarnation, Term, VotersEvent};

/// A change of the leader, as one agent sees it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Event {
    /// This agent leads from now on.
    Acquired {
        /// The term in which this agent leads.
        term: Term,
    },
    /// This agent continues to lead without a gap, in a higher term.
    Renewed {
        /// The higher term, in which this agent leads from now on.
        term: Term,
    },
    /// This agent was asked to hand over the leadership. The application has to end its work, and then to report the
    /// end.
    Draining {
        /// The term in which this agent leads.
        term: Term,
        /// The agent that shall lead next, if known.
        to: Option<AgentId>,
    },
    /// This agent no longer leads.
    Lost {
        /// The term in which this agent led.
        term: Term,
        /// The reason for the end of the leadership.
        reason: LostReason,
    },
    /// This agent follows another leader from now on, or the same leader in a higher term.
    NewLeader(Leader),
    /// The leader that this agent followed is gone, and no other leader is known yet.
    NoLeader {
        /// The term of the leader that is gone.
        term: Term,
    },
    /// The voters changed while the group runs, or a request to change them was answered.
    Voters(Box<VotersEvent>),
}

impl Event {
    /// Returns whether the agent has to end: its record is older than its last vote or acknowledgement.
    pub fn ends_agent(&self) -> bool {
        matches!(self, Self::Voters(event) if matches!(**event, VotersEvent::OldRecord { .. }))
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Acquired { term } => write!(f, "acquired the leadership in term {term}"),
            Self::Renewed { term } => write!(f, "renewed the leadership in term {term}"),
            Self::Draining { term, to: Some(to) } => write!(f, "drains in term {term} for {to}"),
            Self::Draining { term, to: None } => write!(f, "drains in term {term}"),
            Self::Lost { term, reason } => {
                write!(f, "lost the leadership of term {term}: {reason}")
            }
            Self::NewLeader(leader) => write!(f, "follows {} in term {}", leader.id, leader.term),
            Self::NoLeader { term } => write!(f, "has no leader since term {term}"),
            Self::Voters(event) => event.fmt(f),
        }
    }
}

/// The reasons. Each has a name as the label of a metric, a name in a text, and a flag that shows whether such an end
/// was requested.
macro_rules! lost_reasons {
    ($($(#[$doc:meta])* $name:ident $label:literal $text:literal $is_wanted:literal,)*) => {
        /// The reason why a leadership ended.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        #[non_exhaustive]
        pub enum LostReason {
            $($(#[$doc])* $name,)*
        }

        impl LostReason {
            /// All reasons.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// Returns whether a leadership ended on request. Any other end is caused by a fault of the agent, its host
            /// or the network, which an operator may want to examine.
            pub const fn is_wanted(self) -> bool {
                match self { $(Self::$name => $is_wanted,)* }
            }

            /// Returns the name of the reason as the label of a metric. The label stays the same from version to
            /// version.
            pub const fn label(self) -> &'static str {
                match self { $(Self::$name => $label,)* }
            }
        }

        impl fmt::Display for LostReason {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $(Self::$name => $text,)* })
            }
        }
    };
}

lost_reasons! {
    /// An agent of higher rank asked for the leadership, and by its policy this agent yielded.
    Outranked "outranked" "outranked" true,
    /// Another agent announced itself in a higher term.
    Superseded "superseded" "superseded" false,
    /// This agent stepped down or left the group, and handed over.
    Resigned "resigned" "resigned" true,
    /// This agent stood still for too long: the other agents may have missed it and elected another leader.
    Stalled "stalled" "stalled" false,
    /// This agent crashed or was stopped.
    Ended "ended" "ended" false,
    /// A lease was not renewed in time.
    LeaseExpired "lease_expired" "lease expired" false,
    /// In one round of questions, this agent did not hear a majority of the voters.
    Isolated "isolated" "isolated" false,
    /// The group is being reorganized, because a member was found outside of it; the same agent may lead next.
    Reorganized "reorganized" "reorganized" true,
    /// The list of voters changes, so this leadership ended. An agent that the next list elects leads next.
    VotersChange "voters_change" "voters change" true,
    /// The voters that know a later process of this agent's name outnumber the other voters that are up.
    NameTwice "name_twice" "its name is used twice" false,
}

/// A leader: its name, its incarnation and its term.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Leader {
    /// The name of the leader.
    pub id: AgentId,
    /// The incarnation in which it leads.
    pub incarnation: Incarnation,
    /// The term in which it leads.
    pub term: Term,
}
