//! Messages that follow the leader across hosts.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use actix::{
    Actor, Context, Handler, Message, ResponseFuture,
    clock::{sleep, timeout},
};
use actix_bully::{
    agent::BullyHandle,
    leader::{LeaderProxy, ProxyError},
    remote::Limits,
    testkit::Inject,
};
use serde::{Deserialize, Serialize};

use super::kit::{Host, MS, pair, scene, until};
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
        let [mut a, mut b] = pair(pipes, |bridge| bridge.limits(limits));
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

#[test]
fn an_ask_is_unknown_once_another_agent_has_the_name_of_the_leader() {
    scene(async |pipes, _| {
        let [mut a, mut b] = pair(pipes, |bridge| bridge);
        let (from, first) = (a.agent("a", 1), b.agent("b", 2));
        let deliver = |agent: &BullyHandle| {
            let worker = Worker("b", Done::default()).start();
            let proxy = LeaderProxy::<Job>::builder(agent, "job").deliver_to(worker.recipient());
            proxy.start().unwrap();
        };
        deliver(&first);
        let jobs = LeaderProxy::<Job>::builder(&from, "job").start().unwrap();
        until("b leads", || a.follows("b")).await;
        sleep(MS(500)).await;
        let slow = Job {
            millis: 3_600_000,
            ..job(1)
        };
        let ask = actix::spawn(async move { jobs.send(slow, SOON * 100).await });
        sleep(SOON).await;
        // Without a link `a` does not see the end of the first agent. Later it sees the second agent in the place of
        // the first.
        pipes.partition("a", "b");
        pipes.cut("a", "b");
        first.addr().do_send(Inject::Stop);
        sleep(SOON).await;
        deliver(&b.agent("b", 2));
        pipes.heal("a", "b");
        let answer = timeout(SOON * 10, ask).await.expect("it ends soon");
        assert_eq!(answer.unwrap(), Err(ProxyError::Unknown));
    });
}

/// Each host numbers incarnations for itself. Here the incarnations of all hosts begin with the same number.
#[test]
fn a_message_that_a_leader_has_handled_is_not_sent_to_it_again_when_it_has_moved() {
    const HOSTS: [&str; 4] = ["a", "b", "c", "d"];
    scene(async |pipes, _| {
        let done = Done::default();
        let start = |name| {
            let peers: Vec<_> = HOSTS.into_iter().filter(|peer| *peer != name).collect();
            Host::start(pipes, name, &peers)
        };
        let mut here = start("a");
        let sender = here.agent("a", 1);
        sender.withdraw_score().unwrap();
        let proxy = LeaderProxy::<Job>::builder(&sender, "job").start().unwrap();
        for (round, name) in (0..).zip(&HOSTS[1..]) {
            let mut there = start(name);
            until("they are linked", || here.is_linked(name)).await;
            let leader = there.agent("x", 2);
            let worker = Worker(name, Arc::clone(&done)).start();
            let deliver = LeaderProxy::builder(&leader, "job").deliver_to(worker.recipient());
            deliver.start().unwrap();
            let answer = proxy.send(job(10 + round), SOON * 10).await;
            assert_eq!(answer.unwrap(), format!("{name} did {}", 10 + round));
            sleep(MS(100)).await;
            proxy.do_send(job(round));
            let is_done = || done.lock().unwrap().contains(&(*name, round));
            until("it is handled", is_done).await;
            there.stop().await; // before it has said so
        }
        sleep(SOON * 5).await;
        let mut numbers: Vec<_> = done.lock().unwrap().iter().map(|(_, n)| *n).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, [0, 1, 2, 10, 11, 12], "each was handled once");
        assert_eq!(proxy.counts().unknown, 3);
    });
}
