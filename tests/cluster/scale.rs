//! Counts the messages of an election in a large group, with real actors in virtual time.
#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

use std::time::Duration;

use actix::{Actor, AsyncContext, Context, Handler, clock::sleep};
use actix_bully::{
    Group,
    agent::{BullyAgent, BullyHandle, DrainingToken, Notice, Status},
    protocol::{Event, Timings},
    supervisor::RestartPolicy,
    testkit::Inject,
};
use common::virtual_system;

use crate::common;

const N: u32 = 1_000;

/// Starts agents 1 to N at once, and returns them with the number of messages of their election.
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

/// An actor that reports at once that its work has ended.
struct Worker {
    agent: BullyHandle,
    token: Option<DrainingToken>,
}

impl Actor for Worker {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Context<Self>) {
        self.token = self
            .agent
            .subscribe_draining(ctx.address().recipient())
            .ok();
    }
}

impl Handler<Notice> for Worker {
    type Result = ();

    fn handle(&mut self, notice: Notice, _: &mut Context<Self>) {
        if let Event::Draining { .. } = notice.event {
            self.token.as_ref().unwrap().drained().unwrap();
        }
    }
}

/// If each message of a subscriber counted all subscribers, this test would take five minutes.
#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "what is measured is the work of the processor"
)]
fn a_hand_over_costs_each_of_16_000_subscribers_the_same() {
    virtual_system().block_on(async {
        let group = Group::new("g").unwrap();
        let agent = |name, score| BullyAgent::builder(name).score(score).join(&group);
        let (old, next) = (
            agent("b", 2).start().unwrap(),
            agent("a", 1).start().unwrap(),
        );
        sleep(Duration::from_secs(1)).await;
        assert!(old.is_leader());
        let worker = |_| {
            let (agent, token) = (old.clone(), None);
            Worker { agent, token }.start()
        };
        let workers: Vec<_> = (0..16_000).map(worker).collect();
        sleep(Duration::from_millis(100)).await;
        let began = std::time::Instant::now();
        old.step_down(None).unwrap();
        sleep(Duration::from_millis(100)).await;
        assert!(next.is_leader());
        let took = began.elapsed();
        assert!(took < Duration::from_secs(20), "{took:?}");
        drop(workers);
    });
}
