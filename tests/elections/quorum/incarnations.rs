//! Scenarios of incarnations and clocks: restarts, quarantine, hand-overs, and clocks that drift or stop.

use actix_bully::{elections::bully::Preemption, protocol::Event, testkit::faults::Conditions};
use bully_sim::sim::{Detection, Participant};

use crate::quorum::kit::{D, Group, Net, P, id, ms};

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
fn s59_a_voter_that_forgot_its_promise_abstains() {
    for seed in 0..20 {
        let mut net = forgetful(&Group::of(3), seed);
        net.run(500);
        assert_eq!(net.believers(), ["b"], "in the end");
    }
}

/// Returns a group in which `c` leads by the promise of `b` alone. `b` has restarted, and only `a` can ask it.
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

/// A voter does not replace a lost store. It stays away, even if it joins again.
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

/// Returns a group whose leader `c` is cut off. The leader's clock is 11 % slow, and the clocks of the other voters are
/// 11 % fast.
pub(crate) fn cut_leader_with_drift(group: Group, seed: u64) -> Net {
    let clocks = vec![110_000, 110_000, -110_000];
    let mut net = Group { clocks, ..group }.led(seed);
    net.run(seed);
    net.world.isolate("c");
    net
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

/// The crash of a leader is confirmed while its announcements are in transit, and the leader returns in a new
/// incarnation.
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

/// The report of a crash comes late, after the agent has restarted. Each report names the incarnation that ended.
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
