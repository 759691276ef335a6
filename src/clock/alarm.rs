//! Waits for a moment of the clock that counts a suspend. A wait reads that clock only when it is due.
//!
//! Decided here: the kernel waits where it can. The timers of a runtime stop while the host is suspended, so a wait by
//! these timers would have to read the clock at short intervals, and each reading would wake a thread. A kernel timer
//! of `CLOCK_BOOTTIME` costs nothing until it is due, and if it becomes due during a suspend, it fires as soon as the
//! host runs again. The alarms of one thread share one kernel timer, which is set for the earliest alarm: a process has
//! a limited number of descriptors, and an agent may have any number of waits. Not here: the purpose of a wait, and the
//! wait without such a timer (`agent/wait.rs`).

#[cfg(target_os = "linux")]
mod system {
    use std::{
        cell::{Cell, RefCell},
        collections::BTreeSet,
        future::{Future, poll_fn},
        os::fd::OwnedFd,
        panic::{AssertUnwindSafe, catch_unwind},
        pin::pin,
        sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
        task::Poll,
    };

    use rustix::time::{
        ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec,
        clock_gettime, timerfd_create, timerfd_settime,
    };
    use tokio::{
        io::{Interest, unix::AsyncFd},
        runtime::{Handle, Id},
    };

    use crate::protocol::Time;

    /// An alarm for one moment of the host's clock.
    #[derive(Debug)]
    pub(crate) struct Alarm {
        timer: Arc<SharedTimer>,
        at: Time,
        number: u64,
    }

    /// The kernel timer of all alarms that were set on one thread for one runtime. Ten thousand waits need only one
    /// descriptor.
    #[derive(Debug)]
    struct SharedTimer {
        descriptor: AsyncFd<OwnedFd>,
        set: Mutex<SetAlarms>,
    }

    #[derive(Debug, Default)]
    struct SetAlarms {
        last: u64,
        /// Every alarm that was set, has not fired and was not dropped.
        all: BTreeSet<(Time, u64)>,
        /// Time at which the kernel timer fires next, if it is set.
        next: Option<Time>,
    }

    thread_local! {
        /// Whether the runtime of this thread watches no file descriptors.
        static WATCHES_NONE: Cell<bool> = const { Cell::new(false) };
        /// The latest timer of this thread, with the runtime to which it belongs.
        static SHARED: RefCell<Option<(Id, Weak<SharedTimer>)>> = const { RefCell::new(None) };
    }

    impl Alarm {
        /// Sets an alarm. Returns `None` if the process has no file descriptor left, or if the runtime watches no
        /// descriptors.
        pub(crate) fn at(at: Time) -> Option<Self> {
            // Refuses the end of time (`Time::MAX`), which no clock reaches.
            once(at)?;
            let timer = SharedTimer::here()?;
            let number = timer.add(at)?;
            Some(Self { timer, at, number })
        }

        /// Waits until the alarm is due.
        pub(crate) async fn rung(&self) {
            let mut readable = pin!(None);
            poll_fn(|task| {
                loop {
                    // The clock is read, because the first task that wakes clears the readiness for all tasks.
                    if now() >= self.at {
                        return Poll::Ready(());
                    }
                    if readable.is_none() {
                        readable.set(Some(self.timer.descriptor.readable()));
                    }
                    let Some(waiting) = readable.as_mut().as_pin_mut() else {
                        return Poll::Ready(());
                    };
                    match waiting.poll(task) {
                        Poll::Pending => return Poll::Pending,
                        Poll::Ready(Ok(mut ready)) => {
                            // The readiness is empty if another task has already set the timer. So a timer that fires
                            // costs one call to set it, not one call for each waiting task.
                            if !ready.ready().is_empty() {
                                self.timer.set_next();
                            }
                            ready.clear_ready();
                            readable.set(None);
                        }
                        // The runtime shuts down. The caller reads its clock in any case.
                        Poll::Ready(Err(_)) => return Poll::Ready(()),
                    }
                }
            })
            .await;
        }
    }

    impl Drop for Alarm {
        fn drop(&mut self) {
            self.timer.set().all.remove(&(self.at, self.number));
        }
    }

