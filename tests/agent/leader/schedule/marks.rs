//! Marks in the store of a lease that fail, or that nobody keeps any more: it is said, and mended.

use std::{sync::atomic::Ordering::SeqCst, time::Duration};

use actix::{Arbiter, System, clock};
use actix_bully::{
    agent::{BullyAgent, BullyHandle, Finding, ScheduleFinding},
    leader::schedule::Misfire,
    protocol::Timings,
    register::{MemoryRegister, Register},
};

use super::kit::{begin, every_second, noting};
use crate::{
    stage::{Log, MS, play},
    store::{Store, agent, group},
};

fn found(agent: &BullyHandle) -> Vec<ScheduleFinding> {
    let of_schedules = agent
        .diagnosis()
        .findings
        .into_iter()
        .filter_map(|finding| {
            if let Finding::Schedule(found) = finding {
                Some(found)
            } else {
                None
            }
        });
    of_schedules.collect()
}

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
        let json = serde_json::to_value(agent.diagnosis()).unwrap();
        let kinds: Vec<_> = json["findings"].as_array().unwrap().iter().collect();
        assert!(
            kinds.iter().any(|one| one["kind"] == "mark_foreign"),
            "{json}"
        );
        let entry = store.inner.read(&key).await.unwrap().unwrap();
        store.remove(&key, &entry).unwrap().await.unwrap();
        clock::sleep(MS(3_000)).await;
        assert_eq!(found(&agent), []);
        assert!(log.take().len() >= 2);
    });
}

/// The mark was compared with the clock before, which is done once.
#[test]
fn a_foreign_record_in_the_middle_of_a_leadership_is_told_until_it_is_removed() {
    play(async {
        let (store, group, log) = (Store::whole(), group(), Log::default());
        let agent = agent(&group, &store, "a", 1);
        begin(&agent);
        let key = "default/jobs/schedule/second".parse().unwrap();
        let _schedule = every_second(&agent, Misfire::Skip, noting(&log, MS(0)));
        clock::sleep(MS(5_000)).await;
        assert!(log.take().len() >= 2);
        store.put(&key, "hello".to_owned()).await;
        clock::sleep(MS(5_000)).await;
        assert_eq!(found(&agent).len(), 1);
        let entry = store.inner.read(&key).await.unwrap().unwrap();
        store.remove(&key, &entry).unwrap().await.unwrap();
        clock::sleep(MS(3_000)).await;
        assert_eq!(found(&agent), []);
    });
}

/// The task that asks the store runs on the arbiter of the schedule that asked first.
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
        arbiter.stop();
        arbiter.join().unwrap();
        let before = second.status().begun;
        until(|| second.status().begun > before + 3).await;
        agent.leave(MS(5_000)).await.unwrap();
    });
}

async fn until(is_so: impl Fn() -> bool) {
    let waited = async {
        while !is_so() {
            clock::sleep(MS(5)).await;
        }
    };
    let waited = clock::timeout(Duration::from_secs(60), waited).await;
    assert!(waited.is_ok(), "it never happens");
}
