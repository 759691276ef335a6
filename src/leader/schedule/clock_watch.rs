//! Watches the wall clock, once for all leading schedules of an agent.
//!
//! Decided here: how often the clock is read; the clock counts as set if it moved by more or by less than the time that
//! passed; and the consequence of a clock that does not fit the other clocks: no schedule runs, and a contender whose
//! clock fits takes over. After a suspend the clock counts as set, since the runtime's timers stood still. Not here:
//! whether a clock fits (`clock_judge.rs`), and the reaction of a schedule (`run.rs`, `machine/`).

use std::{
    fmt,
    pin::pin,
    rc::Rc,
    sync::{
        Arc,
        atomic::{
            AtomicBool, AtomicUsize,
            Ordering::{AcqRel, Acquire},
        },
    },
    time::Duration,
};

use actix::clock::sleep;
use futures::future::select;
use tokio::sync::{Notify, futures::Notified, watch};
use tracing::{info, warn};

use crate::{
    agent::{AgentReader, ScheduleFinding, WeakAgentReader},
    clock::{Clock, RuntimeClock, WallClock, WallTime},
    protocol::{AgentId, Time},
    register::keeper::Keeper,
};

use super::{
    clock_judge::{ClockVerdict, KnownClocks},
    interface::Now,
    register::AHEAD,
};

/// Time between two readings of the wall clock, while this agent leads with a schedule.
pub(super) const LOOK: Duration = Duration::from_millis(250);

/// Longest jump after which a clock does not count as set. Slewing moves a clock by less between two readings, and a
/// shorter jump makes no tick late.
const TOLERANCE: Duration = Duration::from_millis(20);

/// Time between two comparisons of a clock that fits.
const COMPARES: Duration = Duration::from_secs(10);

/// Time between two comparisons of a clock that does not fit, or that has not been judged.
const COMPARES_AGAIN: Duration = Duration::from_secs(1);

/// Time after an attempt to hand over until a leader whose clock is still off tries again. Chosen: with a second,
/// agents that disagree would move the leadership on and on; with an hour, no schedule might run for an hour.
const HANDS_OVER_AGAIN: Duration = Duration::from_secs(60);

/// Watches one wall clock. See the [module](self).
#[derive(Debug)]
pub(super) struct ClockWatch {
    clock: Arc<dyn WallClock>,
    time: RuntimeClock,
    set: Notify,
    /// Number of schedules whose agent leads, and that therefore need the clock.
    leading: AtomicUsize,
    is_watched: AtomicBool,
    /// The clocks to compare with. `None` if the agents keep the marks: each agent checks a mark by its own clock.
    others: Option<OtherClocks>,
    trust: watch::Sender<ClockTrust>,
}

/// The other clocks, which are read from the store of the lease.
#[derive(Debug)]
struct OtherClocks {
    agent: WeakAgentReader,
    id: AgentId,
    keeper: Arc<Keeper>,
    is_warned: AtomicBool,
}

/// Whether schedules may trust the clock.
#[derive(Clone, Copy, Debug)]
enum ClockTrust {
    Unchecked,
    /// The clock fitted the other clocks at this moment; `None` if there are no clocks to compare with.
    Fits(Option<Now>),
    Off,
}

/// The function that hands the leadership over to a contender.
pub(super) type HandOver = Rc<dyn Fn(&AgentId)>;

/// The use of the clock by one schedule of the leader. The clock is watched until the last value of this type is
/// dropped.
pub(super) struct WatchedClock {
    watch: Arc<ClockWatch>,
    hand_over: HandOver,
}

impl ClockWatch {
    /// Makes a watch of a clock that is not compared with any other clock.
    pub(super) fn new(clock: Arc<dyn WallClock>) -> Arc<Self> {
        Self::make(clock, None)
    }

    /// Makes a watch of a clock that is compared with the clocks in the store of the agent's lease.
    pub(super) fn beside_others(
        clock: Arc<dyn WallClock>,
        agent: &AgentReader,
        keeper: Arc<Keeper>,
    ) -> Arc<Self> {
        let others = OtherClocks {
            agent: agent.downgrade(),
            id: agent.id().clone(),
            keeper,
            is_warned: AtomicBool::new(false),
        };
        Self::make(clock, Some(others))
    }

    fn make(clock: Arc<dyn WallClock>, others: Option<OtherClocks>) -> Arc<Self> {
        let trust = match others {
            Some(_) => ClockTrust::Unchecked,
            None => ClockTrust::Fits(None),
        };
        Arc::new(Self {
            clock,
            time: RuntimeClock::new(),
            set: Notify::new(),
            leading: AtomicUsize::new(0),
            is_watched: AtomicBool::new(false),
            others,
            trust: watch::Sender::new(trust),
        })
    }

