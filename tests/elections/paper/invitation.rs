//! Section IV of the paper: the algorithm for systems in which a message may take any time.
//!
//! The assertion of the paper holds in each group under any fault. All agents form only one group if messages arrive in
//! time, and a test shows more groups if they do not.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use actix_bully::{
    elections::invitation::{InvitationConfig, InvitationElection, Task},
    protocol::{AgentId, Timings},
    testkit::faults::Conditions,
};
use actix_bully_oracles::InvitationScenario;
use bully_classics::invitation::{ElectionId, PaperStatus};
use bully_sim::{
    faults::SplitMix64,
    sim::{Detection, Participant, World, chaos::Scenario as _},
    trace::{Checkpoint, Trace},
};

use crate::paper::{MS, crash_and_recover, name};

/// T = 50 ms, d = 2 ms, H = 25 ms, L = 100 ms.
fn config() -> InvitationConfig {
    InvitationConfig::new(Timings::in_process())
}

/// Returns a world of agents "1" to "n". The score of an agent is its number, and each agent has a task of its own.
/// Only silence shows a crash.
fn world(seed: u64, n: usize, network: Conditions) -> World<InvitationElection> {
    let agent = |number: usize| {
        let task = Task(u64::try_from(number).unwrap());
        let config = InvitationConfig { task, ..config() };
        let score = i64::try_from(number).unwrap().into();
        Participant::voter(name(number), Some(score), Arc::new(config))
    };
    World::builder(seed)
        .agents((1..=n).map(agent))
        .conditions(network)
        .detection(Detection::Silent(Duration::ZERO.into()))
        .trace(Trace::new())
        .build()
}

/// Returns a network with delays from 0 to d. Messages may overtake each other, and some messages arrive twice.
fn on_time() -> Conditions {
    let d = config().timings.delay_bound();
    let network = Conditions::builder().delay(Duration::ZERO..=d);
    network.in_any_order().duplication(100).build().unwrap()
}

/// Returns all running agents.
fn living(
    world: &World<InvitationElection>,
) -> impl Iterator<Item = (&AgentId, &InvitationElection)> {
    let all = world.agents();
    all.filter_map(|id| Some((id, world.machine(id)?)))
}

type Groups<'a> = BTreeMap<&'a ElectionId, Vec<&'a InvitationElection>>;

/// Returns the agents in the Reorganization or Normal state, by their group.
fn groups(world: &World<InvitationElection>) -> Groups<'_> {
    let mut groups = Groups::new();
    for (_, machine) in living(world) {
        if let Some(group) = machine.group() {
            groups.entry(group).or_default().push(machine);
        }
    }
    groups
}

/// Returns whether only one group exists, all running agents are Normal in it, and one of them coordinates it.
fn one_group(world: &World<InvitationElection>) -> bool {
    let leads = |(id, m): (&AgentId, &InvitationElection)| m.coordinator() == Some(id);
    groups(world).len() == 1
        && living(world).all(|(_, m)| m.status() == PaperStatus::Normal)
        && living(world).any(leads)
}

/// Returns the longest time until only one group exists after the last fault.
fn soon() -> Duration {
    let config = config();
    let again = config.detector().heartbeat + config.worst_case_merge_with_losses();
    config.worst_case_failover(7) + config.takeover() + again * 2
}

#[test]
fn there_is_one_group_of_all_when_time_is_kept_and_nothing_fails() {
    for seed in 0..200 {
        let mut random = SplitMix64::new(seed);
        let n = *random.pick(&[1, 2, 3, 5, 7]).unwrap();
        let mut world = world(seed, n, on_time());
        // "If two nodes are in the Reorganization or Normal state, and have the same group number, they have the same
        // coordinator; if both are Normal, the same task."
        let mut oracle = InvitationScenario::drawn(0).unwrap();
        world.set_invariant(move |world| oracle.check(world));
        crash_and_recover(&mut world, &mut random, MS(2_000));
        world.run_for(soon());
        assert_eq!(world.violation().map(ToString::to_string), None);
        assert!(one_group(&world), "seed {seed}: {:?}", groups(&world));
        let highest = world.highest().map(|rank| rank.id);
        assert_eq!(world.believers().first(), highest.as_ref(), "seed {seed}");
    }
}

/// A merge costs exactly 3 messages for each member of the new group except its coordinator, for any number of former
/// groups. It takes at most 7 d from the beginning of the check.
#[test]
fn a_merge_costs_3_messages_for_each_member() {
    let d = config().timings.delay_bound();
    for n in 2..=8_usize {
        for split in 1..n {
            let mut world = world(1, n, Conditions::delayed(d));
            world.settle(MS(1_000)).unwrap();
            let all: Vec<AgentId> = (1..=n).map(name).collect();
            let (low, high) = all.split_at(split);
            world.partition([low, high]);
            world.run_for(MS(1_000));
            assert_eq!(groups(&world).len(), 2, "{n}, {split}");
            let (before, healed) = (world.trace().checkpoint(), world.now());
            world.heal();
            world.settle(MS(1_000)).unwrap();
            let sent = world.trace().election_messages_since(before);
            let members = u64::try_from(n - 1).unwrap();
            assert_eq!(sent, 3 * members, "{split} of {n} are merged");
            let took = world.now().since(healed);
            let lower_first = config().timings.step();
            let longest = config().detector().heartbeat * 2 + lower_first;
            assert!(took <= longest + config().worst_case_merge(), "{took:?}");
        }
    }
}

/// All agents start at once and know each other's ranks. The first agent forms a group, and the other agents are free
/// to join it.
#[test]
fn a_cold_start_is_one_merge() {
    let d = config().timings.delay_bound();
    for n in 1..=7_usize {
        let mut world = world(1, n, Conditions::delayed(d));
        world.settle(MS(1_000)).unwrap();
        let sent = world.trace().election_messages_since(Checkpoint::default());
        let invited = world.trace().count_of("invitation").sent;
        assert_eq!(invited, u64::try_from(n - 1).unwrap());
        assert_eq!(sent, 3 * invited, "{}", world.trace().to_text());
        assert!(
            world.now().since(actix_bully::protocol::Time::ZERO) <= config().worst_case_merge()
        );
    }
}
