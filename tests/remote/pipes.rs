//! Elections across hosts, and the effect of broken links and hosts on them.

use actix::clock::{Instant, sleep};
use actix_bully::{
    protocol::Presence,
    remote::{BridgeEvent, NodeIncarnation, Peer, transport::Pipes},
    supervisor::RestartPolicy,
    testkit::CrashBridge,
};

use super::kit::{Host, MS, all_follow, are_linked, builder, id, node, scene, told, until};

fn presence(host: &Host, agent: &str) -> Option<Presence> {
    host.group.members().get(&id(agent)).map(|m| m.presence)
}

/// Starts the agents `a1` and `a2` on host `a`, and `b1` on host `b`, which leads.
async fn two(pipes: &Pipes) -> [Host; 2] {
    let mut a = Host::start(pipes, "a", &["b"]);
    let mut b = Host::start(pipes, "b", &["a"]);
    a.agent("a1", 1);
    b.agent("b1", 3);
    a.agent("a2", 2);
    all_follow(&[&a, &b], "b1").await;
    sleep(MS(500)).await;
    assert_eq!(pipes.connections("a", "b"), 1, "of two links one stays");
    assert!(b.agents[0].is_leader());
    for (host, others) in [(&a, 1), (&b, 2)] {
        assert_eq!(host.group.members().len(), 3);
        assert_eq!(host.bridge.peers()[0].agents, others);
    }
    [a, b]
}

#[test]
fn a_link_that_breaks_is_made_again_and_no_member_hears_of_it() {
    scene(async |pipes, _| {
        let [a, b] = two(pipes).await;
        let mut events = [a.bridge.events(), b.bridge.events()];
        let versions = || [&a, &b].map(|host| host.group.snapshot(&id("-")).version());
        let before = versions();
        for _ in 0..3 {
            pipes.cut("a", "b");
            sleep(MS(5)).await;
            are_linked(&a, &b).await;
            sleep(MS(20_000)).await;
        }
        assert!(events.iter_mut().all(|events| told(events).is_empty()));
        assert_eq!(versions(), before, "the membership is as it was");

        a.bridge.addr().do_send(CrashBridge);
        sleep(MS(50)).await;
        are_linked(&a, &b).await;
        sleep(MS(2_000)).await;
        assert!(a.follows("b1") && b.agents[0].is_leader());
        let term = b.agents[0].leader().unwrap().term;
        assert_eq!(term.0, 1, "no election was held");
        let is_lost = |event: &BridgeEvent| matches!(event, BridgeEvent::PeerLost { .. });
        let [restarted, nothing] = events.each_mut().map(told);
        assert!(restarted.contains(&BridgeEvent::Restarted), "{restarted:?}");
        assert!(!restarted.iter().chain(&nothing).any(is_lost));
        // The bridge still listens, so it answers a peer that dials now.
        pipes.cut("a", "b");
        a.bridge.remove_peer(&node("b"));
        a.bridge.add_peer(Peer::inbound("b")).unwrap();
        until("b dials", || a.is_linked("b")).await;
        all_follow(&[&a, &b], "b1").await;
        // The election also works across the new link.
        b.agents[0].step_down(None).unwrap();
        all_follow(&[&a, &b], "a2").await;
    });
}

#[test]
fn elections_decide_about_a_peer_out_of_reach_and_the_redial_about_one_that_has_ended() {
    scene(async |pipes, _| {
        let [a, b] = two(pipes).await;
        let mut events = a.bridge.events();
        let b_is = node("b");
        pipes.partition("a", "b");
        let began = Instant::now();
        until("a2 leads on its side", || a.follows("a2")).await;
        assert!(began.elapsed() >= MS(180), "{:?}", began.elapsed());
        sleep(MS(10_000)).await;
        assert!(b.agents[0].is_leader(), "each side has one");
        let away = BridgeEvent::PeerUnreachable { node: b_is.clone() };
        assert_eq!(told(&mut events), [away]);
        pipes.heal("a", "b");
        all_follow(&[&a, &b], "b1").await;
        let up = BridgeEvent::PeerUp { node: b_is.clone() };
        assert!(told(&mut events).contains(&up));

        let first = a.group.members().get(&id("b1")).unwrap().incarnation;
        let began = Instant::now();
        b.stop().await;
        until("a2 leads", || a.follows("a2")).await;
        assert!(began.elapsed() < MS(50), "{:?}", began.elapsed());
        assert_eq!(presence(&a, "b1"), Some(Presence::Suspect), "suspected");
        assert_eq!(told(&mut events), [BridgeEvent::PeerLost { node: b_is }]);
        let again = builder(pipes, "b", &["a"]).incarnation(NodeIncarnation(2_000));
        let mut b = Host::with(|group| again.carry(group));
        b.agent("b1", 3);
        all_follow(&[&a, &b], "b1").await;
        let incarnation = a.group.members().get(&id("b1")).unwrap().incarnation;
        assert!(incarnation > first && incarnation.unwrap().0 > 2_000);
        assert_eq!(told(&mut events), [up]);
    });
}

