//! The rows of the present agents, in virtual time.

use super::*;
use crate::register;

const WALL: u64 = 1_764_230_400_000;

fn id(name: &str) -> AgentId {
    AgentId::new(name).unwrap()
}

fn roster() -> PresentRoster {
    PresentRoster::new(&LeaseName {
        cluster: id("shop"),
        group: id("cron"),
    })
}

fn row(name: &str, incarnation: u64, wall: u64, version: u64) -> (RegisterKey, Entry) {
    let row = PresentRecord {
        name: roster().name,
        id: id(name),
        incarnation: Incarnation(incarnation),
        score: Some(Score::from(3)),
        wall,
        about: None,
    };
    let key: RegisterKey = format!("shop/cron/present/{name}").parse().unwrap();
    let value = row.encode().into_bytes();
    let entry = Entry::new(&key, register::Version::from(version), value).unwrap();
    (key, entry)
}

fn here(incarnation: u64) -> AgentHere {
    AgentHere {
        id: id("a"),
        incarnation: Incarnation(incarnation),
        score: None,
        wall: WALL,
        about: About::new("http://a").ok(),
    }
}

const fn at(seconds: u64) -> Time {
    Time::from_millis(seconds * 1_000)
}

fn names(roster: &PresentRoster, now: Time) -> Vec<String> {
    let present = roster.present(now).unwrap().into_iter();
    present.map(|present| present.id.to_string()).collect()
}

#[test]
fn a_row_that_is_unchanged_for_ninety_seconds_is_absent() {
    let mut roster = roster();
    assert_eq!(roster.present(at(1_000)), None, "nothing was read");
    roster.list(at(1_000), WALL, &[row("b", 1, WALL, 1)]);
    roster.list(at(1_030), WALL + 30_000, &[row("b", 1, WALL, 1)]);
    roster.list(at(1_090), WALL + 90_000, &[row("b", 1, WALL, 1)]);
    assert_eq!(names(&roster, at(1_090)), ["b"]);
    roster.list(at(1_091), WALL + 91_000, &[row("b", 1, WALL, 1)]);
    assert!(names(&roster, at(1_091)).is_empty());
    // A new row is enough, although the clock of its agent stands still or is hours behind.
    roster.list(at(1_092), WALL + 92_000, &[row("b", 1, WALL - 1, 2)]);
    assert_eq!(names(&roster, at(1_182)), ["b"]);
}

/// The store cannot be listed any more.
#[test]
fn without_a_read_nobody_is_found_to_be_gone_and_after_ninety_seconds_nothing_is_known() {
    let mut roster = roster();
    roster.list(at(1_000), WALL, &[row("b", 1, WALL - 80_000, 1)]);
    assert_eq!(names(&roster, at(1_090)), ["b"]);
    assert_eq!(roster.present(at(1_091)), None);
}

#[test]
fn of_a_row_that_is_found_the_stamp_says_how_old_it_is() {
    let mut roster = roster();
    let rows = [row("b", 1, WALL - 89_000, 1), row("c", 1, WALL - 91_000, 2)];
    roster.list(at(1_000), WALL, &rows);
    assert_eq!(names(&roster, at(1_000)), ["b"]);
}

#[test]
fn a_row_that_was_seen_to_be_written_shows_the_clock_of_its_agent() {
    let mut roster = roster();
    let clocks = |roster: &PresentRoster, now| {
        let clocks = roster.clocks(at(now), &id("a")).into_iter();
        let shown = clocks.map(|clock| (clock.wall, clock.within.as_secs(), clock.is_alive));
        shown.collect::<Vec<_>>()
    };
    // The agent has a clock that is a day behind, or it has been gone for a day.
    let day = WALL - millis(REMOVED);
    roster.list(
        at(1_000),
        WALL,
        &[row("a", 1, WALL, 1), row("b", 1, day, 2)],
    );
    assert_eq!(clocks(&roster, 1_010), [(day + 10_000, 30, false)]);
    roster.list(at(1_012), WALL, &[row("b", 1, day + 9_000, 3)]);
    assert_eq!(clocks(&roster, 1_020), [(day + 17_000, 12, true)]);
    roster.list(
        at(1_020),
        WALL,
        &[row("b", 1, day + 9_000, 3), row("c", 1, WALL, 4)],
    );
    assert_eq!(
        clocks(&roster, 1_020),
        [(day + 17_000, 12, true), (WALL, 8, true)]
    );
    assert_eq!(clocks(&roster, 1_103).len(), 1, "one writes no more");
}

