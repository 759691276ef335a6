//! A tick that is due while the leader stands still and before another agent leads.

use std::time::Duration;

use actix::clock;
use actix_bully::{
    agent::BullyAgent,
    clock::WallClock,
    leader::schedule::Misfire,
    protocol::Timings,
    store::MemoryStore,
    testkit::{VirtualWallClock, cluster::Cluster, virtual_system},
};

use super::kit::{DAWN, SECOND};
use crate::stage::{Log, MS};

const MINUTE: Duration = Duration::from_secs(60);

/// Freezes the leader of three voters a millisecond before a tick is due. Returns the delay of this tick at the next
/// leader, in milliseconds. `phase` moves the tick between two heartbeats of the leader.
fn late_by(timings: &Timings, misfire: Misfire, phase: Duration) -> Option<u64> {
    virtual_system().block_on(async {
        let (log, wall) = (Log::default(), VirtualWallClock::new(DAWN));
        clock::sleep(phase).await;
        let names = ["a", "b", "c"];
        let mut cluster = Cluster::builder().needs_voters(2).timeout(MINUTE);
        for name in names {
            let (log, wall, timings) = (log.clone(), wall.clone(), timings.clone());
            cluster = cluster.wired(name, move |node| {
                let agent = BullyAgent::builder(name).quorum(names);
                let agent = node.prepare(agent.timings(timings.clone())).start()?;
                let schedules = agent.schedules().clock(wall.clone());
                schedules.store(MemoryStore::new()).start()?;
                let (log, wall) = (log.clone(), wall.clone());
                let every = agent.every("report", MINUTE).misfire(misfire);
                every.start(move |tick| {
                    log.add(wall.now().since(tick.due).as_millis());
                    async {}
                })?;
                Ok(agent)
            });
        }
        let mut cluster = cluster.start().unwrap();
        cluster.settle().await.unwrap();
        let passed = wall.now().since(DAWN) + MS(1);
        clock::sleep(MINUTE.saturating_sub(passed)).await;
        let leader = cluster.believers().remove(0);
        cluster.freeze(leader.as_str()).await.unwrap();
        clock::sleep(10 * SECOND).await;
        let late = log.take();
        late.first().map(|late| late.parse().unwrap())
    })
}

/// The documentation of schedules and page 3 of the guide have these figures.
#[test]
fn a_tick_during_a_fail_over_is_in_time_by_the_default_timings_and_skipped_across_regions() {
    for phase in (0..180).step_by(45).map(MS) {
        let late = late_by(&Timings::default(), Misfire::Skip, phase).unwrap();
        assert!((750..=950).contains(&late), "{late} ms");
    }
    let wan = Timings::wan();
    for phase in (0..1_000).step_by(250).map(MS) {
        assert_eq!(late_by(&wan, Misfire::Skip, phase), None);
        let within = 10 * SECOND;
        let late = late_by(&wan, Misfire::Late { within }, phase).unwrap();
        assert!((4_000..=5_500).contains(&late), "{late} ms");
    }
}
