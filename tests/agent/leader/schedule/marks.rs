//! Marks in the store of a lease that fail, or that no task keeps any more: the agent reports this, and recovers.

use std::sync::atomic::Ordering::SeqCst;

use actix::{Arbiter, System, clock};
use actix_bully::{
    agent::{BullyAgent, ScheduleFinding},
    leader::schedule::{Misfire, ScheduleError, ScheduleRecord},
    operate::Operated,
    protocol::Timings,
    register::{MemoryRegister, Register},
    store::MemoryStore,
};

use super::kit::{begin, every_second, found, noting};
use crate::{
    stage::{Log, MS, play, until},
    store::{Store, agent, group},
};

#[test]
fn a_store_that_takes_no_marks_is_told_and_tried_ever_less_until_it_takes_them() {
    play(async {
        let (store, group, log) = (Store::whole(), group(), Log::default());
        let agent = agent(&group, &store, "a", 1);
        begin(&agent);
        store.has_no_room_for_marks.store(true, SeqCst);
        let schedules: Vec<_> = (0..100)
            .map(|number| {
                let every = agent.every(&format!("s{number}"), MS(1_000));
                every.misfire(Misfire::Skip).start(noting(&log, MS(0)))
            })
            .collect();
        clock::sleep(MS(10_000)).await;
        assert!(agent.is_leader());
        store.asked_for_marks.store(0, SeqCst);
        clock::sleep(MS(10_000)).await;
        let asked = store.asked_for_marks.load(SeqCst);
        assert!(
            (10..50).contains(&asked),
            "{asked} of 100 schedules in 10 s"
        );
        let [ScheduleFinding::MarksFail { since, .. }] = &found(&agent)[..] else {
            panic!("{:?}", found(&agent));
        };
        assert!(*since > MS(15_000), "{since:?}");
        let said = found(&agent)[0].to_string();
        assert!(
            said.contains("so no tick begins") && said.contains("it is full; make room"),
            "{said}"
        );
        assert_eq!(log.take(), [""; 0]);
        store.has_no_room_for_marks.store(false, SeqCst);
        clock::sleep(MS(3_000)).await;
        assert_eq!(found(&agent), []);
        let begun = schedules
            .iter()
            .map(|one| one.as_ref().unwrap().status().begun);
        assert!(begun.min() >= Some(1), "each runs again");
    });
}

#[test]
fn a_foreign_record_is_told_until_it_is_removed() {
    play(async {
        let (store, group, log) = (Store::whole(), group(), Log::default());
        let agent = agent(&group, &store, "a", 1);
        begin(&agent);
        let key = "default/jobs/schedule/second".parse().unwrap();
        store.put(&key, "hello".to_owned()).await;
        let _schedule = every_second(&agent, Misfire::Skip, noting(&log, MS(0)));
        clock::sleep(MS(5_000)).await;
        let [ScheduleFinding::MarkForeign { schedule, .. }] = &found(&agent)[..] else {
            panic!("{:?}", found(&agent));
        };
        assert_eq!(*schedule, "second");
        assert_eq!(log.take(), [""; 0]);
        let entry = store.inner.read(&key).await.unwrap().unwrap();
        store.remove(&key, &entry).unwrap().await.unwrap();
        clock::sleep(MS(3_000)).await;
        assert_eq!(found(&agent), []);
        assert!(log.take().len() >= 2);
    });
}

#[test]
fn a_store_of_its_own_is_refused_since_the_lease_has_one() {
    play(async {
        let group = group();
        let agent = agent(&group, &Store::default(), "c", 1);
        let store = MemoryStore::<ScheduleRecord>::new();
        let refused = agent.schedules().store(store).start().unwrap_err();
        let is_kept = matches!(&refused, ScheduleError::KeptByLease { agent } if *agent == "c");
        assert!(is_kept, "{refused}");
        // Without a store of their own the schedules start.
        agent.schedules().start().unwrap();
    });
}

/// The first schedule that asks for marks starts the task that asks the store, on its own arbiter.
#[test]
fn the_marks_go_on_when_the_arbiter_of_their_task_has_ended() {
    System::new().block_on(async {
        let agent = BullyAgent::builder("a")
            .timings(Timings::fast())
            .lease(MemoryRegister::new())
            .join(&group())
            .start()
            .unwrap();
        let (first, arbiter) = (agent.clone(), Arbiter::new());
        let (said, begun) = std::sync::mpsc::channel();
        arbiter.spawn(async move {
            let every = first.every("first", MS(100));
            let started = every.start(|_| async {}).unwrap();
            said.send(started).unwrap();
        });
        let first = begun.recv().unwrap();
        until(|| first.status().begun > 0).await;
        let second = agent.every("second", MS(100)).start(|_| async {}).unwrap();
        until(|| second.status().begun > 0).await;
        assert_eq!(Operated::new(&agent).report().agents[0].schedules.len(), 2);
        arbiter.stop();
        arbiter.join().unwrap();
        let before = second.status().begun;
        until(|| second.status().begun > before + 3).await;
        agent.leave(MS(5_000)).await.unwrap();
    });
}
