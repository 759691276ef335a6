//! Scores that change: scenarios 15 to 18.

use std::{sync::Arc, time::Duration};

use actix_bully::{
    elections::ring::RingConfig,
    protocol::{Event, LostReason, Score},
};
use bully_sim::{
    sim::{Participant, World},
    trace::What,
};

use crate::ring::kit::{
    D, MS, acquired, builder, comes_to_lead, config, events, leads, led_rings, mark, names, seeds,
};

#[test]
fn s15_a_follower_whose_score_rises_above_the_leaders_leads() {
    for mut world in led_rings() {
        let before = mark(&world);
        world.set_score("b", Some(50.into()));
        comes_to_lead(&mut world, "b", config().worst_case_election(5, 0));
        assert_eq!(acquired(&world, before), ["b"]);
    }
}

#[test]
fn s16_a_leader_whose_score_falls_is_followed_by_the_best() {
    for mut world in led_rings() {
        world.set_score("e", Some(2.into()));
        comes_to_lead(&mut world, "d", MS(2_000));
    }
}

#[test]
fn s16_a_leader_that_becomes_ineligible_hands_over() {
    for mut world in led_rings() {
        let before = mark(&world);
        world.set_score("e", None);
        comes_to_lead(&mut world, "d", MS(2_000));
        let at = |wanted: fn(&Event) -> bool| {
            let mut entries = world.trace().entries().skip(before);
            let found = entries
                .find(|entry| matches!(&entry.what, What::Event { event, .. } if wanted(event)));
            found.unwrap().at
        };
        let reason = LostReason::Resigned;
        let lost = at(|e| {
            matches!(
                e,
                Event::Lost {
                    reason: LostReason::Resigned,
                    ..
                }
            )
        });
        let next = at(|e| matches!(e, Event::Acquired { .. }));
        assert!(
            lost <= next,
            "{reason}: the leadership ends before the next one begins"
        );
        // A nomination to the next but one, and an announcement that comes home.
        assert!(next.since(lost) <= D * 9, "{:?}", next.since(lost));
    }
}

#[test]
fn s17_where_no_agent_is_eligible_none_leads_until_one_becomes_so() {
    seeds(|seed| {
        let witness = |name| Participant::voter(name, None, Arc::new(config()));
        let mut world: World<_> = builder(seed, &[], &config())
            .agents(names(3).into_iter().map(witness))
            .build();
        world.run_for(Duration::from_secs(20));
        assert!(world.believers().is_empty());
        assert_eq!(world.trace().kinds().len(), 0, "and no agent tries");
        world.set_score("b", Some(1.into()));
        comes_to_lead(&mut world, "b", config().worst_case_election(3, 0));
        world.set_score("b", None);
        world.run_for(Duration::from_secs(20));
        assert!(world.believers().is_empty());
    });
}

#[test]
fn s18_a_score_that_oscillates_changes_the_leader_at_most_once_per_policy_time() {
    seeds(|seed| {
        let after = Duration::from_secs(1);
        let patient = RingConfig {
            challenge_after: after,
            ..RingConfig::default()
        };
        let mut world = builder(seed, &[1, 2, 3, 4, 5], &patient).build();
        leads(&mut world, "e");
        let before = mark(&world);
        for swing in 0..120 {
            let score = if swing % 2 == 0 { 6 } else { 4 };
            world.set_score("d", Some(Score::from(score)));
            world.run_for(MS(50));
        }
        assert_eq!(
            acquired(&world, before),
            [""; 0],
            "never better for long enough"
        );
        world.set_score("d", Some(6.into()));
        comes_to_lead(&mut world, "d", after + MS(2_000));
        assert_eq!(acquired(&world, before), ["d"]);
    });
}

#[test]
fn s16_one_that_steps_down_does_not_bounce_back() {
    for mut world in led_rings() {
        let before = mark(&world);
        world.step_down("e", Some("b".parse().unwrap()));
        // b was asked for, and d outranks it: the bully in the ring.
        comes_to_lead(&mut world, "d", MS(5_000));
        world.run_for(Duration::from_secs(20));
        leads(&mut world, "d");
        assert!(!acquired(&world, before).contains(&String::from("e")));
        let lost = events(&world, before, |e| matches!(e, Event::Lost { .. }));
        assert!(lost.contains(&String::from("e")));
        comes_to_lead(&mut world, "e", Duration::from_secs(60)); // after the cool-down
    }
}
