//! The reorganization's cells, state by input: one file per input.
//!
//! The kit is here: one machine among a few named peers, brought into each state by real inputs.
//! A step returns all that came out as lines of text, cancelled timers apart: the contract knows
//! exactly which ones may run, and checks every step of every test.

mod ack;
mod are_you_normal;
mod are_you_there;
mod command;
mod contract;
mod halt;
mod members;
mod new_coordinator;
mod random;
mod ready;
mod resign;
mod start;
mod there;
mod timer;

use std::{sync::Arc, time::Duration};

use contract::Contract;

use super::*;
use crate::{
    elections::numbered::fixture::{NOTHING, election, tell},
    protocol::{
        Effect, EffectOf, Effects, Event, Input, Member, Members, Role, Term, Timings, To,
        fixture::{EYE, HIGH, LOW, ME, admits, among, id},
    },
};

/// One machine, its clock, and its group as it was last told.
#[derive(Clone)]
struct Kit {
    machine: Reorganization,
    now: Time,
    members: Members,
    contract: Contract,
}

impl Kit {
    /// Not yet started: among LOW, ME, HIGH and the observer EYE, all up. Its record says 3.
    fn unborn(kind: MemberKind, score: Option<i32>, config: ReorganizationConfig) -> Self {
        let score = score.map(Score::from);
        let (identity, members) = among(kind, score);
        let record = Some(Count { count: Term(3) });
        Self {
            machine: Reorganization::new(identity, &Arc::new(config), record),
            now: Time::from_millis(1_000),
            members,
            contract: Contract::default(),
        }
    }

    fn voter() -> Self {
        Self::unborn(MemberKind::Voter, Some(5), lan())
    }

    /// Has asked HIGH in the election 4.me.
    fn asking() -> Self {
        Self::voter().started()
    }

    /// HIGH is dead; has halted LOW, and called HIGH's next incarnation in vain, in 4.me.
    fn halting() -> Self {
        let mut kit = Self::asking();
        kit.later(200).fire(Timer::Answer);
        assert_eq!(kit.machine.status(), Status::Election);
        kit
    }

    /// LOW is halted.
    fn reorganizing() -> Self {
        let mut kit = Self::halting();
        kit.hear(LOW, ack(Call::Halt));
        assert_eq!(kit.machine.status(), Status::Reorganization);
        kit
    }

    /// LOW knows its coordinator.
    fn readying() -> Self {
        let mut kit = Self::reorganizing();
        kit.hear(LOW, ack(Call::NewCoordinator));
        kit
    }

    /// Coordinates LOW by 4.me.
    fn leading() -> Self {
        let mut kit = Self::readying();
        kit.hear(LOW, ack(Call::Ready));
        assert_eq!(kit.machine.status(), Status::Normal);
        kit
    }

    fn draining() -> Self {
        let mut kit = Self::leading();
        kit.step(Input::StepDown { to: None });
        kit
    }

    /// Has stepped down, and cools down.
    fn cooling_down() -> Self {
        let mut kit = Self::draining();
        kit.step(Input::Drained);
        kit
    }

    /// Stands back for HIGH, which has said that it is there.
    fn deferring() -> Self {
        let mut kit = Self::asking();
        kit.hear(HIGH, there(Some(9)));
        kit
    }

    /// Halted by HIGH, in 7.high.
    fn halted() -> Self {
        let mut kit = Self::deferring();
        kit.hear(HIGH, halt(7, HIGH, 9));
        kit
    }

    /// Knows that HIGH coordinates, and awaits the task.
    fn joining() -> Self {
        let mut kit = Self::halted();
        kit.hear(HIGH, new_coordinator(7, HIGH));
        kit
    }

    /// Works under HIGH, by 7.high, on the task 70.
    fn following() -> Self {
        let mut kit = Self::joining();
        kit.hear(HIGH, ready(7, HIGH, 9));
        assert_eq!(kit.machine.status(), Status::Normal);
        kit
    }

    /// Its own election failed: LOW has refused.
    fn pausing() -> Self {
        let mut kit = Self::halting();
        kit.hear(LOW, nack(Call::Halt, 5, Some(1)));
        kit
    }

    fn witness() -> Self {
        Self::unborn(MemberKind::Voter, None, lan()).started()
    }

    fn observer() -> Self {
        Self::unborn(MemberKind::Observer, Some(5), lan()).started()
    }

