//! The begin and the end of a lead future, and the effect of its end on the agent.

use std::{cell::RefCell, future::pending, rc::Rc};

use actix::clock;
use actix_bully::{
    Group,
    agent::{BullyAgent, ElectionHandle, LeaderGuard},
    protocol::{Incarnation, Presence, Term},
    supervisor::Supervision,
    testkit::Inject,
};
use actix_rt::task::JoinHandle;

use crate::{
    stage::{Log, MS, Stage, id, parent, play, play_toy, settle},
    toy::{Act, Toy},
};

/// A value that notes its drop.
struct Work(Log, Term);

impl Drop for Work {
    fn drop(&mut self) {
        self.0.add(format_args!("dropped in term {}", self.1));
    }
}

/// Leads with this work, in a task of its own.
fn work<F: Future<Output = ()> + 'static>(
    toy: &ElectionHandle<Toy>,
    log: &Log,
    work: impl Fn(LeaderGuard, Log) -> F + 'static,
) -> JoinHandle<()> {
    let (toy, log) = (toy.clone(), log.clone());
    actix_rt::spawn(async move {
        toy.lead(|guard| work(guard, log.clone())).await.unwrap();
        log.add("over");
    })
}

fn work_for_ever(toy: &ElectionHandle<Toy>, log: &Log) -> JoinHandle<()> {
    work(toy, log, |guard, log| async move {
        log.add(format_args!("works in {}", guard.token()));
        let _work = Work(log, guard.token().term);
        pending::<()>().await;
    })
}

#[test]
fn work_runs_at_each_leadership_and_only_then() {
    play_toy(async |stage, toy, log| {
        let task = work_for_ever(&toy, &log);
        settle().await;
        assert_eq!(log.take(), [""; 0]);
        stage.prompt(&toy, &[Act::Acquire(1)]).await;
        assert_eq!(log.take(), ["works in 1@toy.1"]);
        stage.prompt(&toy, &[Act::Renew(2)]).await;
        assert_eq!(log.take(), [""; 0], "a renewal is no new leadership");
        stage.prompt(&toy, &[Act::Lose]).await;
        assert_eq!(log.take(), ["dropped in term 1"]);
        stage.prompt(&toy, &[Act::Acquire(5)]).await;
        assert_eq!(log.take(), ["works in 5@toy.1"]);
        stage.prompt(&toy, &[Act::Lose, Act::Acquire(6)]).await;
        assert_eq!(log.take(), ["dropped in term 5", "works in 6@toy.1"]);
        toy.addr().do_send(Inject::Crash);
        clock::sleep(MS(500)).await;
        assert_eq!(log.take(), ["dropped in term 6"]);
        stage.prompt(&toy, &[Act::Acquire(7)]).await;
        assert_eq!(log.take(), ["works in 7@toy.2"]);
        stage.prompt(&toy, &[Act::Lose]).await;
        toy.leave(MS(100)).await.unwrap();
        task.await.unwrap();
        assert_eq!(log.take(), ["dropped in term 7", "over"]);
    });
}

#[test]
fn a_token_is_the_newest_of_its_leadership() {
    play_toy(async |stage, toy, log| {
        let task = work(&toy, &log, |guard, log| async move {
            clock::sleep(MS(10)).await;
            log.add(guard.token());
            pending::<()>().await;
        });
        stage.prompt(&toy, &[Act::Acquire(3)]).await;
        stage.prompt(&toy, &[Act::Renew(4)]).await;
        clock::sleep(MS(20)).await;
        assert_eq!(log.take(), ["4@toy.1"]);
        task.abort();
    });
}

#[test]
fn a_crash_is_revoked_before_anybody_hears_of_it() {
    play(async {
        let stage = Stage::new();
        let handle = Rc::new(RefCell::new(None::<ElectionHandle<Toy>>));
        let log = Log::default();
        let (known, group, seen) = (Rc::clone(&handle), stage.group.clone(), log.clone());
        let toy = Toy::builder("toy", &stage).parent(parent(move |event| {
            let handle = known.borrow();
            let leads = handle.as_ref().is_some_and(ElectionHandle::is_leader);
            let presence = group.members().get(&id("toy")).map(|m| m.presence);
            let what = match event {
                Supervision::Down { .. } => "down",
                Supervision::Up { .. } => "up",
                Supervision::GaveUp { .. } | Supervision::Finished { .. } | _ => "end",
            };
            seen.add(format_args!("{what}: leads {leads}, {presence:?}"));
        }));
        let toy = toy.start().unwrap();
        handle.replace(Some(toy.clone()));
        stage.prompt(&toy, &[Act::Acquire(1)]).await;
        toy.addr().do_send(Inject::Crash);
        clock::sleep(MS(500)).await;
        let seen = ["down: leads false, Some(Down)", "up: leads false, Some(Up)"];
        assert_eq!(log.take(), seen);
    });
}

