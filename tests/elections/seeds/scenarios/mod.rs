//! The scenarios that both elections of 1982 are put through, by number: once for each, through one trait.
//! What only one of them promises is in its own folder.

mod networks;

use std::time::Duration;

use actix_bully::protocol::{Event, LostReason};
use bully_core::protocol::Election;
use bully_sim::{
    sim::{Reaction, World},
    trace::Checkpoint,
};

use super::{
    MS,
    losses::Scene,
    worlds::{SECONDS, Setting, acquired, dies_of, leads_within, seeds},
};

/// An election in the scenarios.
pub(crate) trait Scenarios: Election<Message: serde::de::DeserializeOwned> {
    /// Whether its promise holds on any network, rather than where each message is in time.
    const ON_ANY_NETWORK: bool;
    /// Whether a leader that all follow is elected once.
    const ELECTS_ONCE: bool;
    /// The messages by which a leader makes itself known.
    const ANNOUNCED_BY: [&'static str; 2];
    /// The message by which a member obeys.
    const OBEYS_BY: &'static str;

    /// So many agents, the last of the highest rank.
    fn agents(n: usize) -> Setting<Self>;

    /// What holds after every step where its promise does.
    fn promise(world: &World<Self>) -> Result<(), String>;

    /// Within which two failures are noticed one by one.
    fn settles_within() -> Duration;

    /// Within which the next check finds an agent that missed an election.
    fn finds_within() -> Duration;

    /// Within which the next one leads after a crash.
    fn fails_over_within() -> Duration;

    /// Within which an agent that was down is in the group again.
    fn returns_within() -> Duration;

    /// Within which the successor leads once the leader has resigned.
    fn hands_over_within() -> Duration;

    /// The scenes of its own in which something is said.
    fn own_scenes() -> Vec<Scene<Self>>;

    /// The config of its agents with another cool-down.
    fn cooling_down_for(config: Self::Config, cooldown: Duration) -> Self::Config;
}

impl<E: Scenarios> Setting<E> {
    /// Where each message is in time: the promise is checked after every step.
    pub(crate) fn watched(&self, seed: u64) -> World<E> {
        let mut world = self.world(seed);
        world.set_invariant(E::promise);
        world
    }

    /// Where messages may be late or lost: the same, if it promises that much.
    pub(crate) fn faulty(&self, seed: u64) -> World<E> {
        if E::ON_ANY_NETWORK {
            self.watched(seed)
        } else {
            self.world(seed)
        }
    }
}

#[track_caller]
pub(crate) fn leads<E: Scenarios>(world: &mut World<E>, name: &str) {
    leads_within(world, name, E::settles_within());
}

/// Worlds of several seeds in which `e`, the highest of five, leads; the promise is checked after every step.
pub(crate) fn led_by_the_best_of_five<E: Scenarios>() -> impl Iterator<Item = World<E>> {
    seeds().map(|seed| {
        let mut world = E::agents(5).watched(seed);
        leads(&mut world, "e");
        world
    })
}

/// The scenarios of one election, as tests.
macro_rules! scenarios {
    ($election:ty: $($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                $crate::seeds::scenarios::$name::<$election>();
            }
        )*
    };
    ($election:ty) => {
        $crate::seeds::scenarios::scenarios! { $election:
            s01_one_alone_leads_at_once
            s02_two_start_together_and_the_higher_leads
            s04_of_equal_scores_the_larger_name_leads
            s05_the_lowest_starts_alone_and_the_highest_leads
            s06_the_highest_is_told_to_start_and_only_checks
            s07_the_leader_crashes_and_the_next_one_leads_within_the_bound
            s08_the_leader_crashes_when_half_of_the_others_know_of_it
            s09_a_member_dies_right_after_it_has_obeyed
            s11_all_but_the_lowest_crash
            s12_all_crash_and_return
            s13_a_crashed_top_recovers_and_leads_again
            s14_one_that_was_down_during_the_election_is_back_in_time
            s15_a_score_rises_above_the_leaders
            s16_one_that_steps_down_cools_down_for_a_while
            s16_a_leader_that_cannot_be_elected_any_more_hands_over
            s17_no_agent_leads_until_one_can_be_elected
            s18_an_oscillating_score_changes_the_leader_no_oftener_than_it_crosses
            s19_what_is_repeated_changes_nothing
            s20_messages_that_overtake_each_other_do_no_harm
            s20_copies_that_come_after_the_election_change_nothing
            s21_with_15_percent_loss_it_settles_when_the_loss_ends
            s22_one_message_of_each_kind_is_lost
            s22_all_messages_of_a_kind_are_lost_at_one_moment
            s25_one_that_missed_the_election_is_found_by_the_next_check
            s28_a_member_that_lost_its_record_does_not_come_back
        }
    };
}

