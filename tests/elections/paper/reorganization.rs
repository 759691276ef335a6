//! Section III of the paper: GM1 and GM2 of the algorithm for systems in which neither the network nor a node is ever
//! late.

use std::{sync::Arc, time::Duration};

use actix_bully::{
    elections::reorganization::{Reorganization, ReorganizationConfig, WhenAsked},
    protocol::{Score, Timings},
    testkit::faults::Conditions,
};
use actix_bully_oracles::ReorganizationScenario;
use bully_classics::reorganization::{PaperStatus, Task};
use bully_sim::{
    faults::SplitMix64,
    sim::{Detection, Participant, World, chaos::Scenario as _},
    trace::{Checkpoint, Trace},
};

use crate::paper::{MS, crash_and_recover, name};

/// T = 50 ms, d = 2 ms, H = 25 ms, L = 100 ms.
fn config(when_asked: WhenAsked) -> ReorganizationConfig {
    ReorganizationConfig {
        when_asked,
        ..ReorganizationConfig::new(Timings::in_process())
    }
}

/// Returns a world of agents "1" to "n". The score of an agent is its number, and each agent has a task of its own.
/// Delays are 0 to d, messages may overtake each other, and some messages arrive twice. Only silence shows a crash.
fn world(seed: u64, n: usize, when_asked: WhenAsked) -> World<Reorganization> {
    let config = config(when_asked);
    let d = config.timings.delay_bound();
    let network = Conditions::builder().delay(Duration::ZERO..=d);
    let network = network.in_any_order().duplication(100).build().unwrap();
    let agent = |number: usize| {
        let number_ = u64::try_from(number).unwrap();
        let task = Task(number_);
        let config = ReorganizationConfig {
            task,
            ..config.clone()
        };
        let score = i64::try_from(number).unwrap().into();
        Participant::voter(name(number), Some(score), Arc::new(config))
    };
    World::builder(seed)
        .agents((1..=n).map(agent))
        .conditions(network)
        .detection(Detection::Silent(Duration::ZERO.into()))
        .trace(Trace::counting())
        .build()
}

/// Returns a world that checks assertion 1 (GM1) after every step: "if two nodes are in the Reorganization or Normal state,
/// they have the same coordinator", and two nodes in the Normal state have the same task.
fn watched(seed: u64, n: usize, when_asked: WhenAsked) -> World<Reorganization> {
    let mut world = world(seed, n, when_asked);
    let mut oracle = ReorganizationScenario::drawn(0).unwrap().as_assumed();
    world.set_invariant(move |world| oracle.check(world));
    world
}

/// Assertion 2: some node is Normal with itself as coordinator, and all other live nodes are Normal under this
/// coordinator.
fn gm2(world: &World<Reorganization>) -> bool {
    let mut running = world.agents().filter_map(|id| world.machine(id));
    world.agreed().is_some() && running.all(|machine| machine.status() == PaperStatus::Normal)
}

/// Returns the longest time until GM2 holds after the last fault: the agents notice a silent coordinator, and the first
/// of two elections comes too early.
fn soon(config: &ReorganizationConfig) -> Duration {
    config.worst_case_failover() + config.takeover() + config.worst_case_election_with_losses()
}

#[test]
fn gm1_holds_at_every_step_and_gm2_when_nothing_fails_any_more() {
    for seed in 0..400 {
        let mut random = SplitMix64::new(seed);
        let n = *random.pick(&[2, 3, 4, 5, 7]).unwrap();
        let when_asked = *random.pick(&[WhenAsked::Answer, WhenAsked::Elect]).unwrap();
        let mut world = watched(seed, n, when_asked);
        crash_and_recover(&mut world, &mut random, MS(4_000));
        world.run_for(soon(&config(when_asked)));
        assert_eq!(world.violation().map(ToString::to_string), None);
        assert!(gm2(&world), "seed {seed}: {world:?}");
        // "It is the highest in rank": this makes the election a bully.
        let highest = world.highest().expect("one is up").id;
        assert_eq!(world.believers(), [highest], "seed {seed}");
    }
}

/// The test breaks the assumption that a node never pauses. The coordinator hangs while the group elects another
/// coordinator.
#[test]
fn gm1_falls_when_a_node_pauses() {
    let mut world = watched(3, 3, WhenAsked::Answer);
    world.settle(MS(1_000)).unwrap();
    world.pause("3");
    world.run_for(MS(1_000));
    let violation = world.violation().expect("two coordinate");
    assert!(
        violation.what.contains("another coordinator"),
        "{violation}"
    );
}

