//! What an election costs in a large group, counted in messages: in virtual time, with real actors.
#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

use std::time::Duration;

use actix::clock::sleep;
use actix_bully::{
    Group,
    agent::{BullyAgent, BullyHandle, Inject, Status},
    protocol::Timings,
    supervisor::RestartPolicy,
};
use common::virtual_system;

mod common;

const N: u32 = 1_000;

/// Agents 1 to N, all started in one turn, and the letters that their election took.
async fn elected(timings: Timings) -> (Group, Vec<BullyHandle>, u64) {
    let group: Group = Group::new("large").unwrap();
    let start = |k: u32| {
        BullyAgent::builder(&format!("agent-{k}"))
            .score(k)
            .timings(timings.clone())
            .restart_policy(RestartPolicy::permanent())
            .join(&group)
            .start()
            .unwrap()
    };
    let agents: Vec<BullyHandle> = (1..=N).map(start).collect();
    sleep(Duration::from_millis(1)).await;
    let sent = group.counters().sent;
    (group, agents, sent)
}

fn all_follow(agents: &[BullyHandle], leader: &str) -> bool {
    agents
        .iter()
        .all(|agent| agent.leader().is_some_and(|l| l.id.as_str() == leader))
}

#[test]
fn a_cold_start_and_a_crash_cost_one_announcement_each() {
    virtual_system().block_on(async {
        let (group, agents, cold) = elected(Timings::default()).await;
        assert!(all_follow(&agents, "agent-1000"));
        assert_eq!(cold, u64::from(N) - 1);
        agents.last().unwrap().addr().do_send(Inject::Crash);
        sleep(Duration::from_millis(1)).await;
        let (_, survivors) = agents.split_last().unwrap();
        assert!(all_follow(survivors, "agent-999"), "within a millisecond");
        assert_eq!(group.counters().sent - cold, u64::from(N) - 2);
    });
}

#[test]
fn restarting_the_lowest_costs_two_messages_and_no_event_elsewhere() {
    virtual_system().block_on(async {
        let (group, agents, _) = elected(Timings::wan()).await;
        let before: Vec<Status> = agents.iter().map(BullyHandle::current).collect();
        let sent = group.counters().sent;
        let (lowest, others) = agents.split_first().unwrap();
        lowest.addr().do_send(Inject::Crash);
        sleep(Duration::from_millis(500)).await; // the restart's backoff, less than a heartbeat
        assert_eq!(lowest.leader().unwrap().id.as_str(), "agent-1000");
        assert!(lowest.current().incarnation > before.first().unwrap().incarnation);
        assert_eq!(
            group.counters().sent - sent,
            2,
            "a question to the leader, and its answer"
        );
        let after: Vec<Status> = others.iter().map(BullyHandle::current).collect();
        assert_eq!(Some(after.as_slice()), before.get(1..));
    });
}
