//! What every election is asked, by the numbers of the seeds' scenarios, in simulated worlds: `s07 ..` is scenario 7.
//!
//! `leaders.txt` has a row for each scenario, and what came of it in each election; `rows.rs` plays them. `losses.rs`: each
//! message is lost, and each sender dies (8, 9, 22); `messages.rs`: each message comes again (23, 24), delays without a
//! bound (26), a lost record (28), messages of strangers (27). `cooldowns.rs`: the leader after a step-down. What a single
//! election is asked is in its own folder.
//!
//! Agents are `a`, `b` and so on; the last one ranks highest. All elections have the timings `lan`. The oracle of an
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
mod play;
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

/// One leads, and all follow it. The plain ASTRA rules elect only where an agent begins.
const LED: &str = "campaign d; campaign e; settle; ";

/// What is done with each election.
trait Visit: Sync {
    type Outcome: Send;

    fn visit<E: Subject>(&self, variant: Variant) -> Self::Outcome;
}

/// Visits all elections at once; returns their names and what came of each.
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
