//! The bully elections in the simulator, where messages can be taken out of a run (scenario 22), every
//! moment is looked at (26), and a disk can be lost (28).

use std::{sync::Arc, time::Duration};

use actix_bully::{
    protocol::{Event, LostReason},
    testkit::faults::Conditions,
};
use bully_core::{
    elections::{
        astra::{Astra, AstraConfig},
        bully::{Bully, BullyConfig},
    },
    protocol::{Election, View},
};
use bully_sim::sim::{Detection, TermOrder, World};

use crate::seeds::{
    MS,
    losses::{Act, LossSuite, Scene, every_kind_but},
    worlds::{SECONDS, Setting, leads_within},
};

/// Messages of these kinds are lost.
fn losses<E: Election>(
    kinds: Vec<&'static str>,
    scenes: impl Into<Vec<Scene<E>>>,
    then: fn(&mut World<E>, &str),
) -> LossSuite<E> {
    let (scenes, seeds) = (scenes.into(), 0..5);
    LossSuite {
        kinds,
        scenes,
        seeds,
        then,
    }
}

mod swift {
    use super::*;

    fn start(seed: u64) -> World<Bully> {
        let config = BullyConfig::default();
        let timings = config.timings.clone();
        Setting::of(4, Arc::new(config), &timings).world(seed)
    }

    fn led(seed: u64) -> World<Bully> {
        let mut world = start(seed);
        leads(&mut world, "d");
        world.run_for(MS(seed * 31));
        world
    }

    fn led_by_the_next(seed: u64) -> World<Bully> {
        let mut world = led(seed);
        world.crash("d");
        leads(&mut world, "c");
        world
    }

    /// No agent knows yet.
    fn dead(seed: u64) -> World<Bully> {
        let mut world = led(seed);
        world.crash("d");
        world
    }

    #[track_caller]
    fn leads(world: &mut World<Bully>, name: &str) {
        leads_within(world, name, SECONDS(10));
    }

    /// And it lasts, whatever the loss made an agent do.
    #[track_caller]
    fn recovers(world: &mut World<Bully>, leader: &str) {
        leads(world, leader);
        world.run_for(SECONDS(3));
        leads(world, leader);
    }

    fn kinds() -> Vec<&'static str> {
        let why = "it is said to an agent that missed a later term: chaos has such agents";
        every_kind_but::<Bully>(&[("behind", why)])
    }

    fn scenes() -> [Scene<Bully>; 7] {
        let scene = Scene::lasting(SECONDS(3));
        [
            scene(start, Act::Nothing, "d"),
            scene(led, Act::Nothing, "d"),
            scene(led, Act::Crash("d"), "c"),
            scene(led_by_the_next, Act::Restart("d"), "d"),
            scene(led, Act::Campaign("b"), "d"),
            scene(dead, Act::Campaign("b"), "c"),
            scene(led, Act::StepDown("d"), "c"),
        ]
    }

    #[test]
    fn s28_there_is_no_record_to_lose() {
        for seed in 0..5 {
            let mut world = led_by_the_next(seed);
            assert!(!world.wipe("d"), "it depends on no record");
            assert!(world.restart("d"), "and comes back without");
            leads(&mut world, "d");
        }
    }

    #[test]
    fn s22_one_message_of_each_kind_is_lost() {
        losses(kinds(), scenes(), recovers).lose_each(8);
    }

    #[test]
    fn s22_the_messages_of_each_kind_are_lost() {
        losses(kinds(), scenes(), recovers).lose_first();
    }
}

mod plain_astra {
    use super::*;

    fn setting() -> Setting<Astra> {
        let config = AstraConfig::default();
        let timings = config.timings.clone();
        let mut setting = Setting::of(4, Arc::new(config), &timings);
        setting.detection = Detection::Certain(MS(0).into());
        setting.terms = TermOrder::Any;
        setting
    }

    fn start(seed: u64) -> World<Astra> {
        setting().world(seed)
    }

    fn led(seed: u64) -> World<Astra> {
        let mut world = start(seed);
        world.run_for(MS(0));
        world.campaign("d");
        leads(&mut world, "d");
        world
    }

    fn led_by_the_next(seed: u64) -> World<Astra> {
        let mut world = led(seed);
        world.crash("d");
        leads(&mut world, "c");
        world
    }

    fn lowest_begins(world: &mut World<Astra>) {
        world.run_for(MS(0));
        world.campaign("a");
    }

    #[track_caller]
    fn leads(world: &mut World<Astra>, name: &str) {
        leads_within(world, name, SECONDS(20));
    }

