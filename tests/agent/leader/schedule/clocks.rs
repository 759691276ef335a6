//! Clocks that are behind, ahead, and set: nothing is repeated, and no year is used up.

use std::time::Duration;

use actix::clock;
use actix_bully::{
    leader::schedule::{Misfire, ScheduleHandle},
    testkit::{VirtualWallClock, cluster::Cluster},
};

use super::kit::{DAWN, begin, every_second, line, noting};
use crate::{
    stage::{Log, MS, play, play_toy},
    toy::Act,
};

#[test]
fn a_clock_that_is_set_back_repeats_nothing_and_one_set_forward_misses_what_lies_between() {
    play_toy(async |stage, toy, log| {
        let wall = begin(&toy);
        let schedule = every_second(&toy, Misfire::Skip, noting(&log, Duration::ZERO));
        stage.prompt(&toy, &[Act::Acquire(1)]).await;
        clock::sleep(MS(3_100)).await;
        assert_eq!(log.take(), ["1000", "2000", "3000"]);
        wall.set_ahead(-2_000);
        clock::sleep(MS(2_700)).await;
        assert_eq!(log.take(), [""; 0]);
        clock::sleep(MS(1_000)).await;
        assert_eq!(log.take(), ["4000"]);
        // The next leadership knows of it as well.
        wall.set_ahead(-6_000);
        stage.prompt(&toy, &[Act::Lose]).await;
        stage.prompt(&toy, &[Act::Acquire(2)]).await;
        clock::sleep(MS(3_000)).await;
        assert_eq!(log.take(), [""; 0]);
        assert_eq!(schedule.status().skipped, 0);
        // 9.8 s by a clock that is right again, which is read four times in a second.
        wall.set_ahead(0);
        clock::sleep(MS(1_500)).await;
        assert_eq!(log.take(), ["10000", "11000"]);
        assert_eq!(schedule.status().skipped, 5);
    });
}

/// Three voters, each with a clock of its own.
struct Trio {
    cluster: Cluster,
    log: Log,
    walls: Vec<VirtualWallClock>,
    schedules: Vec<ScheduleHandle>,
}

fn trio() -> Trio {
    let cluster = Cluster::builder().agents(3).quorum().start().unwrap();
    let log = Log::default();
    let wall = VirtualWallClock::new(DAWN);
    let (mut walls, mut schedules) = (Vec::new(), Vec::new());
    for name in ["agent-1", "agent-2", "agent-3"] {
        let agent = cluster.handle(name).unwrap();
        walls.push(wall.another());
        let own = walls.last().unwrap().clone();
        agent.schedules().clock(own).start().unwrap();
        let log = log.clone();
        let started = agent.every("second", MS(1_000)).start(move |tick| {
            log.add(format_args!("{} {}", tick.leader.token().node, line(&tick)));
            async {}
        });
        schedules.push(started.unwrap());
    }
    Trio {
        cluster,
        log,
        walls,
        schedules,
    }
}

#[test]
fn a_successor_whose_clock_is_behind_repeats_nothing() {
    play(async {
        let mut trio = trio();
        trio.walls[1].set_ahead(-4_000);
        trio.walls[0].set_ahead(-4_000);
        trio.cluster.settle().await.unwrap();
        clock::sleep(MS(5_000)).await;
        let before = trio.log.take();
        assert!(before.len() >= 4, "{before:?}");
        assert!(before.iter().all(|line| line.starts_with("agent-3 ")));
        trio.cluster.crash("agent-3").await.unwrap();
        clock::sleep(MS(3_000)).await;
        assert!(trio.cluster.handle("agent-2").unwrap().is_leader());
        assert_eq!(
            trio.log.take(),
            [""; 0],
            "it waits until it is past the last"
        );
        clock::sleep(MS(4_000)).await;
        let after = trio.log.take();
        assert!(after.len() >= 2, "{after:?}");
        let due = |line: &String| line.split(' ').nth(1).unwrap().parse::<u64>().unwrap();
        let all: Vec<_> = before.iter().chain(&after).map(due).collect();
        assert!(all.is_sorted_by(|a, b| a < b), "{all:?}");
    });
}

#[test]
fn a_clock_that_was_ahead_for_a_while_is_forgiven_in_the_same_leadership() {
    play(async {
        let trio = trio();
        trio.cluster.settle().await.unwrap();
        clock::sleep(MS(3_000)).await;
        assert!(trio.log.take().len() >= 2);
        trio.walls[2].set_ahead(365 * 24 * 3_600_000);
        clock::sleep(MS(3_000)).await;
        assert_eq!(trio.log.take(), [""; 0]);
        assert!(trio.schedules[2].status().refused > 0);
        trio.walls[2].set_ahead(0);
        clock::sleep(MS(3_000)).await;
        let lines = trio.log.take();
        assert!(lines.len() >= 2, "{lines:?}");
        assert!(lines.iter().all(|line| line.starts_with("agent-3 ")));
    });
}