    /// Watches the clock for one more schedule, in a task of this thread.
    pub(super) fn watch(self: &Arc<Self>, hand_over: &HandOver) -> WatchedClock {
        self.leading.fetch_add(1, AcqRel);
        let watched = WatchedClock {
            watch: Arc::clone(self),
            hand_over: Rc::clone(hand_over),
        };
        watched.ensure();
        watched
    }

    fn read(&self) -> Now {
        Now {
            wall: self.clock.now(),
            time: self.time.now(),
        }
    }

    async fn run(self: Arc<Self>, hand_over: HandOver) {
        let mut ending = WatchEnding(Some(Arc::clone(&self)));
        let mut last = self.read();
        let mut compared = Compared::new(last.time);
        loop {
            let now = self.read();
            let is_set = is_set(last, now);
            if is_set {
                self.set.notify_waiters();
            }
            last = now;
            if is_set || compared.due <= now.time {
                self.compare(&mut compared, &hand_over).await;
            }
            if self.leading.load(Acquire) == 0 {
                self.rest();
                // This is a swap, because other threads might see a plain store only after this thread has read
                // `leading` below.
                self.is_watched.swap(false, AcqRel);
                // A schedule that began to lead just before the swap saw that this task runs, and started no task of
                // its own. Then this task goes on.
                let is_wanted = self.leading.load(Acquire) > 0;
                if !is_wanted || self.is_watched.swap(true, AcqRel) {
                    ending.0 = None;
                    return;
                }
                compared = Compared::new(now.time);
            }
            sleep(LOOK).await;
        }
    }

    /// Notes that no schedule leads: the next schedule that leads waits until the clock was compared.
    fn rest(&self) {
        if let Some(others) = &self.others {
            self.trust.send_replace(ClockTrust::Unchecked);
            others.note(None);
        }
    }

    async fn compare(&self, compared: &mut Compared, hand_over: &HandOver) {
        let Some(others) = &self.others else {
            compared.due = Time::MAX;
            return;
        };
        let watched = self.time.now().since(compared.begun);
        let (mut known, now) = others.read(self).await;
        known.watched = watched;
        let own = now.wall;
        compared.due = now.time.after(COMPARES_AGAIN);
        match known.judge() {
            ClockVerdict::Unknown => {
                self.trust.send_replace(ClockTrust::Unchecked);
            }
            verdict @ (ClockVerdict::Fits | ClockVerdict::Alone) => {
                compared.due = now.time.after(COMPARES);
                let before = self.trust.send_replace(ClockTrust::Fits(Some(now)));
                others.note(None);
                if matches!(before, ClockTrust::Off) {
                    info!(node = %others.id, "the clock agrees with the others again: schedules run");
                }
                let is_alone = verdict == ClockVerdict::Alone;
                if is_alone && !others.is_warned.swap(true, AcqRel) {
                    warn!(node = %others.id, "schedules go by the clock of this host alone: the store shows fewer than three contenders, and has no clock");
                }
            }
            ClockVerdict::Off {
                others: wall,
                is_store,
                successor,
            } => {
                let found = ScheduleFinding::ClockOff {
                    own,
                    others: wall,
                    is_store,
                };
                let before = self.trust.send_replace(ClockTrust::Off);
                if !matches!(before, ClockTrust::Off) {
                    warn!(node = %others.id, "{found}");
                }
                others.note(Some(found));
                if let Some(successor) = successor.filter(|_| compared.may_hand_over(now.time)) {
                    warn!(node = %others.id, %successor, "hands over to a contender whose clock agrees with the others");
                    hand_over(&successor);
                }
            }
        }
    }
}

impl OtherClocks {
    /// Returns the known clocks, and the moment at which they were read.
    async fn read(&self, watch: &ClockWatch) -> (KnownClocks, Now) {
        let others = self.keeper.clocks_now(&self.id).await;
        let alive = others.iter().filter(|other| other.is_alive).count();
        // With two other clocks there is a median, and the clock of the store is not needed.
        let store = if alive < 2 {
            self.keeper.store_clock().await
        } else {
            None
        };
        let now = watch.read();
        let known = KnownClocks {
            own: now.wall,
            others,
            store,
            watched: Duration::ZERO,
        };
        (known, now)
    }

    fn note(&self, found: Option<ScheduleFinding>) {
        if let Some(agent) = self.agent.upgrade() {
            agent.note_schedule_clock(found);
        }
    }
}

/// Times of the last comparison of the clock and of the last hand-over.
struct Compared {
    begun: Time,
    due: Time,
    handed_over: Option<Time>,
}

impl Compared {
    const fn new(now: Time) -> Self {
        Self {
            begun: now,
            due: now,
            handed_over: None,
        }
    }

    fn may_hand_over(&mut self, now: Time) -> bool {
        let is_soon = |at: Time| now.since(at) < HANDS_OVER_AGAIN;
        if self.handed_over.is_some_and(is_soon) {
            return false;
        }
        self.handed_over = Some(now);
        true
    }
}

