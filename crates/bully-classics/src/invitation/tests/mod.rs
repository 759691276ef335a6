//! The tests of the invitation election, state by input.
//!
//! `matrix.txt` has the outcome of every cell. The tests show rules that need more than one step.
//!
//! This file and `contract` connect the machine to the common kit and the common suite
//! ([`bully_core::elections::fixture`]): its states and its messages. A test compares all effects of a step with lines
//! of text.

mod accept;
mod contract;
mod place;

use std::{collections::BTreeSet, sync::Arc};

use super::{state::State, *};
use crate::numbered::fixture::{any_message, election, every_election};
use bully_core::protocol::{
    Input, Member, Role, Term, Time, Timings, To,
    fixture::{EYE, HIGH, LOW, ME, id},
};
use bully_core::{driver::MembersReports as _, elections::fixture::*, parts::Participant};

type Kit = bully_core::elections::fixture::Kit<InvitationElection>;

impl Suite for InvitationElection {
    const FOLDER: &'static str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/invitation/tests");
    const ECHOES: &'static [(&'static str, &'static str)] = &[("group", "group")];
    const TIMERS: &'static [InvitationTimer] = &[
        InvitationTimer::Slot,
        InvitationTimer::Check,
        InvitationTimer::Accepts,
        InvitationTimer::Watch,
        InvitationTimer::Drain,
        InvitationTimer::Cooldown,
    ];
    const SLACKS: &'static [u64] = &[0, 250, 251];
    const DRAIN: (InvitationTimer, u64) = (InvitationTimer::Drain, 5_000);
    const VALID: Option<u64> = Some(L);
    const PHASES: &'static [&'static str] = &[
        "follower: following, free, free without a slot",
        "candidate: merging",
        "waiting: joining",
        "leader: draining, leading",
    ];

    fn configs() -> Vec<Arc<InvitationConfig>> {
        vec![Arc::new(lan())]
    }

    fn phase(&self) -> &'static str {
        match &self.state {
            State::Free { slot: None } => "free without a slot",
            State::Free { slot: Some(_) } => "free",
            State::Candidate(_) => "merging",
            State::Member(membership) if membership.leader().is_some() => "following",
            State::Member(_) => "joining",
            State::Leader(leading) if leading.handover.is_some() => "draining",
            State::Leader(_) => "leading",
        }
    }

    fn roles() -> Vec<(&'static str, Kit)> {
        vec![
            ("free", Kit::free()),
            ("asking", Kit::asking()),
            ("merging", Kit::merging()),
            ("leading", Kit::leading()),
            ("draining", Kit::draining()),
            ("cooling down", Kit::cooling_down()),
            ("joining", Kit::joining()),
            ("following", Kit::following()),
            ("missing its coordinator", Kit::missing()),
            ("witness", Kit::witness()),
            ("observer", Kit::observer()),
            ("observing a group", Kit::observing()),
        ]
    }

    fn leader() -> Kit {
        Kit::leading()
    }

    fn every_message(me: &Kit) -> Vec<InvitationMessage> {
        let elections = every_election(&me.machine.core.numbers);
        elections.iter().flat_map(every_message).collect()
    }

    fn any_message(dice: &mut Dice, me: &Kit, from: &str) -> InvitationMessage {
        any_message::<Self>(dice, &me.machine.core.numbers, from, every_message)
    }
}

common_suite!(InvitationElection, messages);

#[easy_ext::ext(KitOf)]
pub(super) impl Kit {
    /// Returns an agent that has not started. LOW, ME, HIGH and the observer EYE are up, and the agent's record has the
    /// count 3.
    fn began(kind: MemberKind, score: Option<i32>) -> Self {
        let record = Some(CountRecord { count: Term(3) });
        Self::restored(&Arc::new(lan()), kind, score, record)
    }

    /// Returns an agent that waits for its slot. HIGH has the first slot.
    fn free() -> Self {
        Self::began(MemberKind::Voter, Some(5)).started()
    }

    /// Returns a coordinator of a group of one, 4.me, that has asked all members for their place.
    fn asking() -> Self {
        let mut kit = Self::free();
        kit.later(54).fire(InvitationTimer::Slot).whatever();
        assert_eq!(kit.machine.group(), Some(&election(4, ME)));
        assert_eq!(kit.machine.task(), Some(Task(40)));
        kit
    }

    /// Returns an agent that has found LOW, and invited it to 5.me.
    fn merging() -> Self {
        let mut kit = Self::asking();
        kit.hear(
            LOW,
            place(4, Some(1), GroupRole::Coordinator { members: 0 }),
        )
        .whatever();
        kit.later(27).fire(InvitationTimer::Check).whatever();
        assert_eq!(kit.role(), Role::Candidate);
        kit
    }

    /// Returns a coordinator of LOW in 5.me between two checks.
    fn leading() -> Self {
        let mut kit = Self::merging();
        kit.hear(LOW, accept(5, ME)).whatever();
        assert_eq!(kit.role(), Role::Leader);
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

    /// Returns an agent that has accepted HIGH's invitation to 7.high.
    fn joining() -> Self {
        let mut kit = Self::free();
        kit.hear(HIGH, invitation(7, HIGH, 9)).whatever();
        kit
    }

    /// Returns a member of 7.high that works on the task 70.
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
        kit.later(250).fire(InvitationTimer::Watch).whatever();
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

fn lan() -> InvitationConfig {
    InvitationConfig {
        task: Task(40),
        ..InvitationConfig::new(Timings::lan())
    }
}

/// Returns a reply to the check of the group `count`.me.
fn place(count: u64, score: Option<i32>, standing: GroupRole) -> CoordinatorReply {
    CoordinatorReply {
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
        task: Task(count.saturating_mul(10)),
    }
}

fn there(count: u64, name: &str, belongs: bool) -> There {
    There {
        group: election(count, name),
        belongs,
    }
}

/// Returns each message about the group `group`.
fn every_message(group: &ElectionId) -> Vec<InvitationMessage> {
    let (count, name) = (group.count.0, group.id.as_str());
    let group = || group.clone();
    let mut all: Vec<InvitationMessage> = vec![
        are_you_coordinator(count, name, 1).into(),
        are_you_coordinator(count, name, 9).into(),
        invitation(count, name, 1).into(),
        invitation(count, name, 9).into(),
        accept(count, name).into(),
        decline(count, name, count).into(),
        ready(count, name, 9).into(),
        there(count, name, true).into(),
        there(count, name, false).into(),
        AreYouThere { group: group() }.into(),
    ];
    for standing in [
        GroupRole::Free,
        GroupRole::Merging,
        GroupRole::Coordinator { members: 1 },
        GroupRole::Joining { group: group() },
        GroupRole::Member { group: group() },
    ] {
        let group = group();
        let place = place(count, Some(9), standing);
        all.push(CoordinatorReply { group, ..place }.into());
    }
    for successor in [None, Some(ME), Some(LOW)] {
        let (group, successor) = (group(), successor.map(id));
        all.push(Resign { group, successor }.into());
    }
    and_other_kinds(all, &[count], &[name])
}
