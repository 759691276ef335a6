//! The leadership of one agent, as all threads see it: one state machine under one lock, and one number beside it that
//! readers read without the lock.
//!
//! ```text
//!               grow              drain
//!     ┌─ Idle ─────────▶ Leading ───────▶ Draining
//!     │   ▲ ▲               │                │
//!     │   │ └───────────────┴────────────────┘   shrink: a step lost the leadership
//!     │   │ begin
//!     └▶ Down ─▶ Ended       end, from any state: the supervisor, or a handle on another thread
//! ```
//!
//! Decided here: which incarnation may publish. Each change has the number of its incarnation and is made completely
//! under the lock, so an incarnation that any thread has ended publishes nothing more. The number is written only under
//! the lock; a reader of it never waits.
//!
//! Not here: which parties are notified of a change, and in which order (`shared.rs`). This file knows no clock and no
//! runtime, because a checker of interleavings runs it unchanged (`tests/heavy/cells`).

use std::{fmt, time::Duration};

use crate::protocol::{About, Incarnation, Leader, Role, Score, Term, Time, View};

use super::{
    eligibility::Eligibility,
    lead_futures::LeadFutures,
    phase::{AgentTenure, Departure, IncarnationEnd, LeadershipPhase, Remaining, Scope},
    remains::AgentRemains,
    status::{Lifecycle, Status},
    sync::{AtomicU64, Mutex, MutexGuard, Ordering, PoisonError, watch},
};

/// See the [module](self).
pub(super) struct LeadershipMachine {
    /// Time until which this agent considers itself leader, in nanoseconds of its clock. It is 0 exactly while the
    /// phase is neither [`LeadershipPhase::Leading`] nor [`LeadershipPhase::Draining`].
    until: AtomicU64,
    state: Mutex<LeadershipState>,
}

/// The state that changes under the lock.
struct LeadershipState {
    phase: LeadershipPhase,
    /// The present incarnation, or the last incarnation.
    incarnation: Incarnation,
    role: Role,
    term: Term,
    leader: Option<Leader>,
    leader_about: Option<About>,
    /// The user asked the agent to leave: no other incarnation follows the present one.
    is_leaving: bool,
    remains: AgentRemains,
    /// The serial number of the last tenure.
    tenures: u64,
    lead_futures: LeadFutures,
    work_panics: u32,
    work_stalls: u32,
    /// The score with which the next incarnation begins.
    eligibility: Eligibility,
    /// Wakes the callers that wait for an update. Made when the first caller waits: most agents have no such caller,
    /// and a watch channel is large.
    updates: Option<watch::Sender<()>>,
}

impl LeadershipMachine {
    /// Makes the leadership of an agent whose first incarnation begins.
    pub(super) fn new(first: Incarnation, score: Option<Score>) -> Self {
        let state = LeadershipState {
            phase: LeadershipPhase::Idle,
            incarnation: first,
            role: Role::Follower,
            term: Term::ZERO,
            leader: None,
            leader_about: None,
            is_leaving: false,
            remains: AgentRemains::default(),
            tenures: 0,
            lead_futures: LeadFutures::default(),
            work_panics: 0,
            work_stalls: 0,
            eligibility: Eligibility::new(score),
            updates: None,
        };
        Self {
            until: AtomicU64::new(0),
            state: Mutex::new(state),
        }
    }

    /// Returns whether `by` is the present incarnation and has not ended.
    pub(super) fn is_present(&self, by: Incarnation) -> bool {
        self.state().is_present(by)
    }

    /// Publishes the losses of a step; returns whether the step lost the leadership. `kept` is the view after the step.
    /// It is `None` if the step lost the leadership, even if the same step won a leadership again.
    pub(super) fn shrink(&self, by: Incarnation, kept: Option<&View>) -> bool {
        let until = kept.map_or(0, until);
        self.change(|state| {
            let before = self.until.load(Ordering::Relaxed);
            // If the leadership now lasts longer, that is a gain: `grow` publishes it, after the effects of the step.
            if !state.is_present(by) || until >= before {
                return (false, false);
            }
            self.until.store(until, Ordering::Release);
            let is_revoked = until == 0;
            if is_revoked {
                state.enter_without_leadership(LeadershipPhase::Idle);
            }
            (is_revoked, is_revoked)
        })
    }

