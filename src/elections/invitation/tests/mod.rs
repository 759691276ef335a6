//! The invitation election's cells, state by input: one file per input.
//!
//! The kit is here: one machine among a few named peers, brought into each state by real inputs.
//! A step returns all that came out as lines of text, cancelled timers apart: the contract knows
//! exactly which ones may run, and checks every step of every test.

mod accept;
mod are_you_coordinator;
mod are_you_there;
mod command;
mod contract;
mod invitation;
mod members;
mod place;
mod random;
mod ready;
mod resign;
mod start;
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
    machine: InvitationElection,
    now: Time,
    members: Members,
    contract: Contract,
}

impl Kit {
    /// Not yet started: among LOW, ME, HIGH and the observer EYE, all up. Its record says 3.
    fn unborn(kind: MemberKind, score: Option<i32>, config: InvitationConfig) -> Self {
        let score = score.map(Score::from);
        let (identity, members) = among(kind, score);
        let record = Some(Count { count: Term(3) });
        Self {
            machine: InvitationElection::new(identity, &Arc::new(config), record),
            now: Time::from_millis(1_000),
            members,
            contract: Contract::default(),
        }
    }

    fn voter() -> Self {
        Self::unborn(MemberKind::Voter, Some(5), lan())
    }

    /// Its slot has not come: HIGH goes first.
    fn free() -> Self {
        Self::voter().started()
    }

    /// Coordinates a group of one, 4.me, and has asked all where they stand.
    fn asking() -> Self {
        let mut kit = Self::free();
        kit.later(54).fire(Timer::Slot);
        assert_eq!(kit.machine.group(), Some(&election(4, ME)));
        kit
    }

    /// Has found LOW, and invited it to 5.me.
    fn merging() -> Self {
        let mut kit = Self::asking();
        kit.hear(LOW, place(4, Some(1), Standing::Coordinator { members: 0 }));
        kit.later(27).fire(Timer::Check);
        assert_eq!(kit.role(), Role::Candidate);
        kit
    }

    /// Coordinates LOW in 5.me; no check is under way.
    fn leading() -> Self {
        let mut kit = Self::merging();
        kit.hear(LOW, accept(5, ME));
        assert_eq!(kit.role(), Role::Leader);
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

    /// Has accepted HIGH's invitation to 7.high.
    fn joining() -> Self {
        let mut kit = Self::free();
        kit.hear(HIGH, invitation(7, HIGH, 9));
        kit
    }

    /// Works in 7.high, on the task 70.
    fn following() -> Self {
        let mut kit = Self::joining();
        kit.hear(HIGH, ready(7, HIGH, 9));
        assert_eq!(kit.machine.status(), Status::Normal);
        kit
    }

    fn witness() -> Self {
        Self::unborn(MemberKind::Voter, None, lan()).started()
    }

    fn observer() -> Self {
        Self::unborn(MemberKind::Observer, Some(5), lan()).started()
    }

    /// Every state, by its name.
    fn states() -> [(&'static str, Self); 10] {
        [
            ("free", Self::free()),
            ("asking", Self::asking()),
            ("merging", Self::merging()),
            ("leading", Self::leading()),
            ("draining", Self::draining()),
            ("cooling down", Self::cooling_down()),
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
    fn step(&mut self, input: InputOf<InvitationElection>) -> Vec<String> {
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
    fn hear(&mut self, from: &str, message: impl Into<InvitationMessage>) -> Vec<String> {
        self.hear_incarnation(from, 1, message)
    }

    fn hear_incarnation(
        &mut self,
        from: &str,
        incarnation: u64,
        message: impl Into<InvitationMessage>,
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

fn lan() -> InvitationConfig {
    InvitationConfig {
        task: Task(40),
        ..InvitationConfig::new(Timings::lan())
    }
}

/// To the check of the group `count`.me.
fn place(count: u64, score: Option<i32>, standing: Standing) -> Place {
    Place {
        group: election(count, ME),
        score: score.map(Score::from),
        standing,
        seen: Term(3),
    }
}

fn are_you_coordinator(count: u64, name: &str, score: i32) -> AreYouCoordinator {
    AreYouCoordinator {
        group: election(count, name),
        score: score.into(),
    }
}

fn invitation(count: u64, name: &str, score: i32) -> Invitation {
    Invitation {
        group: election(count, name),
        score: score.into(),
    }
}

fn accept(count: u64, name: &str) -> Accept {
    Accept {
        group: election(count, name),
    }
}

fn decline(count: u64, name: &str, seen: u64) -> Decline {
    Decline {
        group: election(count, name),
        seen: Term(seen),
        score: None,
    }
}

fn ready(count: u64, name: &str, score: i32) -> Ready {
    Ready {
        group: election(count, name),
        score: score.into(),
        task: Task(count * 10),
    }
}

fn there(count: u64, name: &str, belongs: bool) -> There {
    There {
        group: election(count, name),
        belongs,
    }
}
