//! The bully itself, driven by actors: what `tests/elections/seeds` does not ask of it.

use std::time::Duration;

use actix::clock;
use actix_bully::{
    Group,
    agent::{BullyAgent, BullyElection, BullyHandle, Lifecycle},
    elections::bully::Preemption,
    protocol::Timings,
    supervisor::RestartPolicy,
    testkit::Inject,
};

use crate::stage::{MS, id, play};

const SECOND: Duration = Duration::from_secs(1);

fn five(group: &Group) -> [BullyHandle; 5] {
    [1, 2, 3, 4, 5].map(|n| start(group, n))
}

fn start(group: &Group, n: i32) -> BullyHandle {
    let agent = BullyAgent::builder(&format!("agent-{n}")).score(n * 10);
    agent
        .timings(Timings::in_process())
        .join(group)
        .start()
        .unwrap()
}

/// The leaders that the running agents follow; one name if they agree.
fn leaders(agents: &[BullyHandle]) -> Vec<String> {
    let runs = |agent: &&BullyHandle| agent.current().lifecycle == Lifecycle::Running;
    let leader = |agent: &BullyHandle| {
        agent
            .leader()
            .map_or_else(|| "-".to_owned(), |l| l.id.to_string())
    };
    let mut names: Vec<_> = agents.iter().filter(runs).map(leader).collect();
    names.dedup();
    names
}

fn leading(agents: &[BullyHandle]) -> usize {
    agents.iter().filter(|agent| agent.is_leader()).count()
}

/// All that run follow that agent, which alone leads.
#[track_caller]
fn assert_led(agents: &[BullyHandle], by: &str) {
    assert_eq!(leaders(agents), [by]);
    assert_eq!(leading(agents), 1);
}

#[test]
fn a_large_group_elects_and_fails_over_with_one_message_for_each_member() {
    play(async {
        let group = Group::new("g").unwrap();
        let agents: Vec<_> = (0..1_000).map(|n| start(&group, n)).collect();
        clock::sleep(MS(1)).await;
        assert_led(&agents, "agent-999");
        assert_eq!(group.counters().sent, 999);
        agents[999].addr().do_send(Inject::Crash);
        clock::sleep(MS(5)).await;
        assert_led(&agents, "agent-998");
        assert_eq!(group.counters().sent, 999 + 998);
        assert_eq!(group.counters().full, 0);
    });
}

#[test]
fn a_leader_that_hangs_is_replaced_and_considers_itself_leader_no_longer() {
    play(async {
        let group = Group::new("g").unwrap();
        let agents = five(&group);
        clock::sleep(MS(10)).await;
        agents[4].addr().do_send(Inject::hang(clock::sleep(SECOND)));
        clock::sleep(SECOND / 2).await;
        assert_eq!(leaders(&agents[..4]), ["agent-4"]);
        assert_eq!(
            leading(&agents),
            1,
            "the leadership of the hung one has run out"
        );
        clock::sleep(SECOND).await;
        assert_led(&agents, "agent-5");
    });
}

#[test]
fn stepping_down_hands_over_to_the_one_that_is_named() {
    play(async {
        let group = Group::new("g").unwrap();
        let agents = five(&group);
        clock::sleep(MS(10)).await;
        agents[4].step_down(Some(id("agent-4"))).unwrap();
        clock::sleep(MS(10)).await;
        assert_led(&agents, "agent-4");
        agents[4].addr().do_send(BullyElection);
        clock::sleep(SECOND).await;
        assert_eq!(
            leaders(&agents),
            ["agent-5"],
            "asked to, it is a candidate again"
        );
    });
}

#[test]
fn an_agent_that_is_given_up_is_not_waited_for() {
    play(async {
        let group = Group::new("g").unwrap();
        let high = BullyAgent::builder("z").restart_policy(RestartPolicy::temporary());
        let high = high.join(&group).start().unwrap();
        let low = BullyAgent::builder("a")
            .preemption(Preemption::Never)
            .join(&group);
        let low = low.start().unwrap();
        clock::sleep(MS(1)).await;
        assert!(high.is_leader());
        high.addr().do_send(Inject::Crash);
        clock::sleep(MS(1)).await;
        assert!(low.is_leader());
    });
}
