//! Scenarios of incarnations and clocks: restarts, quarantine, hand-over, witnesses, suspended hosts.

use actix_bully::{
    elections::bully::Preemption,
    protocol::{Event, LostReason, Term},
    testkit::faults::Conditions,
};
use bully_sim::sim::{Detection, Participant};

use crate::quorum::kit::{AFTER, D, Group, Net, P, id, ms};

#[test]
fn s01_one_voter_alone_leads_at_once() {
    let mut net = Group::of(1).world(1);
    net.run(0);
    assert_eq!(net.believers(), ["a"]);
    net.run(1_000);
    assert_eq!(net.acquired().len(), 1, "and stays");
}

/// Scenarios 2 and 3.
#[test]
fn s02_agents_that_start_together_elect_the_highest_ranked() {
    for n in [2, 3, 5, 9] {
        for seed in 0..20 {
            let mut net = Group::of(n).world(seed);
            let top = Group::of(n).names().last().unwrap().clone();
            assert_eq!(net.settle(ms(100)), top);
            assert_eq!(net.acquired().len(), 1);
        }
    }
}

#[test]
fn s04_of_equal_scores_the_larger_name_leads() {
    let scores = vec![Some(7); 3];
    let mut net = Group {
        scores,
        ..Group::of(3)
    }
    .world(1);
    assert_eq!(net.settle(ms(100)), id("c"));
}

#[test]
fn s11_a_minority_of_survivors_has_no_leader() {
    let mut net = Group::of(5).led(1);
    for agent in ["b", "c", "d", "e"] {
        net.world.crash(agent);
    }
    net.run(2_000);
    assert_eq!(net.believers(), [""; 0]);
}

#[test]
fn s12_when_all_restart_no_agent_leads_before_a_promise_has_passed() {
    let mut net = Group::of(3).led(2);
    let before = net.leader().term;
    for agent in ["a", "b", "c"] {
        net.world.crash(agent);
        net.world.restart(agent);
    }
    net.run(P);
    assert_eq!(net.believers(), [""; 0]);
    net.settle(ms(200));
    assert!(net.leader().term > before);
}

#[test]
fn s13_a_sticky_leader_stays_when_a_better_one_returns() {
    let mut net = Group::of(3).sticky().led(3);
    net.world.crash("c");
    net.until_leads("b", 400);
    net.world.restart("c");
    net.run(5_000);
    net.follows("b");
}

/// Scenarios 13 and 14.
#[test]
fn s13_a_better_one_that_returns_takes_over_once_it_was_steady() {
    let mut net = Group::of(3).led(4);
    net.world.crash("c");
    net.until_leads("b", 400);
    net.run(100);
    let then = net.mark();
    net.world.restart("c");
    net.run(AFTER * 4);
    net.follows("c");
    let acquired = net.acquired_since(&then);
    assert_eq!(acquired.len(), 1);
    assert!(acquired[0].0.since(then.at) > ms(AFTER));
}

#[test]
fn s15_a_follower_that_becomes_better_takes_over_once() {
    let mut net = Group::of(3).led(5);
    let then = net.mark();
    net.world.set_score("a", Some(9.into()));
    net.run(AFTER * 2);
    net.follows("a");
    let acquired = net.acquired_since(&then);
    assert_eq!(acquired.len(), 1);
    let lost = net.lost_since(&then, "c", LostReason::Resigned);
    let gap = acquired[0].0.since(lost);
    assert!(gap <= ms(10), "5 d: {gap:?}");
}

#[test]
fn s16_a_leader_that_cannot_be_elected_any_more_hands_over() {
    let mut net = Group::of(3).led(6);
    let then = net.mark();
    net.world.set_score("c", None);
    let gap = net.until_leads("b", 50);
    assert!(gap <= ms(10), "{gap:?}");
    net.lost_since(&then, "c", LostReason::Resigned);
    net.run(2_000);
    net.follows("b");
}

#[test]
fn s17_the_first_agent_that_becomes_eligible_leads() {
    let scores = vec![None; 3];
    let mut net = Group {
        scores,
        ..Group::of(3)
    }
    .world(7);
    net.run(1_000);
    assert_eq!(net.believers(), [""; 0]);
    net.world.set_score("b", Some(1.into()));
    net.until_leads("b", 50);
}

