//! Several hundred elections of one process, by one register.

use std::{future::Future, sync::Arc, time::Duration};

use actix_bully::{
    Group,
    agent::{BullyAgent, BullyHandle},
    elections::bully::Preemption,
    protocol::Timings,
    register::Register,
};

/// How long an election may take to begin beside all the others.
const SOON: Duration = Duration::from_secs(60);

/// So many elections of one agent each, once each has its leader.
pub async fn elections(number: usize, register: &Arc<dyn Register>) -> Vec<(Group, BullyHandle)> {
    let all: Vec<_> = (0..number)
        .map(|number| {
            let group = Group::new(&format!("group-{number}")).expect("a name");
            let agent = start(&group, "agent", &Timings::wan(), register);
            (group, agent)
        })
        .collect();
    for (_, agent) in &all {
        agent.wait_for_leader(SOON).await.expect("it leads");
    }
    all
}

/// So many agents of one election in a process of their own each, as it were, once one of them leads.
pub async fn processes(
    timings: &Timings,
    registers: impl IntoIterator<Item = Arc<dyn Register>>,
) -> Vec<(Group, BullyHandle)> {
    let all: Vec<_> = registers
        .into_iter()
        .enumerate()
        .map(|(number, register)| {
            let group = Group::new("one").expect("a name");
            let agent = start(&group, &format!("agent-{number}"), timings, &register);
            (group, agent)
        })
        .collect();
    for (_, agent) in &all {
        agent.wait_for_leader(SOON).await.expect("one leads");
    }
    all
}

/// So many agents of one election, once one of them leads.
pub async fn agents(
    number: usize,
    timings: &Timings,
    register: &Arc<dyn Register>,
) -> (Group, Vec<BullyHandle>) {
    let group = Group::new("one").expect("a name");
    let all: Vec<_> = (0..number)
        .map(|number| start(&group, &format!("agent-{number}"), timings, register))
        .collect();
    all[0].wait_for_leader(SOON).await.expect("one leads");
    (group, all)
}

fn start(
    group: &Group,
    name: &str,
    timings: &Timings,
    register: &Arc<dyn Register>,
) -> BullyHandle {
    let agent = BullyAgent::builder(name)
        .timings(timings.clone())
        .lease(Arc::clone(register))
        .preemption(Preemption::Never)
        .join(group);
    agent.start().expect("it starts")
}

/// Runs it where actors run.
pub fn play<T>(work: impl Future<Output = T>) -> T {
    actix::System::new().block_on(work)
}
