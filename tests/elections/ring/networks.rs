//! Networks that repeat, reorder, lose and delay, and forged messages: scenarios 19 to 28.

use std::time::Duration;

use actix_bully::{
    elections::ring::Ring,
    protocol::Event,
    testkit::faults::{Conditions, ConditionsBuilder},
};
use bully_sim::sim::World;

use crate::ring::{
    kit::{
        D, MS, acquired, builder, comes_to_lead, comes_to_lead_above, config, events, id, led,
        led_rings, mark, ring, seeds, voter,
    },
    losses::{Act, LossSuite, Scene, every_kind_but},
};

fn network(seed: u64, how: impl FnOnce(ConditionsBuilder) -> ConditionsBuilder) -> World<Ring> {
    let conditions = how(Conditions::builder().delay(MS(1)..=D));
    let world = builder(seed, &[1, 2, 3, 4, 5], &config());
    world.conditions(conditions.build().unwrap()).build()
}

/// The leader crashes and comes back.
fn falls_and_rises(world: &mut World<Ring>) {
    comes_to_lead(world, "e", MS(20_000));
    world.crash("e");
    comes_to_lead(world, "d", MS(20_000));
    world.restart("e");
    comes_to_lead(world, "e", MS(20_000));
}

#[test]
fn s19_what_is_repeated_changes_nothing() {
    seeds(|seed| {
        let mut world = network(seed, |c| c.duplication(1_000));
        falls_and_rises(&mut world);
        let mut leaders = acquired(&world, 0);
        leaders.dedup();
        assert_eq!(leaders, ["e", "d", "e"]);
    });
}

#[test]
fn s20_messages_that_overtake_each_other_do_no_harm() {
    seeds(|seed| {
        falls_and_rises(&mut network(seed, ConditionsBuilder::in_any_order));
    });
}

#[test]
fn s21_with_15_percent_loss_it_takes_no_longer_than_ten_times() {
    seeds(|seed| {
        let mut world = network(seed, |c| c.loss(150));
        let bound = config().worst_case_election(5, 0) * 10;
        comes_to_lead(&mut world, "e", bound);
        assert!(world.tally().lost > 0);
    });
}

fn five(seed: u64) -> World<Ring> {
    led(seed, 5)
}

fn led_by_the_next(seed: u64) -> World<Ring> {
    let mut world = led(seed, 5);
    world.crash("e");
    comes_to_lead(&mut world, "d", MS(20_000));
    world
}

/// One leader on each side.
fn divided(seed: u64) -> World<Ring> {
    let mut world = led(seed, 5);
    world.partition([["a", "b"]]);
    let both = |world: &World<Ring>| world.believers() == ["b", "e"];
    assert!(world.run_until(both, MS(20_000)));
    world
}

/// Where all that it says is said.
fn scenes() -> [Scene<Ring>; 7] {
    let scene = Scene::lasting(MS(4_000));
    [
        scene(|seed| ring(seed, 5), Act::Nothing, "e"),
        scene(five, Act::Nothing, "e"),
        scene(five, Act::Campaign("b"), "e"),
        scene(five, Act::Crash("e"), "d"),
        scene(led_by_the_next, Act::Restart("e"), "e"),
        scene(five, Act::StepDown("e"), "d"),
        scene(divided, Act::Do(World::heal), "e"),
    ]
}

/// And it lasts, whatever the loss made an agent do.
#[track_caller]
fn recovers(world: &mut World<Ring>, leader: &str) {
    comes_to_lead(world, leader, MS(20_000));
    world.run_for(MS(3_000));
    comes_to_lead(world, leader, MS(20_000));
}

/// Each message is lost, and that agent leads in the end.
fn losses() -> LossSuite<Ring> {
    LossSuite {
        kinds: every_kind_but::<Ring>(&[]),
        scenes: scenes().into(),
        seeds: 1..4,
        then: recovers,
    }
}

#[test]
fn s22_one_message_of_each_kind_is_lost() {
    losses().lose_each(6);
}

#[test]
fn s22_all_messages_of_a_kind_are_lost_at_one_moment() {
    losses().lose_first();
}

/// The election that an agent begins beside a healthy leader has an outcome all the same.
#[test]
fn s22_an_election_that_loses_a_message_ends() {
    for kind in ["collect", "nominate", "coordinator", "hop_ack"] {
        for mut world in led_rings() {
            let term = world.view("e").unwrap().term;
            let before = world.trace().count_of(kind).lost;
            world.ignore(kind);
            world.campaign("b");
            let lost = |w: &World<Ring>| w.trace().count_of(kind).lost > before;
            assert!(world.run_until(lost, MS(5_000)), "{kind}");
            world.recover();
            comes_to_lead_above(&mut world, term, "e", MS(20_000));
        }
    }
}

fn all_sent(world: &World<Ring>) -> u64 {
    world.trace().kinds().map(|(_, count)| count.sent).sum()
}

