//! Messages that follow the leader, in one process and in virtual time.
#![expect(
    clippy::unwrap_used,
    reason = "a scene that cannot be set fails the test"
)]

use std::{
    cell::Cell,
    sync::{Arc, Mutex},
    time::Duration,
};

use actix::{Actor, ActorContext, Addr, Context, Handler, Message, ResponseFuture, clock::sleep};
use actix_bully::{
    Group,
    agent::{BullyAgent, BullyHandle, LeaderGuard},
    leader::{
        ChannelError, LeaderProxy, Overflow, ProxyError, ProxyStartError, Singleton, Untaken,
    },
    testkit::{Inject, virtual_system},
};
use serde::{Deserialize, Serialize};

const MS: fn(u64) -> Duration = Duration::from_millis;
const SOON: Duration = Duration::from_secs(1);

/// Is answered with the agent's name and the number.
#[derive(Debug, Message, Serialize, Deserialize)]
#[rtype(result = "String")]
struct Job(u64);

#[derive(Message, Serialize, Deserialize)]
#[rtype(result = "usize")]
struct Text(String);

/// Takes its time.
#[derive(Message, Serialize, Deserialize)]
#[rtype(result = "u64")]
struct Slow(u64);

/// What was handled, by which agent's worker.
type Done = Arc<Mutex<Vec<(String, u64)>>>;

struct Worker {
    at: String,
    done: Done,
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

impl Handler<actix_bully::leader::SteppingDown> for Worker {
    type Result = ();
    fn handle(&mut self, _: actix_bully::leader::SteppingDown, ctx: &mut Context<Self>) {
        ctx.stop();
    }
}

/// An agent with its worker and its proxy.
struct Host {
    agent: BullyHandle,
    worker: Addr<Worker>,
    jobs: LeaderProxy<Job>,
}

struct Scene {
    group: Group,
    done: Done,
}

impl Scene {
    fn new() -> Self {
        let (group, done) = (Group::new("g").unwrap(), Done::default());
        Self { group, done }
    }

    fn agent(&self, name: &str, score: i32) -> BullyHandle {
        let agent = BullyAgent::builder(name).score(score).join(&self.group);
        agent.start().unwrap()
    }

    fn worker(&self, name: &str) -> Addr<Worker> {
        let (at, done) = (name.to_owned(), Arc::clone(&self.done));
        Worker { at, done }.start()
    }

