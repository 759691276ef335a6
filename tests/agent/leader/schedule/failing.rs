//! Ticks whose work fails: the counts, the log and the findings. The agent stays leader.

use std::cell::RefCell;

use actix::clock;
use actix_bully::{
    agent::ScheduleFinding,
    leader::schedule::{Misfire, Tick},
};
use tracing::Level;

use super::kit::{DAWN, SECOND, begin, every_second, found, line, panicking};
use crate::{
    logs::logged,
    stage::{Log, MS, Stage, id, play_toy},
    toy::{Act, Toy},
};

/// Returns work that ends with these results, the last one first, and then with success.
fn ending(log: &Log, ends: &[Result<(), &'static str>]) -> impl FnMut(Tick) -> Ended + use<> {
    let (log, ends) = (log.clone(), RefCell::new(ends.to_vec()));
    move |tick| {
        log.add(line(&tick));
        let end = ends.borrow_mut().pop().unwrap_or(Ok(()));
        std::future::ready(end)
    }
}

type Ended = std::future::Ready<Result<(), &'static str>>;

fn fails(times: u32, reason: &str) -> ScheduleFinding {
    ScheduleFinding::TickFails {
        schedule: id("second"),
        since: DAWN.after(SECOND),
        times,
        reason: reason.to_owned(),
    }
}

#[test]
fn a_tick_that_returns_an_error_is_counted_and_reported_until_a_tick_succeeds() {
    logged(Level::WARN, async |lines| {
        let (stage, log) = (Stage::new(), Log::default());
        let toy = Toy::builder("toy", &stage).start().unwrap();
        begin(&toy);
        let work = ending(&log, &[Err("no\nroom"), Err("no disk")]);
        let schedule = toy.every("second", SECOND).start(work).unwrap();
        stage.prompt(&toy, &[Act::Acquire(1)]).await;
        clock::sleep(MS(1_100)).await;
        assert_eq!(found(&toy), [fails(1, "no disk")]);
        clock::sleep(MS(1_000)).await;
        assert_eq!(found(&toy), [fails(2, "no room")]);
        assert_eq!(lines.about("tick failed").len(), 2);
        clock::sleep(MS(1_000)).await;
        assert_eq!(found(&toy), []);
        assert_eq!(log.take(), ["1000", "2000", "3000"], "no tick is repeated");
        assert_eq!(schedule.status().failed, 2);
        assert!(toy.is_leader());
    });
}

#[test]
fn ticks_that_panic_are_reported_until_the_agent_leads_no_more() {
    play_toy(async |stage, toy, log| {
        begin(&toy);
        every_second(&toy, Misfire::Skip, panicking(&log, 99));
        stage.prompt(&toy, &[Act::Acquire(1)]).await;
        clock::sleep(MS(3_500)).await;
        assert_eq!(found(&toy), [fails(3, "it panicked: a bug in the work")]);
        let said = toy.diagnosis().to_string();
        assert!(said.contains("has failed 3 times in a row"), "{said}");
        stage.prompt(&toy, &[Act::Lose]).await;
        assert_eq!(found(&toy), []);
    });
}
