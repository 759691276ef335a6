//! What an agent of a quorum election is doing, with the data that belongs to it.
//!
//! ```text
//!            turn came: E1            consents: C1            Qv grants: A1
//! Follower ───────────────▶ Probing ─────────────▶ Claiming ────────────────▶ Leader
//!  ▲   ▲                       │                      │                        │ │
//!  │   └── Ok, no quorum ──────┘                      │          Ql acks: A3   │ │ believes
//!  │   └── refused, no quorum ────────────────────────┘                        │◀┘
//!  └── Elected, Heartbeat · resigned · lease expired · superseded ─────────────┘
//! ```

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use super::lease::LeaseBook;
use crate::elections::message::Leadership;
use crate::protocol::{AgentId, Incarnation, Leader, Role, Round, Score, Term, Time};

/// One of four roles, each with its data.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum State {
    Follower(Seat),
    Probing(Probe),
    Claiming(Claiming),
    Leader(Reign),
}

impl State {
    pub(super) const fn role(&self) -> Role {
        match self {
            Self::Follower(Seat::Vacant(Vacancy {
                posture: Posture::StandsBack,
                ..
            })) => Role::Waiting,
            Self::Follower(_) => Role::Follower,
            Self::Probing(_) | Self::Claiming(_) => Role::Candidate,
            Self::Leader(reign) => match reign.belief {
                Belief::Pending { .. } => Role::Candidate,
                Belief::Held { .. } => Role::Leader,
            },
        }
    }
}

/// The leader's seat as a follower sees it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Seat {
    Vacant(Vacancy),
    Taken(Followed),
}

/// Nobody is known to lead.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Vacancy {
    /// When this agent's turn comes; [`Time::MAX`] for who does not stand.
    pub due: Time,
    pub posture: Posture,
    pub last: Option<Gone>,
}

/// Whether a follower without a leader has given way to somebody.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Posture {
    OwnTurn,
    StandsBack,
}

/// The leader that was there before, and how sure it is that it is gone. Nobody waits for it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Gone {
    pub id: AgentId,
    pub certain: Certainty,
}

/// How an end became known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Certainty {
    /// By silence, or it resigned.
    Guessed,
    /// That life is over: everybody hears of it at the same time, so waits are short.
    Certain,
}

/// The leader that an agent follows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Followed {
    pub leader: Leader,
    pub score: Score,
    /// Silence until then means that it is gone (for a voter: the end of its promise).
    pub due: Time,
    /// Heard without a gap of more than 3 H: from when, and last.
    pub since: Time,
    pub last: Time,
    pub challenge: Challenge,
}

/// What a follower that outranks its leader does about it (P1).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Challenge {
    /// Nothing before that time.
    Rests { until: Time },
    /// It asked the voters whether it may take over.
    Asked {
        round: Round,
        consents: BTreeSet<AgentId>,
        due: Time,
    },
}

/// The questions before a claim (E1 to E3). They change nothing durable anywhere.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Probe {
    pub round: Round,
    pub term: Term,
    pub consents: BTreeSet<AgentId>,
    /// Who answered this round, this agent included.
    pub replied: BTreeSet<AgentId>,
    /// The longest time that a refusal named.
    pub retry: Duration,
    pub due: Time,
    pub last: Option<Gone>,
}

/// A claim that is being voted on (C1 to C3).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Claiming {
    pub term: Term,
    pub grants: BTreeSet<AgentId>,
    pub retry: Duration,
    pub due: Time,
    pub last: Option<Gone>,
}

/// A leadership of this agent, from the last vote it needed (A1).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Reign {
    pub term: Term,
    /// The importance it leads with; kept while it drains because it has lost its own.
    pub score: Score,
    pub belief: Belief,
    /// When the next heartbeat is due.
    pub beat: Time,
    pub book: LeaseBook,
    pub bump: Option<Bump>,
    pub draining: Option<Drain>,
}

/// Whether a leader believes that it leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Belief {
    /// Not yet: too few have acknowledged it. It gives up at that time.
    Pending { give_up: Time },
    /// Until the lease ends.
    Held { until: Time },
}

/// A standing leader's claim of a higher term, because a voter is stuck above its own (A4).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Bump {
    pub term: Term,
    pub grants: BTreeSet<AgentId>,
}

/// A leadership that is being handed over.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Drain {
    pub to: Option<AgentId>,
    pub due: Time,
    /// For how long this agent stands back afterwards.
    pub rest: Duration,
}

/// What a voter promised a leader: to support nobody else.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Promise {
    pub holder: AgentId,
    /// The holder's life: its certain end, and no other life's, voids the promise (F1).
    pub incarnation: Incarnation,
    pub term: Term,
    pub until: Time,
}

impl Promise {
    /// Whether `released` names the leadership that the promise supports, or a later one.
    pub(super) fn is_released_by(&self, released: &Leadership) -> bool {
        released.id == self.holder && self.term <= released.term
    }
}

/// After stepping down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Rest {
    /// Does not campaign before.
    pub campaign: Time,
    /// Lets others go first until then, and does not challenge a leader.
    pub challenge: Time,
}

/// How often an agent lost the leadership without resigning it (P5).
pub(super) type Flaps = BTreeMap<AgentId, Flap>;

/// One agent's count, which halves with time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Flap {
    count: u32,
    since: Time,
}

impl Flap {
    const MOST: u32 = 8;

    pub(super) const fn new(now: Time) -> Self {
        Self {
            count: 1,
            since: now,
        }
    }

    /// The count at `now`: halved once for each `period` that passed.
    pub(super) fn count(&self, now: Time, period: Duration) -> u32 {
        let nanos = period.as_nanos().max(1);
        let periods = now.since(self.since).as_nanos() / nanos;
        let periods = u32::try_from(periods).unwrap_or(u32::MAX);
        self.count.checked_shr(periods).unwrap_or(0)
    }

    pub(super) fn add(&mut self, now: Time, period: Duration) {
        self.count = self.count(now, period).saturating_add(1).min(Self::MOST);
        self.since = now;
    }
}

impl Vacancy {
    /// Nobody leads, and no turn is set (yet).
    pub(super) const NONE: Self = Self {
        due: Time::MAX,
        posture: Posture::OwnTurn,
        last: None,
    };
}

impl Followed {
    /// Whether a round of questions is under way.
    pub(super) const fn asks(&self) -> bool {
        matches!(self.challenge, Challenge::Asked { .. })
    }
}
