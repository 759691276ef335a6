//! The times at which ticks run, and the fate of ticks that cannot run.

use std::{
    panic::resume_unwind,
    pin::Pin,
    task::{self, Poll},
    time::Duration,
};

use actix::{Actor, Context, Handler, ResponseFuture, clock};
use actix_bully::{
    leader::schedule::{Misfire, ScheduleState, Tick},
    testkit::Inject,
};

use super::kit::{DAWN, NotedWork, SECOND, begin, every_second, line, millis, noting, panicking};
use crate::{
    stage::{Log, MS, play_toy, settle},
    toy::Act,
};

#[test]
fn a_tick_runs_at_each_multiple_while_the_agent_leads_and_only_then() {
    play_toy(async |stage, toy, log| {
        begin(&toy);
        let schedule = every_second(&toy, Misfire::Skip, noting(&log, Duration::ZERO));
        clock::sleep(MS(2_300)).await;
        assert_eq!(log.take(), [""; 0]);
        assert_eq!(schedule.status().state, ScheduleState::Following);

        stage.prompt(&toy, &[Act::Acquire(1)]).await;
        assert_eq!(schedule.status().state, ScheduleState::Waiting);
        assert_eq!(schedule.status().next, Some(DAWN.after(3 * SECOND)));
        clock::sleep(MS(3_000)).await;
        assert_eq!(log.take(), ["3000", "4000", "5000"]);
        stage.prompt(&toy, &[Act::Renew(2)]).await;
        clock::sleep(MS(1_000)).await;
        assert_eq!(log.take(), ["6000"], "a renewal changes nothing");

        stage.prompt(&toy, &[Act::Lose]).await;
        clock::sleep(MS(3_000)).await;
        assert_eq!(log.take(), [""; 0]);
        assert_eq!(schedule.status().next, None);
        // The ticks 7, 8 and 9 were missed meanwhile. The last one runs, because it is only 0.3 s late.
        stage.prompt(&toy, &[Act::Acquire(5)]).await;
        clock::sleep(MS(1_000)).await;
        assert_eq!(log.take(), ["9000", "10000"]);
        let status = schedule.status();
        assert_eq!((status.begun, status.skipped, status.late), (6, 2, 0));
        assert_eq!(status.last, Some(DAWN.after(10 * SECOND)));

        toy.addr().do_send(Inject::Crash);
        clock::sleep(MS(2_500)).await;
        assert_eq!(log.take(), [""; 0], "a new incarnation does not lead");
        stage.prompt(&toy, &[Act::Acquire(7)]).await;
        clock::sleep(MS(1_000)).await;
        assert_eq!(log.take(), ["12000", "13000"]);
        toy.leave(SECOND).await.unwrap();
        settle().await;
        assert_eq!(schedule.status().state, ScheduleState::Ended);
    });
}

#[test]
fn work_that_takes_longer_than_the_interval_does_not_overlap() {
    play_toy(async |stage, toy, log| {
        begin(&toy);
        let schedule = every_second(&toy, Misfire::Skip, noting(&log, MS(2_400)));
        stage.prompt(&toy, &[Act::Acquire(1)]).await;
        clock::sleep(MS(6_500)).await;
        let ticks = ["1000", "1000 done", "3000", "3000 done", "5000"];
        assert_eq!(log.take(), ticks);
        let status = schedule.status();
        assert_eq!((status.begun, status.skipped), (3, 2));
        assert_eq!(status.state, ScheduleState::Running);
        assert!(toy.is_leader());
    });
}

#[test]
fn what_must_not_be_lost_is_tried_until_it_has_ended_well() {
    play_toy(async |stage, toy, log| {
        begin(&toy);
        let schedule = every_second(&toy, Misfire::AtLeastOnce, panicking(&log, 2));
        stage.prompt(&toy, &[Act::Acquire(1)]).await;
        clock::sleep(MS(1_500)).await;
        assert_eq!(log.take(), ["1000"]);
        clock::sleep(MS(1_000)).await; // after a second, and after two more
        assert_eq!(log.take(), ["1000 again"]);
        clock::sleep(MS(2_500)).await;
        let caught_up = ["1000 late again", "2000 late", "3000", "4000", "5000"];
        assert_eq!(log.take(), caught_up);
        let status = schedule.status();
        assert_eq!((status.failed, status.repeated, status.late), (2, 2, 2));
        assert!(toy.is_leader());
        assert_eq!(
            toy.current().work_panics,
            0,
            "a panic is no more than a count"
        );
    });
}

/// Work that panics when it is dropped. Its `poll` panics before, or returns.
struct Bomb {
    in_poll: bool,
}

