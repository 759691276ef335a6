//! Runs: the same seed gives the same run, and the world settles, checks its invariant and answers queries.

use super::{MS, id, inputs, settled, three, toy::Toy, voter};
use crate::{
    faults::Conditions,
    sim::{Detection, Participant, World},
    trace::Trace,
};
use bully_core::protocol::{Score, Time};

fn eventful(seed: u64) -> World<Toy> {
    let conditions = Conditions::builder().delay(MS(1)..=MS(9)).loss(100);
    let conditions = conditions.duplication(100).slow(100, MS(20)..=MS(30));
    let conditions = conditions.in_any_order().build().unwrap();
    let mut world = three(seed)
        .conditions(conditions)
        .detection(Detection::Suspect(MS(5).into()))
        .lateness(MS(2))
        .starts_within(MS(20))
        .trace(Trace::new().with_deliveries().with_repeated())
        .build();
    world.run_for(MS(50));
    world.partition([["c"]]);
    world.run_for(MS(50));
    world.crash("b");
    world.heal();
    world.run_for(MS(50));
    world.restart("b");
    world.pause("a");
    world.run_for(MS(50));
    world.resume("a");
    world.run_for(MS(50));
    world
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let text = |seed| eventful(seed).trace().to_text();
    assert_eq!(text(3), text(3));
    assert_ne!(text(3), text(4));
    assert!(text(3).lines().count() > 50);
}

#[test]
fn each_fault_of_the_network_has_a_situation() {
    let world = eventful(3);
    let (hits, tally) = (world.hits(), world.tally());
    let hits = [hits.lost, hits.duplicated, hits.reordered, hits.slow].map(|all| all.total());
    let all = [tally.lost, tally.duplicated, tally.reordered, tally.slow];
    assert!(
        hits == all && all.iter().all(|n| *n > 0),
        "{hits:?} {all:?}"
    );
}

#[test]
fn a_recording_begins_with_the_agents_and_the_seed() {
    let world = three(8).build();
    let recording = world.trace().to_recording("toy", world.now());
    let header = recording.header();
    let agents = header
        .agents
        .iter()
        .map(|agent| (agent.name.as_str(), agent.score));
    let expected = [("a", 1), ("b", 2), ("c", 3)].map(|(name, score)| (name, Some(score.into())));
    assert!(agents.eq(expected) && header.seed == 8, "{header:?}");
}

#[test]
fn a_run_reads_in_a_few_lines() {
    let mut world = settled();
    world.run_for(MS(5));
    world.crash("c");
    assert_eq!(world.settle(MS(100)), Ok(id("b")));
    let text = world.trace().to_text();
    let expected = "(times in ms)
    0.000  a, b, c    starts
    0.000  c -> a, b  elected term 1
    0.000  c          acquired the leadership in term 1
    0.000  a, b       follows c in term 1
    5.000  c          crashes
    5.000  a          has no leader since term 1
    5.000  b -> a, c  elected term 2
    5.000  b          acquired the leadership in term 2
    5.000  a          follows b in term 2
    5.000  c x- b     elected term 2  dropped: no receiver
";
    assert_eq!(text, expected, "\n{text}");
}

#[test]
fn the_error_names_each_agent_that_does_not_agree_in_one_line() {
    let mut world = settled();
    world.ignore("elected");
    world.ignore("beat");
    world.crash("c");
    let error = world.settle(MS(50)).unwrap_err();
    let expected = "no agreement within 50ms: a is follower in term 1, \
                    b is leader in term 2 with b of term 2; believe that they lead: [b]";
    assert_eq!(error.to_string(), expected);
    assert_eq!(world.believers(), [id("b")]);
    assert_eq!(world.agreed(), None);
}

#[test]
fn two_believers_are_not_an_agreement() {
    let mut world = settled();
    world.pause("c");
    world.set_score("b", Some(Score::from(9)));
    assert!(world.settle(MS(50)).is_err(), "c hangs, and still leads");
    assert_eq!(world.believers(), [id("b"), id("c")]);
    world.resume("c");
    assert_eq!(world.settle(MS(50)), Ok(id("b")));
}

#[test]
fn an_invariant_ends_the_run_with_a_line_to_paste() {
    let mut world = three(7)
        .reproduce("cargo run --example simulate -- --seed 7")
        .build();
    world.set_invariant(|world| {
        let none = world.now() < Time::from_millis(30);
        none.then_some(()).ok_or_else(|| String::from("it is late"))
    });
    world.run_for(MS(100));
    assert!(!world.step());
    let line = world.violation().unwrap().to_string();
    let again = "again: cargo run --example simulate -- --seed 7";
    assert_eq!(line, format!("seed 7 at 30.000 ms, c: it is late; {again}"));
    assert!(world.settle(MS(10)).is_err());
}

#[test]
fn a_machine_that_breaks_its_contract_is_found() {
    let faulty = Participant {
        config: true,
        ..voter("a", 1)
    };
    let mut world = World::builder(1).agent(faulty).build();
    world.run_for(MS(1));
    let what = &world.violation().unwrap().what;
    assert_eq!(what, "view and events differ about the leader");
}

#[test]
fn a_predicate_is_waited_for_and_no_longer() {
    let mut world = settled();
    let beats = |world: &World<Toy>| inputs(world, "a").len() > 4;
    assert!(world.run_until(beats, MS(1000)));
    assert_eq!(world.now(), Time::from_millis(30));
    assert!(!world.run_until(|_| false, MS(15)));
    assert_eq!(world.now(), Time::from_millis(45));
}
