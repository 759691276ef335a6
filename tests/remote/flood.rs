//! Agents that say more than a link may carry: no peer is given up for it, and elections go on.

use actix::clock::{Instant, sleep};
use actix_bully::{
    Group,
    agent::BullyAgent,
    elections::AnyMessage,
    protocol::{AgentId, Incarnation, Term},
    remote::{DropReason, Limits, transport::Pipes},
    testkit::Inject,
};
use bully_core::{elections::bully::Resign, protocol::To};

use super::kit::{Host, MS, builder, id, play, until};

/// No leadership ends by it: the term is over. About as long as a message gets.
fn resign() -> AnyMessage {
    let successor = AgentId::new(&"x".repeat(AgentId::MAX_LEN)).unwrap();
    let (term, successor) = (Term(0), Some(successor));
    Resign {
        term,
        successor,
        given: None,
    }
    .into()
}

/// The bytes of such a message on the wire, about.
const MESSAGE: usize = 280;

/// Two linked hosts with an agent each; a1 leads.
async fn linked(pipes: &Pipes, limits: [&Limits; 2]) -> [Host; 2] {
    let host = |name: &'static str, peer: &'static str, limits: &Limits| {
        Host::with(|group| builder(pipes, name, &[peer]).limits(*limits).carry(group))
    };
    let (mut a, mut b) = (host("a", "b", limits[0]), host("b", "a", limits[1]));
    a.agent("a1", 2);
    b.agent("b1", 1);
    until("a1 leads", || a.follows("a1") && b.follows("a1")).await;
    sleep(MS(500)).await;
    [a, b]
}

fn closed(hosts: &[Host; 2]) -> u64 {
    let count = |host: &Host| host.bridge.counters().iter().map(|(_, n)| n).sum::<u64>();
    hosts.iter().map(count).sum()
}

fn say(host: &Host, messages: usize) {
    let (from, to) = (id("a1"), To::One(id("b1")));
    let snapshot = host.group.snapshot(&id("stranger"));
    let incarnation = snapshot.members().get(&from).unwrap().incarnation;
    for _ in 0..messages {
        snapshot.deliver(&from, incarnation.unwrap_or(Incarnation(0)), &to, resign());
    }
}

/// For so long says so many bytes each millisecond; the link, the leader and the order of things
/// stay what they are.
async fn flood(limits: &Limits, millis: u64, each: usize) {
    flood_from(limits, limits, millis, each).await;
}

/// The same from a side with limits of its own, to one that takes less.
async fn flood_from(own: &Limits, limits: &Limits, millis: u64, each: usize) {
    let pipes = Pipes::new();
    let hosts = linked(&pipes, [own, limits]).await;
    let [a, b] = &hosts;
    let (before, began) = (b.bridge.traffic(), Instant::now());
    let (links, shut) = (a.bridge.traffic().links, closed(&hosts));
    let mut said = 0;
    while began.elapsed() < MS(millis) {
        let messages = each / MESSAGE;
        said += messages;
        say(a, messages);
        sleep(MS(1)).await;
        assert!(b.follows("a1"), "after {:?}", began.elapsed());
    }
    assert_eq!(closed(&hosts), shut, "{:?}", b.bridge.counters());
    assert_eq!(a.bridge.traffic().links, links, "one link throughout");
    let crossed = b.bridge.traffic().bytes_in - before.bytes_in;
    let crossed = usize::try_from(crossed).unwrap();
    let (rate, burst) = (limits.rate(), limits.burst());
    let seconds = usize::try_from(millis).unwrap();
    let allowed = burst + rate * seconds / 1_000;
    assert!(said * MESSAGE > allowed * 5 / 4, "a flood indeed");
    assert!(crossed > (burst / 2 + rate * seconds / 1_000) * 3 / 4);
    let lost = a.bridge.peers()[0].lost;
    assert!(lost > 0);
    let echo = a.bridge.traffic().longest_echo;
    assert!(echo < limits.silence() * 2 / 3, "{echo:?}");

    // It is over at once: what is said now arrives.
    sleep(MS(1_000)).await;
    let before = b.bridge.traffic().messages_in;
    say(a, 10);
    sleep(MS(20)).await;
    assert!(b.bridge.traffic().messages_in >= before + 10);
    assert_eq!(a.bridge.peers()[0].lost, lost);
}

#[test]
fn a_flood_from_an_honest_side_never_closes_the_link_and_heartbeats_still_pass() {
    play(async {
        flood(&Limits::default(), 1_000, 64 << 10).await;
    });
}

