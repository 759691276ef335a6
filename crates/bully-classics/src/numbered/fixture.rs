//! Common parts of the tests of both elections of 1982: their numbers, and checks of their messages.

use super::{ElectionId, LAST_COUNT, Numbers, PaperStatus};
use bully_core::protocol::{
    AgentId, Term, View,
    fixture::{HIGH, LOW, ME, id},
};
use bully_core::{
    elections::fixture::{Dice, STRANGER, Suite},
    parts::Participant,
};

pub(crate) fn election(count: u64, name: &str) -> ElectionId {
    ElectionId {
        count: Term(count),
        id: id(name),
    }
}

/// Returns elections of the past, the present and the future.
pub(crate) fn every_election(numbers: &Numbers) -> Vec<ElectionId> {
    let seen = numbers.seen.0;
    let counts = [seen.saturating_sub(1), seen, seen + 1, u64::MAX];
    let of = |count| [LOW, HIGH, ME, STRANGER].map(|name| election(count, name));
    let mut all: Vec<ElectionId> = counts.into_iter().flat_map(of).collect();
    all.extend(numbers.promised.clone());
    all
}

/// Returns any message. Its election is under way, or is older or later. In half of all cases its sender holds this
/// election.
pub(crate) fn any_message<E: Suite>(
    dice: &mut Dice,
    numbers: &Numbers,
    from: &str,
    every_message: fn(&ElectionId) -> Vec<E::Message>,
) -> E::Message {
    let mut of = any_election::<E>(dice, numbers);
    if dice.one_in(2) {
        of.id = id(from);
    }
    let mut all = every_message(&of);
    all.swap_remove(dice.index(all.len()))
}

fn any_election<E: Suite>(dice: &mut Dice, numbers: &Numbers) -> ElectionId {
    if dice.one_in(1_000) {
        return election(u64::MAX - dice.below(3), HIGH);
    }
    if dice.one_in(2) {
        let own = election(numbers.record.count.0, ME);
        return numbers
            .promised
            .clone()
            .filter(|_| dice.one_in(2))
            .unwrap_or(own);
    }
    let count = numbers.seen.0.saturating_sub(2) + dice.below(4);
    election(count, dice.name::<E>())
}

/// Asserts that a machine without a running timer has a reason: it has not started, cannot be elected, or has no number
/// left.
pub(crate) fn may_idle(has_started: bool, me: &Participant, numbers: &Numbers) {
    let can_lead = has_started && me.eligible().is_some();
    assert!(!can_lead || numbers.seen >= LAST_COUNT, "no timer runs");
}

/// Asserts, after every step, that an agent that works has a leader, and that an agent without a coordinator has no
/// group.
pub(crate) fn works_under_a_leader(
    status: PaperStatus,
    coordinator: Option<&AgentId>,
    view: &View,
) {
    assert_eq!(status == PaperStatus::Normal, view.leader.is_some());
    assert_eq!(status >= PaperStatus::Reorganization, coordinator.is_some());
}

/// An election that a message names, and the agent that sends it.
pub(crate) struct Said<'a> {
    pub(crate) election: &'a ElectionId,
    pub(crate) me: &'a Participant,
    pub(crate) numbers: &'a Numbers,
}

impl Said<'_> {
    pub(crate) fn is_durable(&self) -> bool {
        self.election.count <= self.numbers.record.count
    }

    pub(crate) fn is_own(&self) -> bool {
        self.election.id == self.me.id
    }
}
