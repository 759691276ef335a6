//! The settings that all hosts of a history have in common, and the settings of a single process.
//!
//! Decided here: the names, and the configuration of an agent, also a wrong configuration.

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

/// Names of all hosts. A history uses as many as it needs.
pub const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];

/// The settings that all hosts of a history have in common.
#[derive(Debug)]
pub struct Setting {
    pub plan: Plan,
    pub seed: u64,
    pub net: Net,
    pub clock: SimulatedClock,
    pub ledger: Ledger,
    /// The starts of agents that have worked as a leader since the last check.
    pub worked: Worked,
}

/// The settings of a process that differ from the plan of the history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Error of the wall clock, in milliseconds.
    pub wall: i64,
    /// Whether the process has another list of voters.
    pub has_other_voters: bool,
    /// The epoch of the list of voters.
    pub epoch: u64,
}

impl Setting {
    /// Returns the configuration of an agent that starts in a process with these settings.
    pub fn config(
        &self,
        speed: Speed,
        settings: Settings,
        member: &Member,
    ) -> turmoil::Result<QuorumConfig> {
        let mut voters = self.plan.first_voters();
        if settings.has_other_voters {
            // No agent on this list can win an election without the vote of an agent that has a different list.
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

/// Returns the name of the first agent at this place.
pub fn agent_of(member: usize) -> AgentId {
    name_of(member, 1)
}

/// Returns the name of the agent with this number at this place.
pub fn name_of(member: usize, generation: u64) -> AgentId {
    AgentId::new(&format!("{}{generation}", NAMES[member])).expect("a valid name")
}
