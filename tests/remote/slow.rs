//! Networks that are slower than the timings assume: which host reports that, when, and which change helps.

use std::path::Path;

use actix::clock::{Instant, sleep};
use actix_bully::{
    agent::Finding, elections::quorum::QuorumConfig, protocol::Timings, remote::transport::Pipes,
};

use super::{
    far::Distance,
    kit::{Host, MS, builder, id, others},
    voters::{VOTERS, all_follow_alone, believer},
    warnings::warnings,
};

/// Starts three hosts with one voter each, at this distance from each other.
fn three(distance: &Distance, folder: &Path, timings: &Timings) -> [Host; 3] {
    let pipes = Pipes::new();
    ["a", "b", "c"].map(|name| {
        let bridge = builder(&pipes, name, &others(name)).transport(distance.host(&pipes, name));
        let config = QuorumConfig {
            timings: timings.clone(),
            ..QuorumConfig::new(VOTERS.map(id))
        };
        Host::of_voter(bridge, folder, config)
    })
}

async fn elected(hosts: &[Host; 3]) {
    all_follow_alone(&hosts.each_ref(), "c1").await;
}

/// Delay in one direction, in milliseconds. It is so long that even longer rounds do not help for half a minute.
const TOO_FAR: u64 = 100;

#[test]
fn where_messages_take_longer_than_the_preset_assumes_the_log_and_the_diagnosis_name_another() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let said = warnings("no leader for", async {
        let distance = Distance::default();
        distance.set(MS(TOO_FAR));
        let began = Instant::now();
        let hosts = three(&distance, folder, &Timings::lan());
        sleep(MS(700)).await;
        for host in &hosts {
            let is_advice = |finding: &Finding| matches!(finding, Finding::EchoTooLong { advice: Some("Timings::wan()"), echo, .. } if *echo >= MS(2 * TOO_FAR));
            host.assert_finds(is_advice);
        }
        while began.elapsed() < MS(25_000) {
            sleep(MS(1)).await;
            assert_eq!(believer(&hosts.each_ref()), None);
        }
    });
    let advises = |line: &&String| line.contains("use Timings::wan()");
    assert!(said.len() >= 3, "{said:#?}");
    assert_eq!(said.iter().filter(advises).count(), said.len(), "{said:#?}");
    let soon = |line: &&String| line.contains("no leader for 0.");
    assert!(said.iter().filter(soon).count() >= 3, "{said:#?}");
}

#[test]
fn a_leader_whose_network_becomes_slow_says_so_before_it_falls() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let renews = |finding: &Finding| matches!(finding, Finding::RenewsLate { .. });
    let said = warnings("renews its lease late", async {
        let distance = Distance::default();
        let hosts = three(&distance, folder, &Timings::lan());
        elected(&hosts).await;
        sleep(MS(1_000)).await;
        hosts[2].assert_finds_no(renews);
        let term = hosts[2].agents[0].current().term;
        // An echo takes 130 ms. When the next heartbeat is answered, 50 ms of the lease of 240 ms are left.
        distance.set(MS(65));
        sleep(MS(1_000)).await;
        hosts[2].assert_finds(renews);
        sleep(MS(5_000)).await;
        let leads = hosts[2].agents[0].current();
        assert_eq!(leads.leading, Some(term), "it has led all the time");
        distance.set(MS(0));
        sleep(MS(1_000)).await;
        hosts[2].assert_finds_no(renews);
    });
    assert_eq!(said.len(), 1, "{said:#?}");
    assert!(
        said[0].contains("node=c1") && said[0].contains("Timings::default()"),
        "{said:#?}"
    );
}
