//! Tests a register of your own against the contract.
//!
//! Call [`check`] in a test of your own, with a function that connects to the store. The suite takes about a second in
//! memory, and some seconds if each write is synced to a disk or goes over a network.
//!
//! ```
//! # use bully_register::{MemoryRegister, conformance::{self, Clause}};
//! # fn main() -> Result<(), conformance::NonConformance> {
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
//! # runtime.expect("a runtime can be built").block_on(async {
//! let store = MemoryRegister::new();
//! let report = conformance::check(|| store.clone()).await?;
//! assert!(report.holds(Clause::OneWins));
//! println!("{report}");
//! # Ok(()) })
//! # }
//! ```
//!
//! ```text
//!   check ──▶ single.rs, late.rs, optional.rs ── probe.rs ─────────────▶ Register, two connections
//!        └──▶ contest.rs: six clients at once ── faults.rs, or plain ──▶ Register, a connection each
//!                    └── every step ──▶ history.rs: is there an order that explains it?
//! ```
//!
//! Without faults a wrong register could pass: a write that ignores the expected version does no harm while no other
//! client writes. The suite therefore puts a network between its clients and the register. The network delays, loses
//! answers after the write was applied, and delivers a write after its caller learned that the outcome is unknown.
//!
//! Decided here: the order of the tests. Not here: the clauses (`clause.rs`), and the tests of each clause. The suite
//! calls the register from outside, so it cannot test some faults of a store's client: a client that repeats a write
//! whose answer was lost, an operation that does not end when the store hangs, and an error of the store that is
//! mistaken for an unknown outcome. Cut the connection of your client to test them.

mod clause;
mod contest;
mod error;
mod faults;
mod history;
mod late;
mod optional;
mod probe;
mod single;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use tokio::runtime::Handle;

pub use clause::{Clause, Report};
pub use error::{Found, NonConformance};

use crate::{Register, RegisterKey};
use contest::{CLIENTS, ContestNetwork, play};
use probe::ClauseProbe;

/// Tests whether a register keeps the contract. Each call of `connect` must open a new connection to the same store.
/// Eight connections are open at once, as if each belonged to another process.
///
/// The keys begin with a name that differs in each run. If the register offers no removals, about 1,500 entries stay in
/// the store. Call it in a runtime of tokio with its timers enabled, such as the runtimes of `#[tokio::test]` and
/// `#[actix::test]`.
///
/// # Errors
/// [`NonConformance`]: the first clause that does not hold, with the observation; or the failure of the register.
pub async fn check<R>(connect: impl Fn() -> R) -> Result<Report, NonConformance>
where
    R: Register + 'static,
{
    Handle::try_current().map_err(|_| NonConformance::NoRuntime)?;
    let connect = || -> Arc<dyn Register> { Arc::new(connect()) };
    let run = SuiteRun {
        number: format!("{:016x}", fastrand::u64(..)),
        one: connect(),
        other: connect(),
        clients: (0..CLIENTS).map(|_| connect()).collect(),
    };
    let mut report = Report::default();
    run.demanded(&mut report).await?;
    run.offered(&mut report).await?;
    Ok(report)
}

struct SuiteRun {
    /// A part of every key's name that differs in each run, so that two runs on one store share no key.
    number: String,
    one: Arc<dyn Register>,
    other: Arc<dyn Register>,
    clients: Vec<Arc<dyn Register>>,
}

impl SuiteRun {
    /// Tests the operations that every register must offer.
    async fn demanded(&self, report: &mut Report) -> Result<(), NonConformance> {
        single::one_name(self)?;
        report.hold(&[Clause::OneName]);
        single::compares(self).await?;
        report.hold(&[Clause::AbsentIsNone, Clause::ReadsWhatWasWritten]);
        single::new_versions(self).await?;
        report.hold(&[Clause::NewVersion]);
        single::sizes(self).await?;
        report.hold(&[Clause::LargestValue]);
        single::seen_by_others(self).await?;
        single::waits_for_poll(self).await?;
        report.hold(&[Clause::WaitsForPoll]);
        late::swaps(self).await?;
        report.hold(&[Clause::SwapCompares]);
        single::keys_apart(self).await?;
        single::many_at_once(self).await?;
        report.hold(&[Clause::KeysApart]);
        single::dropped(self).await?;
        report.hold(&[Clause::DropHarmsNothing]);
        play(self, ContestNetwork::Plain).await?;
        play(self, ContestNetwork::Faulty).await?;
        report.hold(&[
            Clause::SeenAtOnce,
            Clause::OneWins,
            Clause::AppliedOnce,
            Clause::FailureMeansUnchanged,
        ]);
        Ok(())
    }

    /// Tests the operations that a register may leave out.
    async fn offered(&self, report: &mut Report) -> Result<(), NonConformance> {
        if optional::removes(self).await? && late::removals(self).await? {
            report.hold(&[Clause::RemovalCompares]);
        }
        if optional::lists(self).await? {
            report.hold(&[Clause::ListsBelow]);
        }
        if let Some(missed) = optional::tells(self).await? {
            report.hold(&[Clause::TellsChanges]);
            report.miss(missed);
        }
        Ok(())
    }

    fn number(&self) -> &str {
        &self.number
    }

    fn key(&self, name: &str) -> RegisterKey {
        parse(&format!("conformance-{}/{name}", self.number))
    }

    /// Returns the first connection, for a test of `clause`.
    fn probe(&self, clause: Clause) -> ClauseProbe {
        let register = Arc::clone(&self.one);
        ClauseProbe { register, clause }
    }

    /// Returns the second connection, for a test of `clause`.
    fn other(&self, clause: Clause) -> ClauseProbe {
        let register = Arc::clone(&self.other);
        ClauseProbe { register, clause }
    }
}

#[expect(clippy::expect_used, reason = "the suite's own names are valid")]
fn parse(key: &str) -> RegisterKey {
    key.parse().expect("a valid key")
}
