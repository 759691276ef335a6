//! The begin of the actor. No part of the actor runs after its leadership.

use std::time::Duration;

use actix::clock;
use actix_bully::{
    agent::ProgressError,
    leader::{Singleton, SingletonError, SingletonState},
    testkit::Inject,
};

use super::worker::{Do, WhenTold, work, worker};
use crate::{
    leases::suspendable,
    stage::{Log, MS, Stage, play, play_toy, settle},
    toy::{Act, Toy},
};

#[test]
fn a_new_actor_runs_at_each_leadership_and_only_then() {
    play_toy(async |stage, toy, log| {
        let singleton = work(&toy, &log, WhenTold::Stop);
        settle().await;
        assert_eq!(log.take(), [""; 0]);
        assert!(singleton.addr().is_none());
        assert_eq!(singleton.status().state, SingletonState::Waiting);

        stage.prompt(&toy, &[Act::Acquire(1)]).await;
        clock::sleep(Duration::from_secs(60)).await;
        assert_eq!(log.take(), ["started in 1@toy.1"], "once");
        assert_eq!(singleton.status().state, SingletonState::Running);
        let first = singleton.addr().unwrap();
        first.send(Do::Note("works")).await.unwrap();
        stage.prompt(&toy, &[Act::Renew(2)]).await;
        assert_eq!(log.take(), ["works"], "a renewal is no new leadership");

        stage.prompt(&toy, &[Act::Lose]).await;
        assert_eq!(log.take(), ["dropped in 1"], "neither stopping nor stopped");
        assert!(singleton.addr().is_none() && !first.connected());

        stage
            .prompt(&toy, &[Act::Acquire(5), Act::Lose, Act::Acquire(6)])
            .await;
        assert_eq!(log.take(), ["started in 6@toy.1"]);
        assert!(singleton.addr().unwrap() != first);
        toy.addr().do_send(Inject::Crash);
        clock::sleep(MS(500)).await;
        assert_eq!(log.take(), ["dropped in 6"]);
        stage.prompt(&toy, &[Act::Acquire(7)]).await;
        assert_eq!(log.take(), ["started in 7@toy.2"]);
        assert_eq!(singleton.status().starts, 3);
    });
}

#[test]
fn no_message_is_handled_after_the_lease_not_even_after_a_suspend() {
    play(async {
        let ((stage, boot, toy), log) = (suspendable(), Log::default());
        let singleton = work(&toy, &log, WhenTold::Stop);
        let acts = [Act::Acquire(1), Act::Limit(Duration::from_secs(10))];
        stage.prompt(&toy, &acts).await;
        log.take();
        let addr = singleton.addr().unwrap();
        addr.do_send(Do::Note("in time"));
        settle().await;
        boot.suspend(Duration::from_secs(11));
        // No timer has run since the suspend. Only the message wakes the actor's task.
        assert!(singleton.addr().is_none(), "it is not shown any more");
        assert_eq!(singleton.status().state, SingletonState::Waiting);
        assert!(addr.send(Do::Note("too late")).await.is_err());
        assert_eq!(log.take(), ["in time", "dropped in 1"]);
    });
}

#[test]
fn a_leadership_that_is_lost_while_the_factory_works_starts_nothing() {
    play(async {
        let ((stage, boot, toy), log) = (suspendable(), Log::default());
        let make = worker(&log, WhenTold::Stop);
        let factory = move |leader| {
            // The factory blocks its thread for longer than the lease.
            boot.suspend(Duration::from_secs(11));
            make(leader)
        };
        let singleton = Singleton::builder(&toy, factory).start().unwrap();
        let acts = [Act::Acquire(1), Act::Limit(Duration::from_secs(10))];
        stage.prompt(&toy, &acts).await;
        assert_eq!(log.take(), ["dropped in 1"], "it was never started");
        assert!(singleton.addr().is_none());
    });
}

#[test]
fn dropping_the_handle_ends_nothing_and_stop_drops_the_actor_and_starts_no_other() {
    play_toy(async |stage, toy, log| {
        let singleton = work(&toy, &log, WhenTold::Stop);
        drop(singleton.clone());
        stage.prompt(&toy, &[Act::Acquire(1)]).await;
        assert_eq!(log.take(), ["started in 1@toy.1"]);
        let addr = singleton.addr().unwrap();
        let stopped = singleton.stop();
        addr.do_send(Do::Note("too late"));
        stopped.await;
        assert_eq!(log.take(), ["dropped in 1"]);
        assert_eq!(singleton.status().state, SingletonState::Ended);
        assert!(toy.is_leader(), "the agent goes on");
        stage.prompt(&toy, &[Act::Lose, Act::Acquire(2)]).await;
        assert_eq!(log.take(), [""; 0]);
    });
}

#[test]
fn a_start_that_is_refused_says_why() {
    let mut toy = None;
    play(async {
        let stage = Stage::new();
        let agent = Toy::builder("toy", &stage).start().unwrap();
        let builder = Singleton::builder(&agent, worker(&Log::default(), WhenTold::Stop));
        let refused = builder.progress_within(Duration::ZERO).start().err();
        let why = SingletonError::Progress(ProgressError::ZeroSpan);
        assert_eq!(refused, Some(why));
        toy = Some(agent);
    });
    let builder = Singleton::builder(
        toy.as_ref().unwrap(),
        worker(&Log::default(), WhenTold::Stop),
    );
    let refused = std::thread::scope(|threads| {
        let start = threads.spawn(|| builder.start().err());
        start.join().unwrap()
    });
    assert_eq!(refused, Some(SingletonError::NoSystem));
}
