//! Several hundred elections of one process, through one register.

use std::{future::Future, sync::Arc, time::Duration};

use actix_bully::{
    Group,
    agent::{BullyAgent, BullyHandle},
    elections::bully::Preemption,
    protocol::Timings,
    register::Register,
};

/// Longest time until an election has a leader, beside many other elections.
const SOON: Duration = Duration::from_secs(60);

/// Starts `number` elections with one agent each, and waits until each election has a leader.
pub async fn elections(number: usize, register: &Arc<dyn Register>) -> Vec<(Group, BullyHandle)> {
    let names = (0..number).map(|number| format!("group-{number}"));
    let started = names.map(|name| start(&named(&name), "agent", &Timings::wan(), register));
    all_know_a_leader(started).await
}

/// Starts one election with an agent for each register, and waits until every agent knows the leader. Each agent
/// stands for a process of its own.
pub async fn processes(
    timings: &Timings,
    registers: impl IntoIterator<Item = Arc<dyn Register>>,
) -> Vec<(Group, BullyHandle)> {
    let registers = registers.into_iter().enumerate();
    let started = registers.map(|(number, register)| {
        start(
            &named("one"),
            &format!("agent-{number}"),
            timings,
            &register,
        )
    });
    all_know_a_leader(started).await
}

async fn all_know_a_leader(
    started: impl Iterator<Item = (Group, BullyHandle)>,
) -> Vec<(Group, BullyHandle)> {
    let all: Vec<_> = started.collect();
    for (_, agent) in &all {
        agent.wait_for_leader(SOON).await.expect("one leads");
    }
    all
}

/// Starts one election with `number` agents, and waits until it has a leader.
pub async fn agents(
    number: usize,
    timings: &Timings,
    register: &Arc<dyn Register>,
) -> (Group, Vec<BullyHandle>) {
    let group = named("one");
    let all: Vec<_> = (0..number)
        .map(|number| start(&group, &format!("agent-{number}"), timings, register).1)
        .collect();
    all[0].wait_for_leader(SOON).await.expect("one leads");
    (group, all)
}

fn start(
    group: &Group,
    name: &str,
    timings: &Timings,
    register: &Arc<dyn Register>,
) -> (Group, BullyHandle) {
    let agent = BullyAgent::builder(name)
        .timings(timings.clone())
        .lease(Arc::clone(register))
        .preemption(Preemption::Never)
        .join(group);
    (group.clone(), agent.start().expect("it starts"))
}

fn named(name: &str) -> Group {
    Group::new(name).expect("a name")
}

/// Runs a future in an actix system, which actors need.
pub fn play<T>(work: impl Future<Output = T>) -> T {
    actix::System::new().block_on(work)
}
