//! Clocks that are behind, ahead, and set: nothing is repeated, and no year is used up.

use actix::clock;
use actix_bully::{
    leader::schedule::ScheduleHandle,
    testkit::{VirtualWallClock, cluster::Cluster},
};

use super::kit::{DAWN, line};
use crate::stage::{Log, MS, play};

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
