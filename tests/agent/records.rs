//! What must survive a crash is durable before anything that rests on it leaves.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use actix::clock;
use actix_bully::{
    agent::{Inject, Life, StartError},
    store::{MemoryStore, Saving, StoreError, StoreIdentity, TermStore},
};

use crate::{
    stage::{MS, Stage, id, play, settle},
    toy::{Act, Toy},
};

/// Takes 10 ms for each record, and fails when told to.
#[derive(Clone, Debug, Default)]
struct Slow {
    kept: MemoryStore<u32>,
    broken: Arc<AtomicBool>,
    owner: Option<StoreIdentity>,
}

impl TermStore<u32> for Slow {
    fn is_volatile(&self) -> bool {
        true
    }

    fn identity(&self) -> Option<&StoreIdentity> {
        self.owner.as_ref()
    }

    fn load(&self) -> Result<Option<u32>, StoreError> {
        self.check()?;
        self.kept.load()
    }

    fn save(&self, record: u32) -> Saving {
        let store = self.clone();
        Box::pin(async move {
            clock::sleep(MS(10)).await;
            store.check()?;
            store.kept.save(record).await
        })
    }
}

impl Slow {
    fn check(&self) -> Result<(), StoreError> {
        let reason = || StoreError::Backend(io::Error::other("disk full"));
        if self.broken.load(Relaxed) {
            Err(reason())
        } else {
            Ok(())
        }
    }
}

#[test]
fn what_follows_a_record_waits_until_it_is_durable_and_so_does_everything_else() {
    play(async {
        let (stage, store) = (Stage::new(), Slow::default());
        let toy = Toy::builder("toy", &stage)
            .store(store.clone())
            .start()
            .unwrap();
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
        let (stage, store) = (Stage::new(), Slow::default());
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
fn a_belief_is_lost_before_a_record_is_kept() {
    play(async {
        let (stage, store) = (Stage::new(), Slow::default());
        let toy = Toy::builder("toy", &stage).store(store).start().unwrap();
        stage.prompt(&toy, &[Act::Acquire(1)]).await;
        stage.prompt(&toy, &[Act::Save(1), Act::Lose]).await;
        assert!(!toy.is_leader());
    });
}

#[test]
fn a_record_that_cannot_be_kept_stops_the_agent_and_nothing_of_the_step_leaves() {
    play(async {
        let (stage, store) = (Stage::new(), Slow::default());
        let toy = Toy::builder("toy", &stage)
            .store(store.clone())
            .start()
            .unwrap();
        settle().await;
        stage.heard.take();
        store.broken.store(true, Relaxed);
        stage.tell(
            &toy,
            &[Act::Acquire(1), Act::Save(1), Act::Say("a promise")],
        );
        stage.tell(&toy, &[Act::Say("later")]);
        clock::sleep(MS(1_000)).await;
        assert_eq!(stage.heard.take(), [""; 0]);
        assert_eq!(toy.current().life, Life::Ended);
        assert!(!toy.is_leader());
        assert!(!stage.group.members().get(&id("toy")).unwrap().is_up());
    });
}

#[test]
fn the_next_life_begins_with_the_last_record() {
    play(async {
        let (stage, store) = (Stage::new(), Slow::default());
        let toy = Toy::builder("toy", &stage)
            .store(store.clone())
            .start()
            .unwrap();
        stage.tell(&toy, &[Act::Save(7)]);
        clock::sleep(MS(20)).await;
        stage.inputs.take();
        toy.addr().do_send(Inject::Crash);
        clock::sleep(MS(500)).await;
        let lines = stage.inputs.take();
        assert_eq!(
            lines.first().unwrap(),
            "toy.2 born Restarted, score 0, Some(7)"
        );
    });
}

#[test]
fn an_agent_whose_record_cannot_be_read_does_not_begin_a_life() {
    play(async {
        let (stage, store) = (Stage::new(), Slow::default());
        store.broken.store(true, Relaxed);
        let refused = Toy::builder("toy", &stage).store(store.clone()).start();
        assert!(matches!(refused, Err(StartError::Store(_))));
        assert!(stage.group.members().get(&id("toy")).is_none());

        store.broken.store(false, Relaxed);
        let toy = Toy::builder("toy", &stage)
            .store(store.clone())
            .start()
            .unwrap();
        settle().await;
        store.broken.store(true, Relaxed);
        stage.inputs.take();
        toy.addr().do_send(Inject::Crash);
        clock::sleep(MS(1_000)).await;
        assert_eq!(stage.inputs.take(), [""; 0], "it was not born again");
        assert_eq!(toy.current().life, Life::Ended);
    });
}

#[test]
fn a_record_of_somebody_else_is_refused() {
    play(async {
        let stage = Stage::new();
        let start = |group, node| {
            let owner = StoreIdentity {
                cluster: id("any"),
                group: id(group),
                node: id(node),
            };
            let owner = Some(owner);
            let store = Slow {
                owner,
                ..Slow::default()
            };
            Toy::builder("toy", &stage).store(store).start()
        };
        for (group, node) in [("stage", "other"), ("other", "toy")] {
            let refused = start(group, node);
            assert!(matches!(refused, Err(StartError::ForeignStore { .. })));
        }
        assert!(start("stage", "toy").is_ok());
    });
}
