//! The tests of the reorganization, state by input.
//!
//! `matrix.txt` has the outcome of every cell. The tests show rules that need more than one step.
//!
//! This file and `contract` connect the machine to the common kit and the common suite
//! ([`bully_core::elections::fixture`]): its states and its messages. A test compares all effects of a step with lines
//! of text.

mod contract;
mod halt;
mod waits;

use std::{collections::BTreeSet, sync::Arc};

use super::{core::WaitCause, state::State, *};
use crate::numbered::fixture::{any_message, election, every_election};
use bully_core::protocol::{
    Input, Member, Term, Time, Timings, To,
    fixture::{HIGH, LOW, ME, id},
};
use bully_core::{elections::fixture::*, parts::Participant};

type Kit = bully_core::elections::fixture::Kit<Reorganization>;

impl Suite for Reorganization {
    const FOLDER: &'static str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/reorganization/tests");
    const ECHOES: &'static [(&'static str, &'static str)] = &[("election", "election")];
    const TIMERS: &'static [ReorganizationTimer] = &[
        ReorganizationTimer::Answer,
        ReorganizationTimer::Takeover,
        ReorganizationTimer::Check,
        ReorganizationTimer::Watch,
        ReorganizationTimer::Drain,
        ReorganizationTimer::Cooldown,
    ];
    const SLACKS: &'static [u64] = &[0, 250, 251];
    const DRAIN: (ReorganizationTimer, u64) = (ReorganizationTimer::Drain, 5_000);
    const VALID: Option<u64> = Some(L);
    /// Only few incarnations join another coordinator's group.
    const INCARNATIONS: u64 = 900;
    const PHASES: &'static [&'static str] = &[
        "follower: cooling down, following, idle",
        "candidate: holding an election, reorganizing",
        "waiting: deferring, halted, holding an election, joining, pausing",
        "leader: draining, leading",
    ];

    fn configs() -> Vec<Arc<ReorganizationConfig>> {
        let asked = |when_asked| ReorganizationConfig {
            when_asked,
            ..lan()
        };
        [WhenAsked::Answer, WhenAsked::Elect]
            .map(|when| Arc::new(asked(when)))
            .into()
    }

    fn phase(&self) -> &'static str {
        match &self.state {
            State::Idle => "idle",
            State::Candidate(candidacy) if candidacy.is_made_known() => "reorganizing",
            State::Candidate(_) => "holding an election",
            State::Waiting(wait) => match wait.cause {
                WaitCause::Superior(_) => "deferring",
                WaitCause::Halted(_) => "halted",
                WaitCause::Pause => "pausing",
                WaitCause::Cooldown => "cooling down",
            },
            State::Member(membership) if membership.is_normal() => "following",
            State::Member(_) => "joining",
            State::Leader(leading) if leading.handover.is_some() => "draining",
            State::Leader(_) => "leading",
        }
    }

    fn roles() -> Vec<(&'static str, Kit)> {
        vec![
            ("asking", Kit::asking()),
            ("halting", Kit::halting()),
            ("reorganizing", Kit::reorganizing()),
            ("readying", Kit::readying()),
            ("leading", Kit::leading()),
            ("draining", Kit::draining()),
            ("cooling down", Kit::cooling_down()),
            ("deferring", Kit::deferring()),
            ("halted", Kit::halted()),
            ("pausing", Kit::pausing()),
            ("joining", Kit::joining()),
            ("following", Kit::following()),
            ("missing its coordinator", Kit::missing()),
            ("witness", Kit::witness()),
            ("observer", Kit::observer()),
            ("observing an election", Kit::observing()),
        ]
    }

    fn leader() -> Kit {
        Kit::leading()
    }

    fn every_message(me: &Kit) -> Vec<ReorganizationMessage> {
        let elections = every_election(&me.machine.core.numbers);
        elections.iter().flat_map(every_message).collect()
    }

    fn any_message(dice: &mut Dice, me: &Kit, from: &str) -> ReorganizationMessage {
        any_message::<Self>(dice, &me.machine.core.numbers, from, every_message)
    }
}

common_suite!(Reorganization, messages);

#[easy_ext::ext(KitOf)]
pub(super) impl Kit {
    /// Returns an agent that has not started. LOW, ME, HIGH and the observer EYE are up, and the agent's record has the
    /// count 3.
    fn began(kind: MemberKind, score: Option<i32>) -> Self {
        Self::began_by(lan(), kind, score)
    }

    fn began_by(config: ReorganizationConfig, kind: MemberKind, score: Option<i32>) -> Self {
        let record = Some(CountRecord { count: Term(3) });
        Self::restored(&Arc::new(config), kind, score, record)
    }

    /// Returns an agent that has asked HIGH in the election 4.me.
    fn asking() -> Self {
        Self::began(MemberKind::Voter, Some(5)).started()
    }

