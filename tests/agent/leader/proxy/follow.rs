//! Messages find the leader, each once and in order, even if the leader changes meanwhile.

use std::sync::Arc;

use actix::{Addr, clock::Instant};
use actix_bully::{
    Group,
    agent::{BullyAgent, LeaderGuard},
    leader::{LeaderProxy, Singleton},
};

use super::kit::{Job, SOON, Scene, Worker, settle};
use crate::stage::{MS, play};

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
        let nowhere = |name| LeaderProxy::<Job>::builder(&alone, name);
        let set = nowhere("set").answer_within(MS(50));
        for (proxy, within) in [(nowhere("default"), MS(5_000)), (set, MS(50))] {
            let began = Instant::now();
            let closed = proxy.start().unwrap().recipient().send(Job(1)).await;
            assert!(matches!(closed, Err(actix::MailboxError::Closed)));
            let took = began.elapsed();
            assert!((within..within + MS(10)).contains(&took), "{took:?}");
        }
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