#[test]
fn a_lasting_flood_does_not_close_the_link() {
    play(async {
        let limits = Limits::builder().rate(256 << 10).burst(512 << 10);
        flood(&limits.build().unwrap(), 10_000, 1 << 10).await;
    });
}

/// What the other side takes was told at the handshake.
#[test]
fn a_flood_to_a_side_that_takes_less_does_not_close_the_link() {
    play(async {
        let limits = Limits::builder().rate(256 << 10).burst(512 << 10);
        let limits = limits.build().unwrap();
        flood_from(&Limits::default(), &limits, 10_000, 1 << 10).await;
    });
}

#[test]
fn more_messages_in_one_turn_than_a_queue_holds_do_not_close_the_link() {
    play(async {
        let pipes = Pipes::new();
        let hosts = linked(&pipes, [&Limits::default(); 2]).await;
        let [a, b] = &hosts;
        let shut = closed(&hosts);
        say(a, 20_000);
        sleep(MS(500)).await;
        assert_eq!(closed(&hosts), shut);
        assert!(b.follows("a1"));
        assert!(a.bridge.peers()[0].lost > 10_000, "1 MiB crossed, no more");
    });
}

/// They are not mistakes: that it left has not come yet.
#[test]
fn messages_for_an_agent_that_has_left_do_not_close_the_link() {
    play(async {
        let pipes = Pipes::new();
        let limits = Limits::builder().unknown(1).build().unwrap();
        let hosts = linked(&pipes, [&limits; 2]).await;
        let [a, b] = &hosts;
        let shut = closed(&hosts);
        pipes.partition_one_way("b", "a");
        b.agents[0].leave(MS(1_000)).await.unwrap();
        say(a, 20);
        sleep(MS(50)).await;
        let counted = |name: &str| {
            b.bridge
                .counters()
                .iter()
                .find(|(n, _)| *n == name)
                .unwrap()
                .1
        };
        assert!(counted("unknown_agent") >= 20);
        assert_eq!(
            closed(&hosts) - shut,
            counted("unknown_agent"),
            "nothing else"
        );
        pipes.heal("a", "b");
        until("b1 is gone", || a.group.members().get(&id("b1")).is_none()).await;
        assert!(a.is_linked("b"));
    });
}

/// The agent there takes no message while they come.
#[test]
fn a_message_for_which_a_mailbox_has_no_room_is_counted() {
    play(async {
        let pipes = Pipes::new();
        let small = Limits::builder().mailbox(16 << 10).build().unwrap();
        let hosts = linked(&pipes, [&Limits::default(), &small]).await;
        let [a, b] = &hosts;
        let sent = || b.group.counters().sent;
        let (before, came) = (sent(), b.bridge.traffic().messages_in);
        b.agents[0].addr().do_send(Inject::hang(sleep(MS(10))));
        say(a, 1_000);
        until("all have come", || {
            b.bridge.traffic().messages_in >= came + 1_000
        })
        .await;
        let full = b.bridge.counters().dropped(DropReason::MailboxFull);
        assert!((500..1_000).contains(&full), "{full} of 1,000");
        let handed = sent() - before;
        assert!(handed + full >= 1_000, "{handed} handed over, {full} not");
        assert!(b.follows("a1") && a.is_linked("b"));
    });
}

/// Each message names its group: what is looked up for one serves no other.
#[test]
fn messages_of_one_frame_go_to_the_groups_that_they_name() {
    play(async {
        let pipes = Pipes::new();
        let host = |name: &str, peer: &str| {
            let groups = ["red", "blue"].map(|name| Group::new(name).unwrap());
            let bridge = builder(&pipes, name, &[peer]);
            let bridge = bridge.carry(&groups[0]).carry(&groups[1]).start();
            (groups, bridge.unwrap())
        };
        let [(from, bridge), (to, other)] = [host("a", "b"), host("b", "a")];
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
            let snapshot = from[group].snapshot(&id("stranger"));
            let incarnation = snapshot.members().get(&id("a1")).unwrap().incarnation;
            let to = To::One(id("b1"));
            snapshot.deliver(&id("a1"), incarnation.unwrap(), &to, resign());
        }
        sleep(MS(1)).await;
        assert_eq!(other.traffic().frames_in, frames + 1, "in one frame");
        let now = sent();
        assert_eq!([now[0] - before[0], now[1] - before[1]], [2, 3]);
        drop(bridge);
    });
}