#[test]
fn s18_a_score_that_swings_does_not_bounce_the_leadership() {
    let mut net = Group::of(3).led(8);
    let then = net.mark();
    for round in 0..100 {
        net.world.set_score("a", Some((round % 2 * 9).into()));
        net.run(10);
    }
    let changes = net.acquired_since(&then).len();
    assert!(changes <= 3, "one for each grace period: {changes}");
}

#[test]
fn s59_a_voter_that_forgot_its_promise_abstains() {
    for seed in 0..20 {
        let mut net = forgetful(&Group::of(3), seed);
        net.run(500);
        assert_eq!(net.believers(), ["b"], "in the end");
    }
}

/// c leads by the word of b alone; b restarts, and only a can ask it.
pub(crate) fn forgetful(group: &Group, seed: u64) -> Net {
    let mut net = group.led(seed);
    net.world.cut("a", "c");
    net.run(P + 50);
    assert_eq!(net.believers(), ["c"]);
    net.world.crash("b");
    net.world.restart("b");
    net.world.isolate("c");
    net
}

/// A store that is lost is not replaced: the voter stays away, also if it joins again.
#[test]
fn s28_a_voter_that_lost_its_store_does_not_start() {
    let mut net = Group::of(3).led(18);
    net.world.crash("b");
    assert!(net.world.wipe("b"), "it held a record");
    assert!(!net.world.restart("b") && !net.world.is_running("b"));
    net.run(500);
    net.follows("c");
    net.world.leave("b");
    let again = net.voter("b", 2);
    assert!(!net.world.join(again));
    let other = Participant::observer(id("b-2"), net.watch());
    assert!(net.world.join(other), "under another name it may observe");
    net.run(500);
    net.follows("c");
}

#[test]
fn s61_clocks_within_their_bound_break_nothing() {
    for seed in 0..100 {
        let mut net = cut_leader_with_drift(Group::of(3), seed);
        net.run(1_000);
        assert_eq!(net.believers(), ["b"]);
    }
}

/// The leader's clock is 11 % slow, the others' are 11 % fast; it is cut off.
pub(crate) fn cut_leader_with_drift(group: Group, seed: u64) -> Net {
    let clocks = vec![110_000, 110_000, -110_000];
    let mut net = Group { clocks, ..group }.led(seed);
    net.run(seed);
    net.world.isolate("c");
    net
}

#[test]
fn s62_a_suspended_leader_does_not_lead_when_it_wakes() {
    let mut net = Group::of(3).led(9);
    net.world.pause("c");
    net.run(3 * D);
    assert_eq!(
        net.world.view("c").unwrap().leading,
        None,
        "before any step"
    );
    assert_eq!(net.believers(), ["b"]);
    net.world.resume("c");
    net.run(AFTER * 4);
    net.follows("c");
}

#[test]
fn s63_a_clock_that_stops_with_its_host_is_not_safe() {
    let mut net = Group::of(3).led(10);
    net.world.set_clock_rate("c", -1_000_000);
    net.world.pause("c");
    net.world.run_for(ms(3 * D));
    let broken = net
        .world
        .violation()
        .expect("this is why suspend must count");
    assert!(
        broken.what.starts_with("LeaseBacked"),
        "its promises are over: {broken}"
    );
}

#[test]
fn s67_a_resignation_that_only_the_successor_hears_is_enough() {
    let mut net = Group::of(5).led(11);
    for other in ["a", "b", "c"] {
        net.world.cut_one_way("e", other);
    }
    let then = net.mark();
    net.world.step_down("e", Some(id("d")));
    // It waits for votes that do not come, and leads meanwhile.
    let took = net.until_leads("d", D);
    assert!(took <= ms(D / 2 + 10), "{took:?}");
    net.world.heal();
    net.run(200);
    net.follows("d");
    assert_eq!(net.acquired_since(&then).len(), 1);
}

#[test]
fn s68_a_resignation_that_arrives_late_changes_nothing() {
    let mut net = Group::of(3).sticky().led(12);
    let slow = Conditions::builder().delay(ms(10 * P)..=ms(10 * P)).build();
    net.world.set_link("c", "a", Some(slow.unwrap()));
    net.world.step_down("c", Some(id("b")));
    net.run(200);
    net.world.set_link("c", "a", None);
    let (leader, then) = (net.leader(), net.mark());
    assert_eq!(leader.id, id("b"));
    net.run(2 * 10 * P);
    assert_eq!(net.leader(), leader);
    assert_eq!(net.acquired_since(&then).len(), 0);
}

