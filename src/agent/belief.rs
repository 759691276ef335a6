//! What an agent is believed to be, shared by the agent, its handles and its lead futures.
//!
//! Decided here: the order in which a belief becomes known. It shrinks before anything else
//! happens, and grows after everything else has happened; it is never read through the mailbox.
//! Not here: which thread may publish it (`tenure.rs`).
//!
//! ```text
//!   a life ends:  leading_until = 0 ─▶ lead futures told ─▶ Lost to subscribers ─▶ the group
//!                                                            suspect, while a lead future runs
//!                                                            down, once all are dropped
//! ```

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use crate::{
    clock::Clock,
    group::Group,
    planted::{Defect, has},
    protocol::{AgentId, Event, Incarnation, Leader, MemberKind, PeerMessage, Score, Time, View},
};

use super::{
    CommandError,
    audience::Audience,
    leads::{Fate, Reign},
    news::Bell,
    status::Status,
    tenure::{Ended, Loss, Remaining, Scope, Shrunk, Tenure},
};

/// The shared part of one agent, of all its lives.
pub(super) struct Belief {
    id: AgentId,
    clock: Arc<dyn Clock>,
    place: Box<dyn Place>,
    tenure: Tenure,
    audience: Mutex<Audience>,
    /// The importance that the next life begins with: the user's last word, not the agent's.
    score: Mutex<Option<Score>>,
    /// Set if the election promises at most one leader per term.
    fences: OnceLock<()>,
}

/// An agent's place in its group, whatever the letters there say.
pub(super) trait Place: Send + Sync {
    fn note_leader(&self, leader: Leader);
    fn forget_leader(&self, id: &AgentId, life: Incarnation);
    fn suspect(&self, id: &AgentId, life: Incarnation);
    fn down(&self, id: &AgentId, life: Incarnation);
    fn retire(&self, id: &AgentId, life: Incarnation);
    fn leave(&self, id: &AgentId, life: Incarnation);
    /// What that member takes part as, if it is one.
    fn kind(&self, id: &AgentId) -> Option<MemberKind>;
}

impl<M: PeerMessage> Place for Group<M> {
    fn note_leader(&self, leader: Leader) {
        Self::note_leader(self, leader);
    }
    fn forget_leader(&self, id: &AgentId, life: Incarnation) {
        Self::forget_leader(self, id, life);
    }
    fn suspect(&self, id: &AgentId, life: Incarnation) {
        Self::suspect(self, id, life);
    }
    fn down(&self, id: &AgentId, life: Incarnation) {
        Self::down(self, id, life);
    }
    fn retire(&self, id: &AgentId, life: Incarnation) {
        Self::retire(self, id, life);
    }
    fn leave(&self, id: &AgentId, life: Incarnation) {
        Self::leave(self, id, life);
    }
    fn kind(&self, id: &AgentId) -> Option<MemberKind> {
        self.members().get(id).map(|member| member.kind)
    }
}

impl Belief {
    pub(super) fn new(
        id: AgentId,
        clock: Arc<dyn Clock>,
        place: Box<dyn Place>,
        life: Incarnation,
        score: Option<Score>,
    ) -> Self {
        Self {
            id,
            clock,
            place,
            tenure: Tenure::new(life),
            audience: Mutex::default(),
            score: Mutex::new(score),
            fences: OnceLock::new(),
        }
    }

    /// The election promises at most one leader per term, so its tokens are fences.
    pub(super) fn promise_fence(&self) {
        self.fences.get_or_init(|| ());
    }

    pub(super) fn is_fenced(&self) -> bool {
        self.fences.get().is_some()
    }

    // ---- by the agent, in a step ------------------------------------------------------------

    /// Whether that life is the present one and has not ended, not even by a handle on another
    /// thread.
    pub(super) fn is_present(&self, by: Incarnation) -> bool {
        self.tenure.is_present(by)
    }

    /// Publishes what a step took away, before any of its effects.
    pub(super) fn shrink(&self, by: Incarnation, view: &View, loss: Loss) {
        if self.tenure.shrink(by, view, loss) == Shrunk::Revoked {
            self.place.forget_leader(&self.id, by);
        }
    }

    /// Publishes what a step gave, after all of its effects.
    pub(super) fn grow(&self, by: Incarnation, view: &View) {
        let note = |leader: &Leader| self.place.note_leader(leader.clone());
        self.tenure.grow(by, self.now(), view, note);
        if let Some(term) = view.leading {
            self.audience().regain(&self.id, by, term);
        }
    }

    /// The work under the present leadership has to end.
    pub(super) fn drain(&self, by: Incarnation) {
        self.tenure.drain(by);
    }

