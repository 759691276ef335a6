//! The leadership of one agent, as all threads see it: one state behind one lock, and beside it
//! the one number that readers read without it.
//!
//! Decided here: who may publish. Each change names the incarnation that asks for it and is made
//! whole under the lock, so an incarnation that has ended, by whatever thread, publishes nothing
//! any more. The number is written under the lock only; a reader of it never waits.
//!
//! ```text
//!              shrink, grow, drain                 end, finish, leave: the supervisor, or a
//!   the agent ─────────────────────▶ lock ◀────── handle on another thread
//!                                     │ writes
//!                                leading until ───▶ is_leading: any thread, without the lock
//! ```
//!
//! Not here: who hears of it, in which order (`belief.rs`). No clock and no runtime: a checker of
//! interleavings runs this very file.

use std::{fmt, mem, time::Duration};

use crate::protocol::{Incarnation, Leader, Term, Time, View};

use super::{
    leads::{Fate, Leads, Reign},
    news::{Bell, News},
    status::{Life, Status},
    sync::{AtomicU64, Mutex, MutexGuard, Ordering, PoisonError},
};

/// See the [module](self).
pub(super) struct Tenure {
    /// Until when this agent leads, in nanoseconds of its clock; 0: it does not.
    until: AtomicU64,
    books: Mutex<Books>,
    news: News,
}

/// What changes together.
#[derive(Debug)]
struct Books {
    status: Status,
    leads: Leads,
}

impl Tenure {
    /// Of an agent whose first incarnation begins.
    pub(super) fn new(first: Incarnation) -> Self {
        Self {
            until: AtomicU64::new(0),
            books: Mutex::new(Books {
                status: Status::new(first),
                leads: Leads::default(),
            }),
            news: News::default(),
        }
    }

    // ---- by the agent, in a step ------------------------------------------------------------

    /// Whether that incarnation is the present one and has not ended.
    pub(super) fn is_present(&self, by: Incarnation) -> bool {
        self.books().is_present(by)
    }

    /// Publishes what a step took away. `Withdrawn` also when the leadership was lost and won
    /// again in the same step.
    pub(super) fn shrink(&self, by: Incarnation, view: &View, loss: Loss) -> Shrunk {
        let until = match loss {
            Loss::Withdrawn => 0,
            Loss::None => until(view),
        };
        self.change(|books| {
            let before = self.until.load(Ordering::Relaxed);
            if !books.is_present(by) || until >= before {
                return (Shrunk::Kept, false);
            }
            self.until.store(until, Ordering::Release);
            if until != 0 {
                return (Shrunk::Kept, false);
            }
            books.leads.end();
            books.status.withdraw();
            (Shrunk::Revoked, true)
        })
    }

    /// Publishes what a step gave, unless the incarnation has ended meanwhile. `note` is told of a
    /// leadership that begins, or goes on in another term, before any other thread can end it.
    pub(super) fn grow(&self, by: Incarnation, now: Time, view: &View, note: impl FnOnce(&Leader)) {
        self.change(|books| {
            if !books.is_present(by) {
                return ((), false); // it is over: the thread that ended it had the last word
            }
            let Some(term) = view.leading else {
                return ((), books.status.show(view));
            };
            let is_held = self.until.load(Ordering::Relaxed) > now.as_nanos();
            let is_renewed = is_held && books.status.leading != view.leading;
            if !is_held {
                books.leads.begin(by, term);
            } else if is_renewed {
                books.leads.renew(term);
            }
            self.until.store(until(view), Ordering::Release);
            let is_shown = books.status.show(view);
            if let (true, Some(leader)) = (!is_held || is_renewed, &view.leader) {
                note(leader);
            }
            // One that had run out holds again: that is news although it shows as before.
            ((), is_shown || !is_held)
        });
    }

    /// The work under the present leadership has to end.
    pub(super) fn drain(&self, by: Incarnation) {
        self.change(|books| {
            let is_present = books.is_present(by);
            if is_present {
                books.leads.drain();
            }
            let was_known = !is_present || mem::replace(&mut books.status.draining, true);
            ((), !was_known)
        });
    }

    // ---- when an incarnation begins and ends ------------------------------------------------

    /// The next incarnation begins; says whether it may, which it may not after [`Scope::All`].
    pub(super) fn begin(&self, next: Incarnation) -> bool {
        self.change(|books| {
            if books.leads.is_over() {
                // The group has a place for it already, which goes when the end is said once more.
                books.status.incarnation = next;
                return (false, false);
            }
            self.until.store(0, Ordering::Release);
            books.status = Status {
                term: books.status.term,
                work_panics: books.status.work_panics,
                ..Status::new(next)
            };
            (true, true)
        })
    }

