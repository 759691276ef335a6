//! The available mode, in which a leader waits for the agents that it can reach.

use std::collections::BTreeSet;

use super::{
    super::{
        due::Every,
        interface::{Now, Rule, ScheduleEffect, ScheduleInput},
        machine::ScheduleMachine,
        message::{Answer, LeaderNumber},
        planner::Misfire,
        poll::Audience,
    },
    world::{INTERVAL, id},
};
use crate::{
    agent::schedules::ScheduleStatus,
    clock::WallTime,
    protocol::{Incarnation, Round, Term, Time},
};

/// A leader, agent 0, together with agent 1.
struct Scene<'a> {
    machine: ScheduleMachine<'a>,
    millis: u64,
    last: Option<Round>,
    /// Whether agent 1 got a question.
    asked: bool,
    begun: Vec<u64>,
}

fn both() -> Audience {
    Audience::Reachable(BTreeSet::from([id(0), id(1)]))
}

const BALLOT: LeaderNumber = LeaderNumber {
    term: Term(1),
    incarnation: Incarnation(1),
};

impl<'a> Scene<'a> {
    /// Starts a schedule with this rule.
    fn of(rule: &'a Rule) -> Self {
        let (rounds, counts) = (Round::default(), ScheduleStatus::default());
        let mut scene = Self {
            machine: ScheduleMachine::new(rule, id(0), BALLOT, both(), rounds, counts),
            millis: 100,
            last: None,
            asked: false,
            begun: Vec::new(),
        };
        scene.put(ScheduleInput::Start);
        scene
    }

    fn now(&self) -> Now {
        Now {
            wall: WallTime::from_millis(self.millis),
            time: Time::from_millis(self.millis),
        }
    }

    /// Milliseconds until the machine must be called again.
    fn wake(&self) -> u128 {
        self.machine.wake(self.now()).unwrap().as_millis()
    }

    fn put(&mut self, input: ScheduleInput) {
        let mut effects = Vec::new();
        self.machine.handle(self.now(), input, &mut effects);
        for effect in effects {
            match effect {
                ScheduleEffect::Ask(to, question) => {
                    self.asked |= to.contains(&id(1));
                    self.last = Some(question.round);
                }
                ScheduleEffect::Run(_) => {
                    self.begun.push(self.millis);
                    self.put(ScheduleInput::Ended(Ok(())));
                }
                ScheduleEffect::Finish => {}
            }
        }
    }

    /// Runs until this time. Agent 0 answers at once, and agent 1 too if `does_answer` is set.
    fn run_until(&mut self, millis: u64, does_answer: bool) {
        while self.millis < millis {
            self.millis += 10;
            let (audience, ballot) = (both(), BALLOT);
            self.put(ScheduleInput::Look { audience, ballot });
            for from in 0..=usize::from(does_answer) {
                if let Some(round) = self.last {
                    let outcome = Ok(None.into());
                    self.put(ScheduleInput::Answer(id(from), Answer { round, outcome }));
                }
            }
        }
    }
}

#[test]
fn an_agent_without_schedules_delays_the_first_question_and_no_tick() {
    let rule = Rule {
        name: id(9),
        times: Box::new(Every::new(INTERVAL).unwrap()),
        misfire: Misfire::Skip,
    };
    let mut scene = Scene::of(&rule);
    scene.run_until(500, false);
    assert!(!scene.machine.is_established(), "it may only be slow");
    scene.run_until(3_500, false);
    assert!(scene.machine.is_established());
    assert_eq!(scene.begun, [1_000, 2_000, 3_000]);
    assert!(std::mem::take(&mut scene.asked));
    scene.run_until(4_000, false);
    assert!(scene.asked, "agent 1 is still asked");
    assert_eq!(scene.begun.pop(), Some(4_000));
    // Agent 1 answers, so the leader waits for it again.
    scene.run_until(5_500, true);
    assert_eq!(scene.begun[3..], [5_000]);
    scene.run_until(6_490, false);
    assert_eq!(scene.begun.len(), 4);
    scene.run_until(7_500, false);
    assert_eq!(scene.begun[4..], [6_500, 7_000], "one wait of 0.5 s");
}

/// The clock may be corrected during the wait, and an answer may be lost.
#[test]
fn a_wait_for_a_tick_looks_at_the_clock_each_minute_and_at_a_question_earlier() {
    const DUE: WallTime = WallTime::from_millis(72 * 3_600_000);
    let rule = Rule {
        name: id(9),
        times: Box::new(|after| (after < DUE).then_some(DUE)),
        misfire: Misfire::AtLeastOnce,
    };
    let mut scene = Scene::of(&rule);
    scene.run_until(3_000, true);
    assert_eq!(scene.wake(), 60_000);
    // After a day the leader asks for the mark, and agent 1 is silent.
    scene.millis += 24 * 3_600_000;
    scene.run_until(scene.millis + 10, false);
    assert!(scene.wake() <= 500);
}

#[test]
fn the_mark_of_a_schedule_that_runs_seldom_is_asked_for_once_a_day() {
    const DAY: u64 = 24 * 3_600_000;
    let rule = Rule {
        name: id(9),
        times: Box::new(|_| None),
        misfire: Misfire::AtLeastOnce,
    };
    let mut scene = Scene::of(&rule);
    scene.run_until(3_000, true);
    assert!(scene.machine.is_established() && scene.machine.is_idle());
    for _ in 0..3 {
        scene.asked = false;
        let wake = scene.wake();
        assert!(
            (u128::from(DAY - 5_000)..=u128::from(DAY)).contains(&wake),
            "{wake}"
        );
        scene.millis += DAY - 10_000;
        scene.run_until(scene.millis + 10, true);
        assert!(!scene.asked);
        scene.millis += 10_000;
        scene.run_until(scene.millis + 30, true);
        assert!(scene.asked);
    }
}