    /// Returns an agent whose question to HIGH got no answer. In 4.me it halts LOW, and the next incarnation of HIGH
    /// too.
    fn halting() -> Self {
        let mut kit = Self::asking();
        kit.later(200).fire(ReorganizationTimer::Answer).whatever();
        assert_eq!(kit.machine.status(), PaperStatus::Election);
        kit
    }

    /// Returns an agent that has halted LOW.
    fn reorganizing() -> Self {
        let mut kit = Self::halting();
        kit.hear(LOW, ack(Call::Halt)).whatever();
        assert_eq!(kit.machine.status(), PaperStatus::Reorganization);
        kit
    }

    /// Returns an agent whose election LOW knows: LOW has acknowledged the new coordinator.
    fn readying() -> Self {
        let mut kit = Self::reorganizing();
        kit.hear(LOW, ack(Call::NewCoordinator)).whatever();
        assert_eq!(kit.machine.task(), None);
        kit
    }

    /// Returns a coordinator of LOW in 4.me.
    fn leading() -> Self {
        let mut kit = Self::readying();
        kit.hear(LOW, ack(Call::Ready)).whatever();
        assert_eq!(kit.machine.status(), PaperStatus::Normal);
        assert_eq!(kit.machine.task(), Some(Task(40)));
        kit
    }

    fn draining() -> Self {
        let mut kit = Self::leading();
        kit.step_down(None).whatever();
        kit
    }

    fn cooling_down() -> Self {
        let mut kit = Self::draining();
        kit.step(Input::Drained).whatever();
        kit
    }

    /// Returns an agent that defers to HIGH, because HIGH has answered.
    fn deferring() -> Self {
        let mut kit = Self::asking();
        kit.hear(HIGH, there(Some(9))).whatever();
        kit
    }

    /// Returns an agent that HIGH has halted in 7.high.
    fn halted() -> Self {
        let mut kit = Self::deferring();
        kit.hear(HIGH, halt(7, HIGH, 9)).whatever();
        kit
    }

    /// Returns an agent that knows HIGH as its coordinator, and waits for the task.
    fn joining() -> Self {
        let mut kit = Self::halted();
        kit.hear(HIGH, new_coordinator(7, HIGH)).whatever();
        kit
    }

    /// Returns a member of 7.high that works under HIGH on the task 70.
    fn following() -> Self {
        let mut kit = Self::joining();
        kit.hear(HIGH, ready(7, HIGH, 9)).whatever();
        assert_eq!(kit.machine.status(), PaperStatus::Normal);
        assert_eq!(kit.machine.task(), Some(Task(70)));
        kit
    }

    /// Returns a follower that has not heard HIGH for too long, and has asked it.
    fn missing() -> Self {
        let mut kit = Self::following();
        kit.later(250).fire(ReorganizationTimer::Watch).whatever();
        kit
    }

    /// Returns an agent whose election failed, because LOW refused.
    fn pausing() -> Self {
        let mut kit = Self::halting();
        kit.hear(LOW, nack(Call::Halt, 5, Some(1))).whatever();
        kit
    }

    fn witness() -> Self {
        Self::began(MemberKind::Voter, None).started()
    }

    fn observer() -> Self {
        Self::began(MemberKind::Observer, Some(5)).started()
    }

    fn observing() -> Self {
        Self::observer().after(HIGH, ready(7, HIGH, 9))
    }
}

fn lan() -> ReorganizationConfig {
    ReorganizationConfig {
        task: Task(40),
        ..ReorganizationConfig::new(Timings::lan())
    }
}

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
        task: Task(count.saturating_mul(10)),
    }
}

/// Returns an acknowledgement of a call in the first election of ME.
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

/// Returns each message about the election `election`.
fn every_message(election: &ElectionId) -> Vec<ReorganizationMessage> {
    let (count, name) = (election.count.0, election.id.as_str());
    let election = || election.clone();
    let normal = Normal {
        election: election(),
    };
    let mut all: Vec<ReorganizationMessage> = vec![
        new_coordinator(count, name).into(),
        ready(count, name, 9).into(),
        not_normal(count, name, count).into(),
        normal.into(),
    ];
    for (score, coordinates) in [(1, false), (9, false), (9, true)] {
        all.push(are_you_there(count, name, score).into());
        all.push(halt(count, name, score).into());
        all.push(are_you_normal(count, name, score).into());
        let there = There {
            election: election(),
            score: Some(score.into()),
            coordinates,
            seen: Term(count),
        };
        all.push(there.into());
    }
    for call in [Call::Halt, Call::NewCoordinator, Call::Ready] {
        let election = election();
        let nack = nack(call, count, None);
        all.push(
            Nack {
                election: election.clone(),
                ..nack
            }
            .into(),
        );
        all.push(Ack { call, election }.into());
    }
    for successor in [None, Some(ME), Some(LOW)] {
        let (election, successor) = (election(), successor.map(id));
        all.push(
            Resign {
                election,
                successor,
            }
            .into(),
        );
    }
    and_other_kinds(all, &[count], &[name])
}
