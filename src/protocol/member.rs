//! One member as the others see it, and what can be said of one of its lives.
//!
//! Decided here: which lives count as over, for certain or as a guess. Combining reports about
//! lives is the business of [`Members`](super::Members).

use super::{AgentId, Incarnation, Rank, Score};

/// One member as the others see it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Member {
    /// The name.
    pub id: AgentId,
    /// Voter or observer.
    pub kind: MemberKind,
    /// Its importance when last heard; `None` for who cannot be elected.
    pub score: Option<Score>,
    /// Whether it is there.
    pub presence: Presence,
    /// The last life known.
    pub incarnation: Option<Incarnation>,
    /// The last life that has certainly ended, its leadership revoked.
    pub ended: Option<Incarnation>,
}

/// Whether a member is asked, or only told. Fixed when it joins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MemberKind {
    /// Is asked, votes, and may lead if it has a score.
    #[default]
    Voter,
    /// Is told who leads.
    Observer,
}

/// Whether a member is there, as far as is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Presence {
    /// Configured, and never seen.
    #[default]
    Unseen,
    /// Its last known life goes on.
    Up,
    /// Its last known life may have ended: a guess.
    Suspect,
    /// Its last known life has certainly ended.
    Down,
}

impl Member {
    /// A member that is up in its life `incarnation`.
    pub fn up(
        id: AgentId,
        kind: MemberKind,
        score: Option<Score>,
        incarnation: Incarnation,
    ) -> Self {
        let (presence, incarnation) = (Presence::Up, Some(incarnation));
        Self {
            id,
            kind,
            score,
            presence,
            incarnation,
            ended: None,
        }
    }

    /// A member that is configured and was never seen.
    pub fn unseen(id: AgentId, kind: MemberKind, score: Option<Score>) -> Self {
        Self {
            id,
            kind,
            score,
            presence: Presence::Unseen,
            incarnation: None,
            ended: None,
        }
    }

    /// Whether it votes.
    pub fn is_voter(&self) -> bool {
        self.kind == MemberKind::Voter
    }

    /// Whether it is there, as far as is known.
    pub fn is_up(&self) -> bool {
        self.presence == Presence::Up
    }

    /// Whether its life `incarnation` is over or thought to be.
    pub fn is_gone(&self, incarnation: Incarnation) -> bool {
        let doubtful = matches!(self.presence, Presence::Suspect | Presence::Down);
        self.incarnation
            .is_some_and(|known| known > incarnation || known == incarnation && doubtful)
    }

    /// Whether mail from its life `incarnation` is out of date: that life is over for certain.
    pub fn is_stale(&self, incarnation: Incarnation) -> bool {
        let down = self.presence == Presence::Down;
        self.incarnation
            .is_some_and(|known| known > incarnation || known == incarnation && down)
            || self.has_ended(incarnation)
    }

    /// Whether its life `incarnation` has certainly ended, its leadership revoked.
    pub fn has_ended(&self, incarnation: Incarnation) -> bool {
        self.ended.is_some_and(|ended| ended >= incarnation)
    }

    /// Its rank, if it may be elected at all.
    pub fn rank(&self) -> Option<Rank> {
        self.score.filter(|_| self.is_voter()).map(|score| Rank {
            score,
            id: self.id.clone(),
        })
    }

    /// Whether it may be elected and is more important than `rank`.
    pub fn outranks(&self, rank: &Rank) -> bool {
        self.is_voter()
            && self
                .score
                .is_some_and(|score| (score, &self.id) > (rank.score, &rank.id))
    }
}
