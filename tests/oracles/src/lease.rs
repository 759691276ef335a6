//! The lease in a store under chaos. The first agent of a history is the register; it fails as the others do.
//!
//! Decided here: what is owed. After every step:
//!
//! | property | |
//! |---|---|
//! | `OneBeliever` | at most one agent considers itself leader |
//! | `RisingTerms` | each leadership has a term above those of all before it |
//!
//! And once all is healed: one leader, if the register runs and an agent may be elected; else none. Which one it is,
//! is up to the policy and to what was there first.

use std::{sync::Arc, time::Duration};

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
    /// The register's name: it is a member of the world.
    name: AgentId,
    register: RegisterConfig,
    /// The last leadership that was seen.
    last: Option<(AgentId, Term)>,
    leaderships: u64,
}

impl LeaseScenario {
    /// Timings, policy and register as the seed will; the register is sound after so long.
    ///
    /// # Errors
    /// None: the names are fixed, and are names.
    pub fn drawn(seed: u64, fails_for: Duration) -> Result<Self, IdError> {
        // The history draws from the seed itself: its first draws would else be these.
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

    /// How many leaderships began in this history.
    pub const fn elections(&self) -> u64 {
        self.leaderships
    }

    /// Whether such a fault can happen to a lease. No member leaves for ever: it could be the register; and a disk
    /// that is lost is that of the register, which then has another promise.
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

    /// A hand-over that has begun, and a cool-down; a holder that is gone; the one that is chosen then is gone as well;
    /// and a better agent that takes over once more.
    fn settles_within(&self, skew: u32) -> Duration {
        let config = &self.config;
        let one = config.worst_case_failover(8) * 2; // of those that cool down as well
        let idle = config.timings.lease() + config.cooldown * 2;
        let all = one * 3 + idle;
        all + all * skew / 1_000_000 * 2
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
