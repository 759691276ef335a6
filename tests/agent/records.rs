//! A record that must survive a crash is durable before the agent sends a message that relies on it.

use std::{
    io,
    sync::{Arc, atomic::Ordering::Relaxed},
    time::Duration,
};

use actix::clock;
use actix_bully::{
    agent::{ElectionHandle, Finding, Lifecycle, StartError},
    store::{MemoryStore, StoreIdentity, TermStore},
    testkit::{FaultyStore, Inject},
};

use tracing::Level;

use crate::{
    logs::logged,
    stage::{MS, Stage, id, play, settle},
    term_store::TestStore,
    toy::{Act, Toy},
};

/// Returns a store that takes 10 ms for each record.
fn slow() -> TestStore<u32> {
    TestStore {
        takes: MS(10),
        ..TestStore::default()
    }
}

/// Starts a toy that keeps its record in this store.
fn keeps(stage: &Stage, store: &(impl TermStore<u32> + Clone + 'static)) -> ElectionHandle<Toy> {
    let toy = Toy::builder("toy", stage).store(store.clone());
    toy.start().unwrap()
}

#[test]
fn what_follows_a_record_waits_until_it_is_durable_and_so_does_everything_else() {
    play(async {
        let (stage, store) = (Stage::new(), slow());
        let toy = keeps(&stage, &store);
        stage.tap.handle.set(toy.clone()).unwrap();
        settle().await;
        stage.heard.take();
        stage.tell(
            &toy,
            &[
                Act::Say("before"),
                Act::Save(1),
                Act::Say("after 1"),
                Act::Save(2),
                Act::Acquire(1),
                Act::Say("after 2"),
                Act::Set('t', MS(1)),
            ],
        );
        stage.tell(&toy, &[Act::Say("next step")]);
        clock::sleep(MS(5)).await;
        assert_eq!(
            (stage.heard.take(), store.kept.record()),
            (vec!["before".into()], None)
        );
        clock::sleep(MS(10)).await;
        assert_eq!(stage.heard.take(), ["after 1"]);
        assert_eq!((store.kept.record(), toy.is_leader()), (Some(1), false));
        clock::sleep(MS(10)).await;
        assert_eq!(stage.heard.take(), ["after 2", "next step"]);
        assert_eq!((store.kept.record(), toy.is_leader()), (Some(2), true));
        clock::sleep(MS(10)).await;
        assert_eq!(
            stage.inputs.take().last().unwrap(),
            "toy.1 timer t at 22.000"
        );
    });
}

#[test]
fn a_timer_that_is_due_waits_for_a_record_as_well() {
    play(async {
        let (stage, store) = (Stage::new(), slow());
        let builder = Toy::scripted("toy", &stage, |script| {
            script.at_timer = vec![('a', Act::Save(1)), ('a', Act::Say("a"))];
        });
        let toy = builder.store(store).start().unwrap();
        stage
            .prompt(&toy, &[Act::Set('a', MS(5)), Act::Set('b', MS(5))])
            .await;
        stage.inputs.take();
        clock::sleep(MS(10)).await;
        assert_eq!(stage.inputs.take(), ["toy.1 timer a at 5.000"]);
        clock::sleep(MS(10)).await;
        assert_eq!(stage.inputs.take(), ["toy.1 timer b at 15.000"]);
        assert_eq!(stage.heard.take(), ["a"]);
    });
}

#[test]
fn a_leadership_is_lost_before_a_record_is_saved() {
    play(async {
        let (stage, store) = (Stage::new(), slow());
        let toy = keeps(&stage, &store);
        stage.prompt(&toy, &[Act::Acquire(1)]).await;
        stage.prompt(&toy, &[Act::Save(1), Act::Lose]).await;
        assert!(!toy.is_leader());
    });
}

#[test]
fn the_next_incarnation_begins_with_the_last_record() {
    play(async {
        let (stage, store) = (Stage::new(), slow());
        let toy = keeps(&stage, &store);
        stage.tell(&toy, &[Act::Save(7)]);
        clock::sleep(MS(20)).await;
        stage.inputs.take();
        toy.addr().do_send(Inject::Crash);
        clock::sleep(MS(500)).await;
        assert_eq!(
            stage.inputs.take().first().unwrap(),
            "toy.2 born Restarted, score 0, Some(7)"
        );
    });
}

#[test]
fn an_agent_whose_record_cannot_be_read_does_not_begin_an_incarnation() {
    play(async {
        let (stage, store) = (Stage::new(), slow());
        store.broken.store(true, Relaxed);
        let refused = Toy::builder("toy", &stage).store(store.clone()).start();
        assert!(matches!(refused, Err(StartError::Store(_))));
        assert!(stage.group.members().get(&id("toy")).is_none());

        store.broken.store(false, Relaxed);
        let toy = keeps(&stage, &store);
        settle().await;
        store.broken.store(true, Relaxed);
        stage.inputs.take();
        toy.addr().do_send(Inject::Crash);
        clock::sleep(MS(1_000)).await;
        assert_eq!(stage.inputs.take(), [""; 0], "it was not born again");
        assert_eq!(toy.current().lifecycle, Lifecycle::Ended);
        let is_told = |found: &Finding| matches!(found, Finding::StoreFails { .. });
        assert!(toy.diagnosis().findings.iter().any(is_told));
    });
}

const PASSING: [io::ErrorKind; 4] = [
    io::ErrorKind::StorageFull,
    io::ErrorKind::QuotaExceeded,
    io::ErrorKind::OutOfMemory,
    io::ErrorKind::ResourceBusy,
];

/// Returns the time since which the store fails, if the agent tries it again.
fn is_tried_since(toy: &ElectionHandle<Toy>) -> Option<Duration> {
    let found = toy.diagnosis().findings;
    found.into_iter().find_map(|finding| {
        if let Finding::StoreFails {
            since,
            is_tried_again: true,
            ..
        } = finding
        {
            Some(since)
        } else {
            None
        }
    })
}

#[test]
fn an_agent_whose_store_takes_no_record_for_a_while_waits_and_promises_nothing_before_it_does() {
    for kind in PASSING {
        logged(Level::WARN, async |lines| {
            let stage = Stage::new();
            let memory = MemoryStore::new();
            let store = Arc::new(FaultyStore::new(memory.clone()));
            let toy = keeps(&stage, &store);
            stage.prompt(&toy, &[Act::Save(1)]).await;
            assert_eq!(is_tried_since(&toy), None);
            store.refuse(kind);
            stage.inputs.take();
            stage.heard.take();
            stage.tell(
                &toy,
                &[Act::Save(2), Act::Acquire(1), Act::Say("a promise")],
            );
            clock::sleep(MS(60_000)).await;
            assert_eq!(stage.heard.take(), [""; 0], "{kind}");
            assert_eq!(stage.inputs.take(), [""; 0], "it is not born again");
            assert!(!toy.is_leader() && toy.current().lifecycle == Lifecycle::Running);
            let since = is_tried_since(&toy).unwrap();
            assert!(MS(59_000) <= since && since <= MS(60_000), "{since:?}");
            let said = lines.about("record not durable: the agent tries again");
            assert_eq!(said.len(), 1, "{said:?}");

            store.make_room();
            clock::sleep(MS(700)).await;
            assert_eq!(stage.heard.take(), ["a promise"]);
            assert_eq!((memory.record(), is_tried_since(&toy)), (Some(2), None));
            let write = toy.diagnosis().measured.write;
            assert!(write < MS(700), "the wait is no slow write: {write:?}");
        });
    }
}

#[test]
fn an_agent_ends_when_the_error_of_its_store_becomes_final() {
    play(async {
        let stage = Stage::new();
        let store = Arc::new(FaultyStore::new(MemoryStore::new()));
        let toy = keeps(&stage, &store);
        store.refuse(io::ErrorKind::OutOfMemory);
        stage.tell(&toy, &[Act::Save(1), Act::Say("a promise")]);
        clock::sleep(MS(10_000)).await;
        assert_eq!(toy.current().lifecycle, Lifecycle::Running);
        store.fail_at(1);
        clock::sleep(MS(700)).await;
        assert_eq!(toy.current().lifecycle, Lifecycle::Ended);
        assert_eq!(stage.heard.take(), [""; 0]);
        let found = toy.diagnosis().findings;
        let fails = |finding: &Finding| matches!(finding, Finding::StoreFails { is_tried_again: false, since, .. } if *since >= MS(9_000));
        assert!(found.iter().any(fails), "{found:?}");
    });
}

#[test]
fn an_agent_that_wakes_does_not_touch_the_record_of_its_successor() {
    play(async {
        let (stage, store) = (Stage::new(), slow());
        let start = || keeps(&stage, &store);
        let first = start();
        stage.prompt(&first, &[Act::Save(1)]).await;
        clock::sleep(MS(20)).await;
        first.addr().do_send(Inject::hang(clock::sleep(MS(200))));
        settle().await;
        stage.tell(&first, &[Act::Save(2), Act::Say("a vote of the first")]);
        assert!(first.leave(MS(50)).await.is_err());
        let second = start();
        stage.prompt(&second, &[Act::Save(3)]).await;
        clock::sleep(MS(20)).await;
        stage.heard.take();
        clock::sleep(MS(500)).await;
        assert_eq!(store.kept.record(), Some(3));
        assert!(
            !stage
                .heard
                .take()
                .contains(&"a vote of the first".to_owned())
        );
    });
}

#[test]
fn of_two_agents_with_one_store_the_later_one_has_it() {
    play(async {
        let store = MemoryStore::new();
        let (here, there) = (Stage::new(), Stage::new());
        let first = keeps(&here, &store);
        here.prompt(&first, &[Act::Save(1)]).await;
        let refused = Toy::builder("toy", &here).store(store.clone()).start();
        assert!(matches!(refused, Err(StartError::Join(_))));
        here.prompt(&first, &[Act::Save(2)]).await;
        assert_eq!(
            store.record(),
            Some(2),
            "an agent that is refused takes nothing over"
        );

        let second = keeps(&there, &store);
        here.heard.take();
        here.prompt(&first, &[Act::Save(3), Act::Say("a promise")])
            .await;
        assert_eq!(first.current().lifecycle, Lifecycle::Ended);
        assert!(!here.heard.take().contains(&"a promise".to_owned()));
        there.prompt(&second, &[Act::Save(4)]).await;
        assert_eq!(store.record(), Some(4));
    });
}

#[test]
fn an_agent_that_comes_back_without_its_record_is_refused() {
    play(async {
        let (stage, store) = (Stage::new(), MemoryStore::new());
        let start = |store| Toy::builder("toy", &stage).store(store).start();
        let toy = start(store.clone()).unwrap();
        settle().await;
        toy.leave(MS(50)).await.unwrap();
        let toy = start(MemoryStore::new()).expect("it has promised nothing yet");
        toy.leave(MS(50)).await.unwrap();

        let toy = start(store.clone()).unwrap();
        stage.prompt(&toy, &[Act::Save(7)]).await;
        toy.leave(MS(50)).await.unwrap();
        for _ in 0..2 {
            let refused = start(MemoryStore::new()).unwrap_err();
            assert!(matches!(&refused, StartError::FreshStore { id } if id.as_str() == "toy"));
            assert!(
                refused
                    .to_string()
                    .contains("give a clone of it to each start")
            );
            assert!(stage.group.members().get(&id("toy")).is_none());
        }
        stage.inputs.take();
        let _toy = start(store).expect("with its record it may");
        settle().await;
        assert_eq!(
            stage.inputs.take().first().unwrap(),
            "toy.6 born Started, score 0, Some(7)"
        );
    });
}

#[test]
fn a_record_of_another_agent_is_refused() {
    play(async {
        let stage = Stage::new();
        let start = |group, node| {
            let owner = StoreIdentity {
                cluster: id("any"),
                group: id(group),
                node: id(node),
            };
            let owner = Some(owner);
            let store = TestStore { owner, ..slow() };
            Toy::builder("toy", &stage).store(store).start()
        };
        for (group, node) in [("stage", "other"), ("other", "toy")] {
            let refused = start(group, node);
            assert!(matches!(refused, Err(StartError::ForeignStore { .. })));
        }
        assert!(start("stage", "toy").is_ok());
    });
}
