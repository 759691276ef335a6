//! The tests of the ASTRA rules, role by input.
//!
//! `matrix.txt` has the outcome of every cell. The tests show important rules, and rules that need more than one step.

mod announced;
mod rules;

use std::{collections::BTreeSet, sync::Arc};

use super::{Astra, AstraConfig, BullyMessage, BullyTimer, Ok, machine::State};
use crate::protocol::fixture::{HIGH, LOW, ME, id};
use crate::protocol::{Incarnation, Input, Member, MemberKind, Role, Term, To};
use crate::{elections::fixture::*, parts::Participant};

type Kit = crate::elections::fixture::Kit<Astra>;
type StepEffects = crate::elections::fixture::StepEffects<Astra>;

/// The preset `astra` in milliseconds: the deadline, the wait for an announcement, a step.
const DEADLINE: u64 = 2_000;
const VICTORY: u64 = 5_000;
const STEP: u64 = 900;
const COOLDOWN: u64 = 60_000;

impl Machine for Astra {
    const MAY_GO_BACK: bool = true;

    fn participant(&self) -> &Participant {
        &self.core.me
    }

    fn state(&self) -> String {
        format!("{:?}", self.state)
    }

    fn may_send(&self, leading: Option<Term>, _: &To, message: &BullyMessage) {
        // `lead-after-the-former`: the agent announces itself before it leads.
        match (&self.state, message) {
            (Some(State::Announced(announced)), BullyMessage::Elected(said)) => {
                assert_eq!(said.term, announced.term);
            }
            (_, _) => may_say(self, leading, message),
        }
    }

    fn needed_timers(&self) -> BTreeSet<BullyTimer> {
        let core = &self.core;
        assert!(core.floor <= core.highest_term.next().unwrap_or(core.highest_term));
        let mut timers = BTreeSet::new();
        match &self.state {
            Some(State::Idle(idle)) => {
                timers.extend(idle.has_slot().then_some(BullyTimer::Campaign));
            }
            Some(State::HoldingElection(_) | State::Announced(_)) => {
                timers.extend([BullyTimer::Deadline]);
            }
            Some(State::Deferring(_)) => timers.extend([BullyTimer::Victory]),
            Some(State::Leading(tenure)) => {
                timers.extend(tenure.steps_down().then_some(BullyTimer::Drain));
            }
            Some(State::Following(_)) | None => {}
        }
        timers.extend(core.cooldown.has_begun().then_some(BullyTimer::Cooldown));
        timers
    }
}

impl Suite for Astra {
    const FOLDER: &'static str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/elections/astra/tests");
    const TIMERS: &'static [BullyTimer] = &TIMERS;
    const DRAIN: (BullyTimer, u64) = (BullyTimer::Drain, 5_000);
    const VALID: Option<u64> = None;
    const FROM_OBSERVERS: &'static [&'static str] = &["ok", "yield", "resign"];
    const PHASES: &'static [&'static str] = &[
        "follower: cooling down, following, idle, with a slot",
        "candidate: announced, holding an election",
        "waiting: deferring",
        "leader: draining, leading",
    ];
    const LATE: &'static [u64] = &[0, STEP, DEADLINE, VICTORY, 2 * COOLDOWN];

    fn configs() -> Vec<Arc<AstraConfig>> {
        vec![Arc::default()]
    }

    fn phase(&self) -> &'static str {
        match &self.state {
            None => "not started",
            Some(State::Idle(_)) if self.core.cooldown.has_begun() => "cooling down",
            Some(State::Idle(idle)) if idle.has_slot() => "with a slot",
            Some(State::Idle(_)) => "idle",
            Some(State::Following(_)) => "following",
            Some(State::HoldingElection(_)) => "holding an election",
            Some(State::Deferring(_)) => "deferring",
            Some(State::Announced(_)) => "announced",
            Some(State::Leading(tenure)) if tenure.steps_down() => "draining",
            Some(State::Leading(_)) => "leading",
        }
    }

    fn roles() -> Vec<(&'static str, Kit)> {
        vec![
            ("idle", Kit::idle()),
            ("following", Kit::following()),
            ("holding", Kit::holding()),
            ("deferring", Kit::deferring()),
            ("announced", Kit::announced()),
            ("leading", Kit::leading()),
            ("draining", Kit::draining()),
            ("cooling down", Kit::cooling_down()),
        ]
    }

    fn leader() -> Kit {
        Kit::leading()
    }

    fn every_message(me: &Kit) -> Vec<BullyMessage> {
        every_bully_message(me.machine.core.highest_term, me.machine.core.rounds)
    }

    fn any_message(dice: &mut Dice, me: &Kit, _: &str) -> BullyMessage {
        any_bully_message(dice, me.machine.core.highest_term, me.machine.core.rounds)
    }
}

common_suite!(Astra);

impl Kit {
    /// Returns an agent in a group in which no election has begun.
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

    /// Returns an agent that has won its election. LOW leads, and has told this agent so.
    fn announced() -> Self {
        let mut me = Self::holding().after(LOW, answers(1, MINE - 1, 1));
        me.later(DEADLINE).fire(BullyTimer::Deadline).whatever();
        assert_eq!((me.role(), me.view().leading), (Role::Candidate, None));
        me
    }

    fn leading() -> Self {
        let seen = Term(MINE - 1);
        let mut me = Self::holding().after(LOW, Ok { seen, ..ok(0) });
        me.later(DEADLINE).fire(BullyTimer::Deadline).whatever();
        assert_eq!(me.view().leading, Some(Term(MINE)));
        me
    }

    fn draining() -> Self {
        let mut me = Self::leading();
        me.step_down(LOW).whatever();
        me
    }

    /// Returns an agent that has handed over to LOW, and cools down.
    fn cooling_down() -> Self {
        let mut me = Self::draining();
        me.step(Input::Drained).whatever();
        assert_eq!(me.role(), Role::Follower);
        me
    }
}
