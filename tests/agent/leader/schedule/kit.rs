//! A scene of schedules: a clock that a test sets, and work that writes down its ticks.

use std::{future::Future, panic::resume_unwind, time::Duration};

use actix::clock;
use actix_bully::{
    agent::{ElectionHandle, Finding, ScheduleFinding},
    clock::WallTime,
    leader::schedule::{Misfire, ScheduleHandle, Tick},
    testkit::VirtualWallClock,
};
use bully_core::protocol::Election;

use crate::stage::Log;

/// When a scene begins: a whole minute.
pub(in crate::leader) const DAWN: WallTime = WallTime::from_millis(1_767_323_040_000);
pub(in crate::leader) const SECOND: Duration = Duration::from_secs(1);

/// The clock of an agent, which it begins with.
pub(super) fn begin<E: Election>(agent: &ElectionHandle<E>) -> VirtualWallClock {
    let clock = VirtualWallClock::new(DAWN);
    agent.schedules().clock(clock.clone()).start().unwrap();
    clock
}

/// Milliseconds since the scene began.
pub(super) fn millis(due: WallTime) -> u64 {
    u64::try_from(due.since(DAWN).as_millis()).unwrap()
}

/// Writes down a tick: when it was due, and what is said of it.
pub(super) fn line(tick: &Tick) -> String {
    let late = if tick.is_late { " late" } else { "" };
    let repeat = if tick.is_repeat { " again" } else { "" };
    format!("{}{late}{repeat}", millis(tick.due))
}

/// Work that takes so long.
pub(super) fn noting(log: &Log, span: Duration) -> impl FnMut(Tick) -> NotedWork + use<> {
    let log = log.clone();
    move |tick| {
        let log = log.clone();
        Box::pin(async move {
            log.add(line(&tick));
            if !span.is_zero() {
                clock::sleep(span).await;
                log.add(format_args!("{} done", millis(tick.due)));
            }
        })
    }
}

pub(super) type NotedWork = std::pin::Pin<Box<dyn Future<Output = ()>>>;

/// Work that panics so many times.
pub(super) fn panicking(log: &Log, mut times: u32) -> impl FnMut(Tick) -> NotedWork + use<> {
    let log = log.clone();
    move |tick| {
        log.add(line(&tick));
        let panics = times > 0;
        times = times.saturating_sub(1);
        Box::pin(async move {
            if panics {
                // Without the noise of a panic.
                resume_unwind(Box::new("a bug in the work"));
            }
        })
    }
}

/// The findings about schedules in the diagnosis of an agent.
pub(super) fn found<E: Election>(agent: &ElectionHandle<E>) -> Vec<ScheduleFinding> {
    let findings = agent.diagnosis().findings.into_iter();
    let of_schedules = findings.filter_map(|finding| match finding {
        Finding::Schedule(found) => Some(found),
        _ => None,
    });
    of_schedules.collect()
}

/// Every second, by this choice.
pub(super) fn every_second<E: Election>(
    agent: &ElectionHandle<E>,
    misfire: Misfire,
    work: impl FnMut(Tick) -> NotedWork + 'static,
) -> ScheduleHandle {
    let every = agent.every("second", SECOND).misfire(misfire);
    every.start(work).unwrap()
}