/// A guard of the task that watches the clock. If the task is dropped, because its arbiter ends, the guard notes that
/// no task watches the clock.
struct WatchEnding(Option<Arc<ClockWatch>>);

impl Drop for WatchEnding {
    fn drop(&mut self) {
        if let Some(watch) = &self.0 {
            watch.is_watched.swap(false, AcqRel);
        }
    }
}

impl WatchedClock {
    /// Starts a new watch if the last watch has ended: a watch ends with the arbiter of the schedule that began it.
    pub(super) fn ensure(&self) {
        if !self.watch.is_watched.swap(true, AcqRel) {
            let run = Arc::clone(&self.watch).run(Rc::clone(&self.hand_over));
            drop(actix::spawn(run));
        }
    }

    /// Returns a future that ends when the clock is set after this call.
    pub(super) fn set(&self) -> Notified<'_> {
        self.watch.set.notified()
    }

    /// Returns the present moment. After the clock was set, it is trusted only after a comparison; until then the
    /// returned time continues from the time before.
    pub(super) fn now(&self) -> Now {
        let now = self.watch.read();
        if let ClockTrust::Fits(Some(then)) = *self.watch.trust.borrow() {
            let wall = then.wall.after(now.time.since(then.time));
            if apart(now.wall, wall) > AHEAD {
                return Now { wall, ..now };
            }
        }
        now
    }

    /// Waits until the clock was compared, and schedules may use it.
    pub(super) async fn trusted(&self) {
        let mut trust = self.watch.trust.subscribe();
        while !matches!(*trust.borrow_and_update(), ClockTrust::Fits(_)) {
            select(pin!(trust.changed()), pin!(sleep(ENSURES))).await;
            self.ensure();
        }
    }

    /// Waits until schedules must not use the clock. It uses no timer, because ten thousand schedules may wait for it
    /// at once.
    pub(super) async fn untrusted(&self) {
        let mut trust = self.watch.trust.subscribe();
        let fits = |trust: &ClockTrust| matches!(trust, ClockTrust::Fits(_));
        // Never fails: the watch keeps the sender.
        while fits(&trust.borrow_and_update()) && trust.changed().await.is_ok() {}
    }
}

/// Interval at which a schedule that waits for the clock calls [`WatchedClock::ensure`].
const ENSURES: Duration = Duration::from_secs(5);

impl fmt::Debug for WatchedClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WatchedClock").field(&self.watch).finish()
    }
}

impl Drop for WatchedClock {
    fn drop(&mut self) {
        self.watch.leading.fetch_sub(1, AcqRel);
    }
}

fn apart(a: WallTime, b: WallTime) -> Duration {
    a.since(b).max(b.since(a))
}

/// Returns whether the wall clock moved by more or by less than the time that passed.
fn is_set(last: Now, now: Now) -> bool {
    let expected = last.wall.after(now.time.since(last.time));
    apart(now.wall, expected) > TOLERANCE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_watch_ends_when_no_schedule_leads() {
        actix::System::new().block_on(async {
            tokio::time::pause();
            let watch = ClockWatch::new(Arc::new(crate::clock::SystemWallClock));
            let hand_over: HandOver = Rc::new(|_| {});
            let watched = watch.watch(&hand_over);
            sleep(LOOK * 4).await;
            assert!(watch.is_watched.load(Acquire));
            drop(watched);
            sleep(LOOK * 4).await;
            assert!(!watch.is_watched.load(Acquire));
        });
    }

    /// Agents with different opinions about the clocks must not move the leadership for ever.
    #[test]
    fn a_leader_whose_clock_is_off_hands_over_at_most_once_a_minute() {
        let mut compared = Compared::new(Time::ZERO);
        for (millis, may) in [(0, true), (1_000, false), (59_999, false), (60_000, true)] {
            let may_now = compared.may_hand_over(Time::from_millis(millis));
            assert_eq!(may_now, may, "{millis}");
        }
    }

    #[test]
    fn a_clock_is_set_when_it_goes_otherwise_than_the_time_that_passes() {
        let at = |wall, time| Now {
            wall: WallTime::from_millis(wall),
            time: Time::from_millis(time),
        };
        let last = at(1_000_000, 500);
        for (wall, time, expected) in [
            (1_000_250, 750, false),
            (1_000_251, 750, false),
            (1_000_230, 750, false),
            (1_000_220, 750, true),
            (1_000_280, 750, true),
            (0, 750, true),
            // The host was suspended for an hour.
            (4_600_250, 750, true),
            // The thread was busy.
            (1_060_000, 60_500, false),
        ] {
            assert_eq!(is_set(last, at(wall, time)), expected, "{wall}, {time}");
        }
    }
}
