//! The invitation election in the scenarios that are meant for every election: in the simulator,
//! where each member's group can be seen. Here: 1 to 18.
//!
//! Agreement in each group is checked after every step, whatever happens.

mod messages;
mod networks;

use std::{sync::Arc, time::Duration};

use actix_bully::{
    elections::invitation::{InvitationConfig, InvitationElection},
    protocol::{Event, LostReason, Timings},
    testkit::{
        sim::{Reaction, World},
        trace::Checkpoint,
    },
};

use super::{
    MS,
    worlds::{SECONDS, Setting, acquired, dies_of, leads_within, seeds},
};

/// T = 200 ms, d = 9 ms.
fn config() -> InvitationConfig {
    InvitationConfig {
        cooldown: MS(2_000),
        ..InvitationConfig::new(Timings::lan())
    }
}

fn agents(n: usize) -> Setting<InvitationElection> {
    let config = Arc::new(config());
    Setting::of(n, Arc::clone(&config), &config.timings)
}

impl Setting<InvitationElection> {
    /// Checked after every step: each group has one coordinator.
    fn checked(&self, seed: u64) -> World<InvitationElection> {
        let mut world = self.world(seed);
        world.set_invariant(one_coordinator_in_each_group);
        world
    }
}

fn one_coordinator_in_each_group(world: &World<InvitationElection>) -> Result<(), String> {
    for id in world.agents() {
        let Some(machine) = world.machine(id) else {
            continue;
        };
        if machine.group().map(|group| &group.id) != machine.coordinator() {
            return Err(format!("{id}: {machine:?}"));
        }
    }
    Ok(())
}

/// Within two failures noticed one by one.
#[track_caller]
fn leads(world: &mut World<InvitationElection>, name: &str) {
    let config = config();
    let limit = config.worst_case_failover(8) * 2 + config.takeover() * 2;
    leads_within(world, name, limit);
}

#[test]
fn s01_one_alone_leads_at_once() {
    let mut world = agents(1).checked(1);
    world.run_for(Duration::ZERO);
    assert_eq!(world.believers(), ["a"]);
    assert_eq!(
        world.trace().election_messages_since(Checkpoint::default()),
        0
    );
}

#[test]
fn s02_two_start_together_and_the_higher_leads() {
    for seed in seeds() {
        leads(&mut agents(2).checked(seed), "b");
    }
}

#[test]
fn s03_all_start_together_and_the_highest_leads() {
    for seed in seeds() {
        let mut world = agents(5).checked(seed);
        leads(&mut world, "e");
        let messages = world.trace().election_messages_since(Checkpoint::default());
        // One merge of four; a second one of all if one was not yet there for the first.
        assert!(
            messages <= 2 * 3 * 4 + 4,
            "{messages}\n{}",
            world.trace().to_text()
        );
    }
}

#[test]
fn s04_of_equal_scores_the_larger_name_leads() {
    for seed in seeds() {
        let mut setting = agents(3);
        setting.scores = vec![Some(7); 3];
        leads(&mut setting.checked(seed), "c");
    }
}

#[test]
fn s05_the_lowest_starts_alone_and_the_highest_leads() {
    for seed in seeds() {
        let mut world = agents(5).checked(seed);
        leads(&mut world, "e");
        world.campaign("a");
        leads(&mut world, "e");
    }
}

#[test]
fn s06_the_highest_is_told_to_start_and_only_looks_for_others() {
    let mut world = agents(5).checked(1);
    leads(&mut world, "e");
    let before = (world.trace().checkpoint(), acquired(&world, "e"));
    world.campaign("e");
    world.run_for(SECONDS(1));
    leads(&mut world, "e");
    assert_eq!(
        world.trace().election_messages_since(before.0),
        0,
        "but for the check"
    );
    assert_eq!(acquired(&world, "e"), before.1);
}

#[test]
fn s07_the_leader_crashes_and_the_next_one_leads_within_the_bound() {
    for seed in seeds() {
        let mut world = agents(5).checked(seed);
        leads(&mut world, "e");
        world.crash("e");
        let crashed = world.now();
        leads(&mut world, "d");
        let took = world.now().since(crashed);
        let again = config().detector().heartbeat + config().worst_case_merge_with_losses();
        assert!(took <= config().worst_case_failover(0) + again, "{took:?}");
    }
}

