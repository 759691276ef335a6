//! Voters with sentinels. A notice reports a crash to each other host; it may arrive late, after a message of the next
//! incarnation, or never. A voter that reads the notice no longer keeps its promise to the incarnation that ended.
//!
//! Most searches begin with a leader. If no time passes, no promise ends by the clock, so only a notice allows a second
//! leader. Two searches break the rules of a notice on purpose, at the host that reads it.

use crate::{
    case::{Case, Search, timed},
    quorum::Quorum,
    timed::{Aim, Bounds, Crash, Lab, Notices},
};

/// Tick from which on an agent leads, with a lease of one reading.
const BEGUN: u16 = 1;
const SECOND: &str = "an agent leads in the last term";
const RIVAL: &str = "NoRivalElected";

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::never(
            "sentinels: none, a crash, no time passes",
            SECOND,
            search(|b| (b.crash, b.horizon) = (Crash::Unseen, Some(BEGUN))),
        ),
        Case::holds(
            "sentinels: a crash, no time passes",
            search(|b| b.horizon = Some(BEGUN)),
        ),
        Case::holds(
            "sentinels: a crash, a slow clock, 2 ticks",
            search(|b| (b.budget.slow, b.horizon) = (1, Some(BEGUN + 2))),
        ),
        Case::holds(
            "sentinels: from the start, a crash, 1 tick",
            search(|b| (b.prologue, b.horizon) = (0, Some(1))),
        ),
        Case::holds(
            "sentinels: two crash, or one twice, 1 tick",
            search(|b| b.budget.crashes = 2),
        ),
        Case::holds(
            "sentinels: a crash, notices of agents that go on, 1 tick",
            search(|b| b.budget.forgeries = 1),
        ),
        Case::breaks(
            "sentinels: a notice counts for any incarnation",
            RIVAL,
            broken(|b| {
                (b.notices, b.prologue, b.horizon) = (Notices::OfAnyIncarnation, 0, None);
            }),
        ),
        Case::breaks(
            "sentinels: a notice counts that is forged, or of a process that only hangs",
            RIVAL,
            broken(|b| {
                (b.notices, b.budget.forgeries, b.budget.crashes) = (Notices::Unchecked, 1, 0);
            }),
        ),
    ]
}

/// Searches one term more, with two messages on their way, one crash and one tick; the lowest-ranked voter is not
/// eligible.
fn search(change: impl Fn(&mut Bounds)) -> Search {
    timed(lab(Aim::Everything, change))
}

/// Searches for the shortest path to a broken rule.
fn broken(change: impl Fn(&mut Bounds)) -> Search {
    timed(lab(Aim::Shortest, change))
}

pub(super) fn lab(aim: Aim, change: impl Fn(&mut Bounds)) -> Lab<Quorum> {
    let mut bounds = Bounds::new(3);
    (bounds.wire, bounds.crash) = (2, Crash::Noticed);
    bounds.budget.crashes = 1;
    (bounds.prologue, bounds.horizon) = (BEGUN, Some(BEGUN + 1));
    change(&mut bounds);
    let mut rules = Quorum::new(3, 1);
    rules.terms = if bounds.prologue > 0 { 3 } else { 2 };
    rules.witnesses = 1;
    Lab { rules, bounds, aim }
}
