//! What an agent is believed to be, shared by the agent, its handles and its lead futures.
//!
//! Decided here: the order in which a belief becomes known. It shrinks before anything else
//! happens, and grows after everything else has happened; it is never read through the mailbox.
//!
//! ```text
//!   a life ends:  leading_until = 0 ─▶ lead futures told ─▶ Lost to subscribers ─▶ the group
//!                                                            suspect, while a lead future runs
//!                                                            down, once all are dropped
//! ```

use std::{
    fmt, mem,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use crate::{
    clock::Clock,
    group::Group,
    protocol::{AgentId, Event, Incarnation, Leader, PeerMessage, Score, Time, View},
};

use super::{
    audience::Audience,
    leads::{Fate, Leads, Reign},
    news::{Bell, News},
    status::{Life, Status},
};

/// The shared part of one agent, of all its lives.
pub(super) struct Belief {
    id: AgentId,
    clock: Arc<dyn Clock>,
    place: Box<dyn Place>,
    /// The present or last life.
    life: AtomicU64,
    /// Until when this agent leads, in nanoseconds of its clock; 0: it does not.
    leading_until: AtomicU64,
    news: News,
    leads: Mutex<Leads>,
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
            life: AtomicU64::new(life.0),
            leading_until: AtomicU64::new(0),
            news: News::new(Status::new(life)),
            leads: Mutex::default(),
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

    /// Publishes what a step took away, before any of its effects. `Withdrawn` also when the
    /// leadership was lost and won again in the same step.
    pub(super) fn shrink(&self, view: &View, loss: Loss) {
        let until = match loss {
            Loss::Withdrawn => 0,
            Loss::None => until(view),
        };
        let before = self.leading_until.fetch_min(until, Ordering::AcqRel);
        if until == 0 && before != 0 {
            lock(&self.leads).end();
            self.withdraw();
            self.place.forget_leader(&self.id, self.life());
        }
    }

    /// Publishes what a step gave, after all of its effects.
    pub(super) fn grow(&self, view: &View) {
        if let Some(term) = view.leading {
            let now = self.now();
            let before = self.leading_until.load(Ordering::Acquire);
            let is_held = before > now.as_nanos();
            let is_renewed = is_held && self.news.read(|status| status.leading) != view.leading;
            if is_renewed {
                lock(&self.leads).renew(term);
            } else if !is_held && !lock(&self.leads).begin(self.life(), term) {
                return; // it is over: whoever said so had the last word
            }
            // Fails only if the belief was taken back meanwhile, which then stands.
            let grown = self.leading_until.compare_exchange(
                before,
                until(view),
                Ordering::AcqRel,
                Ordering::Acquire,
            );
            if grown.is_err() {
                return;
            }
            if !is_held {
                self.news.update(|status| {
                    status.show(view);
                    true // a belief that had run out holds again: also news
                });
            }
            if let (true, Some(leader)) = (!is_held || is_renewed, &view.leader) {
                self.place.note_leader(leader.clone());
            }
        }
        self.news
            .update(|status| status.life == Life::Runs && status.show(view));
    }

    /// The work under the present leadership has to end.
    pub(super) fn drain(&self) {
        lock(&self.leads).drain();
        self.news
            .update(|status| !mem::replace(&mut status.draining, true));
    }

    /// Whether nobody works under the present leadership, `said` of them having said so.
    pub(super) fn is_drained(&self, said: usize) -> bool {
        lock(&self.leads).is_idle() && self.audience().workers() <= said
    }

    pub(super) fn tell(&self, event: &Event) {
        self.audience().tell(&self.id, event);
    }

    // ---- when a life begins and ends --------------------------------------------------------

    /// The next life begins.
    pub(super) fn begin_life(&self, life: Incarnation) {
        self.life.store(life.0, Ordering::Release);
        self.news.update(|status| {
            let begins = status.life == Life::Down;
            if begins {
                *status = Status {
                    term: status.term,
                    ..Status::new(life)
                };
            }
            begins
        });
    }

    /// The present life has ended: revokes what it led, then tells the group.
    pub(super) fn end_life(&self) {
        let life = self.life();
        self.leading_until.store(0, Ordering::Release);
        let is_certain = {
            let mut leads = lock(&self.leads);
            if leads.fate() == Fate::Leaves {
                leads.finish();
            }
            leads.life_ended(life)
        };
        self.show_end();
        self.audience().end(&self.id);
        if is_certain {
            self.confirm(life);
        } else {
            self.place.suspect(&self.id, life);
        }
    }

    /// No other life follows.
    pub(super) fn finish(&self) {
        lock(&self.leads).finish();
        self.end_life();
    }

    /// The agent shall leave when its life ends.
    pub(super) fn leave(&self) {
        lock(&self.leads).leave();
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
        let mut leads = lock(&self.leads);
        if !self.is_leader() {
            return None;
        }
        leads.enter(done)
    }

    /// A lead future of that life has been dropped.
    pub(super) fn exit(&self, life: Incarnation) {
        let confirmed = lock(&self.leads).exit(life);
        if let Some(life) = confirmed {
            self.confirm(life);
        }
    }

    /// For how long that leadership still holds, as things are.
    pub(super) fn remaining(&self, serial: u64) -> Remaining {
        let until = self.leading_until.load(Ordering::Acquire);
        match self.reign() {
            Some(reign) if reign.serial == serial && until == u64::MAX => Remaining::Unlimited,
            Some(reign) if reign.serial == serial => {
                let rest = Time::from_nanos(until).since(self.now());
                if rest.is_zero() {
                    Remaining::Over
                } else {
                    Remaining::For(rest)
                }
            }
            Some(_) | None => Remaining::Over,
        }
    }

    /// The present leadership.
    pub(super) fn reign(&self) -> Option<Reign> {
        lock(&self.leads).reign()
    }

    // ---- by readers -------------------------------------------------------------------------

    pub(super) fn id(&self) -> &AgentId {
        &self.id
    }

    pub(super) fn now(&self) -> Time {
        self.clock.now()
    }

    pub(super) fn life(&self) -> Incarnation {
        Incarnation(self.life.load(Ordering::Acquire))
    }

    pub(super) fn is_leader(&self) -> bool {
        let until = self.leading_until.load(Ordering::Acquire);
        until == u64::MAX || until > self.now().as_nanos()
    }

    pub(super) fn is_over(&self) -> bool {
        lock(&self.leads).is_over()
    }

    /// The newest status; a leadership that has run out does not show.
    pub(super) fn status(&self) -> Status {
        let status = self.news.read(Clone::clone);
        if self.is_leader() {
            status
        } else {
            status.without_own(&self.id)
        }
    }

    /// Rings when the status changes: get it first, then look.
    pub(super) fn bell(&self) -> Bell {
        self.news.bell()
    }

    pub(super) fn audience(&self) -> MutexGuard<'_, Audience> {
        lock(&self.audience)
    }

    fn withdraw(&self) {
        self.news.update(|status| {
            status.withdraw();
            true
        });
    }

    fn show_end(&self) {
        let is_over = self.is_over();
        self.news.update(|status| {
            status.withdraw();
            status.life = if is_over { Life::Ended } else { Life::Down };
            true
        });
    }

    /// Nobody acts on that life's leadership any more.
    fn confirm(&self, life: Incarnation) {
        self.place.down(&self.id, life);
        let fate = lock(&self.leads).fate();
        match fate {
            Fate::GoesOn | Fate::Leaves => {}
            Fate::Left => self.place.leave(&self.id, self.life()),
            Fate::Retired => self.place.retire(&self.id, self.life()),
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

/// Whether a step took the leadership away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loss {
    None,
    Withdrawn,
}

/// For how long a leadership still holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Remaining {
    Over,
    For(Duration),
    Unlimited,
}

/// Until when a view says that its agent leads; 0: it does not.
fn until(view: &View) -> u64 {
    view.leading.map_or(0, |_| view.valid_until.as_nanos())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Each change under these locks is whole at once, so there is nothing to be poisoned.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
