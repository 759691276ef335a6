//! Hosts with different limits: each host keeps to the limits of its peer, so no link is closed because of them.

use actix::clock::sleep;
use actix_bully::{
    protocol::AgentId,
    remote::{Limits, LimitsBuilder, transport::Pipes},
};
use bully_core::protocol::To;

use super::{
    flood::{elect, resign, say},
    kit::{Host, MS, all_follow, builder, id, scene, until},
};

/// Starts two hosts. `b` has the lower limits `less`, and `a` has the default limits.
fn hosts(pipes: &Pipes, less: &LimitsBuilder) -> [Host; 2] {
    let host = |name: &'static str, peer: &'static str, limits: Limits| {
        Host::with(|group| builder(pipes, name, &[peer]).limits(limits).carry(group))
    };
    let less = less.build().unwrap();
    [host("a", "b", Limits::default()), host("b", "a", less)]
}

/// Returns the counters of links that a host closed because its peer broke a rule.
fn breaches(host: &Host) -> Vec<(&'static str, u64)> {
    let ordinary = ["replaced", "goodbye", "lost", "leaving"];
    let counters = host.bridge.counters();
    let counted = counters
        .iter()
        .filter(|(name, n)| *n > 0 && !ordinary.contains(name));
    counted.collect()
}

#[test]
fn many_agents_elect_with_a_peer_that_takes_short_frames_of_few_items() {
    scene(async |pipes, _| {
        let low = Limits::builder().frame(4 << 10).items(64).depth(4);
        let [mut a, mut b] = hosts(pipes, &low);
        for k in 0..100 {
            a.agent(&format!("a{k:02}"), k);
        }
        for k in 0..100 {
            b.agent(&format!("b{k:02}"), 200 - k);
        }
        all_follow(&[&a, &b], "b00").await;
        sleep(MS(1_000)).await;
        // These messages are more and longer than `b` accepts in one frame. The message after them has more receivers
        // than `b` accepts in an array.
        let before = b.bridge.traffic().messages_in;
        let to = To::One(id("b01"));
        let long = std::iter::repeat_with(resign).take(1_000);
        say(&a.group, "a00", &to, long);
        sleep(MS(5)).await;
        let arrived = b.bridge.traffic().messages_in - before;
        assert!((1_000..1_010).contains(&arrived), "{arrived}");
        let told = b.group.counters().sent;
        let most: Vec<AgentId> = (1..100).map(|k| id(&format!("b{k:02}"))).collect();
        let to = To::Set(most.into());
        say(&a.group, "a00", &to, [elect(7)]);
        sleep(MS(5)).await;
        let told = b.group.counters().sent - told;
        assert!(told >= 99, "{told} of 99 were told");

        assert_eq!((breaches(&a), breaches(&b)), (vec![], vec![]));
        assert_eq!(a.bridge.peers()[0].lost, 0);
    });
}

#[test]
fn more_agents_than_the_peer_takes_are_not_announced_and_this_side_says_why() {
    scene(async |pipes, _| {
        let [mut a, mut b] = hosts(pipes, &Limits::builder().agents(3));
        b.agent("b1", 9);
        for k in 1..=3 {
            a.agent(&format!("a{k}"), k);
        }
        all_follow(&[&a, &b], "b1").await;
        assert_eq!((breaches(&a), breaches(&b)), (vec![], vec![]));
        a.agent("a4", 4);
        until("one too many", || {
            a.bridge.counters().get("peer_limit") > Some(0)
        })
        .await;
        sleep(MS(3_000)).await;
        assert_eq!(b.bridge.counters().get("too_many_agents"), Some(0));
        let why = a.bridge.peers()[0].last_error.clone().unwrap();
        assert!(why.contains("more groups or agents than the peer"), "{why}");
        let told = a.agents[0].diagnosis().to_string();
        let advice = "raise `groups` and `agents` of the peer's limits";
        assert!(told.contains(advice), "{told}");
        assert!(b.group.members().get(&id("a4")).is_none());

        // With one agent less, all agents agree again.
        let left = a.agents.remove(0).leave(MS(1_000)).await;
        assert!(left.is_ok(), "{left:?}");
        until("all follow b1", || a.follows("b1")).await;
        until("a4 is known", || b.group.members().get(&id("a4")).is_some()).await;
        assert_eq!(b.bridge.counters().get("too_many_agents"), Some(0));
        assert_eq!(a.bridge.counters().get("too_much_for_peer"), Some(0));
    });
}
