//! The same questions, searched much further: too long for every change. No search is cut short, so each stays below
//! [`crate::case::MOST`]. None has more than 8,000,000 states: two searches of that size at a time fit into the memory.

use crate::{
    case::Case,
    quorum::Short,
    timed::{Aim, Bounds, Order},
};

use super::{
    diskless, invitation,
    others::{BEST, ballot, dies, reorganization, returns, ring, ring_for_one},
    quorum, threshold,
};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = quorums();
    cases.extend(super::set::soak());
    cases.push(super::memory::soak());
    cases.push(diskless::soak());
    cases.push(super::lease::two_on_their_way());
    cases.extend(super::voters::soak());
    cases.extend(invitations());
    cases.extend(bullies());
    cases.extend(others());
    cases
}

fn quorums() -> Vec<Case> {
    let slow_and_crash = |b: &mut Bounds| (b.budget.slow, b.budget.crashes) = (1, 1);
    let crash = quorum::search(1, 3, |_, b| slow_and_crash(b));
    let long = quorum::search_with(2, 1, 3, |_, b| b.budget.slow = 1);
    let long_crash = quorum::search_with(2, 1, 2, |_, b| slow_and_crash(b));
    let resigns = quorum::search(2, 2, |_, b| {
        b.horizon = Some(3);
        (b.budget.slow, b.budget.resigns) = (1, 1);
    });
    let promises_less = quorum::mixed(Short::Restarted, 2, slow_and_crash);
    vec![
        Case::holds(
            "quorum, 2 terms, two on their way, 3 ticks, slow, a leader steps down",
            resigns,
        ),
        Case::holds(
            "quorum, 2 terms, a voter that returns promises less, a crash, slow",
            promises_less,
        ),
        Case::holds("quorum, 3 terms, a slow clock, a crash", crash),
        Case::holds("quorum, a lease of two, 3 terms, a slow clock", long),
        Case::holds("quorum, a lease of two, 2 terms, slow, a crash", long_crash),
    ]
}

fn invitations() -> Vec<Case> {
    let crash = |b: &mut Bounds| b.budget.crashes = 1;
    vec![
        Case::holds(
            "invitation, n=3, numbers to 2, 2 on their way",
            invitation::search(3, 2, 2, |_, _| {}),
        ),
        Case::holds(
            "invitation, n=2, numbers to 3, 3 on their way, a crash",
            invitation::search(2, 3, 3, |_, b| crash(b)),
        ),
        Case::holds(
            "invitation, n=3, 2 on their way, one resigns",
            invitation::search(3, 2, 2, invitation::resigns),
        ),
    ]
}

fn bullies() -> Vec<Case> {
    let all = Aim::Everything;
    let far = threshold::search(3, 3, 7, all, |_| {});
    let slow = threshold::search(3, 2, 5, all, |b| {
        b.budget.campaigns = 1;
        dies(b);
    });
    vec![
        Case::holds("bully, D=3 T=7", far),
        Case::holds("bully, D=2 T=5, one command, one end", slow),
    ]
}

fn others() -> Vec<Case> {
    vec![
        Case::holds(
            "ballots, three voters, 2 rounds, one on its way",
            ballot(3, 2, Aim::Everything, |_, _| {}),
        ),
        Case::holds(
            "ballots, three voters, the best returns, 2 rounds",
            ballot(3, 2, Aim::Everything, |_, b| returns(b, 2, 1)),
        ),
        Case::holds(
            "ring, D=3 Hop=7, all agree after 36 ticks",
            ring(3, 7, 36, |_| {}),
        ),
        Case::holds(
            "ring, D=1 Hop=3, an end at ticks 2 to 10",
            ring(1, 3, 30, |b| {
                dies(b);
                b.crash_within = 2..=10;
            }),
        ),
        Case::holds(
            "ring, ordered, 16 ticks, a crash at 2 to 6, back by 8",
            ring_for_one(1, 3, 16, |b| {
                (b.budget.crashes, b.order) = (1, Order::Fifo);
                (b.crash_within, b.return_within) = (2..=6, Some(0..=8));
            }),
        ),
        Case::holds(
            "reorganization, D=2 T=5, 22 ticks, an end",
            reorganization(3, 2.0, (2, 5), 22, dies),
        ),
        Case::holds(
            "reorganization, ordered, 16 ticks, a crash at 0 to 8, back by 9",
            reorganization(3, 1.0, (1, 3), 16, |b| {
                (b.budget.crashes, b.order) = (1, Order::Fifo);
                (b.mortal, b.crash_within, b.return_within) = (BEST, 0..=8, Some(0..=9));
            }),
        ),
    ]
}