/// Answers that are up to ten seconds late reach a standing leader and its followers.
#[test]
fn s23_stale_answers_do_nothing() {
    seeds(|seed| {
        let late = |c: ConditionsBuilder| c.duplication(500).slow(300, D..=MS(10_000));
        let mut world = network(seed, late);
        world.run_for(MS(3_000));
        let acks = all_sent(&world);
        assert!(acks > 0);
        world.set_conditions(Conditions::delayed(MS(5)));
        comes_to_lead(&mut world, "e", MS(40_000));
        world.run_to(world.last_arrival());
        // What they made an agent do is over soon, and then all is quiet.
        world.run_for(config().token(5));
        comes_to_lead(&mut world, "e", MS(20_000));
        let before = mark(&world);
        world.run_for(MS(10_000));
        assert_eq!(events(&world, before, |_| true), [""; 0]);
    });
}

/// A leader of an old term that comes back from a partition: it is not followed, by any agent.
#[test]
fn s24_a_stale_announcement_from_below_is_not_followed() {
    for mut world in led_rings() {
        world.isolate("b");
        world.run_for(MS(8_000));
        assert_eq!(world.believers(), [id("b"), id("e")], "each side has one");
        world.campaign("a"); // the others go on to later terms
        leads_but_b(&mut world);
        let before = mark(&world);
        world.heal();
        comes_to_lead(&mut world, "e", MS(20_000));
        assert_eq!(acquired(&world, before), [""; 0], "e never stopped leading");
        let lost = |e: &Event| matches!(e, Event::Lost { .. });
        assert_eq!(events(&world, before, lost), ["b"]);
    }
}

fn leads_but_b(world: &mut World<Ring>) {
    world.run_for(MS(3_000));
    let follows = |name| world.view(name).unwrap().leader.unwrap().id;
    assert!(["a", "c", "d", "e"].iter().all(|name| follows(name) == "e"));
}

#[test]
fn s25_a_missed_announcement_heals_with_a_heartbeat() {
    for mut world in led_rings() {
        world.crash("e");
        world.isolate("a");
        let follows = |w: &World<Ring>, name: &str| w.view(name).unwrap().leader;
        let others_agree = |w: &World<Ring>| {
            let mut others = ["b", "c", "d"].into_iter();
            others.all(|name| follows(w, name).is_some_and(|leader| leader.id == "d"))
        };
        assert!(world.run_until(others_agree, MS(20_000)));
        let missed = follows(&world, "a").is_none_or(|leader| leader.id == "e");
        assert!(missed, "it has heard nothing of the election");
        let before = mark(&world);
        world.heal();
        // It is probed, answers, and is in the way of the next heartbeat.
        let beat = config().detector().heartbeat + D * 5;
        let took = comes_to_lead(&mut world, "d", config().probe() + D * 2 + beat);
        assert!(took > Duration::ZERO);
        assert_eq!(acquired(&world, before), [""; 0], "without an election");
        let mut told = events(&world, before, |_| true);
        told.dedup();
        assert_eq!(told, ["a"], "no other agent hears of it");
    }
}

/// How many leaderships they cost is counted: without them none is lost.
#[test]
fn s26_delays_beyond_all_bounds_do_no_lasting_harm() {
    let lost = |how: fn(ConditionsBuilder) -> ConditionsBuilder| {
        let mut lost = 0;
        seeds(|seed| {
            let mut world = network(seed, how);
            world.run_for(Duration::from_secs(30));
            world.set_conditions(Conditions::delayed(MS(5)));
            world.run_to(world.last_arrival());
            comes_to_lead(&mut world, "e", MS(40_000));
            lost += events(&world, 0, |e| matches!(e, Event::Lost { .. })).len();
            assert_eq!(world.violation(), None);
        });
        lost
    };
    let (late, in_time) = (lost(|c| c.slow(500, D..=D * 50)), lost(|c| c));
    println!("{late} leaderships were lost; with delays up to d {in_time}");
    assert!(late > 0 && in_time == 0, "{late}, {in_time}");
}

/// An agent that left is not heard any more, and is a new member when it comes back.
#[test]
fn s27_one_that_left_is_a_stranger() {
    for mut world in led_rings() {
        world.leave("e");
        comes_to_lead(&mut world, "d", MS(20_000));
        let before = mark(&world);
        world.run_for(MS(5_000));
        assert_eq!(events(&world, before, |_| true), [""; 0]);
        world.join(voter(&id("e"), 5, &config()));
        comes_to_lead(&mut world, "e", MS(20_000));
    }
}

#[test]
fn s28_there_is_no_record_to_lose() {
    seeds(|seed| {
        let mut world = led_by_the_next(seed);
        assert!(!world.wipe("e"), "it depends on no record");
        assert!(world.restart("e"), "and comes back without");
        comes_to_lead(&mut world, "e", MS(20_000));
    });
}
