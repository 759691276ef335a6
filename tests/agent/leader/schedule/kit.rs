//! A scene of schedules: a clock that a test sets, and work that writes its ticks down.

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

/// The wall clock at the beginning of a scene: a whole minute.
pub(in crate::leader) const DAWN: WallTime = WallTime::from_millis(1_767_323_040_000);
pub(in crate::leader) const SECOND: Duration = Duration::from_secs(1);

/// Starts the schedules of an agent with a clock that the test sets.
pub(super) fn begin<E: Election>(agent: &ElectionHandle<E>) -> VirtualWallClock {
    let clock = VirtualWallClock::new(DAWN);
    agent.schedules().clock(clock.clone()).start().unwrap();
    clock
}

/// Returns the milliseconds since the scene began.
pub(super) fn millis(due: WallTime) -> u64 {
    u64::try_from(due.since(DAWN).as_millis()).unwrap()
}

/// Returns the line of a tick: its due time, and whether it is late or a repetition.
pub(super) fn line(tick: &Tick) -> String {
    let late = if tick.is_late { " late" } else { "" };
    let repeat = if tick.is_repeat { " again" } else { "" };
    format!("{}{late}{repeat}", millis(tick.due))
}

/// Returns work that notes each tick and takes the time `span`.
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

/// Returns work that panics `times` times.
pub(super) fn panicking(log: &Log, mut times: u32) -> impl FnMut(Tick) -> NotedWork + use<> {
    let log = log.clone();
    move |tick| {
        log.add(line(&tick));
        let panics = times > 0;
        times = times.saturating_sub(1);
        Box::pin(async move {
            if panics {
                // This panic prints no message.
                resume_unwind(Box::new("a bug in the work"));
            }
        })
    }
}

/// Returns the findings about schedules in the diagnosis of an agent.
pub(super) fn found<E: Election>(agent: &ElectionHandle<E>) -> Vec<ScheduleFinding> {
    let findings = agent.diagnosis().findings.into_iter();
    let of_schedules = findings.filter_map(|finding| match finding {
        Finding::Schedule(found) => Some(found),
        _ => None,
    });
    of_schedules.collect()
}

/// Starts a schedule of every second, with this rule for missed ticks.
pub(super) fn every_second<E: Election>(
    agent: &ElectionHandle<E>,
    misfire: Misfire,
    work: impl FnMut(Tick) -> NotedWork + 'static,
) -> ScheduleHandle {
    let every = agent.every("second", SECOND).misfire(misfire);
    every.start(work).unwrap()
}