#[test]
fn s08_the_leader_crashes_when_half_of_the_others_know_of_it() {
    for kind in ["invitation", "ready"] {
        for seed in seeds() {
            let mut world = agents(5).checked(seed);
            dies_of(&mut world, "e", kind, 1);
            leads(&mut world, "d");
            assert_eq!(world.sprung(Reaction::Crash), 1, "{kind}");
        }
    }
}

#[test]
fn s09_a_member_dies_right_after_it_has_accepted() {
    for seed in seeds() {
        let mut world = agents(5).checked(seed);
        dies_of(&mut world, "b", "accept", 0);
        leads(&mut world, "e");
        assert_eq!(world.sprung(Reaction::Crash), 1);
    }
}

#[test]
fn s10_one_that_starts_another_election_ends_following_the_winner() {
    for seed in seeds() {
        let mut world = agents(5).checked(seed);
        leads(&mut world, "e");
        world.campaign("c");
        leads(&mut world, "e");
        assert_eq!(
            acquired(&world, "c"),
            1,
            "a group of one, until it is found"
        );
    }
}

#[test]
fn s11_all_but_the_lowest_crash() {
    let mut world = agents(5).checked(1);
    leads(&mut world, "e");
    for name in ["b", "c", "d", "e"] {
        world.crash(name);
    }
    leads(&mut world, "a");
}

#[test]
fn s12_all_crash_and_return() {
    for seed in seeds() {
        let mut world = agents(5).checked(seed);
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

#[test]
fn s13_a_crashed_top_recovers_and_leads_again() {
    for seed in seeds() {
        let mut world = agents(5).checked(seed);
        leads(&mut world, "e");
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

#[test]
fn s14_one_that_was_down_during_the_election_is_found_by_the_next_check() {
    for seed in seeds() {
        let mut world = agents(5).checked(seed);
        leads(&mut world, "e");
        world.crash("a");
        world.run_for(SECONDS(1));
        world.restart("a");
        let restarted = world.now();
        leads(&mut world, "e");
        let check = config().detector().heartbeat + config().gathering();
        let longest = check * 2 + config().worst_case_merge();
        assert!(world.now().since(restarted) <= longest);
    }
}

#[test]
fn s15_a_score_rises_above_the_leaders() {
    for seed in seeds() {
        let mut world = agents(5).checked(seed);
        leads(&mut world, "e");
        world.set_score("b", Some(9.into()));
        leads(&mut world, "b");
        world.set_score("b", Some(2.into())); // the others hear of it by the check
        world.run_for(MS(100));
        leads(&mut world, "e");
    }
}

#[test]
fn s16_a_leader_that_cannot_be_elected_any_more_hands_over() {
    for seed in seeds() {
        let mut world = agents(5).checked(seed);
        leads(&mut world, "e");
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
        let gap = next.since(lost);
        assert!(
            lost < next,
            "the leadership ends before the next one begins"
        );
        assert!(gap <= config().timings.delay_bound() * 5, "{gap:?}");
        world.set_score("e", Some(5.into()));
        leads(&mut world, "e");
    }
}

#[test]
fn s16_one_that_steps_down_cools_down_for_a_while() {
    let mut world = agents(3).checked(1);
    leads(&mut world, "c");
    world.step_down("c", Some("a".parse().unwrap()));
    world.run_for(MS(1));
    leads(&mut world, "b"); // the one that was named begins, the highest in rank wins
    world.run_for(SECONDS(1));
    leads(&mut world, "b");
    world.run_for(SECONDS(1));
    leads(&mut world, "c");
}

#[test]
fn s17_no_agent_leads_until_one_can_be_elected() {
    let mut setting = agents(3);
    setting.scores = vec![None; 3];
    let mut world = setting.checked(1);
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
#[test]
fn s18_an_oscillating_score_changes_the_leader_no_oftener_than_it_crosses() {
    for seed in seeds() {
        let mut world = agents(3).checked(seed);
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
