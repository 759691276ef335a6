//! What all hosts of a history have in common, and what a single process may have of its own.
//!
//! Decided here: the names, and the configuration of an agent: also the one that no host should have.

use std::time::Duration;

use actix_bully::{
    elections::{bully::Preemption, quorum::QuorumConfig},
    protocol::AgentId,
};
use bully_core::elections::quorum::Diskless;

use crate::{
    clock::SimulatedClock,
    ledger::Ledger,
    member::Member,
    plan::{Plan, Speed},
    wire::Net,
    work::Worked,
};

/// The names of all hosts, as many as a history needs.
pub const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];

/// What all hosts of a history have in common.
#[derive(Debug)]
pub struct Setting {
    pub plan: Plan,
    pub seed: u64,
    pub net: Net,
    pub clock: SimulatedClock,
    pub ledger: Ledger,
    /// The agents that have worked as a leader since the last look.
    pub worked: Worked,
}

/// What a process begins with, beside what the history says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// By how many milliseconds the wall clock is wrong.
    pub wall: i64,
    /// Another list of voters.
    pub has_other_voters: bool,
    /// Which choice of voters that list is said to be.
    pub epoch: u64,
}

impl Setting {
    /// The configuration of an agent that starts in a process with these settings.
    pub fn config(
        &self,
        speed: Speed,
        settings: Settings,
        member: &Member,
    ) -> turmoil::Result<QuorumConfig> {
        let mut voters = self.plan.first_voters();
        if settings.has_other_voters {
            // No agent on that list can be elected without one whose list is another one.
            let other = (member.index + 1) % self.plan.agents;
            voters = vec![member.id.clone(), agent_of(other), AgentId::new("nobody")?];
        }
        let config = QuorumConfig {
            timings: speed.timings(),
            preemption: Preemption::Never,
            cooldown: Duration::ZERO,
            epoch: settings.epoch,
            learner: self.plan.changes_voters(),
            diskless: self.plan.is_diskless.then(Diskless::default),
            ..QuorumConfig::new(voters)
        };
        config.check()?;
        Ok(config)
    }
}

/// The name of the first agent at that place.
pub fn agent_of(member: usize) -> AgentId {
    name_of(member, 1)
}

/// The name of the so many-th agent at that place.
pub fn name_of(member: usize, generation: u64) -> AgentId {
    AgentId::new(&format!("{}{generation}", NAMES[member])).expect("a valid name")
}
