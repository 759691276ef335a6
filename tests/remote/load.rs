//! Many agents, full queues and slow peers: what crosses, how often, and what is given up.

use actix::clock::{Instant, sleep};
use actix_bully::{
    Group,
    elections::{AnyMessage, bully::Elect},
    protocol::{Incarnation, Round, Score, Term, Time},
    remote::{BridgeHandle, Limits, Traffic, transport::Pipes},
};
use bully_core::{elections::bully::Heartbeat, protocol::To};

use super::kit::{Host, MS, all_follow, builder, id, pair, scene, until};

/// What crossed since: messages, frames and writes.
fn since(bridge: &BridgeHandle, before: Traffic) -> [u64; 3] {
    let now = bridge.traffic();
    [
        now.messages_out - before.messages_out,
        now.frames_out - before.frames_out,
        now.writes - before.writes,
    ]
}

fn heartbeat(term: u64, score: i32) -> AnyMessage {
    let (term, score, sent_at) = (Term(term), Score::from(score), None::<Time>);
    Heartbeat {
        term,
        score,
        sent_at,
    }
    .into()
}

/// A message that no other one replaces.
pub(crate) fn elect(counter: u64) -> AnyMessage {
    let incarnation = Incarnation(1);
    Elect {
        round: Round {
            incarnation,
            counter,
        },
        score: 1.into(),
        seen: Term(0),
        ..Elect::default()
    }
    .into()
}

/// Lets an agent of this group say that.
pub(crate) fn say(
    group: &Group,
    from: &str,
    to: &To,
    messages: impl IntoIterator<Item = AnyMessage>,
) {
    let from = id(from);
    let incarnation = group.members().get(&from).unwrap().incarnation.unwrap();
    for message in messages {
        group.deliver(&from, incarnation, to, message);
    }
}

/// The same, from `a1` to `b1`.
pub(crate) fn say_to_b1(a: &Host, messages: impl IntoIterator<Item = AnyMessage>) {
    say(&a.group, "a1", &To::One(id("b1")), messages);
}

/// Two linked hosts with these limits and an agent each, of which the one with the higher score leads.
pub(crate) async fn linked(pipes: &Pipes, limits: [&Limits; 2], scores: [i32; 2]) -> [Host; 2] {
    let host = |name: &str, peer: &str, limits: &Limits| {
        Host::with(|group| builder(pipes, name, &[peer]).limits(*limits).carry(group))
    };
    let (mut a, mut b) = (host("a", "b", limits[0]), host("b", "a", limits[1]));
    a.agent("a1", scores[0]);
    b.agent("b1", scores[1]);
    let leader = if scores[0] > scores[1] { "a1" } else { "b1" };
    all_follow(&[&a, &b], leader).await;
    sleep(MS(500)).await;
    [a, b]
}

#[test]
fn a_hundred_agents_on_each_of_two_hosts_elect_within_the_default_limits() {
    scene(async |pipes, _| {
        let [mut a, mut b] = pair(pipes, |bridge| bridge);
        for k in 0..100 {
            a.agent(&format!("a{k:02}"), k);
            b.agent(&format!("b{k:02}"), k);
        }
        all_follow(&[&a, &b], "b99").await;
        sleep(MS(1_000)).await;
        assert_eq!(a.group.members().len(), 200);
        for host in [&a, &b] {
            let closed: u64 = host.bridge.counters().iter().map(|(_, n)| n).sum();
            let replaced = host.bridge.counters().get("replaced").unwrap();
            let expected = replaced + host.bridge.counters().get("goodbye").unwrap();
            assert_eq!(closed, expected, "{:?}", host.bridge.counters());
            assert_eq!(host.bridge.peers()[0].lost, 0);
        }

        // A broadcast to a hundred crosses once.
        let before = [&a, &b].map(|host| host.bridge.traffic());
        let sent = a.group.counters().sent;
        let beat = heartbeat(b.agents[99].leader().unwrap().term.0, 99);
        say(&b.group, "b99", &To::All, [beat]);
        sleep(MS(1)).await;
        let [messages, frames, writes] = since(&b.bridge, before[1]);
        assert!(
            messages <= 2,
            "{messages}: the leader's own heartbeat may come between"
        );
        assert!(frames <= 2 && writes <= 2, "{frames} {writes}");
        let fanned = a.group.counters().sent - sent;
        assert!(fanned >= 100, "{fanned} were told here");

        // So does an election, after the leader's end, in a few frames and not in thousands.
        let before = [&a, &b].map(|host| host.bridge.traffic());
        b.agents[99].leave(MS(1_000)).await.unwrap();
        until("a99 leads", || a.follows("a99")).await;
        let crossed: u64 = [&a, &b]
            .iter()
            .zip(before)
            .map(|(host, before)| since(&host.bridge, before)[0])
            .sum();
        assert!(crossed < 500, "{crossed} messages crossed");
    });
}

#[test]
fn a_full_queue_closes_the_link_and_its_messages_are_counted() {
    scene(async |pipes, _| {
        let [a, _b] = linked(pipes, [&Limits::default(); 2], [1, 2]).await;
        pipes.partition_one_way("a", "b");
        let began = Instant::now();
        let mut sent = 0;
        while a.bridge.counters().get("slow_peer") == Some(0) {
            say_to_b1(&a, (sent..sent + 1_000).map(elect));
            sent += 1_000;
            assert!(sent < 100_000, "1 MiB is not that much");
            sleep(MS(1)).await;
        }
        assert!(began.elapsed() < MS(500), "at once: {:?}", began.elapsed());
        assert!(a.bridge.peers()[0].lost > 0);
    });
}
