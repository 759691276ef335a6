//! Waits for a moment of the clock that counts a suspend, without looking at it again and again.
//!
//! Decided here: that the kernel waits where it can. A runtime's timers stop while the host is suspended, so a wait by
//! them has to look at the clock every so often, and each look wakes a thread that has nothing to do. A timer of the
//! kernel by `CLOCK_BOOTTIME` costs nothing until it is due, and is due as soon as the host is back. Not here: what is waited
//! for, and what is done where there is no such timer (`agent/wait.rs`).

#[cfg(target_os = "linux")]
mod system {
    use std::{
        cell::Cell,
        os::fd::OwnedFd,
        panic::{AssertUnwindSafe, catch_unwind},
    };

    use rustix::time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
        timerfd_settime,
    };
    use tokio::io::{Interest, unix::AsyncFd};

    use crate::protocol::Time;

    /// Rings at a moment of the host's clock.
    #[derive(Debug)]
    pub(crate) struct Alarm(AsyncFd<OwnedFd>);

    impl Alarm {
        /// Sets one. `None` where the process has no file descriptor left for it, or the runtime watches none.
        #[expect(
            deprecated,
            reason = "its successor is unsafe, for types that may name another descriptor later: one that is owned stays"
        )]
        pub(crate) fn at(at: Time) -> Option<Self> {
            if WATCHES_NONE.get() {
                return None;
            }
            let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
            let timer = timerfd_create(TimerfdClockId::Boottime, flags).ok()?;
            timerfd_settime(&timer, TimerfdTimerFlags::ABSTIME, &once(at)?).ok()?;
            // There is no other way to ask a runtime whether it watches file descriptors.
            let watched = catch_unwind(AssertUnwindSafe(|| {
                AsyncFd::with_interest(timer, Interest::READABLE)
            }));
            let Ok(watched) = watched else {
                // Asked again at each wait, it would panic each time, and the hook of the panic may print.
                WATCHES_NONE.set(true);
                return None;
            };
            watched.ok().map(Self)
        }

        /// Ends when it has rung.
        pub(crate) async fn rung(&self) {
            // An error means that the runtime shuts down: the caller looks at the clock in any case.
            drop(self.0.readable().await);
        }
    }

    thread_local! {
        /// A runtime of this thread watches no file descriptors.
        static WATCHES_NONE: Cell<bool> = const { Cell::new(false) };
    }

    fn once(at: Time) -> Option<Itimerspec> {
        // Zero would unset the timer; every moment since the host was booted is later.
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

    /// No system but Linux has a timer of that clock that a runtime can wait for.
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