impl Future for Bomb {
    type Output = ();
    fn poll(self: Pin<&mut Self>, _: &mut task::Context<'_>) -> Poll<()> {
        if self.in_poll {
            resume_unwind(Box::new("a bug in the work"));
        }
        Poll::Ready(())
    }
}

impl Drop for Bomb {
    fn drop(&mut self) {
        resume_unwind(Box::new("a bug in drop"));
    }
}

#[test]
fn work_that_panics_when_it_is_dropped_has_failed_and_the_agent_leads_on() {
    play_toy(async |stage, toy, _| {
        begin(&toy);
        let bomb = |tick: Tick| -> NotedWork {
            let in_poll = millis(tick.due) == 2_000;
            Box::pin(Bomb { in_poll })
        };
        let schedule = every_second(&toy, Misfire::Skip, bomb);
        stage.prompt(&toy, &[Act::Acquire(1)]).await;
        for failed in 1..=3 {
            clock::sleep(MS(1_000)).await;
            assert_eq!(schedule.status().failed, failed);
        }
        assert!(toy.is_leader());
        assert_eq!(toy.current().work_panics, 0);
    });
}

#[test]
fn a_hand_over_waits_for_the_tick_that_runs() {
    play_toy(async |stage, toy, log| {
        begin(&toy);
        every_second(&toy, Misfire::AtLeastOnce, noting(&log, MS(500)));
        stage.prompt(&toy, &[Act::Acquire(1)]).await;
        clock::sleep(MS(1_300)).await;
        stage.inputs.take();
        toy.step_down(None).unwrap();
        clock::sleep(MS(100)).await;
        assert_eq!(stage.inputs.take(), ["toy.1 step down"]);
        assert!(toy.is_leader(), "the work is not done");
        clock::sleep(MS(200)).await;
        assert_eq!(log.take(), ["1000", "1000 done"]);
        assert_eq!(stage.inputs.take(), ["toy.1 drained"]);
        // Between two ticks the hand-over waits for nothing. A tick that is done is not repeated.
        stage.prompt(&toy, &[Act::Acquire(2)]).await;
        clock::sleep(MS(10)).await;
        stage.inputs.take();
        toy.step_down(None).unwrap();
        settle().await;
        settle().await;
        assert_eq!(stage.inputs.take(), ["toy.1 step down", "toy.1 drained"]);
        assert_eq!(log.take(), [""; 0]);
    });
}

#[test]
fn a_schedule_that_is_stopped_frees_its_name_and_leaves_the_leader_alone() {
    play_toy(async |stage, toy, log| {
        begin(&toy);
        let schedule = every_second(&toy, Misfire::Skip, noting(&log, MS(500)));
        stage.prompt(&toy, &[Act::Acquire(1)]).await;
        clock::sleep(MS(1_300)).await;
        schedule.stop().await;
        assert_eq!(schedule.status().state, ScheduleState::Ended);
        let again = every_second(&toy, Misfire::Skip, noting(&log, Duration::ZERO));
        clock::sleep(MS(1_000)).await;
        // The work of the first schedule was dropped, and its tick does not run again.
        assert_eq!(log.take(), ["1000", "2000"]);
        assert!(toy.is_leader());
        assert_eq!(again.status().begun, 1);
    });
}

/// An actor that works on a tick for 1.4 s, and then answers.
struct Worker(Log);

impl Actor for Worker {
    type Context = Context<Self>;
}

impl Handler<Tick> for Worker {
    type Result = ResponseFuture<()>;
    fn handle(&mut self, tick: Tick, _: &mut Context<Self>) -> Self::Result {
        let log = self.0.clone();
        assert!(tick.leader.is_leader());
        log.add(format_args!("{} {}", line(&tick), tick.key()));
        Box::pin(clock::sleep(MS(1_400)))
    }
}

#[test]
fn an_actor_gets_each_tick_and_runs_until_it_has_answered() {
    play_toy(async |stage, toy, log| {
        begin(&toy);
        let worker = Worker(log.clone()).start();
        let every = toy.every("job", 2 * SECOND);
        let schedule = every.start_for(worker.recipient()).unwrap();
        stage.prompt(&toy, &[Act::Acquire(1)]).await;
        clock::sleep(MS(3_000)).await;
        assert_eq!(log.take(), ["2000 job@1767323042000"]);
        assert_eq!(schedule.status().state, ScheduleState::Running);
        clock::sleep(MS(500)).await;
        assert_eq!(schedule.status().state, ScheduleState::Waiting);
        // The schedule holds the last address of the worker, so the worker is still alive and no tick has failed.
        assert_eq!(schedule.status().failed, 0);
    });
}
