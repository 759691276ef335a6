//! The sum of many histories. The order in which they are added makes no difference.

use std::{collections::BTreeMap, time::Duration};

use bully_sim::{
    faults::Tally,
    sim::{
        Situation,
        chaos::{Coverage, Fault},
    },
};

use super::history::{Outcome, Plan, Protocol};

/// The sums and the extreme values of all histories.
#[derive(Clone, Debug, Default)]
pub(crate) struct Summary {
    pub(crate) histories: u64,
    /// Virtual time of all histories together.
    pub(crate) nanos: u128,
    pub(crate) steps: u64,
    pub(crate) messages: u64,
    pub(crate) elections: u64,
    /// Number of lists of voters that were installed, and the times without a leader because of a change, in groups
    /// without other faults.
    pub(crate) changes: u64,
    pub(crate) gaps: Vec<Duration>,
    pub(crate) relapses: u64,
    /// Histories with two leaders at the same time, and the longest such time.
    pub(crate) contested: u64,
    pub(crate) longest_contest: Duration,
    pub(crate) slowest: Option<Healing>,
    pub(crate) violations: u64,
    /// The violations of the lowest seeds.
    pub(crate) shown: BTreeMap<u64, Broken>,
    pub(crate) coverage: Coverage,
    /// Sum of the digests of all histories, if they were made. A digest has the kind and the term of each message, not
    /// its fields.
    pub(crate) hash: u64,
}

/// A promise that was broken.
#[derive(Clone, Debug)]
pub(crate) struct Broken {
    pub(crate) what: String,
    /// The command that runs the history again.
    pub(crate) again: String,
}

/// The time of an agreement, with its bound. The slower one is the larger; if two are equal, the one with the lower
/// seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Healing {
    /// Time in millionths of the bound.
    share: u128,
    before: std::cmp::Reverse<u64>,
    pub(crate) took: Duration,
    pub(crate) bound: Duration,
}

/// Number of histories in which every fault meets agents in every situation.
const MANY: u64 = 5_000;

/// Largest number of violations that are shown.
const SHOWN: usize = 10;

impl Summary {
    /// Adds one history.
    pub(crate) fn add(&mut self, plan: &Plan, outcome: &Outcome) {
        let report = &outcome.report;
        self.histories += 1;
        self.nanos += u128::from(report.ended.as_nanos());
        self.steps += report.steps;
        let Tally { sent, .. } = report.tally;
        self.messages += sent;
        self.elections += outcome.elections;
        self.changes += outcome.changes;
        self.gaps.extend(outcome.gap);
        self.relapses += u64::from(report.relapses);
        self.contested += u64::from(report.contested.times > 0);
        self.longest_contest = self.longest_contest.max(report.contested.longest);
        self.coverage.add(&report.coverage);
        if let Some(violation) = &report.violation {
            self.breaks(plan, violation.to_string());
        } else {
            let healing = Healing::new(report.seed, report.settled_after, outcome.bound);
            self.slowest = self.slowest.max(Some(healing));
        }
        if let Some(digest) = report.trace.digest() {
            // A sum, so that the order in which threads end does not count.
            self.hash = self.hash.wrapping_add(digest);
        }
    }

    /// Adds a broken promise.
    pub(crate) fn breaks(&mut self, plan: &Plan, what: String) {
        self.violations += 1;
        let again = plan.to_string();
        self.shown.insert(plan.seed, Broken { what, again });
        self.show_the_lowest();
    }

    /// Adds the counts of another thread.
    pub(crate) fn merge(&mut self, other: Self) {
        self.histories += other.histories;
        self.nanos += other.nanos;
        self.steps += other.steps;
        self.messages += other.messages;
        self.elections += other.elections;
        self.changes += other.changes;
        self.gaps.extend(other.gaps);
        self.relapses += other.relapses;
        self.contested += other.contested;
        self.longest_contest = self.longest_contest.max(other.longest_contest);
        self.slowest = self.slowest.max(other.slowest);
        self.violations += other.violations;
        self.shown.extend(other.shown);
        self.show_the_lowest();
        self.coverage.add(&other.coverage);
        self.hash = self.hash.wrapping_add(other.hash);
    }

    /// Returns the median and the longest time without a leader because of a change of the voters.
    pub(crate) fn gap(&self) -> Option<(Duration, Duration)> {
        let mut gaps = self.gaps.clone();
        gaps.sort_unstable();
        let middle = gaps.get(gaps.len() / 2).copied();
        middle.zip(gaps.last().copied())
    }

    /// Returns the faults of `faults` that never happened.
    pub(crate) fn missing(&self, faults: &[Fault]) -> Vec<Fault> {
        let never = |fault: &Fault| self.coverage.of(*fault) == 0;
        faults.iter().copied().filter(never).collect()
    }

    /// Returns the faults that met no agent in a possible situation, for a run that is long enough for all.
    pub(crate) fn unmet(&self, protocol: Protocol, faults: &[Fault]) -> Vec<(Fault, Situation)> {
        if self.histories < MANY {
            return Vec::new();
        }
        let all = faults.iter().flat_map(|fault| {
            let owed = |situation: &Situation| protocol.owes(*fault, *situation);
            let situations = Situation::ALL.into_iter().filter(owed);
            situations.map(|situation| (*fault, situation))
        });
        all.filter(|(fault, situation)| self.coverage.met(*fault, *situation) == 0)
            .collect()
    }

    fn show_the_lowest(&mut self) {
        while self.shown.len() > SHOWN {
            self.shown.pop_last();
        }
    }
}

impl Healing {
    fn new(seed: u64, took: Duration, bound: Duration) -> Self {
        let share = took.as_nanos() * 1_000_000;
        Self {
            share: share.checked_div(bound.as_nanos()).unwrap_or(0),
            before: std::cmp::Reverse(seed),
            took,
            bound,
        }
    }

    pub(crate) const fn seed(&self) -> u64 {
        self.before.0
    }

    pub(crate) const fn percent(&self) -> u128 {
        self.share / 10_000
    }
}
