//! The elections of the other papers, each with the promises of its page.
//!
//! Where an agent crashes, a limit keeps the search small enough to end: the last tick of the crash, the agent, the
//! last tick of its return, or messages in order. The names of the searches say which.

use crate::{
    ballot::Ballots,
    case::{Case, Search, timed},
    reorganization::Reorganizing,
    ring::Rings,
    rules::Rules,
    timed::{Aim, Bounds, Clocks, Crash, Lab, Order},
};

const GM1: &str = "GM1 OneCoordinator";

/// The highest-ranked of three agents.
pub(super) const BEST: Option<usize> = Some(2);

pub(super) fn cases() -> Vec<Case> {
    let mut cases = rings();
    cases.extend(reorganizations());
    cases.extend(ballots());
    cases
}

fn rings() -> Vec<Case> {
    vec![
        Case::holds(
            "ring, D=1 Hop=3, all agree after 20 ticks",
            ring(1, 3, 20, |_| {}),
        ),
        Case::holds(
            "ring, D=2 Hop=5, all agree after 24 ticks",
            ring(2, 5, 24, |_| {}),
        ),
        Case::holds(
            "ring, ordered links, D=1 Hop=3, an end by tick 10",
            ring(1, 3, 30, |b| ends_by(b, 10)),
        ),
        Case::holds(
            "ring, ordered links, D=2 Hop=5, an end by tick 4",
            ring(2, 5, 44, |b| ends_by(b, 4)),
        ),
    ]
}

/// Lets an agent crash up to the tick `last`, and not return; links keep the order.
fn ends_by(bounds: &mut Bounds, last: u16) {
    dies(bounds);
    bounds.order = Order::Fifo;
    bounds.crash_within = 0..=last;
}

/// Lets an agent crash and not return.
pub(super) fn dies(bounds: &mut Bounds) {
    bounds.budget.crashes = 1;
    bounds.return_within = None;
}

fn reorganizations() -> Vec<Case> {
    vec![
        Case::breaks(
            "reorganization, D=1 T=2, 8 ticks",
            GM1,
            reorganization(3, 0.9, (1, 2), 8, |_| {}),
        ),
        Case::holds(
            "reorganization, D=1 T=3, 12 ticks",
            reorganization(3, 1.0, (1, 3), 12, |_| {}),
        ),
        Case::holds(
            "reorganization, D=2 T=5, 18 ticks",
            reorganization(3, 2.0, (2, 5), 18, |_| {}),
        ),
        Case::holds(
            "reorganization, n=2, D=1 T=3, 12 ticks, a crash",
            reorganization(2, 1.0, (1, 3), 12, |b| b.budget.crashes = 1),
        ),
        Case::holds(
            "reorganization, D=1 T=3, 12 ticks, an end",
            reorganization(3, 1.0, (1, 3), 12, dies),
        ),
        Case::holds(
            "reorganization, 22 ticks, a crash at 10, back by 11",
            reorganization(3, 1.0, (1, 3), 22, |b| {
                b.budget.crashes = 1;
                (b.mortal, b.crash_within, b.return_within) = (BEST, 10..=10, Some(0..=11));
            }),
        ),
        Case::holds(
            "reorganization, ordered, 12 ticks, a crash at 2 to 6",
            reorganization(3, 1.0, (1, 3), 12, |b| {
                (b.budget.crashes, b.order) = (1, Order::Fifo);
                (b.mortal, b.crash_within) = (BEST, 2..=6);
            }),
        ),
    ]
}

fn ballots() -> Vec<Case> {
    vec![
        Case::holds(
            "ballots, two voters, one returns, 3 rounds",
            ballot(2, 3, Aim::Everything, |_, b| returns(b, 1, 1)),
        ),
        Case::holds(
            "ballots, two voters, one returns twice, 3 rounds",
            ballot(2, 3, Aim::Everything, |_, b| returns(b, 0, 2)),
        ),
        Case::holds(
            "ballots, two voters, one returns, 2 on their way",
            ballot(2, 2, Aim::Everything, |_, b| {
                returns(b, 1, 1);
                b.wire = 2;
            }),
        ),
        Case::breaks(
            "ballots, 2 rounds, held to one leader",
            "at most one leads",
            ballot(3, 2, Aim::Shortest, |r, _| r.one_leader = true),
        ),
    ]
}

/// Lets this agent crash `times` times. Its next incarnation begins at once with the record on its disk.
pub(super) fn returns(bounds: &mut Bounds, agent: usize, times: u8) {
    (bounds.budget.crashes, bounds.mortal) = (times, Some(agent));
}

/// Searches with `voters` voters among three agents, up to `rounds` rounds of an incarnation and ballot number 3. One
/// message is on its way at most, and its delay has no bound; any timer may fire as soon as it is set.
pub(super) fn ballot(
    voters: usize,
    rounds: u8,
    aim: Aim,
    change: impl Fn(&mut Ballots, &mut Bounds),
) -> Search {
    let (mut rules, mut bounds) = (Ballots::new(voters, rounds, 3), Bounds::new(3));
    (bounds.wire, bounds.clocks, bounds.crash) = (1, Clocks::Jump, Crash::Unseen);
    change(&mut rules, &mut bounds);
    timed(Lab { rules, bounds, aim })
}

/// Searches for a disagreement at the last tick.
pub(super) fn ring(delay: u8, hop: u8, last: u16, change: impl Fn(&mut Bounds)) -> Search {
    rings_until(last, delay, Rings::new(hop, Some(last)), change)
}

/// Searches for two leaders. The next heartbeat would come after the last tick, and an agent that returns waits for
/// one.
pub(super) fn ring_for_one(delay: u8, hop: u8, last: u16, change: impl Fn(&mut Bounds)) -> Search {
    rings_until(last, delay, Rings::new(hop, None), change)
}

fn rings_until(last: u16, delay: u8, rules: Rings, change: impl Fn(&mut Bounds)) -> Search {
    let mut bounds = Bounds::new(3);
    (bounds.delay, bounds.horizon) = (Some(delay), Some(last));
    change(&mut bounds);
    search(rules, bounds)
}

/// Searches with a longest delay of `delay` ticks, a configured delay bound of `assumed` ticks, and a deadline.
pub(super) fn reorganization(
    n: usize,
    assumed: f64,
    (delay, deadline): (u8, u8),
    last: u16,
    change: impl Fn(&mut Bounds),
) -> Search {
    let mut bounds = Bounds::new(n);
    (bounds.delay, bounds.horizon) = (Some(delay), Some(last));
    (bounds.crash, bounds.budget.crashes) = (Crash::Told, 0);
    change(&mut bounds);
    search(Reorganizing::new(assumed, deadline), bounds)
}

/// Searches without commands, for elections that begin by themselves.
fn search<R: Rules>(rules: R, mut bounds: Bounds) -> Search {
    bounds.budget.campaigns = 0;
    timed(Lab {
        rules,
        bounds,
        aim: Aim::Everything,
    })
}