#[test]
fn peers_come_and_go_while_the_bridge_runs() {
    scene(async |pipes, _| {
        let [a, b] = two(pipes).await;
        assert!(a.bridge.remove_peer(&node("b")));
        until("a2 leads alone", || a.follows("a2")).await;
        assert_eq!(presence(&a, "b1"), None);
        assert!(a.bridge.peers().is_empty());
        sleep(MS(5_000)).await;
        assert_eq!(pipes.connections("a", "b"), 0, "b is refused");
        assert_eq!(presence(&b, "a2"), Some(Presence::Suspect));
        assert!(b.bridge.counters().get("goodbye") > Some(0));

        a.bridge.add_peer(Peer::new("b", "b:1")).unwrap();
        all_follow(&[&a, &b], "b1").await;
        assert!(!a.bridge.remove_peer(&node("x")));
    });
}

#[test]
fn a_peer_that_never_came_is_reported_once_for_each_time_that_it_was_added() {
    scene(async |pipes, _| {
        let a = Host::start(pipes, "a", &["b"]);
        let mut events = a.bridge.events();
        sleep(MS(60_000)).await;
        let listening = BridgeEvent::Listening { at: None };
        let (b, address) = (node("b"), Some("b:1".to_owned()));
        let never = BridgeEvent::NeverSeen {
            node: b.clone(),
            address,
        };
        assert_eq!(told(&mut events), [listening.clone(), never.clone()]);
        let dials = a.bridge.traffic().dials;
        assert!((8..60).contains(&dials), "less and less often: {dials}");
        a.bridge.addr().do_send(CrashBridge);
        sleep(MS(60_000)).await;
        let again = told(&mut events);
        assert_eq!(again, [BridgeEvent::Restarted, listening]);
        // Each addition of a peer is reported once, 10 s after the addition.
        for _ in 0..2 {
            a.bridge.remove_peer(&b);
            a.bridge.add_peer(Peer::new("b", "b:1")).unwrap();
            sleep(MS(6_000)).await;
        }
        assert_eq!(told(&mut events), []);
        sleep(MS(60_000)).await;
        assert_eq!(told(&mut events), [never]);
    });
}

#[test]
fn a_bridge_that_crashes_too_often_is_given_up() {
    scene(async |pipes, _| {
        let once = RestartPolicy::temporary();
        let mut a = Host::with(|group| {
            let bridge = builder(pipes, "a", &["b"]);
            bridge.restart_policy(once).carry(group)
        });
        let mut b = Host::start(pipes, "b", &["a"]);
        a.agent("a1", 1);
        b.agent("b1", 2);
        all_follow(&[&a, &b], "b1").await;
        let mut events = a.bridge.events();
        a.bridge.addr().do_send(CrashBridge);
        until("a1 leads alone", || a.follows("a1")).await;
        assert_eq!(told(&mut events), [BridgeEvent::Ended]);
        assert_eq!(presence(&a, "b1"), None);
        until("b knows", || presence(&b, "a1") == Some(Presence::Suspect)).await;
        let again = builder(pipes, "a", &["b"]).incarnation(NodeIncarnation(2_000));
        let again = again.carry(&a.group).start().unwrap();
        until("linked again", || a.follows("b1")).await;
        again.drain(MS(1_000)).await.unwrap();
    });
}
