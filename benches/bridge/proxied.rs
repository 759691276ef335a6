//! The message by a proxy over two bridges: from the sender's agent on one side to the leader's actor on the other
//! side.
//!
//! Decided here: the leader, and the buffer of the proxy. Not here: how far the sender may be ahead (`tally.rs`), and
//! the comparison (`main.rs`).

use std::{sync::Arc, time::Duration};

use actix::{Actor, Context, Handler, Message, clock::sleep};
use actix_bully::{
    Group,
    agent::{BullyAgent, BullyHandle},
    elections::AnyMessage,
    leader::LeaderProxy,
};
use serde::{Deserialize, Serialize};

use crate::{message::message, tally::Tally};

/// A message of an application, as long as the others.
#[derive(Message, Serialize, Deserialize)]
#[rtype(result = "()")]
struct Job(AnyMessage);

/// The receiving end.
struct Sink(Arc<Tally>);

impl Actor for Sink {
    type Context = Context<Self>;
}

impl Handler<Job> for Sink {
    type Result = ();
    fn handle(&mut self, job: Job, _: &mut Context<Self>) {
        drop(job);
        self.0.note(); // the proxy answers a question
    }
}

fn agent(group: &Group, name: &str, score: i32) -> BullyHandle {
    let agent = BullyAgent::builder(name).score(score).join(group);
    agent.start().expect("the name is free")
}

/// Starts the leader, and the actor that receives its messages.
pub(crate) fn serve(group: &Group, tally: Arc<Tally>) -> BullyHandle {
    let leader = agent(group, "leader", 2);
    LeaderProxy::builder(&leader, "job")
        .deliver_to(Sink(tally).start().recipient())
        .start()
        .expect("the name is free");
    leader
}

/// The sending end.
pub(crate) struct Proxied {
    jobs: LeaderProxy<Job>,
    tally: Arc<Tally>,
}

impl Proxied {
    /// Joins, and waits until the other end leads.
    pub(crate) async fn link(group: &Group, tally: Arc<Tally>) -> Self {
        let agent = agent(group, "follower", 1);
        // The largest possible buffer of a proxy: only the tally holds the sender back, as in the other ways.
        let jobs = LeaderProxy::builder(&agent, "job")
            .buffer(1 << 20, 256 << 20)
            .start()
            .expect("the name is free");
        while agent.leader().is_none_or(|leader| leader.id != *"leader") {
            sleep(Duration::from_millis(1)).await;
        }
        let mut linked = Self { jobs, tally };
        linked.echo(1).await;
        linked
    }

    /// Sends a number of messages; returns when all have arrived.
    pub(crate) async fn send(&mut self, window: usize, messages: usize) {
        let send = async |counters| {
            for counter in counters {
                self.jobs.do_send(Job(message(counter)));
            }
        };
        self.tally.backlog(window, messages, send).await;
    }

    /// Sends one question after the other; returns the time until each was answered.
    pub(crate) async fn echo(&mut self, rounds: usize) -> Vec<Duration> {
        let ask = async || {
            let answered = self.jobs.send(Job(message(1)), Duration::from_secs(60));
            answered.await.expect("the other end leads");
        };
        self.tally.round_trips(rounds, ask).await
    }
}
