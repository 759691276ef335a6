//! Messages that follow the leader across hosts.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use actix::{Actor, Context, Handler, Message, ResponseFuture, clock::sleep};
use actix_bully::{
    leader::{LeaderProxy, ProxyError},
    remote::{Limits, MayBe, Peer, Rights},
};
use serde::{Deserialize, Serialize};

use super::kit::{Host, MS, address, builder, scene, until};
#[cfg(feature = "metrics")]
use super::measured::{Measured, Recording};

const SOON: Duration = Duration::from_secs(1);

/// A job that is answered after `millis` milliseconds.
#[derive(Message, Serialize, Deserialize)]
#[rtype(result = "String")]
struct Job {
    number: u64,
    millis: u64,
    text: String,
}

type Done = Arc<Mutex<Vec<(&'static str, u64)>>>;

struct Worker(&'static str, Done);

impl Actor for Worker {
    type Context = Context<Self>;
}

impl Handler<Job> for Worker {
    type Result = ResponseFuture<String>;
    fn handle(&mut self, job: Job, _: &mut Context<Self>) -> ResponseFuture<String> {
        self.1.lock().unwrap().push((self.0, job.number));
        let answer = format!("{} did {}", self.0, job.number);
        Box::pin(async move {
            sleep(MS(job.millis)).await;
            answer
        })
    }
}

fn job(number: u64) -> Job {
    let (millis, text) = (0, String::new());
    Job {
        number,
        millis,
        text,
    }
}

#[test]
fn a_message_longer_than_a_frame_is_given_up_and_the_next_ones_arrive() {
    scene(async |pipes, _| {
        let limits = Limits::builder().frame(4 << 10).build().unwrap();
        // The rights of the peer for agents of the group also decide about messages of the application.
        let rights = Rights::none().grant("g", "*", MayBe::Leader);
        let host = |name, peer: &str| {
            let peer = Peer::new(peer, &address(peer)).allow(rights.clone());
            let bridge = builder(pipes, name, &[]).peer(peer).limits(limits);
            Host::with(|group| bridge.carry(group))
        };
        let (mut a, mut b) = (host("a", "b"), host("b", "a"));
        let (from, to) = (a.agent("a", 1), b.agent("b", 2));
        let worker = Worker("b", Done::default()).start();
        let there = LeaderProxy::<Job>::builder(&to, "job").deliver_to(worker.recipient());
        there.start().unwrap();
        let jobs = LeaderProxy::<Job>::builder(&from, "job").start().unwrap();
        until("b leads", || a.follows("b")).await;
        sleep(MS(500)).await;
        let long = Job {
            text: "x".repeat(8 << 10),
            ..job(1)
        };
        let long = jobs.send(long, SOON * 30);
        let short = jobs.send(job(2), SOON * 30);
        let (long, short) = futures::future::join(long, short).await;
        assert_eq!(long, Err(ProxyError::Undeliverable));
        assert_eq!(short.as_deref(), Ok("b did 2"));
        assert_eq!(jobs.counts().undeliverable, 1);
        let agents = [&a, &b].map(|host| host.bridge.peers()[0].agents);
        assert_eq!(agents, [1; 2], "each agent counts once");
        sleep(SOON * 11).await; // until the counts are measured
    });
}

#[cfg(feature = "metrics")]
#[test]
fn each_outcome_of_a_message_has_a_series_of_its_own() {
    let recording = Recording::default();
    metrics::with_local_recorder(&recording, || {
        a_message_longer_than_a_frame_is_given_up_and_the_next_ones_arrive();
    });
    let series = recording.series().into_iter();
    let ones = series.filter(|(_, value)| *value == Measured::Counter(1));
    let ones: Vec<_> = ones.map(|(key, _)| key.to_string()).collect();
    let has = |outcome| ones.iter().filter(|key| key.contains(outcome)).count();
    let outcomes = ["delivered", "refused", "unknown", "undeliverable"];
    assert_eq!(outcomes.map(has), [1, 0, 0, 1], "{ones:?}");
}