#[test]
fn s69_a_successor_that_never_hears_of_it_costs_one_election() {
    let mut net = Group::of(3).led(13);
    let before = net.leader().term;
    net.world.cut_one_way("c", "b");
    net.world.step_down("c", Some(id("b")));
    net.run(P + 100);
    let leads = net.believers();
    assert_eq!(leads.len(), 1);
    let term = net.world.view(&leads[0]).unwrap().leading;
    assert!(
        term > Some(before),
        "never again in the term that was resigned"
    );
}

#[test]
fn s71_work_that_does_not_end_holds_a_hand_over_only_so_long() {
    let (builder, scenario) = Group::of(3).builder(14);
    let mut net = Net::new(builder.drains_in(None).build(), scenario);
    net.settle(ms(100));
    net.run(50);
    let then = net.mark();
    net.world.step_down("c", None);
    let took = net.until_leads("b", 400);
    let drain = ms(D - 4);
    assert!(took >= drain && took <= drain + ms(10), "{took:?}");
    let drains = |(.., e): &(_, _, Event)| matches!(e, Event::Draining { .. });
    assert_eq!(
        net.events_since(&then).iter().filter(|e| drains(e)).count(),
        1
    );
}

#[test]
fn s71_a_leader_that_drains_and_is_cut_off_loses_its_lease_all_the_same() {
    let (builder, scenario) = Group::of(3).builder(15);
    let mut net = Net::new(builder.drains_in(None).build(), scenario);
    net.settle(ms(100));
    net.run(50);
    let then = net.mark();
    net.world.step_down("c", None);
    net.world.isolate("c");
    net.run(300);
    assert_eq!(net.believers(), ["b"]);
    let events = net.events_since(&then).into_iter();
    let lost = events
        .filter(|(.., e)| matches!(e, Event::Lost { .. }))
        .map(|(at, ..)| at);
    assert!(
        lost.max().unwrap().since(then.at) <= ms(D),
        "drained or not"
    );
}

#[test]
fn s76_observers_follow_and_do_not_count() {
    let observers = vec!["w", "x", "y", "z"];
    let mut net = Group {
        observers,
        ..Group::of(3)
    }
    .led(16);
    net.follows("c");
    net.world.crash("b");
    net.run(500);
    net.follows("c");
    net.world.crash("a");
    net.run(500);
    assert_eq!(net.believers(), [""; 0], "five live, one votes");
    for observer in ["w", "x", "y", "z"] {
        assert_eq!(net.world.view(observer).unwrap().leader, None);
        assert_eq!(net.durable_term(observer), Term::ZERO);
    }
}

/// Scenarios 77 and 78.
#[test]
fn s77_a_witness_makes_two_candidates_safe() {
    let mut two = Group::of(2).led(17);
    two.world.crash("b");
    two.run(1_000);
    assert_eq!(two.believers(), [""; 0]);

    let scores = vec![Some(1), Some(2), None];
    let group = Group {
        scores,
        ..Group::of(3)
    };
    let mut net = group.world(17);
    assert_eq!(net.settle(ms(100)), id("b"));
    net.world.crash("b");
    net.until_leads("a", 400);
    net.world.crash("a");
    net.run(1_000);
    assert_eq!(net.believers(), [""; 0], "a witness never leads");
}

/// A leader's confirmed end while its announcements are under way, and its return in a new incarnation.
#[test]
fn a_new_incarnation_of_the_leader_is_bound_by_what_others_promised_the_old_one_only_if_it_must() {
    let detection = Detection::Certain(ms(1).into());
    for seed in 0..50 {
        let group = Group {
            detection,
            preemption: Preemption::Never,
            ..Group::of(3)
        };
        let mut net = group.led(seed);
        net.world.crash("c");
        net.until_leads("b", 50);
        net.world.restart("c");
        net.run(P + 50);
        net.follows("b");
        net.world.crash("b");
        net.until_leads("c", 50);
        net.run(500);
        net.follows("c");
    }
}

/// Two crashed leaders in a row, whose ends are reported late: each report names its own incarnation.
#[test]
fn a_late_report_of_a_former_incarnation_does_not_free_from_the_present_one() {
    let detection = Detection::Certain(ms(40).into());
    for seed in 0..50 {
        let group = Group {
            detection,
            ..Group::of(3)
        };
        let mut net = group.led(seed);
        net.world.crash("c");
        net.world.restart("c");
        net.run(2_000);
        assert_eq!(net.world.believers().len(), 1);
    }
}