#[test]
fn an_end_is_confirmed_only_when_every_lead_future_is_dropped() {
    play_toy(async |stage, toy, log| {
        let prompt = work_for_ever(&toy, &log);
        // This future is not polled when it has to end.
        let leader = toy.clone();
        let mut slow = Box::pin(async move { leader.lead(|_guard| pending()).await });
        stage.tell(&toy, &[Act::Acquire(1)]);
        assert!(clock::timeout(MS(5), &mut slow).await.is_err());

        let member = || stage.group.members().get(&id("toy")).unwrap().clone();
        toy.addr().do_send(Inject::Crash);
        settle().await;
        assert!(!toy.is_leader());
        assert_eq!(member().presence, Presence::Suspect);
        clock::sleep(MS(500)).await;
        assert!(member().is_up(), "the next incarnation began");
        assert!(!member().has_ended(Incarnation(1)), "still not confirmed");
        drop(slow);
        assert!(member().has_ended(Incarnation(1)));
        prompt.abort();
    });
}

#[test]
fn work_that_ends_while_the_agent_steps_down_lets_the_successor_in() {
    play_toy(async |stage, toy, log| {
        let task = work(&toy, &log, |guard, log| async move {
            guard.stepping_down().await;
            log.add(format_args!("steps down, leads {}", guard.is_leader()));
            clock::sleep(MS(50)).await;
            log.add("done");
        });
        stage.prompt(&toy, &[Act::Acquire(1)]).await;
        stage.inputs.take();
        toy.step_down(None).unwrap();
        clock::sleep(MS(40)).await;
        assert_eq!(log.take(), ["steps down, leads true"]);
        assert_eq!(stage.inputs.take(), ["toy.1 step down"]);
        assert!(toy.is_leader(), "the work is not done");
        clock::sleep(MS(20)).await;
        assert_eq!(log.take(), ["done"]);
        assert_eq!(stage.inputs.take(), ["toy.1 drained"]);
        assert!(!toy.is_leader());
        task.abort();
    });
}

#[test]
fn work_that_ends_by_itself_steps_down_and_is_not_begun_again() {
    play(async {
        let stage = Stage::new();
        let builder = Toy::scripted("toy", &stage, |script| script.yields = false);
        let toy = builder.start().unwrap();
        let log = Log::default();
        let task = work(&toy, &log, |_, log| {
            log.add("one piece of work");
            clock::sleep(MS(10))
        });
        stage.prompt(&toy, &[Act::Acquire(1)]).await;
        stage.inputs.take();
        clock::sleep(MS(1_000)).await;
        assert_eq!(log.take(), ["one piece of work"]);
        assert_eq!(
            stage.inputs.take(),
            [""; 0],
            "it ended at once: the agent waits"
        );
        clock::sleep(MS(20)).await;
        assert_eq!(stage.inputs.take(), ["toy.1 step down", "toy.1 drained"]);
        assert!(toy.is_leader(), "this machine does not yield");
        task.abort();
    });
}

/// This is the rule `held-back-after-failure`. Without the rule the best agent would lead again after each cool-down.
#[test]
fn work_that_fails_on_the_best_host_runs_on_another_for_longer_than_a_cool_down() {
    for stalls in [false, true] {
        fails_on_the_best_host(stalls);
    }
}

fn fails_on_the_best_host(stalls: bool) {
    play(async move {
        let group = Group::new("two").unwrap();
        let agent = |name: &str, score: u32| {
            let agent = BullyAgent::builder(name).score(score).cooldown(MS(500));
            agent.drain(MS(0)).join(&group).start().unwrap()
        };
        let (a, b) = (agent("a", 1), agent("b", 2));
        let (works, fails) = (a.clone(), b.clone());
        actix_rt::spawn(async move {
            let work = |leader: LeaderGuard| async move { leader.stepping_down().await };
            works.lead(work).await
        });
        actix_rt::spawn(async move {
            let work = |leader: LeaderGuard| async move {
                if stalls {
                    let _held = leader.progress_within(MS(1)).unwrap();
                    pending::<()>().await;
                }
            };
            fails.lead(work).await
        });
        clock::sleep(MS(500)).await;
        assert_eq!(b.is_leader(), !stalls, "{}", b.diagnosis());
        clock::sleep(MS(10_000)).await;
        assert!(a.is_leader(), "{}", a.diagnosis());
        clock::sleep(MS(49_000)).await;
        assert!(a.is_leader(), "b is held back for a minute");
        assert!(
            b.diagnosis()
                .to_string()
                .contains("failed 59.5 s ago, and once"),
            "{}",
            b.diagnosis()
        );
    });
}

/// The agent waits for a second before it steps down. Meanwhile it leads in a new term.
#[test]
fn work_that_failed_in_a_former_leadership_ends_no_later_one() {
    play_toy(async |stage, toy, log| {
        let _task = work(&toy, &log, |guard, log| async move {
            let term = guard.token().term;
            log.add(format_args!("works in {term}"));
            if term > Term(1) {
                pending::<()>().await;
            }
        });
        stage.prompt(&toy, &[Act::Acquire(1)]).await;
        stage.inputs.take();
        stage.prompt(&toy, &[Act::Lose, Act::Acquire(2)]).await;
        clock::sleep(MS(10_000)).await;
        assert_eq!(log.take(), ["works in 1", "works in 2"]);
        assert_eq!(stage.inputs.take(), [""; 0], "it is not asked to step down");
    });
}