    /// Whether nobody works under the present leadership.
    pub(super) fn is_drained(&self) -> bool {
        self.tenure.is_idle() && self.audience().is_drained()
    }

    pub(super) fn tell(&self, by: Incarnation, event: &Event) {
        self.audience().tell(&self.id, by, event);
    }

    // ---- when a life begins and ends --------------------------------------------------------

    /// The next life begins; says whether it may.
    pub(super) fn begin_life(&self, life: Incarnation) -> bool {
        self.tenure.begin(life)
    }

    /// The present life has ended: revokes what it led, then tells the group.
    pub(super) fn end_life(&self) {
        self.end(Scope::Incarnation);
    }

    /// No other life follows.
    pub(super) fn finish(&self) {
        self.end(Scope::All);
    }

    /// The agent shall leave when its life ends.
    pub(super) fn leave(&self) {
        self.tenure.leave();
    }

    /// Notes what the next life begins with.
    pub(super) fn set_score(&self, score: Option<Score>) {
        *lock(&self.score) = score;
    }

    /// What the next life begins with.
    pub(super) fn score(&self) -> Option<Score> {
        *lock(&self.score)
    }

    // ---- by lead futures --------------------------------------------------------------------

    /// A lead future begins to work, unless there is nothing for it to do.
    pub(super) fn enter(&self, done: Option<u64>) -> Option<Reign> {
        self.tenure.enter(self.now(), done)
    }

    /// A lead future of that life has been dropped.
    pub(super) fn exit(&self, life: Incarnation) {
        if let Some(ended) = self.tenure.exit(life) {
            self.confirm(ended);
        }
    }

    /// The work of a lead future has panicked.
    pub(super) fn note_work_panic(&self) {
        self.tenure.note_work_panic();
    }

    /// For how long that leadership still holds, as things are.
    pub(super) fn remaining(&self, serial: u64) -> Remaining {
        self.tenure.remaining(self.now(), serial)
    }

    /// For how long the present leadership still holds, as things are.
    pub(super) fn rest(&self) -> Remaining {
        self.tenure.rest(self.now())
    }

    /// The present leadership.
    pub(super) fn reign(&self) -> Option<Reign> {
        self.tenure.reign()
    }

    // ---- by readers -------------------------------------------------------------------------

    pub(super) fn id(&self) -> &AgentId {
        &self.id
    }

    /// Whether the agent may be asked to hand over to that member.
    pub(super) fn check_successor(&self, to: &AgentId) -> Result<(), CommandError> {
        let id = to.clone();
        match self.place.kind(to) {
            None => Err(CommandError::NoMember { id }),
            Some(MemberKind::Voter) if *to != self.id => Ok(()),
            Some(MemberKind::Voter | MemberKind::Observer) => Err(CommandError::NoSuccessor { id }),
        }
    }

    pub(super) fn now(&self) -> Time {
        self.clock.now()
    }

    /// Whether its clock runs on while the host is suspended, as timers do not.
    pub(super) fn counts_suspend(&self) -> bool {
        self.clock.counts_suspend()
    }

    pub(super) fn is_leader(&self) -> bool {
        self.tenure.is_leading(self.now())
    }

    pub(super) fn is_over(&self) -> bool {
        self.tenure.is_over()
    }

    /// The newest status; a leadership that has run out does not show.
    pub(super) fn status(&self) -> Status {
        let (status, leads) = self.tenure.status(self.now());
        if leads {
            status
        } else {
            status.without_own(&self.id)
        }
    }

    /// Rings when the status changes: get it first, then look.
    pub(super) fn bell(&self) -> Bell {
        self.tenure.bell()
    }

    pub(super) fn audience(&self) -> MutexGuard<'_, Audience> {
        lock(&self.audience)
    }

    fn end(&self, scope: Scope) {
        let ended = self.tenure.end(scope);
        self.audience().end(&self.id, ended.incarnation);
        if ended.is_certain || has(Defect::EndConfirmedEarly) {
            self.confirm(ended);
        } else {
            self.place.suspect(&self.id, ended.incarnation);
        }
    }

    /// Nobody acts on that life's leadership any more.
    fn confirm(&self, ended: Ended) {
        self.place.down(&self.id, ended.incarnation);
        match ended.fate {
            Fate::GoesOn | Fate::Leaves => {}
            Fate::Left => self.place.leave(&self.id, ended.incarnation),
            Fate::Retired => self.place.retire(&self.id, ended.incarnation),
        }
    }
}

impl fmt::Debug for Belief {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Belief")
            .field("id", &self.id)
            .field("status", &self.status())
            .finish_non_exhaustive()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Each change under these locks is whole at once, so there is nothing to be poisoned.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
