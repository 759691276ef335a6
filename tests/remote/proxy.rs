//! Messages that follow the leader across hosts.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use actix::{Actor, Context, Handler, Message, ResponseFuture, clock::sleep};
use actix_bully::{
    agent::BullyHandle,
    leader::{LeaderProxy, ProxyError, Untaken},
    remote::transport::Pipes,
};
use serde::{Deserialize, Serialize};

use super::kit::{Host, MS, play, scene, until};

const SOON: Duration = Duration::from_secs(1);

/// Is answered after so many milliseconds.
#[derive(Message, Serialize, Deserialize)]
#[rtype(result = "String")]
struct Job {
    number: u64,
    millis: u64,
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
    Job { number, millis: 0 }
}

/// Hosts `a`, `b` and `c` with an agent each, of which the last one leads, and their proxies.
struct Scene {
    pipes: Pipes,
    hosts: Vec<Host>,
    agents: Vec<BullyHandle>,
    proxies: Vec<LeaderProxy<Job>>,
    done: Done,
}

const NAMES: [&str; 3] = ["a", "b", "c"];

impl Scene {
    async fn set() -> Self {
        let (pipes, done) = (Pipes::new(), Done::default());
        let mut scene = Self {
            pipes,
            hosts: Vec::new(),
            agents: Vec::new(),
            proxies: Vec::new(),
            done,
        };
        for (score, name) in (1..).zip(NAMES) {
            let peers: Vec<_> = NAMES.into_iter().filter(|peer| *peer != name).collect();
            let mut host = Host::start(&scene.pipes, name, &peers);
            let agent = host.agent(name, score);
            let worker = Worker(name, Arc::clone(&scene.done)).start();
            let proxy = LeaderProxy::builder(&agent, "job").deliver_to(worker.recipient());
            scene.proxies.push(proxy.start().unwrap());
            scene.hosts.push(host);
            scene.agents.push(agent);
        }
        let hosts = &scene.hosts;
        until("c leads", || hosts.iter().all(|host| host.follows("c"))).await;
        sleep(MS(500)).await;
        scene
    }

    fn done(&self) -> Vec<(&'static str, u64)> {
        std::mem::take(&mut *self.done.lock().unwrap())
    }
}

#[test]
fn messages_and_answers_cross_to_the_leader_and_back() {
    play(async {
        let scene = Scene::set().await;
        for number in 0..200 {
            scene.proxies[0].do_send(job(number));
        }
        for (from, number) in [(0, 500), (1, 501), (2, 502)] {
            let answer = scene.proxies[from].send(job(number), SOON).await;
            assert_eq!(answer.unwrap(), format!("c did {number}"));
        }
        let done = scene.done();
        assert!(done.iter().all(|(at, _)| *at == "c"));
        let numbers = done.iter().map(|(_, number)| *number);
        assert!(numbers.eq((0..200).chain(500..503)));
    });
}

#[test]
fn a_host_that_ends_costs_what_was_on_its_way_and_what_is_unknown_is_never_sent_again() {
    play(async {
        let mut scene = Scene::set().await;
        let mut sent = 0;
        for round in 0..400 {
            if round == 100 {
                scene.hosts.pop().unwrap().stop().await;
            }
            scene.proxies[0].do_send(job(sent));
            sent += 1;
            sleep(MS(1)).await;
        }
        sleep(Duration::from_secs(5)).await;
        let done = scene.done();
        let numbers: Vec<_> = done.iter().map(|(_, number)| *number).collect();
        assert!(numbers.is_sorted_by(|one, next| one < next), "{numbers:?}");
        assert!(done.iter().any(|(at, _)| *at == "b"));
        let counts = scene.proxies[0].counts();
        let lost = sent - u64::try_from(numbers.len()).unwrap();
        assert!(lost <= counts.unknown, "{lost} lost, {counts:?}");
        assert_eq!(counts.waiting, 0);
    });
}

#[test]
fn an_ask_in_the_middle_of_which_the_link_is_cut_is_answered_or_unknown() {
    play(async {
        let mut scene = Scene::set().await;
        let proxy = scene.proxies[0].clone();
        let slow = |number| Job {
            number,
            millis: 300,
        };
        // A link that comes back: the answer waits for it.
        let asked = proxy.clone();
        let ask = actix::spawn(async move { asked.send(slow(1), SOON).await });
        sleep(MS(100)).await;
        scene.pipes.cut("a", "c");
        assert_eq!(ask.await.unwrap().unwrap(), "c did 1");
        // One that does not: nothing is known.
        let asked = proxy.clone();
        let ask = actix::spawn(async move { asked.send(slow(2), SOON * 10).await });
        sleep(MS(100)).await;
        scene.hosts.pop().unwrap().stop().await;
        assert_eq!(ask.await.unwrap(), Err(ProxyError::Unknown));
        assert_eq!(scene.done(), [("c", 1), ("c", 2)], "never twice");
        sleep(SOON).await;
        assert_eq!(proxy.send(job(3), SOON).await.unwrap(), "b did 3");
    });
}

#[test]
fn a_message_longer_than_a_frame_is_given_up_and_the_next_ones_arrive() {
    scene(async |pipes, _| {
        let done = Done::default();
        let [mut a, mut b] = [("a", "b"), ("b", "a")].map(|(name, peer)| {
            Host::with(|group| {
                let limits = actix_bully::remote::Limits::builder().frame(4 << 10);
                let limits = limits.build().unwrap();
                super::kit::builder(pipes, name, &[peer])
                    .limits(limits)
                    .carry(group)
            })
        });
        let (from, to) = (a.agent("a", 1), b.agent("b", 2));
        let worker = TextWorker(Arc::clone(&done)).start();
        let there = LeaderProxy::<Text>::builder(&to, "text").deliver_to(worker.recipient());
        there.start().unwrap();
        let texts = LeaderProxy::<Text>::builder(&from, "text").start().unwrap();
        until("b leads", || a.follows("b")).await;
        sleep(MS(500)).await;
        let long = texts.send(Text("x".repeat(8 << 10)), SOON * 30);
        let short = texts.send(Text("y".to_owned()), SOON * 30);
        let (long, short) = futures::future::join(long, short).await;
        assert_eq!(long, Err(ProxyError::Undeliverable));
        assert_eq!(short, Ok(1));
        assert_eq!(texts.counts().undeliverable, 1);
    });
}

#[derive(Message, Serialize, Deserialize)]
#[rtype(result = "usize")]
struct Text(String);

struct TextWorker(Done);

impl Actor for TextWorker {
    type Context = Context<Self>;
}

impl Handler<Text> for TextWorker {
    type Result = usize;
    fn handle(&mut self, Text(text): Text, _: &mut Context<Self>) -> usize {
        self.0.lock().unwrap().push(("b", 0));
        text.len()
    }
}

/// Each host numbers incarnations for itself: here all of them begin with the same number.
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

#[test]
fn without_a_leader_in_reach_nothing_is_sent() {
    play(async {
        let scene = Scene::set().await;
        for agent in &scene.agents {
            agent.withdraw_score().unwrap();
        }
        sleep(SOON).await;
        let error = scene.proxies[0].send(job(1), SOON).await.unwrap_err();
        let why = Untaken::NoLeader;
        assert_eq!(error, ProxyError::NotTaken { within: SOON, why });
        scene.proxies[1].do_send(job(2));
        scene.agents[0].set_score(7).unwrap();
        sleep(SOON).await;
        assert_eq!(scene.done(), [("a", 2)]);
    });
}