    impl SharedTimer {
        /// Returns the timer of this runtime and this thread.
        fn here() -> Option<Arc<Self>> {
            if WATCHES_NONE.get() {
                return None;
            }
            let runtime = Handle::try_current().ok()?.id();
            SHARED.with_borrow_mut(|shared| {
                let known = shared.as_ref().filter(|(of, _)| *of == runtime);
                if let Some(timer) = known.and_then(|(_, timer)| timer.upgrade()) {
                    return Some(timer);
                }
                let timer = Arc::new(Self::new()?);
                *shared = Some((runtime, Arc::downgrade(&timer)));
                Some(timer)
            })
        }

        #[expect(
            deprecated,
            reason = "its successor is unsafe, for types that may name another descriptor later: one that is owned stays"
        )]
        fn new() -> Option<Self> {
            let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
            let timer = timerfd_create(TimerfdClockId::Boottime, flags).ok()?;
            // The call panics if the runtime watches no file descriptors. There is no other way to ask.
            let watched = catch_unwind(AssertUnwindSafe(|| {
                AsyncFd::with_interest(timer, Interest::READABLE)
            }));
            let Ok(watched) = watched else {
                // Without this mark each later wait would try again and panic again, and the panic hook may print each
                // time.
                WATCHES_NONE.set(true);
                return None;
            };
            Some(Self {
                descriptor: watched.ok()?,
                set: Mutex::default(),
            })
        }

        fn add(&self, at: Time) -> Option<u64> {
            let mut set = self.set();
            let is_first = set.next.is_none_or(|next| at < next);
            if is_first {
                self.arm(at)?;
                set.next = Some(at);
            }
            set.last = set.last.wrapping_add(1);
            let number = set.last;
            set.all.insert((at, number));
            Some(number)
        }

        /// Removes the alarms that are due, whose tasks check the clock themselves, and sets the timer for the next
        /// alarm. Called after the timer has fired.
        fn set_next(&self) {
            let mut set = self.set();
            let now = now();
            while set.all.first().is_some_and(|(at, _)| *at <= now) {
                set.all.pop_first();
            }
            set.next = set.all.first().map(|(at, _)| *at);
            if let Some(at) = set.next {
                // The result is not needed: an existing timer accepts each moment that `once` returns.
                self.arm(at);
            }
        }

        fn arm(&self, at: Time) -> Option<()> {
            let timer = self.descriptor.get_ref();
            timerfd_settime(timer, TimerfdTimerFlags::ABSTIME, &once(at)?).ok()?;
            Some(())
        }

        fn set(&self) -> MutexGuard<'_, SetAlarms> {
            // A poisoned lock is still used: each change under it is one step, so a panic leaves no change half made.
            self.set.lock().unwrap_or_else(PoisonError::into_inner)
        }
    }

    fn now() -> Time {
        let now = clock_gettime(ClockId::Boottime);
        let (seconds, nanos) = (now.tv_sec.unsigned_abs(), now.tv_nsec.unsigned_abs());
        Time::from_nanos(seconds * SECOND.unsigned_abs() + nanos)
    }

    fn once(at: Time) -> Option<Itimerspec> {
        // Zero would unset the timer, so zero becomes 1: every moment since the host was booted is later.
        let nanos = i64::try_from(at.as_nanos().max(1)).ok()?;
        let it_interval = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let it_value = Timespec {
            tv_sec: nanos / SECOND,
            tv_nsec: nanos % SECOND,
        };
        Some(Itimerspec {
            it_interval,
            it_value,
        })
    }

    const SECOND: i64 = 1_000_000_000;
}

#[cfg(not(target_os = "linux"))]
mod system {
    use crate::protocol::Time;

    /// No alarm exists on this system: only Linux has a timer of this clock for which a runtime can wait.
    #[derive(Debug)]
    pub(crate) enum Alarm {}

    impl Alarm {
        pub(crate) const fn at(_: Time) -> Option<Self> {
            None
        }

        pub(crate) async fn rung(&self) {
            match *self {}
        }
    }
}

