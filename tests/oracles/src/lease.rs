//! The lease in a store under chaos. The first agent of a history is the register; it fails as the others do.
//!
//! Decided here: the properties. After every step:
//!
//! | property | |
//! |---|---|
//! | `OneBeliever` | at most one agent considers itself leader |
//! | `RisingTerms` | each leadership has a higher term than all before it |
//!
//! After healing: one leader, if the register runs and an agent may be elected; else none. The policy and the former
//! leader decide which agent leads.

use std::{sync::Arc, time::Duration};

use crate::skewed;
use bully_core::{
    elections::lease::{LeaseConfig, Preemption, RegisterConfig, Simulated, SimulatedConfig},
    protocol::{AgentId, IdError, Term, Time, Timings},
    random::SplitMix64,
};
use bully_sim::sim::{
    Participant, World,
    chaos::{Expected, Fault, Scenario, name},
};

/// Agents of one lease, and their register.
#[derive(Clone, Debug)]
pub struct LeaseScenario {
    config: Arc<LeaseConfig>,
    /// The register's name. The register is a member of the world.
    name: AgentId,
    register: RegisterConfig,
    last: Option<(AgentId, Term)>,
    leaderships: u64,
}

impl LeaseScenario {
    /// Returns a scenario with timings, policy and register that the seed decides; the register fails for `fails_for`
    /// at most.
    ///
    /// # Errors
    /// None: the names are fixed, and valid.
    pub fn drawn(seed: u64, fails_for: Duration) -> Result<Self, IdError> {
        // Another seed than the history's, whose first draws would be the same.
        let mut random = SplitMix64::new(seed ^ 0x1EA5_E000);
        let timings = match random.below(8) {
            0 => Timings::default(),
            1 | 2 => Timings::lan(),
            3 => Timings::fast(),
            _ => Timings::in_process(),
        };
        let half = Duration::from_millis(500);
        let preemption = match random.below(3) {
            0 => Preemption::Immediately,
            1 => Preemption::After(half),
            _ => Preemption::Never,
        };
        let config = LeaseConfig {
            timings,
            preemption,
            cooldown: half,
            ..LeaseConfig::new("chaos", "group")?
        };
        Ok(Self {
            config: Arc::new(config),
            name: name(0).map_or_else(|| AgentId::new("register"), Ok)?,
            register: RegisterConfig {
                tells: random.chance(500),
                fails_every: random.below(4) * 5,
                fails_until: Time::ZERO.after(fails_for),
                is_faulty: false,
            },
            last: None,
            leaderships: 0,
        })
    }

    /// Returns the number of leaderships that began in this history.
    pub const fn elections(&self) -> u64 {
        self.leaderships
    }

    /// Returns whether `fault` can happen to a lease. Faults that take a member or its disk away for ever are left out:
    /// the member could be the register.
    pub fn can_happen(fault: Fault) -> bool {
        let is_of_members = matches!(fault, Fault::Leave | Fault::Forgotten | Fault::LostStorage);
        fault.is_general() && !is_of_members
    }
}

impl Scenario for LeaseScenario {
    type Election = Simulated;

    fn participant(&mut self, id: AgentId, random: &mut SplitMix64) -> Participant<Simulated> {
        if id == self.name {
            return Participant::observer(id, SimulatedConfig::Register(self.register));
        }
        let score = self.score(random);
        let config = SimulatedConfig::Agent(Arc::clone(&self.config), self.name.clone());
        Participant::drawn(id, score, config, random)
    }

    fn delay_bound(&self) -> Duration {
        self.config.timings.delay_bound()
    }

    /// A hand-over that has begun, and a cool-down; then the wait for a holder that is gone, for the next holder that
    /// is gone as well, and for a better agent that takes over.
    fn settles_within(&self, skew: u32) -> Duration {
        let config = &self.config;
        let one = config.worst_case_failover(8) * 2; // twice: for agents that cool down as well
        let idle = config.timings.lease() + config.cooldown * 2;
        skewed(one * 3 + idle, skew)
    }

    fn decisive(&self) -> &[&'static str] {
        &["swap_register", "register_shown", "read_register"]
    }

    fn takes(&self, fault: Fault) -> bool {
        Self::can_happen(fault)
    }

    fn expected(&self, world: &World<Simulated>) -> Expected {
        let has_register = world.is_running(&self.name);
        match world.highest().filter(|_| has_register) {
            Some(_) => Expected::AnyLeader,
            None => Expected::NoLeader,
        }
    }

    fn check(&mut self, world: &World<Simulated>) -> Result<(), String> {
        if world.is_contested() {
            return Err(format!("OneBeliever: {:?}", world.believers()));
        }
        let Some((id, term)) = world.beliefs().next() else {
            return Ok(());
        };
        match &self.last {
            Some((last, at)) if (last, *at) == (id, term) => return Ok(()),
            Some((last, at)) if *at >= term => {
                return Err(format!(
                    "RisingTerms: {id} leads in term {term} after {last} in {at}"
                ));
            }
            Some(_) | None => {}
        }
        self.last = Some((id.clone(), term));
        self.leaderships += 1;
        Ok(())
    }
}
