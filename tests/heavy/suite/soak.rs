//! The same questions, asked much further: too long for every change.

use crate::{
    case::Case,
    quorum::Questions,
    timed::{Aim, Crash},
};

use super::{quorum, threshold};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = bullies();
    cases.extend(quorums());
    cases
}

fn bullies() -> Vec<Case> {
    vec![
        Case::holds(
            "plain bully, D=3 T=7",
            0,
            0,
            threshold::search(3, 3, 7, Aim::Everything, |_| {}),
        ),
        Case::holds(
            "plain bully, D=2 T=5, one wish, one crash",
            0,
            0,
            threshold::search(3, 2, 5, Aim::Everything, |b| {
                (b.budget.wishes, b.budget.crashes) = (1, 1);
            }),
        ),
        Case::holds(
            "plain bully, D=1 T=3, two wishes, one crash",
            0,
            0,
            threshold::search(3, 1, 3, Aim::Everything, |b| {
                (b.budget.wishes, b.budget.crashes) = (2, 1);
            }),
        ),
    ]
}

fn quorums() -> Vec<Case> {
    vec![
        Case::holds(
            "A quorum, 3 terms, a slow clock, a crash",
            0,
            0,
            quorum::search(1, 3, |_, b| {
                (b.budget.slow, b.budget.crashes) = (1, 1);
            }),
        ),
        Case::holds(
            "B quorum, lease 2, 2 terms, slow, a crash",
            0,
            0,
            quorum::search_with(2, 1, 2, |_, b| {
                (b.budget.slow, b.budget.crashes) = (1, 1);
            }),
        ),
        Case::holds(
            "C quorum, lease 2, 3 terms, slow",
            0,
            0,
            quorum::search_with(2, 1, 3, |_, b| {
                b.budget.slow = 1;
            }),
        ),
        Case::holds(
            "D quorum, two on their way, slow, a crash, 3 ticks",
            0,
            0,
            quorum::search(2, 2, |_, b| {
                b.horizon = Some(3);
                (b.budget.slow, b.budget.crashes) = (1, 1);
            }),
        ),
        Case::holds(
            "E quorum, three on their way, 2 ticks",
            0,
            0,
            quorum::search(3, 2, |_, b| {
                b.horizon = Some(2);
            }),
        ),
        Case::holds(
            "F quorum, asked questions, refusals",
            0,
            0,
            quorum::search(1, 2, |r, b| {
                (r.questions, r.mute, r.rounds) = (Questions::Asked, false, 3);
                b.budget.slow = 1;
            }),
        ),
        Case::holds(
            "G quorum, a reported crash, a doubt, a slow clock",
            0,
            0,
            quorum::search(1, 2, |_, b| {
                (b.budget.slow, b.budget.crashes, b.budget.doubts, b.crash) =
                    (1, 1, 1, Crash::Reported);
            }),
        ),
        Case::holds(
            "H quorum, all three stand",
            0,
            0,
            quorum::search(1, 2, |r, b| {
                r.witnesses = 0;
                b.budget.slow = 1;
            }),
        ),
    ]
}
