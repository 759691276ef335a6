//! The end of an agent is reported after the agent has freed its name in the group, its store, and the names of its
//! schedules.

use std::{
    future::pending,
    sync::{
        Arc,
        mpsc::{Receiver, channel},
    },
    time::Duration,
};

use actix::{Actor, Arbiter, Context, Handler, Recipient, System, clock};
use actix_bully::{
    Group,
    agent::{BullyAgent, BullyHandle, ElectionArbiter, StartError},
    protocol::{AgentId, Timings},
    supervisor::{RestartPolicy, Supervision},
    testkit::Inject,
};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::stage::MS;

const SOON: Duration = Duration::from_secs(30);

fn start(group: &Group) -> Result<BullyHandle, StartError> {
    let agent = BullyAgent::builder("a").timings(Timings::lan());
    agent.drain(MS(20)).join(group).start()
}

/// The agent runs on a thread of its own, as a leader or as a follower. When its end is reported, this thread starts
/// the next agent with the same name.
#[test]
fn a_name_on_another_thread_is_free_when_its_agent_has_left() {
    System::new().block_on(async {
        let arbiter = ElectionArbiter::new().unwrap();
        let group = Group::new("g").unwrap();
        for leads in (0..300).map(|round| round % 3 == 0) {
            let agent = BullyAgent::builder("a").timings(Timings::lan());
            let agent = agent.join(&group).start_in_arbiter(&arbiter.handle());
            let agent = agent.expect("the name is free");
            if leads {
                agent.wait_for_leader(SOON).await.unwrap();
            }
            agent.leave(SOON).await.unwrap();
        }
    });
}

/// A parent that starts the next agent with the same name when it hears of the end, as a supervisor of an application
/// does.
struct Parent {
    group: Group,
    heard: UnboundedSender<Result<BullyHandle, StartError>>,
}

impl Actor for Parent {
    type Context = Context<Self>;
}

impl Handler<Supervision<AgentId>> for Parent {
    type Result = ();
    fn handle(&mut self, event: Supervision<AgentId>, _: &mut Context<Self>) {
        if matches!(
            event,
            Supervision::Finished { .. } | Supervision::GaveUp { .. }
        ) {
            self.heard.send(start(&self.group)).unwrap();
        }
    }
}

/// Leads on another thread by work that blocks this thread, so the work cannot be dropped until the returned sender
/// is dropped.
fn computing(agent: BullyHandle) -> (Arbiter, Receiver<()>, std::sync::mpsc::Sender<()>) {
    let worker = Arbiter::new();
    let (begins, begun) = channel();
    let (go_on, goes_on) = channel::<()>();
    let goes_on = Arc::new(std::sync::Mutex::new(goes_on));
    worker.spawn(async move {
        let work = |_| {
            let (begins, goes_on) = (begins.clone(), Arc::clone(&goes_on));
            async move {
                begins.send(()).unwrap();
                goes_on.lock().unwrap().recv().ok();
                pending::<()>().await;
            }
        };
        agent.lead(work).await.unwrap();
    });
    (worker, begun, go_on)
}

#[test]
fn a_parent_hears_of_the_end_when_the_work_of_the_leader_has_ended_too() {
    System::new().block_on(async {
        let elections = ElectionArbiter::new().unwrap();
        let group = Group::new("g").unwrap();
        let (heard, mut answers) = unbounded_channel();
        let parent: Recipient<Supervision<AgentId>> = Parent {
            group: group.clone(),
            heard,
        }
        .start()
        .recipient();
        let never = RestartPolicy::builder().max_restarts(0).build().unwrap();
        let agent = BullyAgent::builder("a").timings(Timings::lan());
        let agent = agent.parent(parent).restart_policy(never).join(&group);
        let agent = agent.start_in_arbiter(&elections.handle()).unwrap();
        let (worker, begun, go_on) = computing(agent.clone());
        begun.recv_timeout(SOON).unwrap();
        agent.addr().do_send(Inject::Crash);
        while agent.addr().connected() {
            clock::sleep(MS(1)).await;
        }
        assert!(matches!(
            start(&group),
            Err(StartError::Join(_) | StartError::TwoGroups { .. })
        ));
        assert!(answers.try_recv().is_err(), "the work keeps the name");
        drop(go_on);
        let next = clock::timeout(SOON, answers.recv()).await.unwrap().unwrap();
        next.expect("the name is free").leave(SOON).await.unwrap();
        worker.stop();
    });
}
