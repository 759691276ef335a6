//! The time without a leader while the voters change and no fault happens.

use std::time::Duration;

use super::{QuorumScenario, Watched};
use bully_core::{
    elections::quorum::QuorumConfig,
    protocol::{AgentId, NewVoter, VoterChange},
};
use bully_sim::{
    faults::Conditions,
    sim::{
        Detection, Participant, World,
        chaos::{Scenario, name},
    },
};

impl QuorumScenario {
    /// Returns for how long a group has no leader while it gets a fourth voter. It has three voters with the default
    /// timings and a calm network, and the leader's work ends at once. `None` if the change was not made.
    pub fn gap_of_a_change(seed: u64) -> Option<Duration> {
        let voters: Vec<AgentId> = (0..3).filter_map(name).collect();
        let learner = name(3)?;
        let scenario = Self::new(QuorumConfig {
            learner: true,
            ..QuorumConfig::new(voters.clone())
        });
        let bound = scenario.delay_bound();
        let conditions = Conditions::builder().delay(bound / 20..=bound / 2).build();
        let agents = voters.into_iter().chain([learner.clone()]).zip(0..);
        let agents = agents.map(|(id, score)| {
            let watch = scenario.watch.clone();
            Participant::voter(id, Some(i64::from(score).into()), watch)
        });
        let mut world: World<Watched> = World::builder(seed)
            .agents(agents)
            .conditions(conditions.ok()?)
            .detection(Detection::Silent(Duration::ZERO.into()))
            .build();
        let limit = Duration::from_secs(30);
        let leader = world.settle(limit).ok()?;
        world.run_for(Duration::from_secs(1 + seed % 3)); // the learner is heard
        let (id, contact) = (learner, None);
        let change = VoterChange::Add(NewVoter { id, contact });
        world.change_voters(&leader, change, bound * 8, limit);
        let is_led = |world: &World<Watched>| world.beliefs().next().is_some();
        if !world.run_until(|world| !is_led(world), limit) {
            return None;
        }
        let since = world.now();
        let again = world.run_until(is_led, limit);
        (again && scenario.changes() == 1).then(|| world.now().since(since))
    }
}
