//! Plays the seeds' scenarios with every election, in simulated worlds. Names have the number of the scenario: `s07 ..`
//! is scenario 7.
//!
//! `leaders.txt` has a row for each scenario, with its outcome in each election; `rows.rs` plays the rows. `losses.rs`
//! loses each message and crashes each sender (8, 9, 22). `messages.rs` repeats each message (23, 24), delays messages
//! without a bound (26), and loses a record (28). `cooldowns.rs` tests the time until the next leader after a step-down.
//! Scenarios of a single election are in the folder of that election.
//!
//! Agents are `a`, `b` and so on; the last agent ranks highest. All elections have the timings `lan`. The oracle of an
//! election (`tests/oracles`) checks each step.
#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "what does not hold fails the test"
)]

mod cooldowns;
mod losses;
mod messages;
pub(crate) mod play;
mod rows;
mod subjects;

use std::time::Duration;

use actix_bully::elections::{
    ballot::Ballot, invitation::InvitationElection, reorganization::Reorganization, ring::Ring,
};
use actix_bully_oracles::Watched;
use bully_core::elections::{astra::Astra, bully::Bully};

use play::{Story, play};
use subjects::{Style, Subject, Variant};

const MS: fn(u64) -> Duration = Duration::from_millis;

/// Script after which one agent leads and all agents follow it. It has `campaign` commands because the plain ASTRA
/// rules elect only where an agent begins.
const LED: &str = "campaign d; campaign e; settle; ";

/// A test that runs with each election.
trait Visit: Sync {
    type Outcome: Send;

    fn visit<E: Subject>(&self, variant: Variant) -> Self::Outcome;
}

/// Visits all elections at the same time. Returns the name and the outcome of each variant.
fn in_each<V: Visit>(visit: &V) -> Vec<(&'static str, V::Outcome)> {
    macro_rules! all {
        ($($election:ty: $($name:literal $style:ident),+;)+) => {{
            let visits: Vec<(Variant, fn(&V, Variant) -> V::Outcome)> = vec![$($((
                Variant { name: $name, style: Style::$style },
                V::visit::<$election>,
            ),)+)+];
            visits
        }};
    }
    let all = all! {
        Bully: "bully" Default, "bully, sticky" Sticky, "bully, patient" Patient;
        Astra: "astra" Default;
        Watched: "quorum" Patient, "quorum, sticky" Sticky, "quorum, no disks" Diskless;
        Ring: "ring" Default, "ring, patient" Patient;
        Ballot: "ballot" Default;
        Reorganization: "reorganization" Default, "reorganization, eager" Eager;
        InvitationElection: "invitation" Default;
    };
    std::thread::scope(|scope| {
        let all = all.into_iter().map(|(variant, run)| {
            let run = scope.spawn(move || run(visit, variant));
            (variant.name, run)
        });
        let all: Vec<_> = all.collect();
        let ended = all.into_iter().map(|(name, run)| {
            let outcome = run.join();
            (
                name,
                outcome.unwrap_or_else(|_| panic!("{name}: see above")),
            )
        });
        ended.collect()
    })
}
