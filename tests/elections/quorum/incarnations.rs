//! Scenarios of incarnations and clocks: restarts, quarantine, hand-overs, and clocks that drift or stop.

use actix_bully::{protocol::Event, testkit::faults::Conditions};

use crate::quorum::kit::{D, Group, Net, P, id, ms};

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
pub(crate) fn cut_leader_with_drift(mut group: Group, seed: u64) -> Net {
    group.clocks = vec![110_000, 110_000, -110_000];
    let mut net = group.led(seed);
    net.run(seed);
    net.world.isolate("c");
    net
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
