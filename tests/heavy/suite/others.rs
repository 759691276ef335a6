//! The elections of the other papers, each held against what its page promises.
//!
//! Where somebody crashes, the search is kept small enough to end: by when it may crash, by who it
//! is, by when its next life may begin, or by letters that arrive in order. The names say which.

use crate::{
    ballot::Ballots,
    case::{Case, Search, timed},
    reorganization::Reorganizing,
    ring::Rings,
    rules::Rules,
    timed::{Aim, Bounds, Crash, Lab, Order},
};

const GM1: &str = "GM1 OneCoordinator";

/// The most important of three.
pub(super) const BEST: Option<usize> = Some(2);

pub(super) fn cases() -> Vec<Case> {
    let mut cases = rings();
    cases.extend(reorganizations());
    cases.push(Case::holds(
        "ballots, 2 rounds, one on its way",
        1_250_278,
        50,
        ballots(2, 3, 1),
    ));
    cases
}

fn rings() -> Vec<Case> {
    vec![
        Case::holds(
            "ring, D=1 Hop=3, all agree after 20 ticks",
            5_416,
            33,
            ring(1, 3, 20, |_| {}),
        ),
        Case::holds(
            "ring, D=2 Hop=5, all agree after 24 ticks",
            53_008,
            37,
            ring(2, 5, 24, |_| {}),
        ),
        Case::holds(
            "ring, ordered links, D=1 Hop=3, an end by tick 10",
            54_747,
            54,
            ring(1, 3, 30, |b| ends_by(b, 10)),
        ),
        Case::holds(
            "ring, ordered links, D=2 Hop=5, an end by tick 4",
            222_284,
            67,
            ring(2, 5, 44, |b| ends_by(b, 4)),
        ),
    ]
}

/// Somebody crashes up to this tick, and does not return; links keep the order.
fn ends_by(bounds: &mut Bounds, last: u16) {
    dies(bounds);
    bounds.order = Order::Fifo;
    bounds.crash_within = 0..=last;
}

/// Somebody crashes, and does not return.
pub(super) fn dies(bounds: &mut Bounds) {
    bounds.budget.crashes = 1;
    bounds.return_within = None;
}

fn reorganizations() -> Vec<Case> {
    vec![
        Case::breaks(
            "reorganization, D=1 T=2, 8 ticks",
            20_500,
            (GM1, 25),
            reorganization(3, 0.9, (1, 2), 8, |_| {}),
        ),
        Case::holds(
            "reorganization, D=1 T=3, 12 ticks",
            15_773,
            31,
            reorganization(3, 1.0, (1, 3), 12, |_| {}),
        ),
        Case::holds(
            "reorganization, D=2 T=5, 18 ticks",
            156_475,
            37,
            reorganization(3, 2.0, (2, 5), 18, |_| {}),
        ),
        Case::holds(
            "reorganization, n=2, D=1 T=3, 12 ticks, a crash",
            39_177,
            33,
            reorganization(2, 1.0, (1, 3), 12, |b| b.budget.crashes = 1),
        ),
        Case::holds(
            "reorganization, D=1 T=3, 12 ticks, an end",
            159_096,
            41,
            reorganization(3, 1.0, (1, 3), 12, dies),
        ),
        Case::holds(
            "the same, 22 ticks, the best crashes at 10, back by 11",
            103_398,
            65,
            reorganization(3, 1.0, (1, 3), 22, |b| {
                b.budget.crashes = 1;
                (b.mortal, b.crash_within, b.return_within) = (BEST, 10..=10, Some(0..=11));
            }),
        ),
        Case::holds(
            "the same, ordered links, 12 ticks, at 2 to 6, any return",
            332_842,
            59,
            reorganization(3, 1.0, (1, 3), 12, |b| {
                (b.budget.crashes, b.order) = (1, Order::Fifo);
                (b.mortal, b.crash_within) = (BEST, 2..=6);
            }),
        ),
    ]
}

/// So many rounds of a life, ballots up to this number, so many on their way at once, no bound on
/// delays.
fn ballots(rounds: u8, numbers: u8, wire: usize) -> Search {
    let mut bounds = Bounds::new(3);
    (bounds.wire, bounds.crash) = (wire, Crash::Unseen);
    search(Ballots::new(3, rounds, numbers), bounds)
}

/// All agree from the last tick on.
pub(super) fn ring(delay: u8, hop: u8, last: u16, change: impl Fn(&mut Bounds)) -> Search {
    let mut bounds = Bounds::new(3);
    (bounds.delay, bounds.horizon) = (Some(delay), Some(last));
    change(&mut bounds);
    search(Rings::new(hop, Some(last)), bounds)
}

/// With a longest delay, which the machines take for so many ticks, and a deadline.
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

/// Nobody is asked for anything: these begin by themselves.
fn search<R: Rules>(rules: R, mut bounds: Bounds) -> Search {
    bounds.budget.wishes = 0;
    timed(Lab {
        rules,
        bounds,
        aim: Aim::Everything,
    })
}
