//! Without time: any timer may fire as soon as it is set, any message may wait for ever, and two plain bullies lead.
//!
//! That votes are safe without synchrony is searched further, with clocks, in `quorum.rs`.

use crate::{
    bully::{Astra, Plain},
    case::{Case, timed},
    rules::Rules,
    timed::{Aim, Bounds, Clocks, Lab},
};

pub(super) fn cases() -> Vec<Case> {
    vec![
        two(2, Astra::new(3), "ASTRA, n=2", "astra-2.txt"),
        two(3, Astra::new(3), "ASTRA, n=3", "astra-3.txt"),
        two(2, Plain::default(), "default bully, n=2", "default-2.txt"),
        two(3, Plain::default(), "default bully, n=3", "default-3.txt"),
    ]
}

/// Lets every user ask for an election once.
fn two<R: Rules>(n: usize, rules: R, name: &str, golden: &'static str) -> Case {
    let mut bounds = Bounds::new(n);
    bounds.clocks = Clocks::Jump;
    bounds.budget.campaigns = u8::try_from(n).unwrap_or(u8::MAX);
    let aim = Aim::Shortest;
    let search = timed(Lab { rules, bounds, aim });
    Case::breaks(name, "at most one leads", search).kept_as(golden)
}
