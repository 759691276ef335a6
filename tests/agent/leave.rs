//! Leaving by force: an agent that was abandoned takes no further step. `supervision/agents.rs` has the regular
//! hand-over.

use std::sync::Arc;

use actix::clock;
use actix_bully::{
    store::MemoryStore,
    testkit::{FaultyStore, Inject},
};

use crate::{
    stage::{MS, Stage, id, play, play_toy, settle},
    toy::{Act, Toy},
};

/// The messages in the mailbox need no record. A step with a record would be refused by the store anyway.
#[test]
fn an_agent_that_hung_and_was_given_up_takes_no_step_when_it_wakes() {
    play_toy(async |stage, toy, _| {
        stage.prompt(&toy, &[Act::Acquire(1)]).await;
        toy.addr().do_send(Inject::hang(clock::sleep(MS(200))));
        settle().await;
        stage.tell(&toy, &[Act::Say("late"), Act::Renew(2)]);
        toy.campaign().unwrap();
        assert!(toy.leave(MS(50)).await.is_err());
        assert!(!toy.is_leader(), "revoked though it hangs");
        assert!(stage.group.members().get(&id("toy")).is_none());
        stage.inputs.take();
        stage.tap.log.take();
        clock::sleep(MS(500)).await;
        assert_eq!(
            stage.tap.log.take(),
            [""; 0],
            "sent by an agent that was given up"
        );
        assert_eq!(stage.inputs.take(), [""; 0]);
        assert!(!toy.is_leader() && !toy.addr().connected());
    });
}

#[test]
fn an_agent_that_was_given_up_while_it_saved_sends_nothing_afterwards() {
    play(async {
        let stage = Stage::new();
        let memory = MemoryStore::new();
        let store = Arc::new(FaultyStore::new(memory.clone()));
        let toy = Toy::builder("toy", &stage).store(Arc::clone(&store));
        let toy = toy.start().unwrap();
        settle().await;
        store.hold();
        stage.tell(&toy, &[Act::Save(1), Act::Say("late"), Act::Acquire(1)]);
        settle().await;
        assert!(toy.leave(MS(50)).await.is_err());
        stage.tap.log.take();
        store.release();
        clock::sleep(MS(500)).await;
        assert_eq!(memory.record(), None);
        assert_eq!(stage.tap.log.take(), [""; 0]);
        assert!(!toy.is_leader() && !toy.addr().connected());
    });
}
