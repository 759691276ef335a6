//! The quorum election between three voters without a disk, or two and an observer: some restart, or all, and forget
//! everything; and those of its rules that take nothing but that to be missed, each broken on purpose.
//!
//! Not found here, and why: `AnyTerm` takes a clock that is ten seconds ahead, `EarlyAnswers` five voters (three ask both
//! others, and so the leader), and the other five messages that are on their way for longer than there is room for.

use bully_core::elections::quorum::diskless::Defect;

use crate::{
    case::{Case, Search, timed},
    diskless::{FOLLOWED, Forgetful, Walls},
    timed::{Aim, Bounds, Crash, Lab},
};

/// A leader leads by then.
const BEGUN: u16 = 5;

/// Some clocks are so far behind.
const WRONG: Walls = Walls::Behind(8);

pub(super) fn cases() -> Vec<Case> {
    let mut cases = holds();
    cases.extend(planted());
    cases.extend(observed());
    cases
}

fn holds() -> Vec<Case> {
    vec![
        Case::holds(
            "no disk: one restarts, D=1, 4 ticks",
            337_194,
            37,
            search(Walls::Right, None, 4, |b| {
                (b.budget.crashes, b.delay) = (1, Some(1));
            }),
        ),
        Case::holds(
            "no disk: one restarts, no bound on delays, 3 ticks",
            82_130,
            28,
            search(Walls::Right, None, 3, |b| b.budget.crashes = 1),
        ),
        Case::holds(
            "no disk: one restarts, D=1, a slow clock, 3 ticks",
            120_899,
            28,
            search(Walls::Right, None, 3, |b| {
                (b.budget.crashes, b.budget.slow, b.delay) = (1, 1, Some(1));
            }),
        ),
        Case::holds(
            "no disk: two restart, or one twice, D=0, 4 ticks",
            308_648,
            38,
            search(Walls::Right, None, 4, |b| {
                (b.budget.crashes, b.delay) = (2, Some(0));
            }),
        ),
        Case::holds(
            "no disk: all restart, D=0, 3 ticks",
            202_842,
            30,
            search(Walls::Right, None, 3, |b| {
                (b.budget.crashes, b.delay) = (3, Some(0));
            }),
        ),
        Case::holds(
            "no disk: one restarts, wrong clocks, D=1, 3 ticks",
            37_493,
            28,
            search(WRONG, None, 3, |b| {
                (b.budget.crashes, b.delay) = (1, Some(1));
            }),
        ),
        Case::holds(
            "no disk: two restart, wrong clocks, D=0, 3 ticks",
            48_747,
            29,
            search(WRONG, None, 3, |b| {
                (b.budget.crashes, b.delay) = (2, Some(0));
            }),
        ),
    ]
}

fn planted() -> Vec<Case> {
    vec![
        Case::breaks(
            "no disk: an abstention of half a promise",
            66_479,
            ("NoRivalElected", 14),
            search(Walls::Right, Some(Defect::ShortAbstention), 3, |b| {
                (b.budget.crashes, b.budget.slow, b.delay) = (1, 1, Some(1));
            }),
        ),
        Case::breaks(
            "no disk: terms that are only counted",
            32_406,
            ("TokenMonotone", 18),
            search(Walls::Right, Some(Defect::CountedTerms), 3, |b| {
                (b.budget.crashes, b.delay) = (2, Some(0));
            }),
        ),
        // Four ticks: a voter of the leader's quorum has to abstain before it votes in the same term again.
        Case::breaks(
            "no disk: a voter that recovers without asking",
            5_856,
            ("LeaderPerTerm", 27),
            search(Walls::Behind(3), Some(Defect::NoRecovery), 4, |b| {
                (b.budget.crashes, b.delay) = (1, Some(0));
            }),
        ),
        Case::breaks(
            "no disk: silence that is taken for an answer",
            320_934,
            ("LeaderPerTerm", 17),
            search(WRONG, Some(Defect::SilenceIsAnAnswer), 4, |b| {
                b.budget.crashes = 1;
            }),
        ),
    ]
}

/// Both voters restart, and an observer remembers.
fn observed() -> [Case; 2] {
    let search = |defect| {
        let mut bounds = beginning(4);
        (bounds.budget.crashes, bounds.delay, bounds.wire) = (2, Some(0), 2);
        let mut rules = Forgetful::observed(defect);
        rules.crashes = bounds.budget.crashes;
        timed(Lab {
            rules,
            bounds,
            aim: Aim::Everything,
        })
    };
    [
        Case::holds(
            "no disk: both voters restart, an observer remembers",
            21_848,
            35,
            search(None),
        ),
        Case::never(
            "no disk: an observer that says nothing",
            21_702,
            35,
            FOLLOWED,
            search(Some(Defect::SilentObserver)),
        ),
    ]
}

/// The same, further.
pub(super) fn soak() -> Case {
    let further = search(Walls::Right, None, 4, |b| b.budget.crashes = 1);
    Case::holds(
        "no disk: one restarts, no bound on delays, 4 ticks",
        1_102_594,
        37,
        further,
    )
}

/// So many ticks after the prologue, with one message on its way at most.
fn search(
    walls: Walls,
    defect: Option<Defect>,
    ticks: u16,
    change: impl Fn(&mut Bounds),
) -> Search {
    let mut bounds = beginning(ticks);
    change(&mut bounds);
    let mut rules = Forgetful::new(walls, defect);
    rules.crashes = bounds.budget.crashes;
    timed(Lab {
        rules,
        bounds,
        aim: if defect.is_some() {
            Aim::Shortest
        } else {
            Aim::Everything
        },
    })
}

/// Three agents of which one leads, so many ticks further; with one message on its way at most.
fn beginning(ticks: u16) -> Bounds {
    let mut bounds = Bounds::new(3);
    (bounds.wire, bounds.crash) = (1, Crash::Unseen);
    (bounds.prologue, bounds.horizon) = (BEGUN, Some(BEGUN + ticks));
    bounds
}