    /// Publishes the gains of a step, unless the incarnation has ended meanwhile. `note` receives a leadership that
    /// began, or that continues in another term. `now` counts only if the agent leads.
    pub(super) fn grow(&self, by: Incarnation, now: Time, view: &View, note: impl FnOnce(&Leader)) {
        self.change(|state| {
            if !state.is_present(by) {
                return ((), false); // another thread has ended it
            }
            let led = state.phase.tenure().map(|tenure| tenure.term);
            let has_lapsed =
                view.leading.is_some() && self.until.load(Ordering::Relaxed) <= now.as_nanos();
            if let Some(term) = view.leading {
                state.lead(term, has_lapsed);
                self.until.store(until(view), Ordering::Release);
                if let Some(leader) = &view.leader
                    && (has_lapsed || led != Some(term))
                {
                    // `note` runs under the lock: otherwise another thread could end this leadership before the group
                    // learns that it has begun, and the group would remember it forever. In `note` the group takes its
                    // own lock, under which it never asks for this lock.
                    note(leader);
                }
            }
            let is_shown = state.show(view) || led != view.leading;
            // If a leadership had run out and now holds again, waiting readers must learn of it, although the status
            // looks unchanged.
            ((), is_shown || has_lapsed)
        });
    }

    /// Notes that the work under the present leadership has to end.
    pub(super) fn drain(&self, by: Incarnation) {
        self.change(|state| {
            if let LeadershipPhase::Leading(tenure) = state.phase
                && state.is_present(by)
            {
                state.phase = LeadershipPhase::Draining(tenure);
                return ((), true);
            }
            ((), false)
        });
    }

    /// Begins the next incarnation; returns whether it may begin, which is false after the agent's end.
    pub(super) fn begin(&self, next: Incarnation) -> bool {
        self.change(|state| {
            // The incarnation is set even if the agent has ended. The group has this incarnation as a member already:
            // the supervisor reports the end once more, and that removes the member.
            state.incarnation = next;
            let may_begin = state.phase.departure().is_none();
            if may_begin {
                self.until.store(0, Ordering::Release);
                state.enter_without_leadership(LeadershipPhase::Idle);
            }
            (may_begin, may_begin)
        })
    }

    /// Ends the present incarnation, or the whole agent, which then publishes nothing any more. A second call changes
    /// nothing.
    pub(super) fn end(&self, scope: Scope) -> IncarnationEnd {
        self.change(|state| {
            self.until.store(0, Ordering::Release);
            let before = state.phase;
            let next = if before.departure().is_some() {
                before
            } else if state.is_leaving {
                LeadershipPhase::Ended(Departure::Left) // not restarted: `start.rs` has the reason
            } else {
                match scope {
                    Scope::Incarnation => LeadershipPhase::Down,
                    Scope::Agent => LeadershipPhase::Ended(Departure::Retired),
                }
            };
            state.enter_without_leadership(next);
            state.remains.is_dropped |= scope == Scope::Agent;
            let incarnation = state.incarnation;
            let has_changed = next.lifecycle() != before.lifecycle();
            let ended = IncarnationEnd {
                incarnation,
                has_changed,
                is_confirmed: state.lead_futures.incarnation_ended(incarnation),
                departure: state.phase.departure(),
                is_last: state.remains.is_dropped,
            };
            (ended, has_changed)
        })
    }

    /// Notes that all resources of the agent are free.
    pub(super) fn note_gone(&self) {
        if let Some(farewell) = self.change(|state| (state.remains.gone(), true)) {
            farewell();
        }
    }

    /// Returns whether all resources of the agent are free.
    pub(super) fn is_gone(&self) -> bool {
        self.state().remains.is_gone
    }

    /// Calls `farewell` once all resources are free: at once, or on the thread that frees the last resource.
    pub(super) fn when_gone(&self, farewell: impl FnOnce() + Send + 'static) {
        let left = self.state().remains.when_gone(farewell);
        if let Some(farewell) = left {
            farewell();
        }
    }

