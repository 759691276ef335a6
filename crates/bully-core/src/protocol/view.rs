//! The state that a participant shows to readers: its role, its leader, and until when it leads.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{About, Leader, Term, Time};

/// The state of a participant at one instant of its own clock; see [`Election::view`].
///
/// [`Election::view`]: super::Election::view
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct View {
    /// The role of the participant.
    pub role: Role,
    /// The term of the leader that the participant follows, or of its own leadership; otherwise the highest term that
    /// the participant has seen.
    pub term: Term,
    /// The leader that the participant follows, or the participant itself if it leads.
    pub leader: Option<Leader>,
    /// The leader's text about itself, if the election's own records carry it. In other elections the list of members
    /// has the text.
    pub about: Option<About>,
    /// The term in which the participant considers itself leader; `None` if it does not lead.
    pub leading: Option<Term>,
    /// Time until which the participant considers itself leader without another step; [`Time::MAX`] without a limit.
    pub valid_until: Time,
}

impl View {
    /// Makes the view of a participant that neither leads nor follows; `term` is the highest term that the participant
    /// has seen.
    pub const fn new(role: Role, term: Term) -> Self {
        Self {
            role,
            term,
            leader: None,
            about: None,
            leading: None,
            valid_until: Time::MAX,
        }
    }

    /// Returns the view of a participant that follows this leader.
    #[must_use]
    pub fn follows(self, leader: Leader) -> Self {
        Self {
            term: leader.term,
            leader: Some(leader),
            ..self
        }
    }

    /// Returns the view of the leader `own`, which leads until `valid_until` without another step.
    #[must_use]
    pub fn leads(self, own: Leader, valid_until: Time) -> Self {
        Self {
            leading: Some(own.term),
            valid_until,
            ..self.follows(own)
        }
    }
}

/// The role of a participant.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Follows a leader, or waits for one.
    #[default]
    Follower,
    /// Holds an election: it has sent `Elect` and waits for answers.
    Candidate,
    /// Has received an `Ok`, and waits for the `Elected` of an agent of higher rank.
    Waiting,
    /// Leads.
    Leader,
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Follower => "follower",
            Self::Candidate => "candidate",
            Self::Waiting => "waiting",
            Self::Leader => "leader",
        })
    }
}
