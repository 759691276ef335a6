//! The same questions, asked much further: too long for every change. None is cut short, so each is
//! below what [`crate::case::MOST`] allows; most are too large to be counted anew with each change of
//! the rules.

use crate::{
    case::Case,
    timed::{Aim, Crash},
};

use super::{quorum, threshold};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = bullies();
    cases.extend(quorums());
    cases
}

fn bullies() -> Vec<Case> {
    let all = Aim::Everything;
    let far = threshold::search(3, 3, 7, all, |_| {});
    let slow = threshold::search(3, 2, 5, all, |b| {
        (b.budget.wishes, b.budget.crashes) = (1, 1)
    });
    let twice = threshold::search(3, 1, 3, all, |b| {
        (b.budget.wishes, b.budget.crashes) = (2, 1)
    });
    vec![
        Case::holds_uncounted("bully, D=3 T=7", far),
        Case::holds_uncounted("bully, D=2 T=5, one wish, one crash", slow),
        Case::holds_uncounted("bully, D=1 T=3, two wishes, one crash", twice),
    ]
}

fn quorums() -> Vec<Case> {
    let crash = quorum::search(1, 3, |_, b| (b.budget.slow, b.budget.crashes) = (1, 1));
    let reported = quorum::search(1, 2, |_, b| {
        (b.budget.slow, b.budget.crashes, b.budget.doubts) = (1, 1, 1);
        b.crash = Crash::Reported;
    });
    let long = quorum::search_with(2, 1, 3, |_, b| b.budget.slow = 1);
    let long_crash =
        quorum::search_with(2, 1, 2, |_, b| (b.budget.slow, b.budget.crashes) = (1, 1));
    vec![
        Case::holds_uncounted("quorum, 3 terms, a slow clock, a crash", crash),
        Case::holds_uncounted("quorum, 2 terms, the same, reported, and a doubt", reported),
        Case::holds_uncounted("quorum, a lease of two, 3 terms, a slow clock", long),
        Case::holds(
            "quorum, a lease of two, 2 terms, slow, a crash",
            1_399_566,
            36,
            long_crash,
        ),
    ]
}
