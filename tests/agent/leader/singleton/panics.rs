//! An actor that panics: the panic is caught, the actor begins again as often as the policy allows, and then another
//! agent works.

use std::{panic::resume_unwind, time::Duration};

use actix::{clock, prelude::*};
use actix_bully::{
    agent::{Lifecycle, OnPanic},
    leader::{Singleton, SingletonState},
};

use super::worker::{Do, restarts, work_or};
use crate::{
    stage::{MS, play_toy},
    toy::Act,
};

#[test]
fn an_actor_that_panics_is_made_anew_in_the_same_leadership() {
    play_toy(async |stage, toy, log| {
        let singleton = work_or(&toy, &log, OnPanic::RestartOrStepDown(restarts(3)));
        stage.prompt(&toy, &[Act::Acquire(1)]).await;
        log.take();
        let first = singleton.addr().unwrap();
        first.do_send(Do::Panic);
        first.do_send(Do::Note("behind it"));
        clock::sleep(MS(90)).await;
        assert_eq!(log.take(), ["dropped in 1"], "neither stopping nor stopped");
        assert!(singleton.addr().is_none(), "it is backing off");
        clock::sleep(MS(20)).await;
        assert_eq!(log.take(), ["started in 1@toy.1"]);
        assert!(singleton.addr().unwrap() != first);
        let status = singleton.status();
        assert_eq!((status.starts, status.panics), (2, 1));
        assert_eq!(toy.current().work_panics, 1);
        assert!(toy.is_leader());
    });
}

/// All leaderships of the agent share one budget of restarts.
#[test]
fn when_the_budget_is_spent_the_agent_steps_down_and_works_again_at_its_next_leadership() {
    play_toy(async |stage, toy, log| {
        let singleton = work_or(&toy, &log, OnPanic::RestartOrStepDown(restarts(1)));
        for next in [&[Act::Acquire(1)][..], &[Act::Lose, Act::Acquire(2)]] {
            stage.prompt(&toy, next).await;
            assert!(toy.is_leader());
            stage.inputs.take();
            singleton.addr().unwrap().do_send(Do::Panic);
            clock::sleep(MS(110)).await;
        }
        clock::sleep(MS(1_000)).await;
        assert_eq!(stage.inputs.take(), ["toy.1 step down", "toy.1 drained"]);
        assert_eq!(toy.current().lifecycle, Lifecycle::Running);
        assert_eq!(singleton.status().state, SingletonState::Waiting);
        // After the policy's window no earlier panic counts.
        clock::sleep(Duration::from_secs(11)).await;
        stage.prompt(&toy, &[Act::Acquire(3)]).await;
        singleton.addr().unwrap().do_send(Do::Panic);
        clock::sleep(MS(110)).await;
        assert!(toy.is_leader() && singleton.addr().is_some());
        assert_eq!(singleton.status().panics, 3);
    });
}

/// An actor that panics in `started`, and when it is dropped.
struct Brittle;

impl Actor for Brittle {
    type Context = Context<Self>;
    fn started(&mut self, _: &mut Context<Self>) {
        resume_unwind(Box::new("a bug in started"));
    }
}

impl Drop for Brittle {
    fn drop(&mut self) {
        resume_unwind(Box::new("a bug in drop"));
    }
}

#[test]
fn panics_in_the_factory_in_started_and_in_drop_are_contained() {
    play_toy(async |stage, toy, _| {
        let mut is_first = true;
        let builder = Singleton::builder(&toy, move |_| {
            if std::mem::take(&mut is_first) {
                resume_unwind(Box::new("a bug in the factory"));
            }
            Brittle
        });
        let builder = builder.on_panic(OnPanic::RestartOrStepDown(restarts(2)));
        let singleton = builder.start_without_handler().unwrap();
        stage.prompt(&toy, &[Act::Acquire(1)]).await;
        clock::sleep(Duration::from_secs(2)).await;
        let status = singleton.status();
        assert_eq!((status.starts, status.panics), (2, 3));
        assert_eq!(singleton.status().state, SingletonState::Waiting);
        assert!(!toy.is_leader());
    });
}
