//! Schedules that do not start. A refused start changes nothing.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use actix::clock;
use actix_bully::{
    agent::{ElectionHandle, ScheduleFinding},
    clock::WallTime,
    leader::schedule::{Misfire, ScheduleError, ScheduleRecord, ScheduleState, Tick},
    store::{FileStore, MemoryStore, StoreIdentity, TermStore},
    testkit::{FaultyStore, VirtualWallClock},
};

use super::kit::{DAWN, SECOND, begin, every_second, found, noting};
use crate::{
    stage::{Log, MS, id, play_toy, settle},
    term_store::TestStore,
    toy::{Act, Toy},
};

async fn nothing(_: Tick) {}

type Is = fn(&ScheduleError) -> bool;

#[test]
fn an_impossible_schedule_is_refused_and_changes_nothing() {
    play_toy(async |stage, toy, _| {
        begin(&toy);
        stage.prompt(&toy, &[Act::Acquire(1)]).await;
        for interval in [Duration::ZERO, MS(99), Duration::from_micros(100_100)] {
            let refused = toy.every("x", interval).start(nothing).unwrap_err();
            let is_interval =
                matches!(refused, ScheduleError::Interval { interval: i } if i == interval);
            assert!(is_interval, "{refused}");
        }
        let past = BTreeSet::from([DAWN]);
        let never = |_: WallTime| None;
        let is_never = |refused: &_| matches!(refused, ScheduleError::NeverFires { .. });
        let is_name = |refused: &_| matches!(refused, ScheduleError::Name(_));
        let rows: [(Is, _); 3] = [
            (is_name, toy.every("x y", SECOND).start(nothing)),
            (is_never, toy.schedule("x", past).start(nothing)),
            (is_never, toy.schedule("x", never).start(nothing)),
        ];
        for (is_meant, started) in rows {
            let refused = started.unwrap_err();
            assert!(is_meant(&refused), "{refused}");
        }

        // The refused starts have not taken the name.
        toy.every("x", SECOND).start(nothing).unwrap();
        let refused = toy.every("x", SECOND).start(nothing).unwrap_err();
        assert!(matches!(refused, ScheduleError::Taken { .. }), "{refused}");
        let refused = toy.schedules().start().unwrap_err();
        assert!(matches!(refused, ScheduleError::Begun { .. }), "{refused}");
        assert!(toy.is_leader());

        toy.leave(SECOND).await.unwrap();
        let refused = toy.every("y", SECOND).start(nothing).unwrap_err();
        assert!(matches!(refused, ScheduleError::Ended { .. }), "{refused}");
    });
}

#[test]
fn more_schedules_than_the_agents_keep_are_refused_and_leave_the_name_free() {
    play_toy(async |_stage, toy, _| {
        begin(&toy);
        let schedules: Vec<_> = (0..256)
            .map(|number| toy.every(&format!("s{number}"), SECOND).start(nothing))
            .collect();
        let refused = toy.every("more", SECOND).start(nothing).unwrap_err();
        let is_limit = matches!(refused, ScheduleError::TooMany { limit: 256, .. });
        assert!(is_limit, "{refused}");
        let first = schedules.into_iter().next().unwrap().unwrap();
        first.stop();
        settle().await;
        toy.every("more", SECOND).start(nothing).unwrap();
    });
}

/// Returns a record with these marks and nothing else.
pub(super) fn record(marks: &serde_json::Value) -> ScheduleRecord {
    let none = serde_json::json!({});
    let record = serde_json::json!({
        "promised": null, "marks": marks, "written": none, "asked": none, "lists": none,
    });
    serde_json::from_value(record).unwrap()
}

/// Returns a record whose mark is 20 s ahead of the clock.
fn ahead_record() -> ScheduleRecord {
    let mark = DAWN.after(20 * SECOND);
    let marks = serde_json::json!({"second": {"begun": mark, "done": mark}});
    record(&marks)
}

fn is_ahead(toy: &ElectionHandle<Toy>) -> bool {
    let is_ahead = |found: &_| matches!(found, ScheduleFinding::MarkAhead { .. });
    found(toy).iter().any(is_ahead)
}