#[test]
fn a_row_of_a_day_ago_is_removed_and_what_is_no_row_stays() {
    let mut roster = roster();
    let day = millis(REMOVED);
    let mut foreign = row("x", 1, WALL - day - 1, 3);
    foreign.0 = "shop/cron/present/y".parse().unwrap();
    let rows = [
        row("b", 1, WALL - day, 1),
        row("c", 1, WALL - day - 1, 2),
        foreign,
    ];
    roster.list(at(100_000), WALL, &rows);
    let changes = roster.changes(at(100_000), WALL, &[], &rows);
    let (key, expected) = rows[1].clone();
    assert_eq!(changes, [RowChange::Remove { key, expected }]);
}

#[test]
fn two_incarnations_that_alternate_are_two_of_one_name_and_a_restart_is_not() {
    let mut roster = roster();
    let rows = [row("a", 1, WALL, 1)];
    let changes = roster.changes(at(1_000), WALL, &[here(2)], &rows);
    let RowChange::Write { expected, .. } = &changes[0] else {
        panic!("{changes:?}");
    };
    assert_eq!(expected.as_ref(), Some(&rows[0].1));
    roster.note_written(id("a"), Incarnation(2));
    assert_eq!(roster.other_of(&id("a")), None, "its predecessor's");
    roster.changes(at(1_030), WALL, &[here(2)], &[row("a", 2, WALL, 2)]);
    assert_eq!(roster.other_of(&id("a")), None);
    roster.changes(at(1_060), WALL, &[here(2)], &[row("a", 1, WALL, 3)]);
    assert_eq!(roster.other_of(&id("a")), Some(Incarnation(1)));
    roster.changes(at(1_151), WALL, &[here(2)], &[row("a", 2, WALL, 4)]);
    assert_eq!(roster.other_of(&id("a")), None, "ninety seconds ago");
}

#[test]
fn a_row_that_an_agent_wrote_shows_it() {
    let mut roster = roster();
    let changes = roster.changes(at(1), WALL, &[here(1)], &[]);
    let [RowChange::Write { id: of, value, .. }] = &*changes else {
        panic!("{changes:?}");
    };
    let (key, mut entry) = row(of.as_str(), 1, WALL, 1);
    entry.value.clone_from(value);
    roster.list(at(2), WALL, &[(key, entry)]);
    let listed = StoreContender {
        id: id("a"),
        score: None,
        about: About::new("http://a").ok(),
        unchanged: Duration::from_secs(1),
    };
    assert_eq!(roster.present(at(3)), Some(vec![listed]));
}

/// Of equal scores the name decides. A lower name with a better score would be first.
#[test]
fn a_leader_hands_over_to_the_best_of_another_process_that_is_there() {
    let mut roster = roster();
    let rows = [
        row("b", 1, WALL, 1),
        row("c", 1, WALL, 2),
        row("d", 1, WALL - 91_000, 3), // an agent that is gone
        row("e", 1, WALL, 4),          // an agent of this process
    ];
    roster.note_written(id("e"), Incarnation(1));
    let best = |roster: &PresentRoster, now, member| {
        let rank = roster.best_elsewhere(at(now), |one| *one == id(member));
        rank.map(|rank| rank.id)
    };
    assert_eq!(best(&roster, 1_000, "e"), None, "nothing was read");
    roster.list(at(1_000), WALL, &rows);
    assert_eq!(best(&roster, 1_000, "e"), Some(id("c")));
    assert_eq!(
        best(&roster, 1_000, "c"),
        Some(id("b")),
        "a member is known better"
    );
    assert_eq!(best(&roster, 1_091, "e"), None, "all are gone");
}

#[test]
fn an_agent_that_leaves_removes_its_own_row_and_no_other() {
    let rows = [row("a", 2, WALL, 1), row("b", 1, WALL, 2)];
    let removed = |written: Option<(&str, u64)>, name| {
        let mut roster = roster();
        if let Some((name, incarnation)) = written {
            roster.note_written(id(name), Incarnation(incarnation));
        }
        roster.own(&id(name), &rows)
    };
    let (key, expected) = rows[0].clone();
    assert_eq!(
        removed(Some(("a", 2)), "a"),
        Some(RowChange::Remove { key, expected })
    );
    assert_eq!(
        removed(Some(("a", 1)), "a"),
        None,
        "another process has its name"
    );
    assert_eq!(removed(Some(("a", 2)), "b"), None, "of another process");
    assert_eq!(removed(None, "a"), None);
}
