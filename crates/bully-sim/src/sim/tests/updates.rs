//! The facts that agents learn of each other, and when they learn them.

use super::{MS, id, inputs, three, toy::Toy, voter};
use crate::sim::{Detection, World};
use bully_core::protocol::{After, Incarnation, Member, Presence, Score, Time};

fn presence(world: &World<Toy>, reader: &str, about: &str) -> Presence {
    world
        .known(reader)
        .unwrap()
        .get(&id(about))
        .unwrap()
        .presence
}

fn started(detection: Detection) -> World<Toy> {
    let mut world = three(1).detection(detection).build();
    world.run_for(MS(1));
    world
}

#[test]
fn a_crash_is_certain_after_the_delay() {
    let mut world = started(Detection::Certain(MS(5).into()));
    world.crash("c");
    world.run_for(MS(4));
    assert_eq!(presence(&world, "a", "c"), Presence::Up);
    world.run_for(MS(1));
    let known = world.known("a").unwrap();
    let ended = [0, 1].map(|number| known.get(&id("c")).unwrap().has_ended(Incarnation(number)));
    assert_eq!(ended, [true, true], "earlier ones ended too");
    assert!(known.is_closed());
    world.restart("c");
    world.run_for(MS(5));
    assert_eq!(presence(&world, "a", "c"), Presence::Up);
}

#[test]
fn a_return_is_told_after_the_delay_even_by_an_agent_that_says_nothing() {
    let mut world = started(Detection::Suspect(MS(5).into()));
    world.crash("a");
    world.run_for(MS(20));
    assert_eq!(presence(&world, "c", "a"), Presence::Suspect);
    world.restart("a");
    world.run_for(MS(4));
    assert_eq!(presence(&world, "c", "a"), Presence::Suspect);
    world.run_for(MS(1));
    assert_eq!(presence(&world, "c", "a"), Presence::Up);
}

#[test]
fn an_agent_that_stood_still_is_told_alone_what_it_missed() {
    let mut world = started(Detection::Suspect(MS(5).into()));
    world.pause("a");
    world.crash("c");
    world.run_for(MS(6));
    world.restart("c");
    world.run_for(MS(6));
    assert_eq!(presence(&world, "b", "c"), Presence::Up);
    world.cut_one_way("c", "b");
    world.resume("a");
    world.run_for(MS(1));
    assert_eq!(presence(&world, "b", "c"), Presence::Up, "not yet");
}

#[test]
fn an_agent_that_leaves_and_joins_before_either_is_told_is_told_once() {
    let mut world = started(Detection::Suspect(MS(5).into()));
    assert!(world.join(voter("d", 0)));
    world.run_for(MS(20));
    let told = |world: &World<Toy>| {
        let all = inputs(world, "a").into_iter();
        all.filter(|what| what == "members").count()
    };
    let before = told(&world);
    assert!(world.leave("d") && world.join(voter("d", 0)));
    world.run_for(MS(20));
    assert_eq!(told(&world), before + 1);
}

#[test]
fn a_crash_beside_a_sentinel_is_certain_after_the_delay_and_of_others_nothing_is_told() {
    let mut world = started(Detection::Told(MS(5).into()));
    world.crash("a");
    world.restart("a");
    world.run_for(MS(5));
    let known = world.known("c").unwrap();
    let a = known.get(&id("a")).unwrap();
    assert!(a.has_ended(Incarnation(1)) && !a.has_ended(Incarnation(2)));
    assert!(!known.is_closed());
    world.crash("b");
    world.run_for(MS(20));
    assert_eq!(presence(&world, "c", "b"), Presence::Up);
}

#[test]
fn a_cut_is_suspected_and_the_suspicion_ends_with_it() {
    let mut world = started(Detection::Suspect(MS(5).into()));
    world.cut_one_way("c", "a");
    world.run_for(MS(5));
    assert_eq!(presence(&world, "a", "c"), Presence::Suspect);
    assert_eq!(presence(&world, "c", "a"), Presence::Suspect);
    assert_eq!(presence(&world, "b", "c"), Presence::Up);
    world.heal();
    world.run_for(MS(5));
    assert_eq!(presence(&world, "a", "c"), Presence::Up);
}

#[test]
fn an_agent_that_starts_behind_a_cut_sees_no_other_agent() {
    let mut world = started(Detection::Suspect(MS(5).into()));
    world.crash("a");
    world.partition([["a"]]);
    world.run_for(MS(10));
    world.restart("a");
    assert_eq!(presence(&world, "a", "c"), Presence::Suspect);
    assert_eq!(presence(&world, "a", "a"), Presence::Up);
    world.heal();
    world.run_for(MS(5));
    assert_eq!(presence(&world, "a", "c"), Presence::Up);
    assert_eq!(presence(&world, "c", "a"), Presence::Up);
}