    /// Notes that the agent leaves when its incarnation ends.
    pub(super) fn leave(&self) {
        self.state().is_leaving = true;
    }

    /// Reads which score counts.
    pub(super) fn read_eligibility<T>(&self, read: impl FnOnce(&Eligibility) -> T) -> T {
        read(&self.state().eligibility)
    }

    /// Changes the score or the tie. Waiting readers are woken in any case: a task that waits for the actor of a former
    /// tie has to end.
    pub(super) fn change_eligibility<T>(&self, change: impl FnOnce(&mut Eligibility) -> T) -> T {
        self.change(|state| (change(&mut state.eligibility), true))
    }

    /// Notes that a lead future begins to work. `None` if it has nothing to do: the agent does not lead, or drains, or
    /// the future has already done its work in the present tenure, whose number is `done`.
    pub(super) fn enter(&self, now: Time, done: Option<u64>) -> Option<AgentTenure> {
        let mut state = self.state();
        let LeadershipPhase::Leading(tenure) = state.phase else {
            return None;
        };
        // The clock is checked too: when the lease runs out, the phase stays `Leading` until a step reports the end.
        if !self.is_leading(now) || Some(tenure.serial) == done {
            return None;
        }
        state.lead_futures.enter(tenure.incarnation);
        Some(tenure)
    }

    /// Notes that a lead future of `incarnation` was dropped. Returns the end that this drop confirms, if any.
    pub(super) fn exit(&self, incarnation: Incarnation) -> Option<IncarnationEnd> {
        let mut state = self.state();
        let ended = state.lead_futures.exit(incarnation)?;
        Some(IncarnationEnd {
            incarnation: ended,
            has_changed: false,
            is_confirmed: true,
            departure: state.phase.departure(),
            is_last: state.remains.is_dropped,
        })
    }

    /// Returns the time for which the tenure `serial` still holds without a renewal.
    pub(super) fn remaining_of(&self, now: Time, serial: u64) -> Remaining {
        let state = self.state();
        let is_held = state
            .phase
            .tenure()
            .is_some_and(|held| held.serial == serial);
        if !is_held {
            return Remaining::Over;
        }
        self.remaining(now) // under the lock: the tenure and its end belong together
    }

    /// Returns the time for which the present leadership still holds without a renewal.
    pub(super) fn remaining(&self, now: Time) -> Remaining {
        match self.until.load(Ordering::Acquire) {
            u64::MAX => Remaining::Unlimited,
            until => match Time::from_nanos(until).since(now) {
                Duration::ZERO => Remaining::Over,
                left => Remaining::For(left),
            },
        }
    }

    pub(super) fn note_work_panic(&self) {
        self.change(|state| {
            state.work_panics = state.work_panics.saturating_add(1);
            ((), true)
        });
    }

    pub(super) fn note_work_stall(&self) {
        self.change(|state| {
            state.work_stalls = state.work_stalls.saturating_add(1);
            ((), true)
        });
    }

    pub(super) fn tenure(&self) -> Option<AgentTenure> {
        self.state().phase.tenure()
    }

    /// Returns whether the work under the present leadership has to end.
    pub(super) fn is_draining(&self) -> bool {
        matches!(self.state().phase, LeadershipPhase::Draining(_))
    }

    /// Returns whether the tenure `serial` continues, and its work was not asked to end. Its lease may have run out.
    pub(super) fn leads_on(&self, serial: u64) -> bool {
        matches!(self.state().phase, LeadershipPhase::Leading(tenure) if tenure.serial == serial)
    }

    /// Returns whether no lead future runs.
    pub(super) fn is_idle(&self) -> bool {
        self.state().lead_futures.is_empty()
    }

    /// Returns whether the agent considers itself leader at the time `now`. Takes no lock.
    pub(super) fn is_leading(&self, now: Time) -> bool {
        self.is_leading_by(|until| now < until)
    }

    /// Like [`is_leading`](Self::is_leading), for a reader that reads its clock only if a lease limits the leadership,
    /// because reading the clock is the slowest part. `is_ahead` returns whether a moment is in the future.
    pub(super) fn is_leading_by(&self, is_ahead: impl FnOnce(Time) -> bool) -> bool {
        match self.until.load(Ordering::Acquire) {
            0 => false,
            u64::MAX => true,
            until => is_ahead(Time::from_nanos(until)),
        }
    }

