//! The guard that the work of a leader holds. From the guard the work learns whether the agent still leads, in which
//! term, and when the work has to end.
//!
//! Decided here: a guard reads the clock at each question. Not here: when the work is made and dropped (`lead.rs`).

use std::{fmt, sync::Arc, time::Duration};

use actix::Recipient;
use serde::Serialize;

use crate::{
    protocol::{AgentId, Incarnation, Leaders, Term},
    shown,
};

use super::{
    message::AgentCommand,
    phase::{AgentTenure, Remaining},
    progress::Progress,
    shared::SharedState,
};

/// A guard for work that may be done only while an agent leads. Clones belong to the same leadership.
#[derive(Clone)]
#[must_use = "work that ignores its guard does not notice when it has to end"]
pub struct LeaderGuard {
    pub(super) shared: Arc<SharedState>,
    pub(super) tenure: AgentTenure,
    /// The agent, which watches the work on its own arbiter.
    pub(super) agent: Recipient<AgentCommand>,
    /// The progress probe with which the work was started.
    pub(super) progress: Progress,
}

impl LeaderGuard {
    /// Returns the newest [`Epoch`] of this leadership. The term of the epoch grows when the leadership is renewed.
    pub fn token(&self) -> Epoch {
        let same = |held: &AgentTenure| held.serial == self.tenure.serial;
        // A guard whose tenure has ended must not get the token of a later tenure: a resource would accept it.
        let tenure = self.shared.tenure().filter(same).unwrap_or(self.tenure);
        Epoch {
            term: tenure.term,
            node: self.shared.id().clone(),
            incarnation: tenure.incarnation,
        }
    }

    /// Returns the newest token of this leadership as a fence. `None` if the election does not promise at most one
    /// leader per term: in the available mode, and with voters without a disk, whose leaders have a
    /// [`conditional_fence`](Self::conditional_fence).
    ///
    /// Send the fence along with each write. The resource remembers the largest fence that it has seen, and refuses
    /// smaller fences. Then a leader that was paused in the middle of a write cannot overwrite the later writes of its
    /// successor.
    pub fn fence(&self) -> Option<Fence> {
        let is_fence = self.shared.leaders() == Leaders::PerTerm;
        is_fence.then(|| Fence(self.token()))
    }

    /// Returns the newest token of this leadership, if the token is a fence under a condition. `None` if the token is a
    /// fence without a condition ([`fence`](Self::fence)), or not a fence at all.
    ///
    /// Voters without a disk have such a token ([`BullyBuilder::diskless`](super::BullyBuilder::diskless)).
    pub fn conditional_fence(&self) -> Option<ConditionalFence> {
        let is_conditional = self.shared.leaders() == Leaders::PerInstant;
        is_conditional.then(|| ConditionalFence(self.token()))
    }

    /// Notes why this crate refused a call of the work: if the work ends at once, its failure contains this reason.
    pub(crate) fn note_refusal(&self, reason: impl fmt::Display) {
        self.shared.note_refused_work(reason);
    }

    /// Returns whether this leadership still holds, checked against the clock at this moment.
    pub fn is_leader(&self) -> bool {
        self.shared.remaining_of(self.tenure.serial) != Remaining::Over
    }

    /// Returns the time for which this leadership still holds if it is not renewed; zero if it has ended. Without a
    /// lease, this is the time for which a leader that hangs considers itself leader. `None` if there is no limit.
    ///
    /// A renewal makes the time longer, so call this again. Use the time for work in another process, which the agent
    /// cannot drop: give that work a deadline, by a clock that counts a suspend. Read that clock before this call; then
    /// the deadline is never too late.
    pub fn holds_for(&self) -> Option<Duration> {
        match self.shared.remaining_of(self.tenure.serial) {
            Remaining::Over => Some(Duration::ZERO),
            Remaining::For(left) => Some(left),
            Remaining::Unlimited => None,
        }
    }

    /// Waits until the agent has to hand over, or leads no longer. End the work then.
    ///
    /// The hand-over waits until the work ends, but no longer than the drain limit.
    pub async fn stepping_down(&self) {
        let mut updates = self.shared.updates();
        loop {
            updates.mark_unchanged();
            let remaining = self.shared.remaining_of(self.tenure.serial);
            if self.shared.is_draining() || remaining == Remaining::Over {
                return;
            }
            self.shared.update_or_expiry(remaining, &mut updates).await;
        }
    }
}

