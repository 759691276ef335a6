//! A scene of proxies: agents of one process, each with a worker that writes the handled jobs down.

use std::{
    cell::Cell,
    panic::resume_unwind,
    sync::{Arc, Mutex},
    time::Duration,
};

use actix::{Actor, ActorContext, Addr, Context, Handler, Message, ResponseFuture, clock::sleep};
use actix_bully::{
    Group,
    agent::{BullyAgent, BullyHandle},
    leader::{LeaderProxy, SteppingDown},
};
use serde::{Deserialize, Serialize};

use crate::stage::MS;

pub(super) const SOON: Duration = Duration::from_secs(1);

/// A job. Its answer has the agent's name and the number.
#[derive(Debug, Message, Serialize, Deserialize)]
#[rtype(result = "String")]
pub(super) struct Job(pub(super) u64);

#[derive(Message, Serialize, Deserialize)]
#[rtype(result = "usize")]
pub(super) struct Text(pub(super) String);

/// A job that takes this number of milliseconds.
#[derive(Message, Serialize, Deserialize)]
#[rtype(result = "u64")]
pub(super) struct Slow(pub(super) u64);

thread_local! {
    /// Whether the drop of the next message panics.
    pub(super) static PANICS: Cell<bool> = const { Cell::new(false) };
}

/// A message that is handled for a minute. Its drop panics if `PANICS` is set.
#[derive(Message, Serialize, Deserialize)]
#[rtype(result = "()")]
pub(super) struct Fragile;

impl Drop for Fragile {
    fn drop(&mut self) {
        if PANICS.replace(false) {
            resume_unwind(Box::new("a bug")); // panics without a message
        }
    }
}

/// The handled jobs, each with the name of the worker's agent.
pub(super) type Done = Arc<Mutex<Vec<(String, u64)>>>;

pub(super) struct Worker {
    pub(super) at: String,
    pub(super) done: Done,
}

impl Actor for Worker {
    type Context = Context<Self>;
}

impl Handler<Job> for Worker {
    type Result = String;
    fn handle(&mut self, Job(number): Job, ctx: &mut Context<Self>) -> String {
        if number == u64::MAX {
            ctx.stop();
        }
        self.done.lock().unwrap().push((self.at.clone(), number));
        format!("{} did {number}", self.at)
    }
}

impl Handler<Text> for Worker {
    type Result = usize;
    fn handle(&mut self, Text(text): Text, _: &mut Context<Self>) -> usize {
        text.len()
    }
}

impl Handler<Slow> for Worker {
    type Result = ResponseFuture<u64>;
    fn handle(&mut self, Slow(millis): Slow, _: &mut Context<Self>) -> ResponseFuture<u64> {
        Box::pin(async move {
            sleep(MS(millis)).await;
            millis
        })
    }
}

impl Handler<Fragile> for Worker {
    type Result = ResponseFuture<()>;
    fn handle(&mut self, fragile: Fragile, _: &mut Context<Self>) -> ResponseFuture<()> {
        Box::pin(async move {
            sleep(MS(60_000)).await;
            drop(fragile);
        })
    }
}

impl Handler<SteppingDown> for Worker {
    type Result = ();
    fn handle(&mut self, _: SteppingDown, ctx: &mut Context<Self>) {
        ctx.stop();
    }
}

/// An agent with its worker and its proxy.
pub(super) struct Host {
    pub(super) agent: BullyHandle,
    pub(super) worker: Addr<Worker>,
    pub(super) jobs: LeaderProxy<Job>,
}

pub(super) struct Scene {
    pub(super) group: Group,
    pub(super) done: Done,
}

impl Scene {
    pub(super) fn new() -> Self {
        let (group, done) = (Group::new("g").unwrap(), Done::default());
        Self { group, done }
    }

    /// Starts an agent that never leads.
    pub(super) fn ineligible(&self, name: &str) -> BullyHandle {
        let agent = BullyAgent::builder(name).ineligible().join(&self.group);
        agent.start().unwrap()
    }

    pub(super) fn agent(&self, name: &str, score: i32) -> BullyHandle {
        let agent = BullyAgent::builder(name).score(score).join(&self.group);
        agent.start().unwrap()
    }

    pub(super) fn worker(&self, name: &str) -> Addr<Worker> {
        let (at, done) = (name.to_owned(), Arc::clone(&self.done));
        Worker { at, done }.start()
    }

    pub(super) fn host(&self, name: &str, score: i32) -> Host {
        let (agent, worker) = (self.agent(name, score), self.worker(name));
        let jobs = LeaderProxy::builder(&agent, "job")
            .deliver_to(worker.clone().recipient())
            .start()
            .unwrap();
        Host {
            agent,
            worker,
            jobs,
        }
    }

    pub(super) fn take(&self) -> Vec<(String, u64)> {
        std::mem::take(&mut *self.done.lock().unwrap())
    }

    /// Returns the numbers of the handled jobs, in order.
    pub(super) fn numbers(&self) -> Vec<u64> {
        self.take().into_iter().map(|(_, number)| number).collect()
    }
}

/// Waits until an election is over and the messages that waited for the leader are delivered.
pub(super) async fn settle() {
    sleep(MS(500)).await;
}