    /// Returns how the agent has ended; `None` if another incarnation may follow.
    pub(super) fn departure(&self) -> Option<Departure> {
        self.state().phase.departure()
    }

    /// Returns the status, and whether the agent considers itself leader at the moment `now`.
    pub(super) fn status(&self, now: Time) -> (Status, bool) {
        let state = self.state();
        (state.status(), self.is_leading(now))
    }

    /// Returns a receiver that wakes its holder when the status changes. Subscribe first, then read the status.
    pub(super) fn updates(&self) -> Updates {
        let mut state = self.state();
        let updates = state.updates.get_or_insert_with(|| watch::Sender::new(()));
        updates.subscribe()
    }

    /// Makes one change under the lock; `change` returns whether waiting readers must learn of it.
    fn change<T>(&self, change: impl FnOnce(&mut LeadershipState) -> (T, bool)) -> T {
        let mut state = self.state();
        let (result, is_update) = change(&mut state);
        let waiting = state.updates.as_ref().filter(|_| is_update).cloned();
        drop(state);
        // The update is sent after the lock is released: wakers are foreign code, which may ask for the status and take
        // the lock.
        if let Some(waiting) = waiting {
            waiting.send_replace(());
        }
        result
    }

    fn state(&self) -> MutexGuard<'_, LeadershipState> {
        // A poisoned lock is still used: each change under it is one step, so a panic leaves no change half made.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Wakes its holder at each update. An update that happens while the holder does not wait wakes it at its next wait.
pub(super) type Updates = watch::Receiver<()>;

impl LeadershipState {
    fn is_present(&self, by: Incarnation) -> bool {
        self.phase.lifecycle() == Lifecycle::Running && self.incarnation == by
    }

    /// Notes that the agent leads in `term`: in its present tenure, or in a new tenure if the present one has lapsed.
    fn lead(&mut self, term: Term, has_lapsed: bool) {
        let mut tenure = AgentTenure {
            serial: self.tenures,
            incarnation: self.incarnation,
            term,
        };
        // The tenure gets a new number, because guards of the tenure that ran out must not become valid again.
        if has_lapsed {
            self.tenures += 1;
            tenure.serial = self.tenures;
        }
        // A leadership that lapsed while it drained still drains when it holds again. Otherwise new work would begin,
        // and would not learn that it has to end.
        self.phase = if let LeadershipPhase::Draining(_) = self.phase {
            LeadershipPhase::Draining(tenure)
        } else {
            LeadershipPhase::Leading(tenure)
        };
    }

    fn enter_without_leadership(&mut self, phase: LeadershipPhase) {
        self.phase = phase;
        self.role = Role::Follower;
        self.leader = None;
        self.leader_about = None;
    }

    /// Takes over the view of a machine; returns whether the role, the term or the leader has changed.
    fn show(&mut self, view: &View) -> bool {
        let is_other = (self.role, self.term) != (view.role, view.term)
            || (&self.leader, &self.leader_about) != (&view.leader, &view.about);
        if is_other {
            (self.role, self.term) = (view.role, view.term);
            self.leader.clone_from(&view.leader);
            self.leader_about.clone_from(&view.about);
        }
        is_other
    }

    fn status(&self) -> Status {
        Status {
            lifecycle: self.phase.lifecycle(),
            incarnation: self.incarnation,
            role: self.role,
            term: self.term,
            leader: self.leader.clone(),
            leader_about: self.leader_about.clone(),
            leading: self.phase.tenure().map(|tenure| tenure.term),
            draining: matches!(self.phase, LeadershipPhase::Draining(_)),
            work_panics: self.work_panics,
            work_stalls: self.work_stalls,
            tie_broken: self.eligibility.is_broken(),
        }
    }
}

impl fmt::Debug for LeadershipMachine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.state().status().fmt(f)
    }
}

/// Returns the time until which the agent leads by `view`; 0 if it does not lead.
fn until(view: &View) -> u64 {
    view.leading.map_or(0, |_| view.valid_until.as_nanos())
}
