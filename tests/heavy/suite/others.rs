//! The elections of the other papers, each held against what its page promises.

use crate::{
    ballot::Ballots,
    case::{Case, Search, timed},
    reorganization::Reorganizing,
    ring::Rings,
    rules::Rules,
    timed::{Aim, Bounds, Crash, Lab},
};

const GM1: &str = "GM1 OneCoordinator";

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::holds(
            "ring, D=1 Hop=3, all agree after 20 ticks",
            5_416,
            33,
            ring(1, 3, 20),
        ),
        Case::breaks(
            "reorganization, D=1 T=2, 8 ticks",
            20_500,
            (GM1, 25),
            reorganization(3, 0.9, 2, 8, 0),
        ),
        Case::holds(
            "reorganization, D=1 T=3, 12 ticks",
            15_773,
            31,
            reorganization(3, 1.0, 3, 12, 0),
        ),
        Case::holds(
            "reorganization, n=2, D=1 T=3, 12 ticks, a crash",
            39_664,
            33,
            reorganization(2, 1.0, 3, 12, 1),
        ),
        Case::holds(
            "ballots, 2 rounds, one on its way",
            1_250_278,
            50,
            ballots(2, 3, 1),
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

fn ring(delay: u8, hop: u8, settled: u16) -> Search {
    let mut bounds = Bounds::new(3);
    (bounds.delay, bounds.horizon) = (Some(delay), Some(settled));
    search(Rings::new(hop, settled), bounds)
}

fn reorganization(n: usize, assumed: f64, deadline: u8, horizon: u16, crashes: u8) -> Search {
    let mut bounds = Bounds::new(n);
    (bounds.delay, bounds.horizon) = (Some(1), Some(horizon));
    (bounds.budget.crashes, bounds.crash) = (crashes, Crash::Told);
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