    /// Every state, by its name.
    fn states() -> [(&'static str, Self); 14] {
        [
            ("asking", Self::asking()),
            ("halting", Self::halting()),
            ("reorganizing", Self::reorganizing()),
            ("readying", Self::readying()),
            ("leading", Self::leading()),
            ("draining", Self::draining()),
            ("cooling down", Self::cooling_down()),
            ("deferring", Self::deferring()),
            ("halted", Self::halted()),
            ("pausing", Self::pausing()),
            ("joining", Self::joining()),
            ("following", Self::following()),
            ("witness", Self::witness()),
            ("observer", Self::observer()),
        ]
    }

    fn started(mut self) -> Self {
        self.start();
        self
    }

    fn start(&mut self) -> Vec<String> {
        let members = Arc::new(self.members.clone());
        self.step(Input::Start(members))
    }

    /// One input; every step is held against the contract.
    fn step(&mut self, input: InputOf<Reorganization>) -> Vec<String> {
        if !admits(
            &self.machine.core.me.members,
            &self.machine.core.me.id,
            &input,
        ) {
            return Vec::new();
        }
        self.contract.before(&input);
        let mut out = Effects::new();
        self.machine.handle(self.now, input, &mut out);
        let effects: Vec<_> = out.drain().collect();
        self.contract.after(&self.machine, self.now, &effects);
        effects.iter().filter_map(tell).collect()
    }

    /// A message from that peer's first incarnation.
    fn hear(&mut self, from: &str, message: impl Into<ReorganizationMessage>) -> Vec<String> {
        self.hear_incarnation(from, 1, message)
    }

    fn hear_incarnation(
        &mut self,
        from: &str,
        incarnation: u64,
        message: impl Into<ReorganizationMessage>,
    ) -> Vec<String> {
        self.step(Input::Received {
            from: id(from),
            incarnation: Incarnation(incarnation),
            message: message.into(),
        })
    }

    fn fire(&mut self, timer: Timer) -> Vec<String> {
        self.step(Input::TimedOut(timer))
    }

    /// The group changes, and the machine is told.
    fn told<R>(&mut self, change: impl FnOnce(&mut Members) -> R) -> Vec<String> {
        change(&mut self.members);
        let members = Arc::new(self.members.clone());
        self.step(Input::Members(members))
    }

    fn set_score(&mut self, score: impl Into<Option<i32>>) -> Vec<String> {
        self.step(Input::SetScore(score.into().map(Score::from)))
    }

    /// So many milliseconds pass.
    fn later(&mut self, millis: u64) -> &mut Self {
        self.now = self.now.after(Duration::from_millis(millis));
        self
    }

    fn role(&self) -> Role {
        self.machine.view(self.now).role
    }
}

fn lan() -> ReorganizationConfig {
    ReorganizationConfig {
        task: Task(40),
        ..ReorganizationConfig::new(Timings::lan())
    }
}

/// To the first question of ME.
fn there(score: Option<i32>) -> There {
    There {
        election: election(4, ME),
        score: score.map(Score::from),
        coordinates: false,
        seen: Term(3),
    }
}

fn are_you_there(count: u64, name: &str, score: i32) -> AreYouThere {
    AreYouThere {
        election: election(count, name),
        score: Some(score.into()),
    }
}

fn are_you_normal(count: u64, name: &str, score: i32) -> AreYouNormal {
    AreYouNormal {
        election: election(count, name),
        score: score.into(),
    }
}

fn halt(count: u64, name: &str, score: i32) -> Halt {
    Halt {
        election: election(count, name),
        score: score.into(),
    }
}

fn new_coordinator(count: u64, name: &str) -> NewCoordinator {
    NewCoordinator {
        election: election(count, name),
    }
}

fn ready(count: u64, name: &str, score: i32) -> Ready {
    Ready {
        election: election(count, name),
        score: score.into(),
        task: Task(count * 10),
    }
}

/// To the first election of ME.
fn ack(call: Call) -> Ack {
    let election = election(4, ME);
    Ack { call, election }
}

fn nack(call: Call, seen: u64, score: Option<i32>) -> Nack {
    Nack {
        call,
        election: election(4, ME),
        seen: Term(seen),
        score: score.map(Score::from),
    }
}

fn not_normal(count: u64, name: &str, seen: u64) -> NotNormal {
    NotNormal {
        election: election(count, name),
        seen: Term(seen),
    }
}
