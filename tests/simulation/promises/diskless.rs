//! The quorum without disks: what it shares with the quorum, and what its terms are worth.

use std::time::Duration;

use actix_bully_oracles::{BullyScenario, QuorumScenario};
use bully_sim::sim::chaos::{ChaosOptions, Fault, chaos};

use super::{
    kit::{Mode, size},
    leaders, partition,
};

/// No history breaks an invariant, and at no instant two lead. With clocks that agree terms increase for ever; with
/// others while a majority of the voters remembers.
fn one_leads(seeds: impl Iterator<Item = u64>, faults: &[Fault]) {
    for seed in seeds {
        let mut scenario = QuorumScenario::diskless(seed, size(seed)).unwrap();
        let options = ChaosOptions {
            faults_for: Duration::from_secs(4),
            faults: faults.to_vec(),
            skew: QuorumScenario::diskless_skew(seed),
            ..ChaosOptions::default()
        };
        let report = chaos(seed, size(seed), &options, &mut scenario);
        assert_eq!((report.violation, report.contested.times), (None, 0));
    }
}

/// All faults, and restarts of several voters at the same moment.
fn any() -> Vec<Fault> {
    let mut faults = Fault::ALL.to_vec();
    if !faults.contains(&Fault::Outage) {
        faults.push(Fault::Outage);
    }
    faults
}

pub(super) fn within_the_delay_bound() {
    one_leads(0..100, &BullyScenario::BOUNDED);
}

pub(super) fn on_any_network() {
    one_leads(0..100, &any());
}

pub(super) fn only_the_majority_has_a_leader() {
    partition::the_majority_alone_has_a_leader(Mode::Diskless);
}

pub(super) fn heals_within_the_formula() {
    partition::heals_within_the_formula(Mode::Diskless);
}

pub(super) fn shares_no_term_while_a_majority_remembers() {
    one_leads(1_000..1_060, &any());
}

pub(super) fn ends_with_its_lease() {
    leaders::ends_with_its_lease(Mode::Diskless);
}