    /// The present incarnation has ended, or the whole agent has: nothing of it is published any
    /// more. The second time changes nothing.
    pub(super) fn end(&self, scope: Scope) -> Ended {
        self.change(|books| {
            self.until.store(0, Ordering::Release);
            if scope == Scope::All || books.leads.fate() == Fate::Leaves {
                books.leads.finish();
            }
            let incarnation = books.status.incarnation;
            let ended = Ended {
                incarnation,
                is_certain: books.leads.life_ended(incarnation),
                fate: books.leads.fate(),
            };
            books.status.withdraw();
            let life = if books.leads.is_over() {
                Life::Ended
            } else {
                Life::Down
            };
            let is_news = mem::replace(&mut books.status.life, life) != life;
            (ended, is_news)
        })
    }

    /// The agent shall leave when its incarnation ends.
    pub(super) fn leave(&self) {
        self.books().leads.leave();
    }

    // ---- by lead futures --------------------------------------------------------------------

    /// A lead future begins to work, unless there is nothing for it to do.
    pub(super) fn enter(&self, now: Time, done: Option<u64>) -> Option<Reign> {
        let mut books = self.books();
        if !self.is_leading(now) {
            return None;
        }
        books.leads.enter(done)
    }

    /// A lead future of that incarnation has been dropped; names one whose end is certain by that.
    pub(super) fn exit(&self, incarnation: Incarnation) -> Option<Ended> {
        let mut books = self.books();
        let ended = books.leads.exit(incarnation)?;
        Some(Ended {
            incarnation: ended,
            is_certain: true,
            fate: books.leads.fate(),
        })
    }

    /// For how long that leadership still holds, as things are.
    pub(super) fn remaining(&self, now: Time, serial: u64) -> Remaining {
        let books = self.books();
        if books.leads.reign().is_none_or(|now| now.serial != serial) {
            return Remaining::Over;
        }
        self.rest(now) // under the lock: the two belong together
    }

    /// For how long the present leadership still holds, as things are.
    pub(super) fn rest(&self, now: Time) -> Remaining {
        match self.until.load(Ordering::Acquire) {
            u64::MAX => Remaining::Unlimited,
            until => match Time::from_nanos(until).since(now) {
                Duration::ZERO => Remaining::Over,
                rest => Remaining::For(rest),
            },
        }
    }

    /// The work of a lead future has panicked.
    pub(super) fn note_work_panic(&self) {
        self.change(|books| {
            let panics = &mut books.status.work_panics;
            *panics = panics.saturating_add(1);
            ((), true)
        });
    }

    /// The present leadership.
    pub(super) fn reign(&self) -> Option<Reign> {
        self.books().leads.reign()
    }

    /// Whether no lead future runs.
    pub(super) fn is_idle(&self) -> bool {
        self.books().leads.is_idle()
    }

    // ---- by readers -------------------------------------------------------------------------

    /// Whether the agent leads at that moment: the one reading that takes no lock.
    pub(super) fn is_leading(&self, now: Time) -> bool {
        let until = self.until.load(Ordering::Acquire);
        until == u64::MAX || until > now.as_nanos()
    }

    /// Whether no other incarnation follows.
    pub(super) fn is_over(&self) -> bool {
        self.books().leads.is_over()
    }

    /// The status, and whether a leadership in it holds at that moment.
    pub(super) fn status(&self, now: Time) -> (Status, bool) {
        let books = self.books();
        (books.status.clone(), self.is_leading(now))
    }

    /// Rings when the status changes: get it first, then look.
    pub(super) fn bell(&self) -> Bell {
        self.news.bell()
    }

    /// Makes one change; `change` says whether it is news.
    fn change<T>(&self, change: impl FnOnce(&mut Books) -> (T, bool)) -> T {
        let (result, is_news) = change(&mut self.books());
        if is_news {
            self.news.ring();
        }
        result
    }

    fn books(&self) -> MutexGuard<'_, Books> {
        // Each change under the lock is whole at once, so there is nothing to be poisoned.
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Books {
    fn is_present(&self, by: Incarnation) -> bool {
        self.status.life == Life::Runs && self.status.incarnation == by
    }
}

impl fmt::Debug for Tenure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.books().status.fmt(f)
    }
}

/// Whether a step took the leadership away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loss {
    None,
    Withdrawn,
}

/// What became of the leadership.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shrunk {
    /// It holds as before, or for a shorter time, or there was none.
    Kept,
    /// There was one, and it is over.
    Revoked,
}

/// What has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// One incarnation; another one may follow.
    Incarnation,
    /// The agent.
    All,
}

/// The end of an incarnation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ended {
    pub(super) incarnation: Incarnation,
    /// No lead future acts on its leadership any more.
    pub(super) is_certain: bool,
    /// What becomes of the agent's place.
    pub(super) fate: Fate,
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
    view.leading
        .map_or(0, |_: Term| view.valid_until.as_nanos())
}
