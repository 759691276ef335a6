//! The quorum election of three voters of which one loses its store, and restarts with an empty one.
//!
//! A search begins when an agent leads by the vote of the voter that will lose its store. The third voter has heard of
//! the leader, and of no vote. Questions and their answers arrive at once or never. Heartbeats are lost, so a
//! leadership lasts for one lease.

use crate::{
    case::{Case, Search, timed},
    quorum::{Questions, Quorum},
    timed::{Aim, Bounds, Crash, Lab},
};

pub(super) fn cases() -> Vec<Case> {
    vec![Case::holds(
        "memory: one loses its store, two on their way",
        search(2),
    )]
}

pub(super) fn soak() -> Case {
    Case::holds("memory: one loses its store, three on their way", search(3))
}

/// Searches two ticks with at most `wire` messages on their way.
fn search(wire: usize) -> Search {
    timed(lab(wire))
}

pub(super) fn lab(wire: usize) -> Lab<Quorum> {
    let mut bounds = Bounds::new(3);
    (bounds.wire, bounds.crash, bounds.mortal) = (wire, Crash::Lost, Some(1));
    (bounds.prologue, bounds.horizon) = (1, Some(3));
    bounds.budget.crashes = 1;
    let mut rules = Quorum::new(3, 1);
    (rules.questions, rules.is_brief, rules.is_untaught) = (Questions::Called, true, true);
    Lab {
        rules,
        bounds,
        aim: Aim::Everything,
    }
}
