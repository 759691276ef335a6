//! The bound on the deadline of a plain bully: at most one agent leads at every instant if and only if T > 2 D.

use crate::{
    bully::{Astra, Unwatched},
    case::{Case, Search, timed},
    timed::{Aim, Bounds, Lab, Order},
};

const TWO: &str = "at most one leads";

pub(super) fn cases() -> Vec<Case> {
    let after_crash = |b: &mut Bounds| b.budget.crashes = 1;
    let one_wish_and_crash = |b: &mut Bounds| (b.budget.crashes, b.budget.campaigns) = (1, 1);
    let new_score = |b: &mut Bounds| (b.budget.scores, b.budget.campaigns) = (vec![(0, 9)], 2);
    let new_score_fifo = |b: &mut Bounds| {
        b.budget.scores = vec![(0, 9)];
        b.order = Order::Fifo;
    };
    vec![
        Case::breaks("D=1 T=2, n=2", TWO, shortest(2, 1, 2, |_| {}))
            .kept_as("deadline-2-delays.txt"),
        Case::breaks("D=1 T=2, n=3", TWO, shortest(3, 1, 2, |_| {})),
        Case::breaks("D=2 T=4, n=3", TWO, shortest(3, 2, 4, |_| {})),
        Case::holds("D=1 T=3, n=2", all(2, 1, 3, |_| {})),
        Case::holds("D=1 T=3, n=2, one crash", all(2, 1, 3, after_crash)),
        Case::holds("D=1 T=3, n=3", all(3, 1, 3, |_| {})),
        Case::holds(
            "D=1 T=3, n=3, one command, one crash",
            all(3, 1, 3, one_wish_and_crash),
        ),
        Case::holds("D=2 T=5, n=3", all(3, 2, 5, |_| {})),
        Case::holds(
            "D=1 T=3, n=3, a new score, ordered links",
            all(3, 1, 3, new_score_fifo),
        ),
        Case::holds(
            "D=1 T=3, n=3, two commands, a new score, no order",
            all(3, 1, 3, new_score),
        ),
        Case::holds(
            "default bully, D=1 T=3, n=3, the leader falls",
            falls(3, &[-1]),
        ),
        Case::holds(
            "default bully, D=1 T=3, n=3, the leader falls and rises",
            falls(3, &[-1, 9]),
        ),
        Case::holds(
            "default bully, D=1 T=3, n=4, the leader falls",
            falls(4, &[-1]),
        ),
        Case::holds(
            "default bully, D=1 T=3, n=3, a hand-over to the last",
            unwatched(3, to_the_last),
        ),
        Case::holds(
            "default bully, D=1 T=3, n=4, a hand-over to the last",
            unwatched(4, to_the_last),
        ),
        Case::holds(
            "default bully, D=1 T=3, n=3, two rise above the leader",
            unwatched(3, |b| b.budget.scores = vec![(0, 8), (1, 9)]),
        ),
    ]
}

fn to_the_last(bounds: &mut Bounds) {
    (bounds.budget.resigns, bounds.successor) = (1, Some(0));
}

/// Searches with the default rules. The score of the highest-ranked agent becomes each of `scores` in turn.
fn falls(n: usize, scores: &[i32]) -> Search {
    unwatched(n, |bounds| {
        bounds.budget.scores = scores.iter().map(|score| (n - 1, *score)).collect();
    })
}

fn unwatched(n: usize, change: impl Fn(&mut Bounds)) -> Search {
    let mut bounds = Bounds::new(n);
    bounds.delay = Some(1);
    bounds.order = Order::Fifo;
    change(&mut bounds);
    timed(Lab {
        rules: Unwatched::new(3),
        bounds,
        aim: Aim::Everything,
    })
}

fn all(n: usize, delay: u8, deadline: u8, change: impl Fn(&mut Bounds)) -> Search {
    search(n, delay, deadline, Aim::Everything, change)
}

fn shortest(n: usize, delay: u8, deadline: u8, change: impl Fn(&mut Bounds)) -> Search {
    search(n, delay, deadline, Aim::Shortest, change)
}

/// Lets every user ask for an election once.
pub(super) fn search(
    n: usize,
    delay: u8,
    deadline: u8,
    aim: Aim,
    change: impl Fn(&mut Bounds),
) -> Search {
    let mut bounds = Bounds::new(n);
    bounds.delay = Some(delay);
    bounds.budget.campaigns = u8::try_from(n).unwrap_or(u8::MAX);
    change(&mut bounds);
    timed(Lab {
        rules: Astra::new(deadline),
        bounds,
        aim,
    })
}
