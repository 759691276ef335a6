//! Hand-overs wait for the actor, up to their limit. An actor that stops has done its work.

use actix::{clock, prelude::*};
use actix_bully::{agent::LeaderGuard, leader::Singleton};

use super::worker::{Do, WhenTold, work};
use crate::{
    stage::{Log, MS, play_toy, settle},
    toy::Act,
};

#[test]
fn a_hand_over_waits_until_the_actor_has_stopped() {
    play_toy(async |stage, toy, log| {
        let singleton = work(&toy, &log, WhenTold::StopAfter(MS(50)));
        stage.prompt(&toy, &[Act::Acquire(1)]).await;
        log.take();
        stage.inputs.take();
        toy.step_down(None).unwrap();
        clock::sleep(MS(40)).await;
        assert_eq!(log.take(), ["told in 1, leads true"], "once");
        let addr = singleton.addr().unwrap();
        addr.send(Do::Note("still works")).await.unwrap();
        assert_eq!(stage.inputs.take(), ["toy.1 step down"]);
        assert!(toy.is_leader(), "the work is not done");
        clock::sleep(MS(20)).await;
        let end = ["still works", "stopping", "stopped", "dropped in 1"];
        assert_eq!(log.take(), end);
        assert_eq!(stage.inputs.take(), ["toy.1 drained"]);
        assert!(!toy.is_leader());
    });
}

/// An actor without a handler of `SteppingDown`.
struct Plain {
    log: Log,
    goes_on: bool,
    _leader: LeaderGuard,
}

impl Actor for Plain {
    type Context = Context<Self>;

    fn stopping(&mut self, ctx: &mut Context<Self>) -> Running {
        self.log.add("stopping");
        if !self.goes_on {
            return Running::Stop;
        }
        self.goes_on = false;
        ctx.run_later(MS(20), |_, ctx| ctx.stop());
        Running::Continue
    }

    fn stopped(&mut self, _: &mut Context<Self>) {
        self.log.add("stopped");
    }
}

#[test]
fn an_actor_without_a_handler_is_stopped_as_actix_stops_actors() {
    for goes_on in [false, true] {
        play_toy(async |stage, toy, log| {
            let seen = log.clone();
            let singleton = Singleton::builder(&toy, move |leader| Plain {
                log: seen.clone(),
                goes_on,
                _leader: leader,
            });
            let _singleton = singleton.start_without_handler().unwrap();
            stage.prompt(&toy, &[Act::Acquire(1)]).await;
            toy.step_down(None).unwrap();
            settle().await;
            assert_eq!(toy.is_leader(), goes_on);
            let first = log.take();
            clock::sleep(MS(30)).await;
            let seen = [first, log.take()];
            let expected: [&[&str]; 2] = if goes_on {
                [&["stopping"], &["stopping", "stopped"]]
            } else {
                [&["stopping", "stopped"], &[]]
            };
            assert_eq!(seen, expected);
            assert!(!toy.is_leader());
        });
    }
}

#[test]
fn of_two_singletons_on_one_handle_a_hand_over_waits_for_both() {
    play_toy(async |stage, toy, _| {
        let (one, other) = (Log::default(), Log::default());
        let _one = work(&toy, &one, WhenTold::StopAfter(MS(20)));
        let _other = work(&toy, &other, WhenTold::StopAfter(MS(40)));
        stage.prompt(&toy, &[Act::Acquire(1)]).await;
        assert_eq!(one.take(), ["started in 1@toy.1"]);
        assert_eq!(other.take(), ["started in 1@toy.1"]);
        toy.step_down(None).unwrap();
        clock::sleep(MS(30)).await;
        assert_eq!(one.take().len(), 4);
        assert_eq!(other.take(), ["told in 1, leads true"]);
        assert!(toy.is_leader());
        clock::sleep(MS(20)).await;
        assert_eq!(other.take(), ["stopping", "stopped", "dropped in 1"]);
        assert!(!toy.is_leader());
    });
}
