//! Work that runs while an agent leads, and only then.
//!
//! Decided here: when such a future is made, and when it is dropped. It runs in its caller's task,
//! so it is dropped when that task is next polled; until then the agent's end counts as a guess.

use std::{fmt, future::Future, pin::pin, sync::Arc};

use actix::clock::timeout;
use futures::future::{Either, select};

use crate::protocol::{AgentId, Election, Incarnation, Term};

use super::{
    belief::Belief,
    handle::ElectionHandle,
    leads::{Reign, Stage},
    message::Command,
    tenure::Remaining,
};

impl<E: Election> ElectionHandle<E> {
    /// Runs `work` whenever this agent leads; ends when the agent has left or ended for good.
    ///
    /// The future runs in the caller's task. It is dropped when the leadership is lost, and made
    /// anew at the next one. When it ends by itself, what follows depends on whether the agent
    /// was [stepping down](LeaderGuard::stepping_down):
    ///
    /// | the future ends | then |
    /// |---|---|
    /// | while the agent steps down | the work is done: the hand-over goes on at once |
    /// | otherwise | the work is done: the agent steps down politely |
    ///
    /// Several may run side by side; a hand-over waits for all of them, up to the limit set. Drop
    /// what `lead` returned, and the work is dropped with it; the agent goes on leading.
    ///
    /// # Examples
    /// ```no_run
    /// # async fn serve(handle: actix_bully::agent::BullyHandle) {
    /// handle
    ///     .lead(|leader| async move {
    ///         println!("leading in term {}", leader.token().term);
    ///         leader.stepping_down().await; // work until then
    ///         // finish what must not be cut off; then the successor takes over
    ///     })
    ///     .await;
    /// # }
    /// ```
    pub async fn lead<F, W>(&self, mut work: F)
    where
        F: FnMut(LeaderGuard) -> W,
        W: Future<Output = ()>,
    {
        let mut bell = self.belief.bell();
        let mut done = None;
        loop {
            bell.mark_unchanged();
            if self.belief.is_over() {
                return;
            }
            if let Some(reign) = self.belief.enter(done) {
                let running = Running {
                    handle: self,
                    life: reign.incarnation,
                };
                if running.attend(reign, &mut work).await == Outcome::Finished {
                    done = Some(reign.serial);
                    let draining = |now: Reign| now.stage == Stage::Draining;
                    drop(running);
                    if !self.belief.reign().is_some_and(draining) {
                        self.addr.do_send(Command::StepDown { to: None });
                    }
                }
            } else if bell.changed().await.is_err() {
                return;
            }
        }
    }
}

/// A lead future that runs; its end is noted however it comes about.
struct Running<'a, E: Election> {
    handle: &'a ElectionHandle<E>,
    life: Incarnation,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// The leadership is over.
    Dropped,
    /// The future ended by itself.
    Finished,
}

impl<E: Election> Running<'_, E> {
    /// Runs the work until it ends or the leadership does. The future is dropped on return.
    async fn attend<F, W>(&self, reign: Reign, work: &mut F) -> Outcome
    where
        F: FnMut(LeaderGuard) -> W,
        W: Future<Output = ()>,
    {
        let guard = LeaderGuard {
            belief: Arc::clone(&self.handle.belief),
            reign,
        };
        let over = pin!(self.handle.belief.over(reign.serial));
        let work = pin!(work(guard));
        // The end of the leadership is looked at first: nothing of the work runs after it.
        match select(over, work).await {
            Either::Left(_) => Outcome::Dropped,
            Either::Right(_) => Outcome::Finished,
        }
    }
}

impl<E: Election> Drop for Running<'_, E> {
    fn drop(&mut self) {
        self.handle.belief.exit(self.life);
        self.handle.addr.do_send(Command::Recheck);
    }
}

impl Belief {
    /// Ends when that leadership does.
    async fn over(&self, serial: u64) {
        let mut bell = self.bell();
        loop {
            bell.mark_unchanged();
            match self.remaining(serial) {
                Remaining::Over => return,
                Remaining::Unlimited => {
                    if bell.changed().await.is_err() {
                        return;
                    }
                }
                Remaining::For(rest) => {
                    // Time passed, or there is news: either way it is looked at again.
                    drop(timeout(rest, bell.changed()).await);
                }
            }
        }
    }
}

/// Held by work that may be done only while an agent leads.
#[must_use = "work that ignores its guard does not notice when it has to end"]
pub struct LeaderGuard {
    belief: Arc<Belief>,
    reign: Reign,
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
            if !self.belief.reign().is_some_and(works) || bell.changed().await.is_err() {
                return;
            }
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
