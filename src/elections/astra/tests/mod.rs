//! The ASTRA rules, role by input.

mod cells;
mod leaving;
mod rules;
mod together;

use std::{collections::BTreeSet, sync::Arc};

use super::{Astra, Elect, Ok, Timer, machine::State};
use crate::elections::{fixture::*, shared::Participant};
use crate::protocol::fixture::{HIGH, LOW, ME, id};
use crate::protocol::{
    Birth, Event, Incarnation, Input, LostReason, Member, MemberKind, Role, Term,
};

type Kit = crate::elections::fixture::Kit<Astra>;

/// The preset `astra`: the deadline of 2 seconds, how long an announcement is awaited, a step.
const DEADLINE: u64 = 2_000;
const VICTORY: u64 = 5_000;
const STEP: u64 = 900;
const COOLDOWN: u64 = 60_000;

impl Machine for Astra {
    const MAY_GO_BACK: bool = true;

    fn participant(&self) -> &Participant {
        &self.core.me
    }

    fn highest_term(&self) -> Term {
        self.core.highest_term
    }

    fn rounds(&self) -> u64 {
        self.core.rounds
    }

    fn needed_timers(&self) -> BTreeSet<Timer> {
        let core = &self.core;
        assert!(core.floor <= core.highest_term.next().unwrap_or(core.highest_term));
        let mut timers = BTreeSet::new();
        match &self.state {
            Some(State::Idle(idle)) => timers.extend(idle.has_slot().then_some(Timer::Campaign)),
            Some(State::HoldingElection(_)) => timers.extend([Timer::Deadline]),
            Some(State::Deferring(_)) => timers.extend([Timer::Victory]),
            Some(State::Leading(tenure)) => {
                timers.extend(tenure.steps_down().then_some(Timer::Drain));
            }
            Some(State::Following(_)) | None => {}
        }
        timers.extend(core.cooldown.has_begun().then_some(Timer::Cooldown));
        timers
    }
}

impl Kit {
    /// No agent has started anything.
    fn idle() -> Self {
        Self::voter(&Arc::default()).started()
    }

    fn following() -> Self {
        Self::idle().after(HIGH, elected(OLD, 9))
    }

    fn holding() -> Self {
        let mut me = Self::idle();
        me.step(Input::Campaign).whatever();
        assert_eq!(me.role(), Role::Candidate);
        me
    }

    fn deferring() -> Self {
        let me = Self::holding().after(HIGH, ok(1));
        assert_eq!(me.role(), Role::Waiting);
        me
    }

    fn leading() -> Self {
        let seen = Term(MINE - 1);
        let mut me = Self::holding().after(LOW, Ok { seen, ..ok(0) });
        me.later(DEADLINE).fire(Timer::Deadline).whatever();
        assert_eq!(me.view().leading, Some(Term(MINE)));
        me
    }

    fn draining() -> Self {
        let mut me = Self::leading();
        me.step(Input::StepDown { to: Some(id(LOW)) }).whatever();
        me
    }

    /// Has handed over to LOW, and cools down.
    fn cooling_down() -> Self {
        let mut me = Self::draining();
        me.step(Input::Drained).whatever();
        assert_eq!(me.role(), Role::Follower);
        me
    }
}

fn ask(counter: u64, score: i32, term: u64) -> Elect {
    Elect {
        round: round(counter),
        seen: Term(term),
        ..elect(score)
    }
}
