//! How a host remembers the end of a leader on another host, in virtual time.

use std::time::Duration;

use actix::clock::sleep;
use actix_bully::{
    elections::quorum::QuorumConfig,
    history::{Leadership, LeadershipEnd},
    operate::Operated,
    protocol::Timings,
    remote::transport::Pipes,
    testkit::Inject,
};

use super::kit::{Host, MS, all_follow, builder, id, others, play, scene};

/// The leadership of `c1` as host a saw it, and the next one.
fn seen_by(host: &Host) -> [Leadership; 2] {
    let history = Operated::new(&host.agents[0]).history().swap_remove(0);
    let leaderships = history.leaderships.into_iter();
    let mut from_c = leaderships.skip_while(|one| one.leader.as_str() != "c1");
    [from_c.next().unwrap(), from_c.next().unwrap()]
}

/// Three hosts with a plain agent each; `c1` leads.
async fn three() -> [Host; 3] {
    let pipes = Pipes::new();
    let mut hosts = ["a", "b", "c"].map(|name| Host::start(&pipes, name, &others(name)));
    for (host, score) in hosts.iter_mut().zip(1..) {
        let name = format!("{}1", host.bridge.node());
        host.agent(&name, score);
    }
    all_follow(&hosts.each_ref(), "c1").await;
    sleep(MS(5_000)).await;
    hosts
}

/// The time without a leader after a leader that was not heard any more. The wall clock of these scenes stands still.
fn silence([first, next]: &[Leadership; 2]) -> Duration {
    assert_eq!(first.end, Some(LeadershipEnd::Gone));
    MS(next.without_ms.unwrap())
}

#[test]
fn a_silent_leader_is_missed_from_its_last_heartbeat_on() {
    play(async {
        let hosts = three().await;
        let long = sleep(MS(60_000));
        hosts[2].agents[0].addr().do_send(Inject::hang(long));
        sleep(MS(5_000)).await;
        let detector = Timings::lan().detector().unwrap();
        let without = silence(&seen_by(&hosts[0]));
        assert!(
            without + detector.heartbeat >= detector.detection,
            "{without:?}"
        );
        assert!(without < detector.detection * 3, "{without:?}");
    });
    scene(async |pipes, folder| {
        let config = QuorumConfig::new(["a1", "b1", "c1"].map(id));
        let host = |name| {
            let bridge = builder(pipes, name, &others(name));
            Host::of_voter(bridge, folder, config.clone())
        };
        let hosts = ["a", "b", "c"].map(host);
        all_follow(&hosts.each_ref(), "c1").await;
        sleep(MS(5_000)).await;
        let promise = config.timings.promise();
        let long = sleep(MS(60_000));
        hosts[2].agents[0].addr().do_send(Inject::hang(long));
        sleep(promise * 8).await;
        let without = silence(&seen_by(&hosts[0]));
        assert!(
            without > promise / 2 && without < promise * 4,
            "{without:?}"
        );
    });
}

#[test]
fn a_leader_that_leaves_has_handed_over() {
    play(async {
        let hosts = three().await;
        hosts[2].agents[0].leave(MS(5_000)).await.unwrap();
        sleep(MS(5_000)).await;
        let [first, next] = seen_by(&hosts[0]);
        assert_eq!(first.end, Some(LeadershipEnd::HandedOver));
        assert!(next.without_ms.unwrap() < 100, "{next:?}");
    });
}
