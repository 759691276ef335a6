//! Agents that send more than a link may carry. No peer is given up for that, and elections go on.

use actix::clock::sleep;
use actix_bully::{
    Group,
    agent::BullyAgent,
    elections::{AnyMessage, bully::Elect},
    protocol::{AgentId, Incarnation, Round, Term},
    remote::{Limits, transport::Pipes},
};
use bully_core::{elections::bully::Resign, protocol::To};

use super::kit::{Host, MS, all_follow, builder, id, scene, until};

/// Returns a message that no other message replaces in a queue.
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

/// Sends messages from an agent of this group.
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

/// Returns two linked hosts with these limits and an agent each. `a1` leads.
async fn linked(pipes: &Pipes, limits: [&Limits; 2]) -> [Host; 2] {
    let host = |name: &str, peer: &str, limits: &Limits| {
        Host::with(|group| builder(pipes, name, &[peer]).limits(*limits).carry(group))
    };
    let (mut a, mut b) = (host("a", "b", limits[0]), host("b", "a", limits[1]));
    a.agent("a1", 2);
    b.agent("b1", 1);
    all_follow(&[&a, &b], "a1").await;
    sleep(MS(500)).await;
    [a, b]
}

/// Returns a message that is nearly as long as a message can be. It ends no leadership, because its term is over.
pub(crate) fn resign() -> AnyMessage {
    let successor = AgentId::new(&"x".repeat(AgentId::MAX_LEN)).unwrap();
    let (term, successor) = (Term(0), Some(successor));
    Resign {
        term,
        successor,
        ..Resign::default()
    }
    .into()
}

/// Approximate size of such a message on the wire, in bytes.
const MESSAGE: usize = 280;

fn closed(hosts: &[Host; 2]) -> u64 {
    let count = |host: &Host| host.bridge.counters().iter().map(|(_, n)| n).sum::<u64>();
    hosts.iter().map(count).sum()
}

fn resigns(a: &Host, times: usize) {
    let to = To::One(id("b1"));
    say(
        &a.group,
        "a1",
        &to,
        std::iter::repeat_with(resign).take(times),
    );
}

/// The link, the leader and the order of messages stay the same. The side that floods has larger limits than the other
/// side, which has announced its limits in the handshake.
#[test]
fn a_flood_to_a_side_that_takes_less_never_closes_the_link() {
    scene(async |pipes, _| {
        let less = Limits::builder().rate(256 << 10).burst(512 << 10);
        let less = less.build().unwrap();
        let hosts = linked(pipes, [&Limits::default(), &less]).await;
        let [a, b] = &hosts;
        let (links, shut) = (a.bridge.traffic().links, closed(&hosts));
        for millis in 0..10_000 {
            resigns(a, (1 << 10) / MESSAGE);
            sleep(MS(1)).await;
            assert!(b.follows("a1"), "after {millis} ms");
        }
        assert_eq!(closed(&hosts), shut, "{:?}", b.bridge.counters());
        assert_eq!(a.bridge.traffic().links, links, "one link throughout");
        let lost = a.bridge.peers()[0].lost;
        assert!(lost > 0, "a flood indeed");
        let echo = a.bridge.traffic().longest_echo;
        assert!(echo < less.silence() * 2 / 3, "{echo:?}");

        // The flood leaves nothing behind, so a message that is sent now arrives.
        sleep(MS(1_000)).await;
        let before = b.bridge.traffic().messages_in;
        resigns(a, 10);
        sleep(MS(20)).await;
        assert!(b.bridge.traffic().messages_in >= before + 10);
        assert_eq!(a.bridge.peers()[0].lost, lost);
    });
}

/// The messages do not count as mistakes, because their sender does not know yet that the agent has left.
#[test]
fn messages_for_an_agent_that_has_left_do_not_close_the_link() {
    scene(async |pipes, _| {
        let limits = Limits::builder().unknown(1).build().unwrap();
        let hosts = linked(pipes, [&limits; 2]).await;
        let [a, b] = &hosts;
        let shut = closed(&hosts);
        pipes.partition_one_way("b", "a");
        b.agents[0].leave(MS(1_000)).await.unwrap();
        resigns(a, 20);
        sleep(MS(50)).await;
        let counters = b.bridge.counters();
        let (_, unknown) = counters
            .iter()
            .find(|(name, _)| *name == "unknown_agent")
            .unwrap();
        assert!(unknown >= 20);
        assert_eq!(closed(&hosts) - shut, unknown, "nothing else");
        pipes.heal("a", "b");
        until("b1 is gone", || a.group.members().get(&id("b1")).is_none()).await;
        assert!(a.is_linked("b"));
    });
}

/// Each message names its group. The result of one lookup must not serve for another group.
#[test]
fn messages_of_one_frame_go_to_the_groups_that_they_name() {
    scene(async |pipes, _| {
        // The two sides number their groups in different orders.
        let host = |name: &str, peer: &str, order: [usize; 2]| {
            let groups = ["red", "blue"].map(|name| Group::new(name).unwrap());
            let bridge = builder(pipes, name, &[peer]);
            let bridge = bridge.carry(&groups[order[0]]).carry(&groups[order[1]]);
            (groups, bridge.start().unwrap())
        };
        let [(from, bridge), (to, other)] = [host("a", "b", [0, 1]), host("b", "a", [1, 0])];
        let member = |group: &Group, name: &str| {
            let agent = BullyAgent::builder(name).observer();
            agent.join(group).start().unwrap()
        };
        let _agents = [
            member(&from[0], "a1"),
            member(&from[1], "a1"),
            member(&to[0], "b1"),
            member(&to[1], "b1"),
        ];
        let knows = |groups: &[Group; 2]| groups.iter().all(|group| group.members().len() == 2);
        until("they know one another", || knows(&from) && knows(&to)).await;
        sleep(MS(500)).await;
        let sent = || to.each_ref().map(|group| group.counters().sent);
        let (before, frames) = (sent(), other.traffic().frames_in);
        for group in [0, 1, 1, 0, 1] {
            let to = To::One(id("b1"));
            say(&from[group], "a1", &to, [resign()]);
        }
        sleep(MS(1)).await;
        assert_eq!(other.traffic().frames_in, frames + 1, "in one frame");
        let now = sent();
        assert_eq!([now[0] - before[0], now[1] - before[1]], [2, 3]);
        drop(bridge);
    });
}