/// The test breaks the assumption that a message takes at most d < T / 2. The links of 3 are slow while 2 asks whether
/// 3 is there.
#[test]
fn gm1_falls_when_messages_take_longer_than_half_of_t() {
    let late = |millis: u64| {
        let mut world = watched(3, 3, WhenAsked::Answer);
        world.settle(MS(1_000)).unwrap();
        for other in ["1", "2"] {
            let slow = Conditions::delayed(MS(millis));
            world.set_link("3", other, Some(slow));
            world.set_link(other, "3", Some(slow));
        }
        world.campaign("2");
        world.run_for(MS(200));
        world.violation().is_some()
    };
    assert!(!late(2), "d");
    assert!(!late(24), "2 x 24 < T = 50");
    assert!(late(60), "T < 60");
}

/// An election costs exactly x + y + 6a messages. If each message takes d, it lasts exactly [`duration`].
#[test]
fn an_election_costs_x_plus_y_plus_6a_messages_and_t_plus_6d() {
    for n in 1..=9_usize {
        for winner in 1..=n {
            for dead_below in 0..winner {
                let (sent, took) = cost_of_one_election(n, winner, dead_below);
                let (x, a) = (n - winner, winner - 1 - dead_below);
                let formula = u64::try_from(x + dead_below + 6 * a).unwrap();
                let case = format!("{n} agents, {winner} wins, {dead_below} dead below");
                assert_eq!(sent, formula, "{case}");
                assert_eq!(took, duration(x, dead_below, a), "{case}");
            }
        }
    }
}

/// Returns the duration of an election: T + 6 d if an agent above is dead and all agents below answer. Each step of the
/// paper lasts as long as its slowest call: T for a dead agent, 2 d for an agent that answers, and nothing if the step
/// calls no agent.
fn duration(x: usize, dead_below: usize, a: usize) -> Duration {
    let config = config(WhenAsked::Answer);
    let t = config.timings.deadline();
    let call = config.timings.delay_bound() * 2;
    let step = |dead: usize, alive: usize| match (dead, alive) {
        (0, 0) => Duration::ZERO,
        (0, _) => call,
        _ => t,
    };
    // The steps: "are you there"; "halt"; then, to the halted agents, the new coordinator and the task.
    let took = step(x, 0) + step(dead_below, a) + step(0, a) * 2;
    if x > 0 && a > 0 {
        let bound = match dead_below {
            0 => config.worst_case_election(),
            _ => config.worst_case_election_with_losses(),
        };
        assert_eq!(took, bound, "T + 6 d, with losses 2 T + 4 d");
    }
    took
}

/// Returns the messages and the duration of one election. All agents above the winner and the lowest `dead_below`
/// agents are dead. The other agents are up and begin no election.
fn cost_of_one_election(n: usize, winner: usize, dead_below: usize) -> (u64, Duration) {
    let config = config(WhenAsked::Answer);
    let d = config.timings.delay_bound();
    let mut world = world(1, n, WhenAsked::Answer);
    world.set_conditions(Conditions::delayed(d));
    if winner == n {
        // The first start of the winner is the election, because no agent below begins one.
        world = at_the_winners_start(n);
        world.set_conditions(Conditions::delayed(d));
        world.run_for(Duration::ZERO);
    } else {
        world.settle(MS(1_000)).unwrap();
    }
    for number in (winner + 1..=n).chain(1..=dead_below) {
        world.crash(name(number));
    }
    let mut before = world.trace().checkpoint();
    let began = world.now();
    if winner == n {
        before = Checkpoint::default();
    } else {
        world.campaign(name(winner));
    }
    world.settle(MS(1_000)).unwrap();
    let took = world.now().since(began);
    (world.trace().election_messages_since(before), took)
}

/// Returns a world in which only the highest agent can be elected.
fn at_the_winners_start(n: usize) -> World<Reorganization> {
    let config = Arc::new(config(WhenAsked::Answer));
    let agent = |number: usize| {
        let score = (number == n).then(|| Score::from(1));
        Participant::voter(name(number), score, Arc::clone(&config))
    };
    World::builder(1)
        .agents((1..=n).map(agent))
        .detection(Detection::Silent(Duration::ZERO.into()))
        .trace(Trace::counting())
        .build()
}