#[test]
fn scores_are_told_and_a_restart_brings_the_first_one_back() {
    let mut world = started(Detection::Certain(MS(5).into()));
    let told = |world: &World<Toy>| world.known("b").unwrap().get(&id("a")).unwrap().score;
    world.set_score("a", Some(Score::from(9)));
    assert_eq!(told(&world), Some(Score::from(1)));
    world.run_for(MS(5));
    assert_eq!(told(&world), Some(Score::from(9)));
    world.crash("a");
    world.restart("a");
    world.run_for(MS(5));
    assert_eq!(
        (told(&world), world.score("a")),
        (Some(1.into()), Some(1.into()))
    );
}

#[test]
fn an_agent_that_starts_learns_the_leader() {
    let mut world = started(Detection::default());
    world.crash("a");
    world.restart("a");
    let start = world.known("a").unwrap();
    assert_eq!(start.leader().unwrap().id, id("c"));
}

#[test]
fn each_hears_at_a_time_of_its_own_where_the_range_is_wide() {
    let range = After {
        min: MS(0),
        max: MS(50),
    };
    let mut world = started(Detection::Certain(range));
    world.crash("c");
    let told = |name: &str, world: &World<Toy>| presence(world, name, "c") == Presence::Down;
    let apart = |world: &World<Toy>| told("a", world) != told("b", world);
    assert!(world.run_until(apart, MS(50)));
    world.run_for(MS(50));
    assert!(told("a", &world) && told("b", &world));
}

#[test]
fn agents_that_start_later_are_unseen_until_then() {
    let mut world = three(5).starts_within(MS(50)).build();
    let runs = |world: &World<Toy>| world.views().count();
    assert!(world.run_until(|world| runs(world) == 1, MS(50)));
    let (first, _) = world.views().next().unwrap();
    let unseen = |m: &&Member| m.presence == Presence::Unseen;
    assert_eq!(world.known(first).unwrap().iter().filter(unseen).count(), 2);
    assert!(!world.is_calm());
    assert_eq!(world.settle(MS(100)), Ok(id("c")));
    assert!(world.now() <= Time::from_millis(50));
    assert_eq!(presence(&world, "a", "b"), Presence::Up);
}

#[test]
fn a_forgotten_agent_is_a_stranger_until_it_is_met_again() {
    let mut world = started(Detection::Certain(MS(0).into()));
    assert!(world.forget("a", "c") && !world.forget("a", "c"));
    assert!(!world.forget("a", "a") && !world.forget("a", "x"));
    let is_known = |world: &World<Toy>, by: &str| world.known(by).unwrap().get(&id("c")).cloned();
    assert_eq!(is_known(&world, "a"), None);
    assert!(is_known(&world, "b").unwrap().is_up());
    let strangers = world.dropped().stranger;
    world.run_for(MS(30));
    assert_eq!(world.agreed(), None, "a follows no leader");
    assert_eq!(world.dropped().stranger, strangers + 3, "three beats");
    world.set_score("c", Some(5.into()));
    world.run_for(MS(0));
    assert_eq!(is_known(&world, "a"), None, "a ignores updates of c");
    world.meet_again();
    let member = is_known(&world, "a").unwrap();
    assert!(member.is_up() && member.incarnation == Some(Incarnation(1)));
    assert_eq!(member.score, Some(Score::from(5)));
    world.run_for(MS(10));
    assert_eq!(world.agreed().unwrap().id, id("c"));
}

#[test]
fn the_end_of_a_forgotten_agent_is_known_at_the_next_meeting() {
    let mut world = started(Detection::Certain(MS(0).into()));
    for agent in ["a", "b"] {
        world.forget(agent, "c");
    }
    world.crash("c");
    world.crash("b");
    world.restart("b");
    world.run_for(MS(1));
    assert!(world.known("a").unwrap().get(&id("c")).is_none());
    assert_eq!(
        presence(&world, "b", "c"),
        Presence::Down,
        "a new incarnation"
    );
    world.meet_again();
    assert_eq!(presence(&world, "a", "c"), Presence::Down);
    world.restart("c");
    world.forget("a", "c");
    world.leave("c");
    world.run_for(MS(1));
    world.meet_again();
    assert!(world.known("a").unwrap().get(&id("c")).is_none(), "it left");
}

#[test]
fn an_agent_that_hangs_forgets_a_member_when_it_continues() {
    let mut world = started(Detection::Silent(MS(0).into()));
    world.pause("a");
    assert!(world.forget("a", "b"));
    assert!(world.known("a").unwrap().get(&id("b")).is_some());
    world.resume("a");
    world.run_for(MS(0));
    assert!(world.known("a").unwrap().get(&id("b")).is_none());
    world.meet_again();
    assert_eq!(presence(&world, "a", "b"), Presence::Up);
}
