//! Messages that are not taken or not answered, and the errors of their senders.

use std::{
    panic::resume_unwind,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use actix::clock::{Instant, sleep};
use actix_bully::{
    Group,
    agent::BullyAgent,
    leader::{LeaderProxy, MessagesError, ProxyError, ProxyStartError, SendError, Untaken},
    register::MemoryRegister,
    testkit::VirtualClock,
};
use tracing::Level;

use super::kit::{Fragile, Host, Job, PANICS, SOON, Scene, Slow, Text, settle};
use crate::{
    logs::logged,
    stage::{MS, play},
};

#[test]
fn a_message_that_no_leader_takes_in_time_is_not_sent() {
    play(async {
        let scene = Scene::new();
        let alone = scene.ineligible("a");
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
        // The leader has no messages at all, then no messages of this name, and then messages of this name without an
        // actor.
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
        // The leader registers another type under this name, and cannot decode a job.
        at_b.deliver_to(worker.recipient()).start().unwrap();
        settle().await;
        assert_eq!(a.jobs.counts().waiting, 0);
        let error = a.jobs.send(Job(4), SOON).await.unwrap_err();
        assert_eq!(error, ProxyError::Malformed);
        assert_eq!(scene.numbers(), [0; 0]);
        assert!(leader.is_leader());
    });
}

/// The proxy calls the finder before it gives a message away, so a panic of the finder loses no message.
#[test]
fn messages_wait_while_the_finder_of_the_actor_panics() {
    play(async {
        let scene = Scene::new();
        let (agent, worker) = (scene.agent("b", 2), scene.worker("b"));
        let panics = Arc::new(AtomicBool::new(true));
        let finder = Arc::clone(&panics);
        let jobs = LeaderProxy::<Job>::builder(&agent, "job").deliver_to_found(move || {
            if finder.load(Relaxed) {
                resume_unwind(Box::new("a bug")); // panics without a message
            }
            Some(worker.clone().recipient())
        });
        let jobs = jobs.start().unwrap();
        let other = scene.host("a", 1);
        for number in 1..=3 {
            jobs.do_send(Job(number));
        }
        settle().await;
        assert!(agent.is_leader());
        for from in [&jobs, &other.jobs] {
            let error = from.send(Job(9), SOON).await.unwrap_err();
            let why = Untaken::NotReady;
            assert_eq!(error, ProxyError::NotTaken { within: SOON, why });
        }
        assert_eq!((jobs.counts().waiting, scene.numbers()), (3, vec![]));
        panics.store(false, Relaxed);
        settle().await;
        let counts = jobs.counts();
        assert_eq!((counts.delivered, counts.waiting), (3, 0));
        assert_eq!(scene.numbers(), [1, 2, 3]);
        // The actor would get these messages at once. The panic of the finder ends neither this task nor the actor of
        // the recipient.
        panics.store(true, Relaxed);
        jobs.do_send(Job(4));
        jobs.recipient().do_send(Job(5));
        settle().await;
        panics.store(false, Relaxed);
        assert_eq!(jobs.recipient().send(Job(6)).await.unwrap(), "b did 6");
        assert_eq!(scene.numbers(), [4, 5, 6]);
    });
}

/// The proxy drops the message, because the actor has no room.
#[test]
fn the_outcome_of_a_message_whose_drop_panics_is_known_before_its_deadline() {
    play(async {
        let scene = Scene::new();
        let agent = scene.agent("a", 1);
        let proxy = LeaderProxy::<Fragile>::builder(&agent, "fragile").buffer(1, 1 << 10);
        let proxy = proxy.deliver_to(scene.worker("a").recipient());
        let proxy = proxy.start().unwrap();
        settle().await;
        assert!(agent.is_leader());
        proxy.do_send(Fragile); // the actor handles this message for a minute
        sleep(MS(1)).await;
        let ask = proxy.send(Fragile, MS(30_000));
        let armed = async { PANICS.set(true) };
        let asked = Instant::now();
        let (answer, ()) = futures::future::join(ask, armed).await;
        assert_eq!(answer, Err(ProxyError::Unknown));
        assert!(asked.elapsed() < SOON, "{:?}", asked.elapsed());
        assert!(!PANICS.get());
        let counts = proxy.counts();
        assert_eq!((counts.unknown, counts.waiting), (1, 0));
    });
}

#[test]
fn a_message_that_panics_is_logged_and_does_not_end_the_actor_of_the_recipient() {
    logged(Level::ERROR, async |lines| {
        let scene = Scene::new();
        let alone = scene.ineligible("a");
        let proxy = LeaderProxy::<Fragile>::builder(&alone, "fragile");
        let to = proxy.start().unwrap().recipient();
        PANICS.set(true);
        to.do_send(Fragile);
        settle().await;
        assert!(!PANICS.get() && to.connected());
        PANICS.set(true);
        let answer = to.send(Fragile).await;
        assert_eq!(answer, Err(actix::MailboxError::Closed));
        assert!(!PANICS.get() && to.connected());
        let told = lines.about("a message to the recipient of a proxy panicked");
        assert_eq!(told.len(), 2, "{told:#?}");
    });
}

#[test]
fn the_buffer_is_bounded_and_what_has_no_room_is_counted() {
    play(async {
        let scene = Scene::new();
        let alone = scene.ineligible("a");
        let proxy = LeaderProxy::<Job>::builder(&alone, "jobs");
        let proxy = proxy.buffer(3, 1 << 10).start().unwrap();
        (0..5).for_each(|number| proxy.do_send(Job(number)));
        assert_eq!(proxy.try_send(Job(9)), Err(ProxyError::Full));
        assert_eq!(proxy.send(Job(9), SOON).await, Err(ProxyError::Full));
        let counts = proxy.counts();
        assert_eq!((counts.refused, counts.waiting), (4, 3));
        let b = scene.agent("b", 1);
        let worker = scene.worker("b").recipient::<Job>();
        let at_b = LeaderProxy::builder(&b, "jobs").deliver_to(worker);
        at_b.start().unwrap();
        settle().await;
        assert_eq!(scene.numbers(), [0, 1, 2]);
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
            ProxyStartError::Messages(MessagesError::Taken { .. })
        ));
        settle().await;
        assert_eq!(proxy.send(Text("x".repeat(90)), SOON).await, Ok(90));
        let long = proxy.send(Text("x".repeat(100)), SOON).await;
        let too_long = ProxyError::Send(SendError::TooLong { len: 102, max: 100 });
        assert_eq!(long, Err(too_long));
        assert_eq!(proxy.counts().refused, 1);
        // The limit holds for answers, too. This answer contains the name of its actor, which is too long.
        let long = |of| LeaderProxy::<Job>::builder(of, "long").longest(64);
        let named = scene.worker(&"x".repeat(64)).recipient();
        let _leader = long(&b.agent).deliver_to(named).start().unwrap();
        let asks = long(&a).start().unwrap();
        let answer = asks.send(Job(1), SOON).await;
        assert_eq!(answer, Err(ProxyError::AnswerTooLong));
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
fn a_proxy_ends_with_its_agent() {
    play(async {
        let scene = Scene::new();
        let alone = scene.ineligible("a");
        let jobs = LeaderProxy::<Job>::builder(&alone, "job").start().unwrap();
        let waiting = jobs.clone();
        let ask = actix::spawn(async move { waiting.send(Job(1), SOON).await });
        sleep(MS(1)).await;
        alone.leave(SOON).await.unwrap();
        assert_eq!(ask.await.unwrap(), Err(ProxyError::Send(SendError::Ended)));
        assert_eq!(
            jobs.try_send(Job(2)),
            Err(ProxyError::Send(SendError::Ended))
        );
        let counts = jobs.counts();
        assert_eq!((counts.refused, counts.unknown), (2, 0), "neither was sent");
        let ended = LeaderProxy::<Job>::builder(&alone, "again").start();
        assert!(matches!(ended, Err(ProxyStartError::Messages(_))));
    });
}

/// The next agent of the same name numbers its questions from the beginning again.
#[test]
fn a_question_that_was_sent_is_unknown_after_the_end_of_its_agent_and_its_answer_is_for_no_other() {
    play(async {
        let scene = Scene::new();
        let b = scene.host("b", 2);
        let slow = |of| LeaderProxy::<Slow>::builder(of, "slow");
        let to_b = slow(&b.agent).deliver_to(b.worker.clone().recipient());
        let _at_b = to_b.start().unwrap();
        let ask = |agent, millis| {
            let proxy = slow(agent).start().unwrap();
            actix::spawn(async move { proxy.send(Slow(millis), MS(5_000)).await })
        };
        let first = scene.agent("a", 1);
        settle().await;
        let asked = ask(&first, 1_000);
        sleep(MS(100)).await;
        first.leave(SOON).await.unwrap();
        assert_eq!(asked.await.unwrap(), Err(ProxyError::Unknown));
        let asked = ask(&scene.agent("a", 1), 1_500);
        assert_eq!(asked.await.unwrap(), Ok(1_500));
    });
}

#[test]
fn a_buffer_has_room_for_a_thousand_messages_and_a_mebibyte_unless_it_is_set() {
    play(async {
        let scene = Scene::new();
        let alone = scene.ineligible("a");
        let jobs = LeaderProxy::<Job>::builder(&alone, "job").start().unwrap();
        let taken = (0..2_000).filter(|number| jobs.try_send(Job(*number)).is_ok());
        assert_eq!(taken.count(), 1_024);
        let texts = LeaderProxy::<Text>::builder(&alone, "text");
        let texts = texts.start().unwrap();
        let text = || Text("x".repeat(32 * 1_024 - 16));
        let taken = (0..100).filter(|_| texts.try_send(text()).is_ok());
        assert_eq!(taken.count(), 32);
    });
}

#[test]
fn an_actor_that_is_named_in_both_ways_is_refused_in_either_order() {
    play(async {
        let scene = Scene::new();
        let (agent, worker) = (scene.agent("a", 1), scene.worker("a"));
        let to = worker.clone().recipient::<Job>();
        let found = to.clone();
        let builder = || LeaderProxy::<Job>::builder(&agent, "both");
        let find = move || Some(found.clone());
        let one = builder().deliver_to(to.clone());
        let one = one.deliver_to_found(find.clone()).start();
        let other = builder().deliver_to_found(find).deliver_to(to).start();
        for refused in [one.unwrap_err(), other.unwrap_err()] {
            assert_eq!(refused, ProxyStartError::TwoActors);
        }
    });
}

/// Each group stands for a process.
#[test]
fn a_leader_that_only_the_store_names_is_told_apart() {
    play(async {
        let store = MemoryRegister::new();
        let agent = async |name: &str, score| {
            let agent = BullyAgent::builder(name).lease(store.clone()).score(score);
            let agent = agent.clock(VirtualClock::new());
            let agent = agent.join(&Group::new("g").unwrap()).start().unwrap();
            agent.wait_for_leader(MS(5_000)).await.unwrap();
            agent
        };
        let (_a, b) = (agent("a", 2).await, agent("b", 1).await);
        assert!(!b.is_leader());
        let jobs = LeaderProxy::<Job>::builder(&b, "job").start().unwrap();
        let why = Untaken::Unlinked;
        let error = jobs.send(Job(1), SOON).await.unwrap_err();
        assert_eq!(error, ProxyError::NotTaken { within: SOON, why });
    });
}