pub(crate) use system::Alarm;

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::{future::Future, time::Duration};

    use tokio::{runtime::Builder, time::timeout};

    use super::*;
    use crate::{
        clock::{BootClock, Clock},
        protocol::Time,
    };

    #[expect(clippy::unwrap_used, reason = "a test without a runtime is over")]
    fn in_runtime<T>(scene: impl Future<Output = T>) -> T {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let limited = async { timeout(Duration::from_secs(60), scene).await.unwrap() };
        runtime.block_on(limited)
    }

    #[test]
    fn an_alarm_rings_when_its_moment_has_come_and_no_sooner() {
        let clock = BootClock::new().unwrap();
        in_runtime(async {
            let at = clock.now().after(Duration::from_millis(2));
            Alarm::at(at).unwrap().rung().await;
            assert!(clock.now() >= at);
        });
    }

    #[test]
    fn an_alarm_for_a_moment_that_is_over_rings_at_once_and_stays_so() {
        in_runtime(async {
            for past in [Time::ZERO, Time::from_nanos(1), Time::from_millis(1)] {
                let alarm = Alarm::at(past).unwrap();
                alarm.rung().await;
                alarm.rung().await;
            }
        });
    }

    fn descriptors() -> usize {
        std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
    }

    /// Tests on other threads open descriptors too, so the limit is not 1, but it is far below the number of alarms.
    #[test]
    fn a_thousand_alarms_ring_in_the_order_of_their_moments_and_share_one_descriptor() {
        let clock = BootClock::new().unwrap();
        in_runtime(async {
            let before = descriptors();
            let now = clock.now();
            let at = |number: u64| now.after(Duration::from_micros(20 * number));
            // The latest is set first, and some are dropped before they ring.
            let alarms: Vec<_> = (0..1_000_u64)
                .rev()
                .map(|n| Alarm::at(at(n)).unwrap())
                .collect();
            let after = descriptors();
            assert!(before > 0 && after < before + 500, "{before}, then {after}");
            let (dropped, kept): (Vec<_>, Vec<_>) = alarms
                .into_iter()
                .enumerate()
                .partition(|(n, _)| n % 3 == 0);
            drop(dropped);
            let kept = kept.into_iter().map(|(_, alarm)| alarm);
            let waits = kept.map(|alarm| async move {
                alarm.rung().await;
                clock.now()
            });
            let rung = futures::future::join_all(waits).await;
            for (wait, rung) in (1..1_000_u64)
                .rev()
                .filter(|n| (999 - n) % 3 != 0)
                .zip(rung)
            {
                assert!(rung >= at(wait), "{wait}");
            }
        });
    }

    #[test]
    fn alarms_that_were_dropped_are_forgotten() {
        in_runtime(async {
            let kept = Alarm::at(Time::from_millis(1 << 40)).unwrap();
            for nth in 1..1_000 {
                drop(Alarm::at(Time::from_millis((1 << 40) + nth)));
            }
            let shown = format!("{kept:?}");
            assert!(shown.len() < 2_000, "{shown}");
        });
    }

    #[test]
    fn an_alarm_of_the_next_runtime_of_a_thread_rings_too() {
        let clock = BootClock::new().unwrap();
        for _ in 0..3 {
            in_runtime(async {
                let [soon, never] = [1, 60_000].map(|millis| {
                    Alarm::at(clock.now().after(Duration::from_millis(millis))).unwrap()
                });
                soon.rung().await;
                drop(never);
            });
        }
    }

    #[test]
    fn a_thread_whose_runtime_watches_no_descriptors_has_no_alarm_and_tries_it_once() {
        let runtime = Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            assert!(Alarm::at(Time::from_millis(1)).is_none());
            assert!(Alarm::at(Time::from_millis(1)).is_none());
        });
        in_runtime(async {
            assert!(
                Alarm::at(Time::from_millis(1)).is_none(),
                "it is not tried again"
            );
        });
    }

    #[test]
    fn the_end_of_time_is_never_waited_for_by_the_kernel() {
        in_runtime(async { assert!(Alarm::at(Time::MAX).is_none()) });
    }
}
