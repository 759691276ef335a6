//! What happens to the agents of a cluster, by a seed, while applications use their leaderships.
//!
//! Decided here: how each trouble is done, and that it is mostly the leader's, whose troubles concern the application.
//! Not here: how often each is drawn, and what must hold.

use std::collections::BTreeMap;

use actix_bully::{agent::ElectionHandle, testkit::cluster::Cluster};
use fastrand::Rng;

pub(super) const NAMES: [&str; 5] = ["agent-1", "agent-2", "agent-3", "agent-4", "agent-5"];

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Trouble {
    Crash,
    /// All that crashed or were stopped start again.
    Restart,
    Hang,
    Resume,
    StepDown,
    Isolate,
    Heal,
    Stop,
}

impl Trouble {
    pub(super) const ALL: [Self; 8] = [
        Self::Crash,
        Self::Restart,
        Self::Hang,
        Self::Resume,
        Self::StepDown,
        Self::Isolate,
        Self::Heal,
        Self::Stop,
    ];

    /// Does it to that agent, or to all; `None` if that changes nothing. Gives those that start again, which need their
    /// application.
    pub(super) async fn befall(
        self,
        cluster: &mut Cluster,
        name: &str,
    ) -> Option<Vec<&'static str>> {
        let is_done = match self {
            Self::Crash => cluster.crash(name).await.is_ok(),
            Self::Restart => {
                let restarted = restart(cluster);
                return (!restarted.is_empty()).then_some(restarted);
            }
            Self::Hang => cluster.hang(name).await.is_ok(),
            Self::Resume => NAMES
                .map(|name| cluster.resume(name).is_ok())
                .contains(&true),
            Self::StepDown => cluster.step_down(name, None).is_ok(),
            Self::Isolate => cluster.isolate(name).is_ok(),
            Self::Heal => {
                cluster.heal();
                true
            }
            Self::Stop => cluster.stop(name).await.is_ok(),
        };
        is_done.then(Vec::new)
    }
}

/// Starts all that do not run.
pub(super) fn restart(cluster: &mut Cluster) -> Vec<&'static str> {
    let names = NAMES.into_iter();
    names.filter(|name| cluster.restart(name).is_ok()).collect()
}

/// Fails where some trouble never came.
pub(super) fn each_happened(happened: &BTreeMap<Trouble, u32>) {
    for trouble in Trouble::ALL {
        assert!(
            happened.contains_key(&trouble),
            "{trouble:?} never happened"
        );
    }
}

/// Mostly the leader; else any.
pub(super) fn target(cluster: &Cluster, rng: &mut Rng) -> Option<&'static str> {
    let leads = |name: &&str| cluster.handle(name).is_ok_and(ElectionHandle::is_leader);
    let leader = NAMES.into_iter().find(leads);
    let any = rng.choice(NAMES);
    leader.filter(|_| rng.u32(..4) > 0).or(any)
}
