//! What subscribers hear: `Acquired` and `Lost` alternate, whenever they came and whatever happens.

use actix::{Actor, clock};
use actix_bully::agent::{Inject, Notice};

use crate::{
    stage::{Log, MS, Scribe, Stage, play, settle},
    toy::{Act, Toy},
};

#[test]
fn a_life_that_ends_while_it_leads_is_told_as_lost_once() {
    play(async {
        let stage = Stage::new();
        let log = Log::default();
        let scribe = Scribe(log.clone()).start();
        let toy = Toy::builder("toy", &stage).subscribe(scribe.clone().recipient());
        let toy = toy.start().unwrap();
        stage.tell(&toy, &[Act::Acquire(1)]);
        stage.prompt(&toy, &[Act::Renew(2)]).await;
        toy.addr().do_send(Inject::Crash);
        clock::sleep(MS(500)).await;
        let events = [
            "toy: acquired the leadership in term 1",
            "toy: renewed the leadership in term 2",
            "toy: lost the leadership of term 2: ended",
        ];
        assert_eq!(log.take(), events);
        toy.addr().do_send(Inject::Crash);
        clock::sleep(MS(500)).await;
        assert_eq!(log.take(), [""; 0], "this life did not lead");
        toy.leave(MS(10)).await.unwrap();
        assert_eq!(log.take(), [""; 0]);
    });
}

#[test]
fn a_late_subscriber_hears_the_present_state_first() {
    play(async {
        let stage = Stage::new();
        let toy = Toy::builder("toy", &stage).start().unwrap();
        let [early, late] = [Log::default(), Log::default()];
        let scribes = [&early, &late].map(|log| Scribe(log.clone()).start());
        stage.prompt(&toy, &[Act::Follow("prompter", 1)]).await;
        toy.subscribe(scribes[0].clone().recipient());
        settle().await;
        assert_eq!(early.take(), ["toy: follows prompter in term 1"]);
        stage.prompt(&toy, &[Act::Acquire(2)]).await;
        toy.subscribe(scribes[1].clone().recipient());
        stage.prompt(&toy, &[Act::Lose]).await;
        let events = [
            "toy: acquired the leadership in term 2",
            "toy: lost the leadership of term 2: resigned",
        ];
        assert_eq!(early.take(), events);
        assert_eq!(late.take(), events);
    });
}

#[test]
fn a_subscriber_is_not_kept_alive() {
    play(async {
        let stage = Stage::new();
        let toy = Toy::builder("toy", &stage).start().unwrap();
        let scribe = Scribe(Log::default()).start();
        let weak = scribe.downgrade();
        toy.subscribe(scribe.recipient::<Notice>());
        settle().await;
        assert!(weak.upgrade().is_none());
        stage
            .prompt(&toy, &[Act::Acquire(1), Act::Say("fine")])
            .await;
        assert_eq!(stage.heard.take(), ["fine"]);
    });
}

#[test]
fn a_hand_over_waits_for_each_subscriber_that_works() {
    play(async {
        let stage = Stage::new();
        let toy = Toy::builder("toy", &stage).start().unwrap();
        let log = Log::default();
        let scribes = [(); 2].map(|()| Scribe(log.clone()).start());
        for scribe in &scribes {
            toy.subscribe_draining(scribe.clone().recipient());
        }
        stage.prompt(&toy, &[Act::Acquire(1), Act::Drain]).await;
        assert!(toy.current().draining);
        stage.inputs.take();
        toy.drained();
        clock::sleep(MS(1_000)).await;
        assert_eq!(stage.inputs.take(), [""; 0], "one has not answered");
        log.take();
        toy.subscribe(scribes[0].clone().recipient());
        settle().await;
        let events = [
            "toy: acquired the leadership in term 1",
            "toy: drains in term 1",
        ];
        assert_eq!(log.take(), events, "a late one is told as well");
        toy.drained();
        settle().await;
        assert_eq!(stage.inputs.take(), ["toy.1 drained"]);
        assert!(!toy.current().draining);
    });
}

#[test]
fn a_hand_over_waits_for_nobody_where_nobody_works() {
    play(async {
        let stage = Stage::new();
        let toy = Toy::builder("toy", &stage).start().unwrap();
        let scribe = Scribe(Log::default()).start();
        toy.subscribe(scribe.clone().recipient());
        stage.prompt(&toy, &[Act::Acquire(1)]).await;
        stage.inputs.take();
        toy.step_down(None);
        settle().await;
        assert_eq!(stage.inputs.take(), ["toy.1 step down", "toy.1 drained"]);
        assert!(!toy.is_leader());
    });
}
