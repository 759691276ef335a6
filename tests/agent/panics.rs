//! Work that panics: the panic is caught and reported, and the policy decides the next step.

use std::{cell::Cell, future::pending, panic::resume_unwind, rc::Rc};

use actix::clock;
use actix_bully::{
    agent::{ElectionHandle, LeadError, LeaderGuard, Lifecycle, OnPanic},
    supervisor::RestartPolicy,
};
use futures::StreamExt;

use crate::{
    stage::{Log, MS, Stage, id, play, play_toy},
    toy::{Act, Toy},
};

/// Panics without a message on the terminal.
fn bug() {
    resume_unwind(Box::new("a bug in the work"));
}

/// Leads by work that panics 5 ms after its begin, with this answer to panics. Returns the result of the lead future.
fn lead(
    toy: &ElectionHandle<Toy>,
    answer: OnPanic,
    log: &Log,
) -> actix_rt::task::JoinHandle<Result<(), LeadError>> {
    let (toy, log) = (toy.clone(), log.clone());
    actix_rt::spawn(async move {
        let work = |_guard: LeaderGuard| {
            log.add("works");
            async {
                clock::sleep(MS(5)).await;
                bug();
            }
        };
        toy.lead_with(answer, work).await
    })
}

#[test]
fn work_that_panics_where_it_is_made_or_dropped_is_work_that_panics() {
    play(async {
        struct Bomb;
        impl Drop for Bomb {
            fn drop(&mut self) {
                bug();
            }
        }
        let stage = Stage::new();
        let toy = Toy::builder("toy", &stage).start().unwrap();
        let leader = toy.clone();
        let made = Rc::new(Cell::new(0));
        let count = Rc::clone(&made);
        let task = actix_rt::spawn(async move {
            let work = |_guard| {
                count.set(count.get() + 1);
                if count.get() == 1 {
                    bug();
                }
                async {
                    let _bomb = Bomb;
                    pending::<()>().await;
                }
            };
            leader.lead(work).await
        });
        stage.prompt(&toy, &[Act::Acquire(1)]).await;
        let mut changes = toy.changes();
        changes.next().await.unwrap();
        clock::sleep(MS(1_100)).await;
        assert!(!toy.is_leader());
        assert_eq!(changes.next().await.unwrap().work_panics, 1);
        stage.prompt(&toy, &[Act::Acquire(2)]).await;
        stage.prompt(&toy, &[Act::Lose]).await;
        stage.prompt(&toy, &[Act::Acquire(3)]).await;
        assert_eq!((made.get(), toy.is_leader()), (3, true), "it works on");
        let panics = toy.changes().next().await.unwrap().work_panics;
        assert_eq!(panics, 1, "the leadership had ended before the second one");
        task.abort();
    });
}

#[test]
fn each_answer_to_a_panic_has_its_budget_and_its_end() {
    let twice = || {
        let policy = RestartPolicy::builder().max_restarts(2);
        policy.backoff_base(MS(100)).build().unwrap()
    };
    let (stays, leaves) = (Ok(()), Err(LeadError::GaveUp));
    for (answer, runs, end) in [
        (OnPanic::StepDown, 1, stays),
        (OnPanic::RestartOrStepDown(twice()), 3, stays),
        (OnPanic::Restart(twice()), 3, leaves),
        (OnPanic::GiveUp, 1, leaves),
    ] {
        play_toy(async |stage, toy, log| {
            let name = format!("{answer:?}");
            let task = lead(&toy, answer, &log);
            stage.prompt(&toy, &[Act::Acquire(1)]).await;
            stage.inputs.take();
            clock::sleep(MS(50)).await;
            assert_eq!(log.take(), ["works"], "{name}");
            let leads_on = end.is_ok() || runs > 1;
            assert_eq!(toy.is_leader(), leads_on, "{name}");
            for _ in 1..runs {
                clock::sleep(MS(130)).await;
                assert_eq!(log.take(), ["works"], "{name}");
            }
            clock::sleep(MS(2_000)).await;
            let inputs = stage.inputs.take();
            assert_eq!(inputs, ["toy.1 step down", "toy.1 drained"], "{name}");
            assert_eq!(log.take(), [""; 0], "{name}");
            assert_eq!(toy.current().work_panics, runs, "{name}");
            let told = toy.diagnosis().to_string();
            assert!(told.contains("it panicked: a bug in the work"), "{told}");
            let is_member = stage.group.members().get(&id("toy")).is_some();
            assert_eq!(is_member, end.is_ok(), "{name}");
            if end.is_ok() {
                assert_eq!(toy.current().lifecycle, Lifecycle::Running, "{name}");
                toy.leave(MS(10)).await.unwrap();
            }
            assert_eq!(toy.current().lifecycle, Lifecycle::Ended, "{name}");
            assert_eq!(task.await.unwrap(), end, "{name}");
        });
    }
}

#[test]
fn the_work_of_the_next_leadership_does_not_wait_for_the_backoff_of_the_one_before() {
    play_toy(async |stage, toy, log| {
        let policy = RestartPolicy::builder().backoff_base(MS(5_000)).build();
        let _task = lead(&toy, OnPanic::Restart(policy.unwrap()), &log);
        stage.prompt(&toy, &[Act::Acquire(1)]).await;
        clock::sleep(MS(50)).await;
        assert_eq!(log.take(), ["works"]);
        stage.prompt(&toy, &[Act::Lose]).await;
        stage.prompt(&toy, &[Act::Acquire(2)]).await;
        assert_eq!(log.take(), ["works"]);
    });
}
