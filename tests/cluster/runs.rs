//! Tests that equal runs are equal byte for byte, and a run by the real clock.

use actix_bully::{
    protocol::Timings,
    supervisor::RestartPolicy,
    testkit::{cluster::Cluster, faults::Conditions},
};
use bully_sim::trace::Trace;

use super::{MS, command, common, five, leaders_after, settled, test};

/// Plays a script with many kinds of faults on a bad network, and returns its trace.
async fn a_bad_day(seed: u64) -> String {
    let bad = Conditions::builder()
        .delay(MS(0)..=MS(25))
        .loss(100)
        .duplication(100)
        .in_any_order();
    let trace = Trace::new().with_deliveries().with_repeated();
    let mut cluster = Cluster::builder()
        .agents(5)
        .observer("observer")
        .supervised(RestartPolicy::default())
        .network(bad.build().unwrap())
        .trace(trace)
        .seed(seed)
        .start()
        .unwrap();
    let script = "settle; crash 4 5; wait 300ms; hang 3; partition 1 2 | 3; wait 2s; resume 3; \
         join 6 3; heal; score 1 9; settle; leave 1; isolate 5; wait 1s; heal; settle; status";
    for command in command::read(script).unwrap() {
        // A command may fail, but it must have the same outcome in each run.
        drop(command.run(&mut cluster).await);
    }
    cluster.trace().to_text()
}

#[test]
fn the_same_seed_gives_the_same_run_byte_for_byte() {
    let run = || common::virtual_system().block_on(a_bad_day(7));
    let first = run();
    assert!(first.lines().count() > 200, "{first}");
    for _ in 0..50 {
        assert_eq!(run(), first);
    }
    let other = common::virtual_system().block_on(a_bad_day(8));
    assert_ne!(other, first);
}

#[test]
fn a_run_on_the_real_clock_settles_too() {
    actix::System::new().block_on(async {
        let mut cluster = Cluster::builder()
            .agents(5)
            .timings(Timings::in_process())
            .start()
            .unwrap();
        assert_eq!(leaders_after(&cluster).await, "agent-5");
        cluster.hang("5").await.unwrap();
        assert_eq!(leaders_after(&cluster).await, "agent-4");
    });
}

#[test]
fn a_dropped_cluster_ends_its_agents() {
    test(|| async {
        let mut cluster = settled(five().margin(1)).await;
        cluster.hang("4").await.unwrap();
        let handles: Vec<_> = ["1", "4", "5"]
            .map(|name| cluster.handle(name).unwrap().clone())
            .into();
        drop(cluster);
        actix::clock::sleep(MS(1)).await;
        for handle in handles {
            assert!(!handle.addr().connected(), "{handle:?}");
            assert!(!handle.is_leader());
        }
    });
}

#[cfg(feature = "testkit")]
#[actix_rt::test(system = "actix_bully::testkit::VirtualSystem")]
async fn a_test_can_have_a_system_whose_time_is_virtual() {
    let mut cluster = settled(five()).await;
    cluster.hang("5").await.unwrap();
    assert_eq!(leaders_after(&cluster).await, "agent-4");
}
