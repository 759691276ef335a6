//! Work that panics: it is kept in, told, and answered as the policy says.

use std::{cell::Cell, future::pending, panic::resume_unwind, rc::Rc, time::Duration};

use actix::clock;
use actix_bully::{
    agent::{ElectionHandle, LeadError, LeaderGuard, Lifecycle, OnPanic},
    supervisor::RestartPolicy,
};
use futures::StreamExt;

use crate::{
    stage::{Log, MS, Stage, id, play, play_toy, settle},
    toy::{Act, Toy},
};

/// Panics without the noise of a panic.
fn bug() {
    resume_unwind(Box::new("a bug in the work"));
}

/// Leads by work that panics 5 ms after it began, and by the answer given; says how it ended.
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
fn an_agent_whose_work_panics_steps_down_and_works_again_when_it_leads_again() {
    play_toy(async |stage, toy, log| {
        let leader = toy.clone();
        let seen = log.clone();
        let task = actix_rt::spawn(async move {
            let work = |_guard| {
                seen.add("works");
                async { bug() }
            };
            leader.lead(work).await
        });
        let mut changes = toy.changes();
        assert_eq!(changes.next().await.unwrap().work_panics, 0);
        stage.prompt(&toy, &[Act::Acquire(1)]).await;
        assert_eq!(log.take(), ["works"]);
        assert!(toy.is_leader(), "it waits");
        clock::sleep(MS(1_100)).await;
        assert!(!toy.is_leader(), "and does not lead on without working");
        let told = changes.next().await.unwrap();
        assert_eq!((told.work_panics, told.lifecycle), (1, Lifecycle::Running));
        stage.prompt(&toy, &[Act::Acquire(2)]).await;
        assert_eq!(log.take(), ["works"]);
        assert_eq!(toy.current().work_panics, 2);
        toy.leave(MS(10)).await.unwrap();
        assert_eq!(task.await.unwrap(), Ok(()));
    });
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
        clock::sleep(MS(1_100)).await;
        assert!(!toy.is_leader());
        assert_eq!(toy.current().work_panics, 1);
        stage.prompt(&toy, &[Act::Acquire(2)]).await;
        stage.prompt(&toy, &[Act::Lose]).await;
        stage.prompt(&toy, &[Act::Acquire(3)]).await;
        assert_eq!((made.get(), toy.is_leader()), (3, true), "it works on");
        task.abort();
    });
}

#[test]
fn work_that_is_restarted_has_a_budget_and_then_the_agent_leaves() {
    play_toy(async |stage, toy, log| {
        let policy = RestartPolicy::builder()
            .max_restarts(2)
            .backoff_base(MS(100))
            .build();
        let task = lead(&toy, OnPanic::Restart(policy.unwrap()), &log);
        stage.prompt(&toy, &[Act::Acquire(1)]).await;
        clock::sleep(MS(50)).await;
        assert_eq!(log.take(), ["works"]);
        assert!(toy.is_leader(), "it keeps the leadership");
        clock::sleep(MS(60)).await;
        assert_eq!(log.take(), ["works"]);
        clock::sleep(MS(200)).await;
        assert_eq!(log.take(), ["works"]);
        clock::sleep(MS(1_000)).await;
        assert_eq!(log.take(), [""; 0]);
        assert_eq!(task.await.unwrap(), Err(LeadError::GaveUp));
        assert_eq!(toy.current().lifecycle, Lifecycle::Ended);
        assert_eq!(toy.current().work_panics, 3);
        assert!(stage.group.members().get(&id("toy")).is_none(), "it left");
    });
}

#[test]
fn a_panic_may_make_the_agent_leave_the_election() {
    play_toy(async |stage, toy, _| {
        let task = lead(&toy, OnPanic::GiveUp, &Log::default());
        stage.prompt(&toy, &[Act::Acquire(1)]).await;
        stage.inputs.take();
        let ended = clock::timeout(Duration::from_secs(1), task).await;
        assert_eq!(ended.unwrap().unwrap(), Err(LeadError::GaveUp));
        assert_eq!(stage.inputs.take(), ["toy.1 step down", "toy.1 drained"]);
        settle().await;
        assert!(stage.group.members().get(&id("toy")).is_none());
    });
}