    /// ASTRA says no others.
    fn kinds() -> Vec<&'static str> {
        vec!["elect", "ok", "elected", "resign"]
    }

    fn scenes() -> [Scene<Astra>; 5] {
        let scene = Scene::lasting(SECONDS(5));
        [
            scene(start, Act::Do(lowest_begins), "d"),
            scene(led, Act::Crash("d"), "c"),
            scene(led_by_the_next, Act::Restart("d"), "d"),
            scene(led, Act::Campaign("b"), "d"),
            scene(led, Act::StepDown("d"), "c"),
        ]
    }

    /// These rules have no heartbeats: an agent that misses an announcement keeps the leader that it
    /// knows, or none, until it asks. So does the one that stepped down where a weaker one announced
    /// itself as well. When it asks, in its own time or told to, it cools down no more, and leads.
    fn leads_once_asked(world: &mut World<Astra>, leader: &str) {
        let settled = world.settle(SECONDS(20));
        assert_eq!(world.violation(), None);
        let missed = world.trace().count_of("elected").lost == 1;
        let stepped_down = |name: &str| name == "d" && leader == "c";
        if let Ok(name) = settled {
            assert!(
                name == leader || (missed && stepped_down(name.as_str())),
                "{name}"
            );
            return leads(world, name.as_str());
        }
        let follows = |view: &View| view.leader.as_ref().is_some_and(|l| l.id == leader);
        let behind = world.views().filter(|(_, view)| !follows(view));
        let behind: Vec<_> = behind.map(|(name, _)| name.to_string()).collect();
        let [one] = behind.as_slice() else {
            unreachable!("one is left: {behind:?}");
        };
        assert!(missed || stepped_down(one), "{one}");
        world.campaign(one);
        leads(world, leader.max(one));
    }

    #[test]
    fn s22_one_message_of_each_kind_is_lost() {
        losses(kinds(), scenes(), leads_once_asked).lose_each(8);
    }

    fn top_dies_and_lowest_asks(world: &mut World<Astra>) {
        world.crash("d");
        world.campaign("a");
    }

    /// What can come of it by itself has come before the lowest asks. One that stepped down asks as well, or it
    /// cools down, and then it leads.
    fn leads_when_the_lowest_asks(world: &mut World<Astra>, leader: &str) {
        world.run_for(SECONDS(6));
        world.campaign("a");
        let reason = LostReason::Resigned;
        let resigned = |(_, event): &(_, Event)| matches!(event, Event::Lost { reason: why, .. } if *why == reason);
        if world.events("d").iter().any(resigned) {
            world.campaign("d");
            return leads(world, "d");
        }
        leads(world, leader);
    }

    #[test]
    fn s22_the_messages_of_each_kind_are_lost() {
        let mut scenes = Vec::from(scenes());
        let act = Act::Do(top_dies_and_lowest_asks);
        scenes.push(Scene::lasting(SECONDS(5))(led, act, "c"));
        losses(kinds(), scenes, leads_when_the_lowest_asks).lose_first();
    }

    /// All ask, one after another, the leader dies and comes back, while messages take up to
    /// this long: do two lead at once? In the end one does.
    fn is_contested(seed: u64, longest: Duration) -> bool {
        let mut setting = setting();
        let calm = setting.network;
        let delays = Conditions::builder().delay(Duration::ZERO..=longest);
        setting.network = delays.build().unwrap();
        let mut world = setting.world(seed);
        let mut contested = false;
        let mut passes = |world: &mut World<Astra>, span| {
            contested |= world.run_until(World::is_contested, span);
            world.run_for(span);
        };
        passes(&mut world, MS(0));
        for (name, seconds) in [("a", 1), ("c", 1), ("d", 1), ("b", 10)] {
            world.campaign(name);
            passes(&mut world, SECONDS(seconds));
        }
        world.crash("d");
        passes(&mut world, SECONDS(10));
        world.restart("d");
        passes(&mut world, SECONDS(10));
        world.set_conditions(calm);
        world.run_to(world.last_arrival());
        world.run_for(SECONDS(10));
        world.campaign("a");
        leads(&mut world, "d");
        contested
    }

    /// T > 2 d is what these rules need: above it a share of all histories has two leaders.
    #[test]
    fn s26_two_lead_in_some_histories_with_delays_above_t_and_in_none_below_half_of_it() {
        let count = |longest| (0..100).filter(|seed| is_contested(*seed, longest)).count();
        let config = AstraConfig::default();
        let (deadline, bound) = (config.timings.deadline(), config.timings.delay_bound());
        let (late, in_time) = (count(deadline * 3), count(bound));
        println!("two led in {late} of 100 histories; with delays up to d in {in_time}");
        assert!(late > 0, "it would need no deadline");
        assert_eq!(in_time, 0);
    }
}
