//! The quorum election where the network is a set of messages: a message may arrive at any later moment, and some
//! arrive once more, at the incarnation of the receiver that runs then.
//!
//! A search begins after a first hand-over, whose messages may arrive once more as well. Questions and their answers
//! arrive at once or never: they name their round. Heartbeats are lost, so a leadership lasts for one lease: these
//! searches check which agent may lead in a term, and other searches check for how long. At most two messages wait to
//! arrive for the first time; copies need no room.

use crate::{
    case::{Case, Search, timed},
    quorum::{Questions, Quorum},
    timed::{Aim, Bounds, Crash, HandOver, Lab},
};

/// The agent that leads when a search begins.
const LEADER: Option<usize> = Some(1);

pub(super) fn first(_: &mut Quorum, bounds: &mut Bounds) {
    (bounds.horizon, bounds.mortal) = (Some(2), LEADER);
}

pub(super) fn cases() -> Vec<Case> {
    vec![Case::holds(
        "set: one arrives again, the leader restarts, 2 ticks",
        search(HandOver::Prepared, 1, first),
    )]
}

/// Returns the cases that go further. A tick multiplies the states by six to seven: a search of four ticks used 6.7 GB,
/// and was far from its end.
pub(super) fn soak() -> [Case; 2] {
    let further = |how| {
        search(how, 1, |_, bounds| {
            (bounds.horizon, bounds.mortal) = (Some(3), LEADER);
        })
    };
    [
        Case::holds(
            "set: one arrives again, the leader restarts, 3 ticks",
            further(HandOver::Prepared),
        ),
        Case::holds(
            "set: not prepared, one arrives again, the leader restarts, 3 ticks",
            further(HandOver::Unprepared),
        ),
    ]
}

/// Searches with up to `repeats` repeated messages, one restart and one hand-over. The third term is the last, and six
/// ticks pass.
fn search(how: HandOver, repeats: u8, change: impl Fn(&mut Quorum, &mut Bounds)) -> Search {
    timed(lab(how, repeats, change))
}

pub(super) fn lab(
    how: HandOver,
    repeats: u8,
    change: impl Fn(&mut Quorum, &mut Bounds),
) -> Lab<Quorum> {
    let mut bounds = Bounds::new(3);
    (bounds.wire, bounds.crash) = (2, Crash::Unseen);
    (bounds.handed_over, bounds.horizon) = (Some(how), Some(6));
    (
        bounds.budget.repeats,
        bounds.budget.crashes,
        bounds.budget.resigns,
    ) = (repeats, 1, 1);
    // With one reading, the lease would end before a hand-over that could not be prepared begins.
    let lease = match how {
        HandOver::Prepared => 1,
        HandOver::Unprepared => 2,
    };
    let mut rules = Quorum::new(3, lease).without_cooldown();
    (rules.terms, rules.witnesses) = (3, 1);
    (rules.questions, rules.counts_lives, rules.is_brief) = (Questions::Called, true, true);
    change(&mut rules, &mut bounds);
    Lab {
        rules,
        bounds,
        aim: Aim::Everything,
    }
}
