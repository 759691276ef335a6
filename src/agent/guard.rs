//! What the work of a leader holds: whether it still leads, in which term, and when it has to end.
//!
//! Decided here: that a guard answers by the clock at the moment of the question. Not here: when
//! the work is made and dropped (`lead.rs`).

use std::{fmt, sync::Arc};

use crate::protocol::{AgentId, Incarnation, Term};

use super::{
    belief::Belief,
    leads::{Reign, Stage},
    tenure::Remaining,
};

/// Held by work that may be done only while an agent leads.
#[must_use = "work that ignores its guard does not notice when it has to end"]
pub struct LeaderGuard {
    pub(super) belief: Arc<Belief>,
    pub(super) reign: Reign,
}

impl LeaderGuard {
    /// The newest epoch of this leadership; it grows when the leadership is renewed.
    pub fn token(&self) -> Epoch {
        let same = |now: &Reign| now.serial == self.reign.serial;
        let reign = self.belief.reign().filter(same).unwrap_or(self.reign);
        Epoch {
            term: reign.term,
            node: self.belief.id().clone(),
            incarnation: reign.incarnation,
        }
    }

    /// The newest token of this leadership as a fence; `None` where the election does not promise
    /// at most one leader per term (the available mode).
    ///
    /// Send it along with each write. The resource remembers the largest that it has seen, and
    /// refuses smaller ones: then a leader that was paused in the middle of a write cannot undo
    /// what its successor has written since.
    pub fn fence(&self) -> Option<Fence> {
        self.belief.is_fenced().then(|| Fence(self.token()))
    }

    /// Whether this leadership still holds, checked against the clock at this moment.
    pub fn is_leader(&self) -> bool {
        self.belief.remaining(self.reign.serial) != Remaining::Over
    }

    /// Ends when the agent has to hand over (or leads no longer): end the work then.
    ///
    /// The hand-over waits for the work's end, up to the limit set.
    pub async fn stepping_down(&self) {
        let mut bell = self.belief.bell();
        loop {
            bell.mark_unchanged();
            let works = |now: Reign| now.serial == self.reign.serial && now.stage == Stage::Working;
            let rest = self.belief.remaining(self.reign.serial);
            if !self.belief.reign().is_some_and(works) || rest == Remaining::Over {
                return;
            }
            self.belief.stirs(rest, &mut bell).await;
        }
    }
}

impl fmt::Debug for LeaderGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LeaderGuard").field(&self.token()).finish()
    }
}

/// Tells newer leaderships from older ones: a larger term is newer.
///
/// It is an *epoch*, good for logs and for dropping old news. It is **not** a fence: two agents may
/// lead at once for a moment, and each may have seen a term that the other has not, so a database
/// that accepts the larger one is not protected by it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Epoch {
    /// The term.
    pub term: Term,
    /// Who leads.
    pub node: AgentId,
    /// In which life.
    pub incarnation: Incarnation,
}

/// A fencing token: no two leaders ever have the same term, and a later one has a larger term.
///
/// ```
/// use actix_bully::agent::Fence;
/// /// A resource that is written by the leader, and by nobody who was one.
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
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fence(Epoch);

impl Fence {
    /// The number to compare: the term.
    pub const fn number(&self) -> u64 {
        self.0.term.0
    }

    /// Who holds it, in which term and life.
    pub const fn epoch(&self) -> &Epoch {
        &self.0
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
