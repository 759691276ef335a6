//! The time until a group has its first leader, in each mode, as in the documentation of the builder.

use std::time::Duration;

use actix::clock::{self, Instant};
use actix_bully::{
    Group,
    agent::{BullyAgent, BullyBuilder, BullyHandle, WaitError},
    elections::{lease::LeaseConfig, quorum::QuorumConfig},
    protocol::Timings,
    register::MemoryRegister,
    store::MemoryStore,
    testkit::{Inject, VirtualClock},
};
use bully_core::elections::quorum::Diskless;

use crate::stage::{MS, id, play};

const NAMES: [&str; 3] = ["a", "b", "c"];
const PAGE: &str = include_str!("../../src/agent/builder.rs");

/// Asserts that the documentation's row of this mode has this time, in seconds, rounded up to two digits.
fn assert_row(mode: &str, formula: Duration) {
    let row = format!("/// | {mode}");
    let row = PAGE.lines().find(|line| line.starts_with(&row)).unwrap();
    let hundredths = formula.as_micros().div_ceil(10_000);
    let shown = format!("{}.{:02} s", hundredths / 100, hundredths % 100);
    assert!(row.contains(&shown), "{shown} is not in {row}");
}

fn start(set: impl Fn(BullyBuilder) -> BullyBuilder) -> [BullyHandle; 3] {
    let group = Group::new("jobs").unwrap();
    NAMES.map(|name| {
        let agent = set(BullyAgent::builder(name)).clock(VirtualClock::new());
        agent.join(&group).start().unwrap()
    })
}

/// Asserts that `a` learns of the first leader, which is `c`, after more than `least` and within `most`.
async fn assert_led(agents: &[BullyHandle; 3], least: Duration, most: Duration) {
    let began = Instant::now();
    let leader = agents[0].wait_for_leader(most).await.unwrap();
    let took = began.elapsed();
    assert!(leader.id == "c" && took >= least, "{leader:?}: {took:?}");
}

#[test]
fn the_highest_agent_leads_at_once_and_the_next_one_waits_for_silent_members() {
    let most = Timings::default().worst_case_failover(9).unwrap();
    assert_row("available", most);
    play(async {
        assert_led(&start(|agent| agent), MS(0), MS(10)).await;
    });
}

#[test]
fn by_the_rules_of_astra_no_agent_leads_before_one_campaigns() {
    assert_row("[`astra`]", Timings::astra().deadline());
    play(async {
        let agents = start(BullyBuilder::astra);
        let within = Duration::from_secs(3_000);
        let in_vain = agents[0].wait_for_leader(within).await;
        let longest = None;
        assert_eq!(in_vain, Err(WaitError::TimedOut { within, longest }));
        let said = in_vain.unwrap_err().to_string();
        assert!(said.ends_with("call `campaign()` at one of them"), "{said}");
        agents[2].campaign().unwrap();
        assert_led(&agents, MS(2_000), MS(2_010)).await;
    });
}

fn voters() -> QuorumConfig {
    QuorumConfig::new(NAMES.map(id))
}

#[test]
fn new_stores_elect_at_once_and_a_restart_of_all_waits_for_the_promises() {
    let most = voters().worst_case_start(0);
    assert_row("[`quorum`]", most);
    play(async {
        let agents = start(|agent| agent.quorum(NAMES).store(MemoryStore::new()));
        assert_led(&agents, MS(0), MS(500)).await;
        clock::sleep(MS(5_000)).await;
        for agent in &agents {
            agent.addr().do_send(Inject::Crash);
        }
        clock::sleep(MS(1)).await;
        assert_eq!(agents[0].leader(), None);
        assert_led(&agents, MS(800), most).await;
    });
}

#[test]
fn voters_without_a_disk_wait_at_each_start() {
    let config = QuorumConfig {
        diskless: Some(Diskless::default()),
        ..voters()
    };
    let most = config.worst_case_start(0);
    assert_row("[`diskless`]", most);
    play(async {
        let agents = start(|agent| agent.quorum(NAMES).diskless());
        assert_led(&agents, MS(1_200), most).await;
    });
}

#[test]
fn the_first_leader_of_a_store_waits_for_a_lease_that_was_deleted_and_a_successor_for_its_end() {
    let most = LeaseConfig::new("default", "jobs").unwrap();
    let most = most.worst_case_failover(0);
    assert_row("[`lease`]", most);
    play(async {
        let store = MemoryRegister::new();
        let process = || {
            let store = store.clone();
            start(move |agent| agent.lease(store.clone()))
        };
        let first = process();
        assert_led(&first, MS(800), most).await;
        // The process of the first leader hangs, so no agent releases the lease.
        let other = Group::new("jobs").unwrap();
        let next = BullyAgent::builder("d").lease(store.clone());
        let next = next.clock(VirtualClock::new()).join(&other);
        for agent in &first {
            agent.addr().do_send(Inject::hang(clock::sleep(MS(60_000))));
        }
        let next = next.start().unwrap();
        let began = Instant::now();
        while !next.is_leader() {
            clock::sleep(MS(1)).await;
            assert!(began.elapsed() <= most);
        }
        assert!(began.elapsed() >= MS(600), "{:?}", began.elapsed());
    });
}

#[test]
fn a_caller_that_waits_in_vain_is_told_for_how_long_an_election_may_take() {
    play(async {
        let group = Group::new("jobs").unwrap();
        let agent = BullyAgent::builder("a").ineligible().join(&group);
        let agent = agent.start().unwrap();
        for (within, advice) in [
            (MS(100), "may take 4.15s by these timings, so wait longer"),
            (
                MS(5_000),
                "4.15s at most by these timings, and `diagnosis()` says",
            ),
        ] {
            let in_vain = agent.wait_for_leader(within).await.unwrap_err();
            let said = in_vain.to_string();
            assert!(said.contains(advice), "{said}");
        }
    });
}