impl fmt::Debug for LeaderGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LeaderGuard").field(&self.token()).finish()
    }
}

/// Distinguishes newer leaderships from older leaderships: a larger term is newer.
///
/// The value is an *epoch*, useful for logs and for dropping old updates, and **not** a fence. Two agents may lead at
/// once for a moment, and each of them may have seen a term that the other agent has not seen. A database that accepts
/// the larger epoch is therefore not protected.
///
/// As JSON its numbers are text, because they may exceed 2^53.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Epoch {
    /// The term.
    #[serde(serialize_with = "shown::text::serialize")]
    pub term: Term,
    /// The leader.
    pub node: AgentId,
    /// The incarnation in which the leader leads.
    #[serde(serialize_with = "shown::text::serialize")]
    pub incarnation: Incarnation,
}

/// A fencing token: no two leaders ever have the same term, and a later leader has a larger term.
///
/// ```
/// use actix_bully::agent::Fence;
/// /// A resource that is written by the leader, and by no former one.
/// #[derive(Default)]
/// struct Table { highest: u64, rows: Vec<String> }
/// impl Table {
///     fn write(&mut self, fence: u64, row: &str) -> Result<(), &'static str> {
///         if fence < self.highest {
///             return Err("written by a former leader");
///         }
///         self.highest = fence;
///         self.rows.push(row.to_owned());
///         Ok(())
///     }
/// }
/// fn store(fence: &Fence, table: &mut Table) -> Result<(), &'static str> {
///     table.write(fence.number(), "a row")
/// }
/// # let mut table = Table::default();
/// # assert!(table.write(2, "new").is_ok() && table.write(1, "stale").is_err());
/// ```
///
/// As JSON it has the fields of its [`Epoch`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Fence(Epoch);

impl Fence {
    /// Returns the number to compare: the term.
    pub const fn number(&self) -> u64 {
        self.0.term.0
    }

    /// Returns the leader that holds the fence, with its term and incarnation.
    pub const fn epoch(&self) -> &Epoch {
        &self.0
    }
}

/// A token that is a fence under a condition: later leaders have larger terms if a majority of the voters keeps its
/// memory. Without that, they have larger terms if no wall clock that was used earlier was ahead of a wall clock that
/// is used later.
///
/// If all voters without a disk restart at once and the clocks of a majority were set back, a former leader's write may
/// pass. No gate takes this token unless the caller confirms by [`accept`](Self::accept) that the condition holds.
///
/// ```
/// use actix_bully::agent::LeaderGuard;
/// use actix_bully::leader::fence::{FenceNumber, NoFence};
/// fn number(leader: &LeaderGuard) -> Result<FenceNumber, NoFence> {
///     match leader.conditional_fence() {
///         // Our hosts' clocks are never set back by more than a restart takes.
///         Some(fence) => FenceNumber::try_from(&fence.accept()),
///         None => FenceNumber::of(leader),
///     }
/// }
/// ```
///
/// ```compile_fail,E0277
/// use actix_bully::{agent::ConditionalFence, leader::fence::FenceNumber};
/// fn send_along(fence: &ConditionalFence) -> FenceNumber {
///     FenceNumber::try_from(fence).unwrap() // the condition was not accepted
/// }
/// ```
///
/// As JSON it has the fields of its [`Epoch`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct ConditionalFence(Epoch);

impl ConditionalFence {
    /// Returns this token as a fence, for a caller that knows that the condition holds.
    #[must_use]
    pub fn accept(self) -> Fence {
        Fence(self.0)
    }
}

impl fmt::Display for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}.{}", self.term, self.node, self.incarnation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_as_json() {
        let epoch = Epoch {
            term: Term(u64::MAX),
            node: AgentId::new("a").expect("a name"),
            incarnation: Incarnation(7),
        };
        let shown = r#"{"term":"18446744073709551615","node":"a","incarnation":"7"}"#;
        assert_eq!(serde_json::to_string(&epoch).expect("it is JSON"), shown);
        let conditional = ConditionalFence(epoch);
        let json = serde_json::to_string(&conditional);
        assert_eq!(json.expect("it is JSON"), shown);
        let fence = conditional.accept();
        assert_eq!(serde_json::to_string(&fence).expect("it is JSON"), shown);
    }
}
