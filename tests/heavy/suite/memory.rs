//! The quorum election between three voters of which one loses its store: it begins anew with an empty one.
//!
//! A search begins when an agent leads by the vote of the one that will forget it. The third voter has heard of the
//! leader, and of no vote. Questions and their answers arrive at once or never. Heartbeats are lost, so a leadership
//! lasts for one lease.
//!
//! Not found here: `ExcusedByOne`, also with heartbeats (4,511,796 worlds with three messages on their way),
//! `DeniedHeard`, and `LateVotesAtOnce` since a claim is made again for the same term (1,239,291 worlds). Each has a scene
//! of its own.

use bully_core::elections::quorum::Defect;

use crate::{
    case::{Case, Search, timed},
    quorum::{Questions, Quorum},
    timed::{Aim, Bounds, Crash, Lab},
};

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::holds(
            "memory: one loses its store, two on their way",
            165_049,
            30,
            search(2, None),
        ),
        Case::breaks(
            "memory: a voter is heard with any store",
            174_654,
            ("TokenMonotone", 18),
            search(2, Some(Defect::AnyStore)),
        ),
        Case::breaks(
            "memory: a name is one voter for ever",
            209_963,
            ("LeaderPerTerm", 16),
            search(2, Some(Defect::OneNameOneVoter)),
        ),
    ]
}

pub(super) fn soak() -> Case {
    Case::holds(
        "memory: one loses its store, three on their way",
        1_279_300,
        31,
        search(3, None),
    )
}

/// So many messages wait to arrive at a time; two ticks pass.
fn search(wire: usize, defect: Option<Defect>) -> Search {
    let mut bounds = Bounds::new(3);
    (bounds.wire, bounds.crash, bounds.mortal) = (wire, Crash::Lost, Some(1));
    (bounds.prologue, bounds.horizon) = (1, Some(3));
    bounds.budget.crashes = 1;
    let mut rules = Quorum::new(3, 1, defect);
    (rules.questions, rules.is_brief, rules.is_untaught) = (Questions::Called, true, true);
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
