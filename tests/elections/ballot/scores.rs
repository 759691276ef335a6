//! Scenarios 15 to 18: scores that change, and hand-overs.

use actix_bully::protocol::{Event, LostReason};
use bully_sim::sim::World;

use crate::ballot::kit::{DELAY, Group, ROUND, SEEDS, config, id, ms};

/// The score counts in the next ballot.
#[test]
fn s15_a_better_score_moves_no_leadership_and_wins_the_next_ballot() {
    for mut net in Group::of(5).led_nets() {
        let events = net.events();
        net.world.set_score("a", Some(99.into()));
        net.ends_with("e");
        assert_eq!(net.events(), events);
        net.world.crash("e");
        assert_eq!(net.settle(config(5).worst_case_failover()), "a");
        net.ends_with("a");
    }
}

#[test]
fn s16_a_leader_that_cannot_be_elected_any_more_hands_over_to_the_best() {
    for seed in SEEDS {
        let mut net = Group::of(5).led(seed);
        net.run(seed % ROUND);
        let before = net.world.events("e").len();
        let began = net.world.now();
        net.world.set_score("e", None);
        let d_leads = |world: &World<_>| world.believers() == [id("d")];
        assert!(net.world.run_until(d_leads, ms(ROUND + 5 * DELAY)));
        assert!(
            net.world.now().since(began) >= ms(ROUND),
            "one round elects"
        );
        let said = net.since("e", before);
        let resigned = LostReason::Resigned;
        assert!(matches!(
            said.get(..2),
            Some([Event::Draining { .. }, Event::Lost { reason, .. }]) if *reason == resigned
        ));
        net.run(2 * ROUND);
        net.ends_with("d");
    }
}

#[test]
fn s16_a_leader_steps_down_for_the_one_that_is_named() {
    for mut net in Group::of(5).led_nets() {
        net.world.step_down("e", Some(id("b")));
        net.run(ROUND + 5 * DELAY);
        net.ends_with("b");
        let mut all = names_of_leaders(&net);
        all.dedup();
        assert_eq!(all, ["e", "b"], "no agent led in between");
    }
}

fn names_of_leaders(net: &crate::ballot::kit::Net) -> Vec<String> {
    let mut all = Vec::new();
    for agent in net.world.agents() {
        for (at, event) in net.world.events(agent) {
            if matches!(event, Event::Acquired { .. }) {
                all.push((*at, agent.to_string()));
            }
        }
    }
    all.sort();
    all.into_iter().map(|(_, name)| name).collect()
}

#[test]
fn s17_without_candidates_no_agent_leads_until_one_is_eligible() {
    for mut net in Group::scored([None, None, None]).nets() {
        net.run(20 * ROUND);
        assert!(net.believers().is_empty());
        assert_eq!(net.events(), 0);
        net.world.set_score("b", Some(1.into()));
        net.run(2 * ROUND + DELAY);
        net.ends_with("b");
    }
}

#[test]
fn s17_the_only_candidate_that_steps_down_comes_back() {
    for mut net in Group::scored([None, Some(1), None]).led_nets() {
        net.world.step_down("b", None);
        net.run(3 * ROUND + 5 * DELAY);
        net.ends_with("b");
    }
}

#[test]
fn s18_a_score_that_oscillates_moves_no_leadership() {
    for mut net in Group::of(5).led_nets() {
        let events = net.events();
        for step in 0..100 {
            let score = if step % 2 == 0 { 99 } else { 1 };
            net.world.set_score("a", Some(score.into()));
            net.run(ROUND / 3);
        }
        net.ends_with("e");
        assert_eq!(net.events(), events);
    }
}
