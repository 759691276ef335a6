//! An actor that writes its events down.

use std::{panic::resume_unwind, time::Duration};

use actix::{Actor, ActorContext, AsyncContext, Context, Handler, Message, Running};
use actix_bully::{
    agent::{ElectionHandle, LeaderGuard, OnPanic},
    leader::{Singleton, SingletonHandle, SteppingDown},
    supervisor::RestartPolicy,
};
use bully_core::protocol::Election;

use crate::stage::Log;

/// The reaction of an actor to the message that its agent steps down.
#[derive(Clone, Copy, Debug)]
pub(super) enum WhenTold {
    Stop,
    StopAfter(Duration),
}

pub(super) struct Worker {
    pub(super) log: Log,
    pub(super) leader: LeaderGuard,
    pub(super) when_told: WhenTold,
}

impl Actor for Worker {
    type Context = Context<Self>;

    fn started(&mut self, _: &mut Context<Self>) {
        let leads = self.leader.is_leader();
        assert!(leads, "it begins while the agent leads");
        self.log
            .add(format_args!("started in {}", self.leader.token()));
    }

    fn stopping(&mut self, _: &mut Context<Self>) -> Running {
        self.log.add("stopping");
        Running::Stop
    }

    fn stopped(&mut self, _: &mut Context<Self>) {
        self.log.add("stopped");
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.log
            .add(format_args!("dropped in {}", self.leader.token().term));
    }
}

impl Handler<SteppingDown> for Worker {
    type Result = ();
    fn handle(&mut self, told: SteppingDown, ctx: &mut Context<Self>) {
        let leads = self.leader.is_leader();
        self.log
            .add(format_args!("told in {}, leads {leads}", told.term));
        match self.when_told {
            WhenTold::Stop => ctx.stop(),
            WhenTold::StopAfter(time) => {
                ctx.run_later(time, |_, ctx| ctx.stop());
            }
        }
    }
}

/// An order of a test to the actor.
#[derive(Message)]
#[rtype(result = "()")]
pub(super) enum Do {
    Note(&'static str),
    Panic,
}

impl Handler<Do> for Worker {
    type Result = ();
    fn handle(&mut self, what: Do, _: &mut Context<Self>) {
        match what {
            Do::Note(text) => self.log.add(text),
            // This panic prints no message.
            Do::Panic => resume_unwind(Box::new("a bug in the actor")),
        }
    }
}

/// Returns a factory of workers with this reaction to the message that the agent steps down.
pub(super) fn worker(log: &Log, when_told: WhenTold) -> impl Fn(LeaderGuard) -> Worker + use<> {
    let log = log.clone();
    move |leader| Worker {
        log: log.clone(),
        leader,
        when_told,
    }
}

/// Starts a singleton of workers with this reaction.
pub(super) fn work<E: Election>(
    agent: &ElectionHandle<E>,
    log: &Log,
    when_told: WhenTold,
) -> SingletonHandle<Worker> {
    let singleton = Singleton::builder(agent, worker(log, when_told));
    singleton.start().unwrap()
}

/// Starts a singleton of workers. `on_panic` is the reaction to their panics.
pub(super) fn work_or<E: Election>(
    agent: &ElectionHandle<E>,
    log: &Log,
    on_panic: OnPanic,
) -> SingletonHandle<Worker> {
    let singleton = Singleton::builder(agent, worker(log, WhenTold::Stop));
    singleton.on_panic(on_panic).start().unwrap()
}

/// Returns a policy of `most` restarts in 10 s, each after 100 ms.
pub(in crate::leader) fn restarts(most: usize) -> RestartPolicy {
    let base = Duration::from_millis(100);
    let policy = RestartPolicy::builder().max_restarts(most);
    let policy = policy.window(Duration::from_secs(10)).backoff_base(base);
    policy.backoff_max(base).build().unwrap()
}
