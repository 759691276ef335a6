//! Due times from a stream: in any order, twice, too late, none, too many, and the end of the stream.

use std::{panic::resume_unwind, time::Duration};

use actix::clock;
use actix_bully::{
    agent::ElectionHandle,
    clock::WallTime,
    leader::schedule::{Misfire, ScheduleHandle, ScheduleState},
};
use bully_core::protocol::Election;
use futures::{
    Stream, StreamExt,
    channel::mpsc::{UnboundedSender, unbounded},
    stream,
};

use super::kit::{DAWN, SECOND, begin, noting};
use crate::{
    stage::{Log, MS, play_toy, settle},
    toy::Act,
};

fn at(millis: u64) -> WallTime {
    DAWN.after(MS(millis))
}

/// Starts a schedule with the due times of this stream. Its ticks are noted.
fn told<E: Election>(
    agent: &ElectionHandle<E>,
    misfire: Misfire,
    times: impl Stream<Item = WallTime> + Send + 'static,
    log: &Log,
) -> ScheduleHandle {
    let schedule = agent.schedule_stream("told", times).misfire(misfire);
    schedule.start(noting(log, Duration::ZERO)).unwrap()
}

fn tell(to: &UnboundedSender<WallTime>, millis: &[u64]) {
    for due in millis {
        to.unbounded_send(at(*due)).unwrap();
    }
}

#[test]
fn a_stream_is_run_in_the_order_of_its_due_times_and_the_schedule_is_done_with_it() {
    play_toy(async |stage, toy, log| {
        begin(&toy);
        let (to, times) = unbounded();
        let schedule = told(&toy, Misfire::Skip, times, &log);
        stage.prompt(&toy, &[Act::Acquire(1)]).await;
        let status = schedule.status();
        assert_eq!((status.state, status.next), (ScheduleState::Waiting, None));
        tell(&to, &[3_000, 1_000, 2_000, 1_000]);
        clock::sleep(MS(1_500)).await;
        assert_eq!(log.take(), ["1000"]);
        assert_eq!(schedule.status().next, Some(at(2_000)));
        // Four cases: a time before the next due time, the same time again, a time before the last tick, and a time
        // 0.4 s ago.
        tell(&to, &[1_700, 1_700, 900, 1_100]);
        clock::sleep(MS(1_600)).await;
        assert_eq!(log.take(), ["1100", "1700", "2000", "3000"]);
        let status = schedule.status();
        assert_eq!((status.begun, status.misordered), (5, 3));
        assert_eq!(status.state, ScheduleState::Waiting);

        // A skipped due time may come again in the next leadership, because the next leader asks the group anew.
        clock::sleep(MS(1_400)).await;
        tell(&to, &[3_200]);
        settle().await;
        stage.prompt(&toy, &[Act::Lose]).await;
        tell(&to, &[3_100]);
        stage.prompt(&toy, &[Act::Acquire(2)]).await;
        assert_eq!(schedule.status().misordered, 3);

        tell(&to, &[5_000]);
        drop(to);
        clock::sleep(MS(400)).await;
        assert_eq!(schedule.status().state, ScheduleState::Waiting);
        clock::sleep(MS(200)).await;
        assert_eq!(log.take(), ["5000"]);
        assert_eq!(schedule.status().state, ScheduleState::Done);
        assert!(toy.is_leader(), "a schedule that is done ends nothing else");
        // The name of the schedule is free. A due time that has passed causes no tick, even if the stream repeats it.
        let again = told(
            &toy,
            Misfire::Skip,
            stream::iter([at(5_000), at(6_000)]),
            &log,
        );
        clock::sleep(MS(1_500)).await;
        assert_eq!(log.take(), ["6000"]);
        assert_eq!(again.status().state, ScheduleState::Done);
    });
}

#[test]
fn a_stream_that_panics_ends_its_schedule_after_what_it_told_and_nothing_else() {
    play_toy(async |stage, toy, log| {
        begin(&toy);
        let times = stream::iter(1..).map(|second| {
            if second > 2 {
                // This panic prints no message.
                resume_unwind(Box::new("a bug in the stream"));
            }
            DAWN.after(SECOND * second)
        });
        let schedule = told(&toy, Misfire::Skip, times, &log);
        stage.prompt(&toy, &[Act::Acquire(1)]).await;
        clock::sleep(MS(3_000)).await;
        assert_eq!(log.take(), ["1000", "2000"]);
        assert_eq!(schedule.status().state, ScheduleState::Ended);
        assert!(toy.is_leader());
        assert_eq!(toy.current().work_panics, 0);
    });
}

#[test]
fn more_than_is_kept_is_read_when_there_is_room_and_none_of_it_is_lost() {
    play_toy(async |stage, toy, log| {
        begin(&toy);
        let (to, times) = unbounded();
        let schedule = told(&toy, Misfire::AtLeastOnce, times, &log);
        stage.prompt(&toy, &[Act::Acquire(1)]).await;
        stage.prompt(&toy, &[Act::Lose]).await;
        tell(
            &to,
            &(1..=3_000).map(|second| second * 1_000).collect::<Vec<_>>(),
        );
        clock::sleep(MS(3_000_500)).await;
        assert_eq!(to.len(), 3_000 - 1_024, "what is not kept is not read");
        stage.prompt(&toy, &[Act::Acquire(2)]).await;
        clock::sleep(MS(10_000)).await;
        assert_eq!(schedule.status().begun, 3_000);
        let due = |line: String| line.split(' ').next().unwrap().parse::<u64>().unwrap();
        let all: Vec<_> = log.take().into_iter().map(due).collect();
        assert!(all.is_sorted_by(|a, b| a < b));
    });
}

#[test]
fn a_stream_without_sense_leaves_the_arbiter_to_others() {
    play_toy(async |stage, toy, log| {
        begin(&toy);
        let schedule = told(&toy, Misfire::Skip, stream::repeat(at(2_000)), &log);
        stage.prompt(&toy, &[Act::Acquire(1)]).await;
        clock::sleep(MS(110_000)).await;
        assert_eq!(log.take(), ["2000"]);
        // The schedule reads at most 1,024 due times in a quarter of a second.
        assert!(schedule.status().misordered < 110_010 * 1_024 / 250 + 2_048);
    });
}