pub(crate) use networks::{
    four, led, s19_what_is_repeated_changes_nothing,
    s20_copies_that_come_after_the_election_change_nothing,
    s20_messages_that_overtake_each_other_do_no_harm,
    s21_with_15_percent_loss_it_settles_when_the_loss_ends,
    s22_all_messages_of_a_kind_are_lost_at_one_moment, s22_one_message_of_each_kind_is_lost,
    s25_one_that_missed_the_election_is_found_by_the_next_check,
    s28_a_member_that_lost_its_record_does_not_come_back,
};
pub(crate) use scenarios;

pub(crate) fn s01_one_alone_leads_at_once<E: Scenarios>() {
    let mut world = E::agents(1).watched(1);
    world.run_for(Duration::ZERO);
    assert_eq!(world.believers(), ["a"]);
    assert_eq!(
        world.trace().election_messages_since(Checkpoint::default()),
        0
    );
}

pub(crate) fn s02_two_start_together_and_the_higher_leads<E: Scenarios>() {
    for seed in seeds() {
        leads(&mut E::agents(2).watched(seed), "b");
    }
}

pub(crate) fn s04_of_equal_scores_the_larger_name_leads<E: Scenarios>() {
    for seed in seeds() {
        let mut setting = E::agents(3);
        setting.scores = vec![Some(7); 3];
        leads(&mut setting.watched(seed), "c");
    }
}

pub(crate) fn s05_the_lowest_starts_alone_and_the_highest_leads<E: Scenarios>() {
    for mut world in led_by_the_best_of_five::<E>() {
        world.campaign("a");
        leads(&mut world, "e");
    }
}

pub(crate) fn s06_the_highest_is_told_to_start_and_only_checks<E: Scenarios>() {
    let mut world = E::agents(5).watched(1);
    leads(&mut world, "e");
    let before = (world.trace().checkpoint(), acquired(&world, "e"));
    world.campaign("e");
    world.run_for(SECONDS(1));
    leads(&mut world, "e");
    let messages = world.trace().election_messages_since(before.0);
    assert_eq!(messages, 0, "but for the check");
    assert_eq!(acquired(&world, "e"), before.1);
}

pub(crate) fn s07_the_leader_crashes_and_the_next_one_leads_within_the_bound<E: Scenarios>() {
    for mut world in led_by_the_best_of_five::<E>() {
        world.crash("e");
        let crashed = world.now();
        leads(&mut world, "d");
        let took = world.now().since(crashed);
        assert!(took <= E::fails_over_within(), "{took:?}");
    }
}

pub(crate) fn s08_the_leader_crashes_when_half_of_the_others_know_of_it<E: Scenarios>() {
    for kind in E::ANNOUNCED_BY {
        for seed in seeds() {
            let mut world = E::agents(5).watched(seed);
            dies_of(&mut world, "e", kind, 1);
            leads(&mut world, "d");
            assert_eq!(world.sprung(Reaction::Crash), 1, "{kind}");
        }
    }
}

pub(crate) fn s09_a_member_dies_right_after_it_has_obeyed<E: Scenarios>() {
    for seed in seeds() {
        let mut world = E::agents(5).watched(seed);
        dies_of(&mut world, "b", E::OBEYS_BY, 0);
        leads(&mut world, "e");
        assert_eq!(world.sprung(Reaction::Crash), 1);
    }
}

pub(crate) fn s11_all_but_the_lowest_crash<E: Scenarios>() {
    let mut world = E::agents(5).watched(1);
    leads(&mut world, "e");
    for name in ["b", "c", "d", "e"] {
        world.crash(name);
    }
    leads(&mut world, "a");
}

pub(crate) fn s12_all_crash_and_return<E: Scenarios>() {
    for seed in seeds() {
        let mut world = E::agents(5).watched(seed);
        leads(&mut world, "e");
        let first = world.view("e").unwrap().leading;
        for name in ["a", "b", "c", "d", "e"] {
            world.crash(name);
        }
        world.run_for(MS(seed * 10));
        for name in ["a", "b", "c", "d", "e"] {
            world.restart(name);
        }
        leads(&mut world, "e");
        assert!(
            world.view("e").unwrap().leading > first,
            "the count is durable"
        );
    }
}