/// The agent keeps its own marks here, and no operator can remove a mark. It stays until its time has come.
#[test]
fn a_mark_ahead_of_the_clock_is_told_until_its_time_has_come() {
    play_toy(async |stage, toy, _| {
        let store = MemoryStore::<ScheduleRecord>::new();
        let generation = store.begin().unwrap();
        store.save(generation, ahead_record()).await.unwrap();
        let schedules = toy.schedules().clock(VirtualWallClock::new(DAWN));
        schedules.store(store).start().unwrap();
        let log = Log::default();
        every_second(&toy, Misfire::Skip, noting(&log, Duration::ZERO));
        stage.prompt(&toy, &[Act::Acquire(1)]).await;
        clock::sleep(MS(2_000)).await;
        assert!(is_ahead(&toy), "{}", toy.diagnosis());
        clock::sleep(MS(20_500)).await;
        assert_eq!(log.take(), ["21000", "22000"]);
        assert!(!is_ahead(&toy), "{}", toy.diagnosis());
    });
}

#[test]
fn marks_count_that_were_saved_until_the_store_was_taken_over() {
    play_toy(async |stage, toy, _| {
        let schedules = toy.schedules().clock(VirtualWallClock::new(DAWN));
        let store = TestStore::taken_over(ahead_record());
        schedules.store(store).start().unwrap();
        every_second(&toy, Misfire::Skip, noting(&Log::default(), Duration::ZERO));
        stage.prompt(&toy, &[Act::Acquire(1)]).await;
        clock::sleep(MS(2_000)).await;
        assert!(is_ahead(&toy), "{}", toy.diagnosis());
    });
}

#[test]
fn a_store_of_another_agent_or_group_is_refused() {
    play_toy(async |_, toy, _| {
        let folder = tempfile::tempdir().unwrap();
        let begin = |group, node| {
            let owner = StoreIdentity {
                cluster: id("any"),
                group: id(group),
                node: id(node),
            };
            let path = folder.path().join(format!("{group}-{node}"));
            let store = FileStore::<ScheduleRecord>::create(path, owner).unwrap();
            toy.schedules().store(store).start()
        };
        for (group, node) in [("stage", "other"), ("other", "toy")] {
            let refused = begin(group, node);
            assert!(matches!(refused, Err(ScheduleError::ForeignStore { .. })));
        }
        begin("stage", "toy").unwrap();
    });
}

#[test]
fn nothing_runs_that_is_not_stored() {
    play_toy(async |stage, toy, log| {
        let store = Arc::new(FaultyStore::new(MemoryStore::<ScheduleRecord>::new()));
        let clock = VirtualWallClock::new(DAWN);
        let schedules = toy.schedules().clock(clock).store(Arc::clone(&store));
        schedules.start().unwrap();
        let schedule = every_second(&toy, Misfire::Skip, noting(&log, Duration::ZERO));
        stage.prompt(&toy, &[Act::Acquire(1)]).await;
        clock::sleep(MS(1_100)).await;
        assert_eq!(log.take(), ["1000"]);
        store.refuse(std::io::ErrorKind::StorageFull);
        clock::sleep(MS(2_000)).await;
        assert_eq!(log.take(), [""; 0]);
        assert!(toy.is_leader());
        store.make_room();
        clock::sleep(MS(2_000)).await;
        assert_eq!(
            log.take(),
            ["3000", "4000", "5000"],
            "the third within a second"
        );
        // A store that hangs stops the ticks, too.
        store.hold();
        clock::sleep(MS(3_000)).await;
        assert_eq!(log.take(), [""; 0]);
        // A new leader that still asks for the marks shows the last tick that it knows.
        stage.prompt(&toy, &[Act::Lose, Act::Acquire(2)]).await;
        settle().await;
        let status = schedule.status();
        assert_eq!(status.state, ScheduleState::Asking);
        assert!(status.last.is_some(), "{status:?}");
        store.release();
        settle().await;
        clock::sleep(MS(1_000)).await;
        assert_eq!(log.take().last().map(String::as_str), Some("9000"));
        assert!(schedule.status().skipped >= 2, "{:?}", schedule.status());
        assert!(store.load().unwrap().is_some());
    });
}
