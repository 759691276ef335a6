//! Schedules of agents whose lease is in a store: processes that share nothing else, whose clocks differ.

use std::{collections::BTreeMap, time::Duration};

use actix::clock;
use actix_bully::{
    Group,
    agent::BullyHandle,
    leader::schedule::{Misfire, ScheduleError, ScheduleHandle, ScheduleRecord},
    store::MemoryStore,
    testkit::VirtualWallClock,
};

use super::kit::{DAWN, line};
use crate::{
    stage::{Log, MS, play},
    store::{Store, agent, group},
};

/// One process: what it has of the store, its agent, and its clock.
struct Process {
    store: Store,
    agent: BullyHandle,
    wall: VirtualWallClock,
    _group: Group,
}

impl Process {
    fn start(store: &Store, name: &str, rank: i32, wall: &VirtualWallClock) -> Self {
        let (store, group, wall) = (store.of_another_process(), group(), wall.another());
        let agent = agent(&group, &store, name, rank);
        agent.schedules().clock(wall.clone()).start().unwrap();
        Self {
            store,
            agent,
            wall,
            _group: group,
        }
    }

    /// Work that takes so long, and says when it has ended.
    fn every(
        &self,
        interval: Duration,
        misfire: Misfire,
        (log, span): (&Log, Duration),
    ) -> ScheduleHandle {
        let log = log.clone();
        let every = self.agent.every("x", interval).misfire(misfire);
        let started = every.start(move |tick| {
            log.add(line(&tick));
            let (log, due) = (log.clone(), tick.due);
            async move {
                if !span.is_zero() {
                    clock::sleep(span).await;
                    log.add(format_args!("{} done", due.since(DAWN).as_millis()));
                }
            }
        });
        started.unwrap()
    }
}

/// Two processes of one store; the clock of the second one is so far ahead, or behind.
fn two(ahead: i64) -> [Process; 2] {
    let (store, wall) = (
        Store::default(),
        VirtualWallClock::new(DAWN.after(MS(10_000))),
    );
    let both = [("a", 1), ("b", 2)].map(|(name, rank)| Process::start(&store, name, rank, &wall));
    both[1].wall.set_ahead(ahead);
    both
}

/// The process that leads, and the other one.
fn leader(both: &[Process; 2]) -> Option<(&Process, &Process)> {
    let [a, b] = both;
    match (a.agent.is_leader(), b.agent.is_leader()) {
        (true, false) => Some((a, b)),
        (false, true) => Some((b, a)),
        (false, false) => None,
        (true, true) => panic!("two leaders"),
    }
}

async fn wait_for_leader(both: &[Process; 2]) {
    while leader(both).is_none() {
        clock::sleep(MS(5)).await;
    }
}

/// How often each due time began.
fn begun(lines: &[String]) -> BTreeMap<u64, u32> {
    let mut begun = BTreeMap::new();
    let firsts = lines.iter().filter(|line| !line.ends_with("done"));
    for line in firsts {
        let due = line.split(' ').next().unwrap().parse().unwrap();
        *begun.entry(due).or_default() += 1;
    }
    begun
}

#[test]
fn a_fail_over_at_any_moment_of_a_tick_begins_none_twice_with_clocks_2_s_apart() {
    let late = Misfire::Late { within: MS(5_000) };
    for (misfire, ahead) in [
        (Misfire::Skip, -2_000),
        (Misfire::Skip, 2_000),
        (late, -2_000),
    ] {
        play(async move {
            let both = two(ahead);
            let log = Log::default();
            let schedules = both
                .each_ref()
                .map(|process| process.every(MS(1_000), misfire, (&log, MS(200))));
            for step in 0..12 {
                wait_for_leader(&both).await;
                clock::sleep(MS(2_500 + step * 83)).await;
                let (leads, _) = leader(&both).unwrap();
                leads.store.cut(true);
                clock::sleep(MS(1_500)).await;
                wait_for_leader(&both).await;
                for process in &both {
                    process.store.cut(false);
                }
            }
            let begun = begun(&log.take());
            assert!(begun.len() > 20, "{misfire:?}: {begun:?}");
            let twice: Vec<_> = begun.iter().filter(|(_, times)| **times > 1).collect();
            assert!(twice.is_empty(), "{misfire:?}, {ahead} ms: {twice:?}");
            let led = schedules.map(|schedule| schedule.status().begun);
            assert!(led.iter().all(|begun| *begun > 3), "both have led: {led:?}");
        });
    }
}

#[test]
fn a_store_of_its_own_is_refused_since_the_lease_has_one() {
    play(async {
        let [process, _] = two(0);
        let group = group();
        let agent = agent(&group, &process.store, "c", 1);
        let store = MemoryStore::<ScheduleRecord>::new();
        let refused = agent.schedules().store(store).start().unwrap_err();
        let is_kept = matches!(&refused, ScheduleError::KeptByLease { agent } if *agent == "c");
        assert!(is_kept, "{refused}");
        // And without it the schedules start.
        agent.schedules().start().unwrap();
    });
}