pub(crate) fn s13_a_crashed_top_recovers_and_leads_again<E: Scenarios>() {
    for mut world in led_by_the_best_of_five::<E>() {
        world.crash("e");
        leads(&mut world, "d");
        world.restart("e");
        leads(&mut world, "e");
        let lost = |(_, event): &(_, Event)| {
            matches!(
                event,
                Event::Lost {
                    reason: LostReason::Outranked,
                    ..
                }
            )
        };
        assert!(world.events("d").iter().any(lost));
    }
}

pub(crate) fn s14_one_that_was_down_during_the_election_is_back_in_time<E: Scenarios>() {
    for mut world in led_by_the_best_of_five::<E>() {
        world.crash("a");
        world.run_for(SECONDS(1));
        world.restart("a");
        let restarted = world.now();
        leads(&mut world, "e");
        let took = world.now().since(restarted);
        assert!(took <= E::returns_within(), "{took:?}");
    }
}

pub(crate) fn s15_a_score_rises_above_the_leaders<E: Scenarios>() {
    for mut world in led_by_the_best_of_five::<E>() {
        world.set_score("b", Some(9.into()));
        leads(&mut world, "b");
        world.set_score("b", Some(2.into())); // the others hear of it by the check
        world.run_for(MS(100));
        leads(&mut world, "e");
    }
}

pub(crate) fn s16_one_that_steps_down_cools_down_for_a_while<E: Scenarios>() {
    let mut world = E::agents(3).watched(1);
    leads(&mut world, "c");
    world.step_down("c", Some("a".parse().unwrap()));
    world.run_for(MS(1));
    leads(&mut world, "b"); // the one that was named begins, the highest in rank wins
    world.run_for(SECONDS(1));
    leads(&mut world, "b");
    world.run_for(SECONDS(1));
    leads(&mut world, "c");
}

pub(crate) fn s16_a_leader_that_cannot_be_elected_any_more_hands_over<E: Scenarios>() {
    for mut world in led_by_the_best_of_five::<E>() {
        let began = world.now();
        world.set_score("e", None);
        world.run_for(MS(1));
        leads(&mut world, "d");
        let first = |name: &str, wanted: fn(&Event) -> bool| {
            let mut events = world.events(name).iter();
            let found = events.find(|(at, event)| *at >= began && wanted(event));
            found.unwrap().0
        };
        let resigned = |event: &Event| {
            let reason = LostReason::Resigned;
            matches!(event, Event::Lost { reason: why, .. } if *why == reason)
        };
        let lost = first("e", resigned);
        let next = first("d", |event| matches!(event, Event::Acquired { .. }));
        assert!(lost < next, "first lost, then acquired");
        let gap = next.since(lost);
        assert!(gap <= E::hands_over_within(), "{gap:?}");
        world.set_score("e", Some(5.into()));
        leads(&mut world, "e");
    }
}

pub(crate) fn s17_no_agent_leads_until_one_can_be_elected<E: Scenarios>() {
    let mut setting = E::agents(3);
    setting.scores = vec![None; 3];
    let mut world = setting.watched(1);
    world.run_for(SECONDS(10));
    assert_eq!(
        world.trace().election_messages_since(Checkpoint::default()),
        0
    );
    world.set_score("b", Some(1.into()));
    leads(&mut world, "b");
}

/// How often a score goes up and down again.
const SWINGS: usize = 20;

/// It has no grace period: whenever another agent ranks highest that one leads, if it lasts as long.
pub(crate) fn s18_an_oscillating_score_changes_the_leader_no_oftener_than_it_crosses<
    E: Scenarios,
>() {
    for seed in seeds() {
        let mut world = E::agents(3).faulty(seed);
        leads(&mut world, "c");
        let before = acquired(&world, "b") + acquired(&world, "c");
        for _ in 0..SWINGS {
            world.set_score("b", Some(9.into()));
            world.run_for(MS(30));
            world.set_score("b", Some(2.into()));
            world.run_for(MS(30));
        }
        leads(&mut world, "c");
        let since = acquired(&world, "b") + acquired(&world, "c") - before;
        assert!((1..=SWINGS * 2).contains(&since), "seed {seed}: {since}");
        world.run_for(SECONDS(5));
        leads(&mut world, "c");
        let later = acquired(&world, "b") + acquired(&world, "c") - before;
        assert_eq!(later, since, "it is over with the last swing");
    }
}
