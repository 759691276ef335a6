//! What a voter knows: whom it trusts, what its last round showed, what others said last.
//!
//! ```text
//!            not below bmax: L3              the highest is one's own: L3
//!  Nobody ──────────────────────▶ Other ─────────────────────────────────▶ Me
//!    ▲                             │  ▲        a higher ballot is heard     │
//!    │◀── vacant · resigned · ended┘  └─────────────────────────────────────┤
//!    └──────────── no majority · vacant · resigned ─────────────────────────┘
//! ```

use std::time::Duration;

use super::{Ballot, BallotNumber, BallotTimer, Defect, Out, Standing};
use crate::protocol::{AgentId, Event, Incarnation, LostReason, Term};

/// Whom a voter or an observer trusts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Trust {
    Nobody,
    Other(Followed),
    Me(Reign),
}

/// Another one leads.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Followed {
    pub(super) ballot: BallotNumber,
    pub(super) incarnation: Incarnation,
}

/// This agent leads.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Reign {
    pub(super) ballot: BallotNumber,
    pub(super) draining: Option<Drain>,
}

/// The work of a leader that steps down has to end.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Drain {
    pub(super) to: Option<AgentId>,
    /// For how long it stands back afterwards.
    pub(super) rest: Duration,
}

/// What the last round showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Seen {
    /// Too few answered.
    Minority,
    /// A majority answered.
    Majority,
    /// A majority, and nobody with the highest ballot; but others say that they hear its holder.
    Missed,
}

impl Seen {
    /// Before the first round: with a new group nobody has seen a majority, and somebody has to be
    /// the first; who comes back has to see one.
    pub(super) const fn first(comes_back: bool) -> Self {
        if comes_back {
            Self::Minority
        } else {
            Self::Majority
        }
    }
}

/// The last words of another voter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Heard {
    pub(super) incarnation: Incarnation,
    pub(super) standing: Standing,
    /// The last of our rounds that it answered; 0: none.
    pub(super) answered: u64,
}

impl Trust {
    pub(super) const fn ballot(&self) -> Option<&BallotNumber> {
        match self {
            Self::Nobody => None,
            Self::Other(followed) => Some(&followed.ballot),
            Self::Me(reign) => Some(&reign.ballot),
        }
    }
}

impl Ballot {
    /// Trusts somebody else from now on, or nobody; says so if that is a change. `reason` is why an
    /// own leadership ends by it.
    pub(super) fn set_trust(&mut self, next: Trust, reason: LostReason, out: &mut Out) {
        if self.trust.ballot() == next.ballot() {
            return;
        }
        let before = std::mem::replace(&mut self.trust, next);
        if let Trust::Me(reign) = &before {
            let term = reign.ballot.term();
            out.cancel_timer(BallotTimer::Drain);
            out.notify(Event::Lost { term, reason });
            let keeps = self.config.has(Defect::LeadsAgain);
            self.own.take_if(|own| *own == reign.ballot && !keeps); // each leadership has its own
        }
        match &self.trust {
            Trust::Me(reign) => {
                let term = reign.ballot.term();
                out.notify(Event::Acquired { term });
            }
            Trust::Other(_) => {
                if let Some(leader) = self.leader() {
                    out.notify(Event::NewLeader(leader));
                }
            }
            Trust::Nobody => {
                if let Trust::Other(followed) = before {
                    let term: Term = followed.ballot.term();
                    out.notify(Event::NoLeader { term });
                }
            }
        }
    }
}