    fn host(&self, name: &str, score: i32) -> Host {
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

    fn take(&self) -> Vec<(String, u64)> {
        std::mem::take(&mut *self.done.lock().unwrap())
    }

    /// The numbers of the jobs that were done, in order.
    fn numbers(&self) -> Vec<u64> {
        self.take().into_iter().map(|(_, number)| number).collect()
    }
}

async fn settle() {
    sleep(MS(500)).await;
}

fn play(scene: impl Future<Output = ()>) {
    virtual_system().block_on(async {
        let day = Duration::from_secs(86_400);
        actix::clock::timeout(day, scene).await.unwrap();
    });
}

#[test]
fn messages_wait_for_a_leader_and_reach_it_in_order() {
    play(async {
        let scene = Scene::new();
        let [a, b] = [scene.host("a", 1), scene.host("b", 2)];
        for number in 0..10 {
            a.jobs.do_send(Job(number));
            b.jobs.do_send(Job(100 + number));
        }
        assert_eq!(scene.take(), []);
        settle().await;
        assert!(b.agent.is_leader());
        let done = scene.take();
        assert!(done.iter().all(|(at, _)| at == "b"), "{done:?}");
        let of = |range: std::ops::Range<u64>| {
            let numbers = done.iter().map(|(_, number)| *number);
            numbers
                .filter(|n| range.contains(n))
                .eq(range.start..range.start + 10)
        };
        assert!(of(0..100) && of(100..200), "{done:?}");
        assert_eq!(a.jobs.send(Job(7), SOON).await.unwrap(), "b did 7");
        assert_eq!(b.jobs.send(Job(8), SOON).await.unwrap(), "b did 8");
        settle().await;
        assert_eq!(a.jobs.counts().delivered, 11);
        assert_eq!((a.jobs.counts().waiting, b.jobs.counts().waiting), (0, 0));
    });
}

#[test]
fn messages_follow_the_leader_each_once_and_in_order() {
    play(async {
        let scene = Scene::new();
        let hosts = [scene.host("a", 1), scene.host("b", 2), scene.host("c", 3)];
        settle().await;
        let sent = Cell::new(0);
        let put = |count: u64| {
            for _ in 0..count {
                hosts[0].jobs.do_send(Job(sent.get()));
                sent.set(sent.get() + 1);
            }
        };
        put(3);
        hosts[2].agent.step_down(None).unwrap();
        for _ in 0..400 {
            put(1);
            sleep(MS(1)).await;
        }
        hosts[1].agent.withdraw_score().unwrap();
        for _ in 0..400 {
            put(2);
            sleep(MS(1)).await;
        }
        settle().await;
        let done = scene.take();
        let leaders: std::collections::BTreeSet<_> = done.iter().map(|(at, _)| at).collect();
        assert!(leaders.len() >= 2, "{leaders:?}");
        let numbers: Vec<_> = done.iter().map(|(_, number)| *number).collect();
        assert!(numbers.iter().copied().eq(0..sent.get()), "{numbers:?}");
        assert_eq!(hosts[0].jobs.counts().unknown, 0, "hand-overs cost nothing");
    });
}

#[test]
fn a_leader_that_hangs_costs_what_was_on_its_way_and_nothing_else() {
    play(async {
        let scene = Scene::new();
        let hosts = [scene.host("a", 1), scene.host("b", 2), scene.host("c", 3)];
        settle().await;
        hosts[2].agent.addr().do_send(Inject::Crash);
        for number in 0..50 {
            hosts[0].jobs.do_send(Job(number));
            sleep(MS(20)).await;
        }
        sleep(Duration::from_secs(5)).await;
        let (numbers, counts) = (scene.numbers(), hosts[0].jobs.counts());
        assert!(numbers.is_sorted_by(|one, next| one < next), "{numbers:?}");
        let arrived = u64::try_from(numbers.len()).unwrap();
        assert_eq!(arrived + counts.unknown, 50, "{counts:?}");
        assert_eq!(counts.delivered, arrived);
    });
}

#[test]
fn what_no_leader_takes_in_time_is_not_sent() {
    play(async {
        let scene = Scene::new();
        let alone = BullyAgent::builder("a").ineligible().join(&scene.group);
        let alone = alone.start().unwrap();
        let jobs = LeaderProxy::<Job>::builder(&alone, "job").start().unwrap();
        let why = jobs.send(Job(1), SOON).await.unwrap_err();
        let no_leader = ProxyError::NotTaken {
            within: SOON,
            why: Untaken::NoLeader,
        };
        assert_eq!(why, no_leader);
        assert_eq!(jobs.counts().waiting, 0, "given up, and not sent later");
        drop(jobs.send(Job(2), SOON)); // never polled, never sent
        let dropped = actix::clock::timeout(MS(5), jobs.send(Job(3), SOON)).await;
        assert!(dropped.is_err());
        let b = scene.host("b", 1);
        settle().await;
        assert!(b.agent.is_leader());
        assert_eq!(scene.numbers(), [0; 0]);
    });
}

#[test]
fn a_leader_with_nothing_registered_is_told_apart() {
    play(async {
        let scene = Scene::new();
        let a = scene.host("a", 1);
        let leader = scene.agent("b", 2);
        settle().await;
        assert!(leader.is_leader());
        let untaken = |why| ProxyError::NotTaken { within: SOON, why };
        // No messages at all, then none of that name, then one without an actor.
        let error = a.jobs.send(Job(1), SOON).await.unwrap_err();
        assert_eq!(error, untaken(Untaken::NoLeader));
        LeaderProxy::<Text>::builder(&leader, "text")
            .start()
            .unwrap();
        let error = a.jobs.send(Job(2), SOON).await.unwrap_err();
        assert_eq!(error, untaken(Untaken::Unregistered));
        let at_b = LeaderProxy::<Text>::builder(&leader, "job");
        let worker = scene.worker("b");
        a.jobs.do_send(Job(3));
        settle().await;
        assert_eq!(
            a.jobs.counts().waiting,
            1,
            "kept until something is registered"
        );
        // Another type under the name: it reads no job.
        at_b.deliver_to(worker.recipient()).start().unwrap();
        settle().await;
        assert_eq!(a.jobs.counts().waiting, 0);
        let error = a.jobs.send(Job(4), SOON).await.unwrap_err();
        assert_eq!(error, ProxyError::Malformed);
        assert_eq!(scene.numbers(), [0; 0]);
        assert!(leader.is_leader());
    });
}

#[test]
fn the_buffer_is_bounded_and_what_has_no_room_is_counted() {
    play(async {
        let scene = Scene::new();
        let alone = BullyAgent::builder("a").ineligible().join(&scene.group);
        let alone = alone.start().unwrap();
        let proxy = |name, overflow| {
            LeaderProxy::<Job>::builder(&alone, name)
                .buffer(3, 1 << 10)
                .on_full(overflow)
                .start()
                .unwrap()
        };
        let newest = proxy("newest", Overflow::RefuseNewest);
        let oldest = proxy("oldest", Overflow::DropOldest);
        (0..5).for_each(|number| newest.do_send(Job(number)));
        (0..5).for_each(|number| oldest.do_send(Job(number)));
        for full in [&newest, &oldest] {
            assert_eq!(full.try_send(Job(9)), Err(ProxyError::Full));
        }
        assert_eq!(newest.send(Job(9), SOON).await, Err(ProxyError::Full));
        let counts = (newest.counts(), oldest.counts());
        assert_eq!((counts.0.refused, counts.0.waiting), (4, 3));
        assert_eq!((counts.1.refused, counts.1.dropped), (1, 2));
        // The oldest is an ask by now: it is told.
        let ask = oldest.send(Job(5), SOON);
        let more = async { (6..9).for_each(|number| oldest.do_send(Job(number))) };
        let (told, ()) = futures::future::join(ask, more).await;
        assert_eq!(told, Err(ProxyError::Full));
        let b = scene.agent("b", 1);
        let worker = scene.worker("b").recipient::<Job>();
        let at_b = LeaderProxy::builder(&b, "oldest").deliver_to(worker);
        at_b.start().unwrap();
        settle().await;
        assert_eq!(scene.numbers(), [6, 7, 8]);
    });
}

#[test]
fn settings_and_messages_beyond_the_limits_are_refused() {
    play(async {
        let scene = Scene::new();
        let b = scene.host("b", 2);
        let a = scene.agent("a", 1);
        let texts = || LeaderProxy::<Text>::builder(&a, "text");
        let refused = texts().buffer(0, 1 << 20).start().unwrap_err();
        let limit = |error| {
            let ProxyStartError::Limit { limit, .. } = error else {
                unreachable!("{error}")
            };
            limit
        };
        assert_eq!(limit(refused), "messages");
        let refused = texts().unknown_after(MS(1)).start().unwrap_err();
        assert_eq!(limit(refused), "unknown_after");
        let to_b = LeaderProxy::<Text>::builder(&b.agent, "text");
        let to_b = to_b.deliver_to(b.worker.clone().recipient()).start();
        let proxy = texts().longest(100).start().unwrap();
        let taken = texts().start().unwrap_err();
        assert!(matches!(
            taken,
            ProxyStartError::Name(ChannelError::Taken { .. })
        ));
        settle().await;
        assert_eq!(proxy.send(Text("x".repeat(90)), SOON).await, Ok(90));
        let long = proxy.send(Text("x".repeat(100)), SOON).await;
        let too_long = ProxyError::TooLong { len: 102, max: 100 };
        assert_eq!(long, Err(too_long));
        assert_eq!(proxy.counts().refused, 1);
        assert!(b.agent.is_leader());
        drop(to_b);
    });
}

#[test]
fn an_actor_that_ends_with_a_message_answers_it_with_that() {
    play(async {
        let scene = Scene::new();
        let [a, b] = [scene.host("a", 1), scene.host("b", 2)];
        settle().await;
        let slow = |host: &Host| {
            let proxy = LeaderProxy::<Slow>::builder(&host.agent, "slow");
            let proxy = proxy.deliver_to(host.worker.clone().recipient());
            proxy.start().unwrap()
        };
        let [from_a, from_b] = [slow(&a), slow(&b)];
        sleep(MS(5)).await;
        assert_eq!(from_a.send(Slow(20), SOON).await, Ok(20));
        let late = from_a.send(Slow(2_000), SOON).await;
        assert_eq!(late, Err(ProxyError::Unknown), "it may come to an end");
        assert_eq!(
            from_b.send(Slow(2_000), SOON).await,
            Err(ProxyError::Unknown)
        );
        a.jobs.do_send(Job(u64::MAX)); // stops the worker
        settle().await;
        for from in [&a, &b] {
            let error = from.jobs.send(Job(1), SOON).await.unwrap_err();
            let why = Untaken::NotReady;
            assert_eq!(error, ProxyError::NotTaken { within: SOON, why });
        }
    });
}

#[test]
fn a_recipient_of_it_goes_the_same_way() {
    play(async {
        let scene = Scene::new();
        let [a, _b] = [scene.host("a", 1), scene.host("b", 2)];
        let recipient = a.jobs.recipient();
        recipient.do_send(Job(1));
        let answer = recipient.send(Job(2)).await.unwrap();
        recipient.do_send(Job(3));
        settle().await;
        assert_eq!(answer, "b did 2");
        assert_eq!(scene.numbers(), [1, 2, 3]);
        let alone = BullyAgent::builder("x").ineligible();
        let alone = alone.join(&Group::new("other").unwrap()).start().unwrap();
        let nowhere = LeaderProxy::<Job>::builder(&alone, "job").answer_within(MS(50));
        let nowhere = nowhere.start().unwrap().recipient();
        let closed = nowhere.send(Job(1)).await;
        assert!(matches!(closed, Err(actix::MailboxError::Closed)));
    });
}

#[test]
fn a_singleton_gets_the_messages_wherever_it_runs() {
    play(async {
        let scene = Scene::new();
        let hosts = [("a", 1), ("b", 2)].map(|(name, score)| {
            let agent = scene.agent(name, score);
            let (at, done) = (name.to_owned(), Arc::clone(&scene.done));
            let worker = move |_: LeaderGuard| Worker {
                at: at.clone(),
                done: Arc::clone(&done),
            };
            let singleton = Singleton::builder(&agent, worker).start().unwrap();
            let found = move || singleton.addr().map(Addr::recipient);
            let jobs = LeaderProxy::builder(&agent, "job").deliver_to_found(found);
            (agent, jobs.start().unwrap())
        });
        let [(_, from_a), (b, _)] = &hosts;
        (0..5).for_each(|number| from_a.do_send(Job(number)));
        settle().await;
        b.leave(SOON).await.unwrap();
        (5..10).for_each(|number| from_a.do_send(Job(number)));
        settle().await;
        let done = scene.take();
        let expected = (0..10).map(|n| (if n < 5 { "b" } else { "a" }.to_owned(), n));
        assert!(done.iter().cloned().eq(expected), "{done:?}");
    });
}

#[test]
fn a_proxy_ends_with_its_agent() {
    play(async {
        let scene = Scene::new();
        let alone = BullyAgent::builder("a").ineligible().join(&scene.group);
        let alone = alone.start().unwrap();
        let jobs = LeaderProxy::<Job>::builder(&alone, "job").start().unwrap();
        let waiting = jobs.clone();
        let ask = actix::spawn(async move { waiting.send(Job(1), SOON).await });
        sleep(MS(1)).await;
        alone.leave(SOON).await.unwrap();
        assert_eq!(ask.await.unwrap(), Err(ProxyError::Ended));
        assert_eq!(jobs.try_send(Job(2)), Err(ProxyError::Ended));
        let ended = LeaderProxy::<Job>::builder(&alone, "again").start();
        assert!(matches!(ended, Err(ProxyStartError::Messages(_))));
    });
}
