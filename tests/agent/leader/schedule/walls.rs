//! Leaders of a lease whose wall clocks are wrong: another agent with a right clock runs the ticks.

use actix::clock;
use actix_bully::{
    Group,
    agent::{BullyHandle, ScheduleFinding},
    leader::schedule::{Misfire, ScheduleHandle, ScheduleState},
    operate::{Command, Operated, Order, Outcome},
    testkit::VirtualWallClock,
};

use super::kit::{DAWN, found, line};
use tracing::Level;

use crate::{
    logs::logged,
    stage::{Log, MS, play},
    store::{Store, agent, group},
};

const DAY: i64 = 24 * 3_600_000;

/// An agent in a process of its own.
struct Process {
    agent: BullyHandle,
    wall: VirtualWallClock,
    schedule: ScheduleHandle,
    _group: Group,
}

/// Starts processes one after the other, so that the first one leads. `ahead` has the milliseconds by which each wall
/// clock is ahead.
async fn processes<const N: usize>(
    store: &Store,
    wall: &VirtualWallClock,
    log: &Log,
    ahead: [i64; N],
) -> Vec<Process> {
    let mut all = Vec::new();
    for (name, ahead) in ["a", "b", "c"].into_iter().zip(ahead) {
        let (group, wall, log) = (group(), wall.another(), log.clone());
        wall.set_ahead(ahead);
        let agent = agent(&group, store, name, 1);
        agent.schedules().clock(wall.clone()).start().unwrap();
        let every = agent.every("x", MS(1_000)).misfire(Misfire::Skip);
        let started = every.start(move |tick| {
            log.add(format_args!("{} {}", tick.leader.token().node, line(&tick)));
            async {}
        });
        agent.wait_for_leader(MS(5_000)).await.unwrap();
        all.push(Process {
            agent,
            wall,
            schedule: started.unwrap(),
            _group: group,
        });
    }
    all
}

fn store(clock: Option<&VirtualWallClock>) -> Store {
    Store {
        clock: clock.map(VirtualWallClock::another),
        ..Store::whole()
    }
}

#[test]
fn of_two_clocks_a_day_apart_the_one_that_fits_the_store_runs_the_tick() {
    for ahead in [DAY, -DAY] {
        play(async move {
            let (wall, log) = (VirtualWallClock::new(DAWN), Log::default());
            let store = store(Some(&wall));
            let all = processes(&store, &wall, &log, [ahead, 0]).await;
            clock::sleep(MS(40_000)).await;
            assert!(all[1].agent.is_leader(), "{ahead}: it was handed over");
            let lines = log.take();
            assert!(lines.len() > 5, "{ahead}: {lines:?}");
            assert!(lines.iter().all(|line| line.starts_with("b ")), "{lines:?}");
            assert_eq!(all[0].schedule.status().begun, 0);
        });
    }
}

#[test]
fn a_mark_in_the_future_is_told_and_an_operator_removes_it() {
    logged(Level::WARN, async |lines| {
        let (wall, log) = (VirtualWallClock::new(DAWN), Log::default());
        let store = store(None);
        let all = processes(&store, &wall, &log, [DAY, DAY]).await;
        clock::sleep(MS(3_000)).await;
        assert!(log.take().len() >= 2, "the mark is of tomorrow");
        for process in &all {
            process.wall.set_ahead(0);
        }
        all[0].agent.step_down(None).unwrap();
        clock::sleep(MS(35_000)).await;
        // The leader reads the mark and compares the clocks every ten seconds, and warns only once.
        let said = lines.about("WARN");
        for (words, times) in [("removes the mark", 1), ("clock of this host alone", 2)] {
            let told = said.iter().filter(|line| line.contains(words)).count();
            assert_eq!(told, times, "once by each agent that led: {said:?}");
        }
        let leader = &all[1].agent;
        assert!(leader.is_leader());
        let ahead = &found(leader)[0];
        let is_ahead = matches!(ahead, ScheduleFinding::MarkAhead { .. });
        let says = "`bullyctl schedules reset x` removes the mark";
        assert!(is_ahead && ahead.to_string().contains(says), "{ahead}");
        assert_eq!(log.take(), [""; 0]);
        // An operator can give the command to any node.
        let operated = Operated::new(&all[0].agent);
        let reset = |name: &str| {
            let schedule = name.parse().unwrap();
            operated.carry_out(Order::new(Command::ResetSchedule { schedule }))
        };
        let absent = reset("y").await;
        assert!(matches!(absent, Outcome::Refused(_)), "{absent}");
        let schedule = "x".parse().unwrap();
        assert_eq!(reset("x").await, Outcome::MarkRemoved { schedule });
        clock::sleep(MS(13_000)).await;
        assert!(log.take().len() >= 2, "it runs again");
        assert_eq!(found(leader), []);
    });
}

#[test]
fn a_leader_whose_clock_most_others_contradict_hands_over_and_says_so() {
    play(async {
        let (wall, log) = (VirtualWallClock::new(DAWN), Log::default());
        let all = processes(&store(None), &wall, &log, [0, 0, 0]).await;
        clock::sleep(MS(40_000)).await;
        assert!(all[0].agent.is_leader());
        assert!(log.take().iter().all(|line| line.starts_with("a ")));
        all[0].wall.set_ahead(DAY);
        clock::sleep(MS(5_000)).await;
        assert!(!all[0].agent.is_leader());
        assert_eq!(found(&all[0].agent), [], "it runs no schedule any more");
        let lines = log.take();
        let by_a = lines.iter().filter(|line| line.starts_with("a ")).count();
        assert!(by_a <= 1, "no tick of the next day: {lines:?}");
        assert!(lines.len() >= 3, "{lines:?}");
    });
}

#[test]
fn without_a_contender_that_fits_nothing_runs_until_the_clock_is_set() {
    play(async {
        let (wall, log) = (VirtualWallClock::new(DAWN), Log::default());
        let store = store(Some(&wall));
        let all = processes(&store, &wall, &log, [-DAY]).await;
        clock::sleep(MS(10_000)).await;
        assert!(all[0].agent.is_leader());
        assert_eq!(log.take(), [""; 0]);
        assert_eq!(all[0].schedule.status().state, ScheduleState::Asking);
        let says = found(&all[0].agent)[0].to_string();
        assert!(says.contains("its clock shows 2026-01-01T"), "{says}");
        assert!(says.contains("that of the store 2026-01-02T"), "{says}");
        all[0].wall.set_ahead(0);
        clock::sleep(MS(4_000)).await;
        assert_eq!(found(&all[0].agent), []);
        assert!(log.take().len() >= 2);
    });
}
