//! Sessions of one process that act as several hosts: they find each other, elect, and leave.

use std::time::Duration;

use actix_bully::remote::BridgeEvent;
use actix_bully_zenoh::ZenohOptions;
use actix_bully_zenoh_tests::{
    Authority, DEADLINE, Host, builder, endpoint, event, over, play, secret, until,
};

const ALL: [&str; 3] = ["a", "b", "c"];

/// Starts three hosts, of which the second and the third know the first.
fn three(with: impl Fn(&str, ZenohOptions) -> Host) -> Vec<Host> {
    let seed = endpoint();
    let hosts = ALL.iter().map(|name| {
        let peer = ZenohOptions::peer();
        let peer = match *name {
            "a" => peer.listen(&seed),
            _ => peer.listen("tcp/127.0.0.1:0").connect(&seed),
        };
        with(name, peer)
    });
    hosts.collect()
}

#[test]
fn three_sessions_elect_and_elect_again() {
    play(async {
        let mut hosts = three(|name, peer| Host::start(name, &ALL, peer));
        until("all follow one", || {
            let leader = hosts[0].leader();
            leader.is_some() && hosts.iter().all(|host| host.leader() == leader)
        })
        .await;
        until("all are linked", || {
            hosts[0].is_linked_with("b")
                && hosts[0].is_linked_with("c")
                && hosts[1].is_linked_with("c")
        })
        .await;
        let leader = hosts[0].leader();
        let at = ALL.iter().position(|name| Some(*name) == leader.as_deref());
        let gone = hosts.remove(at.expect("one of them"));
        gone.agent
            .leave(Duration::from_secs(5))
            .await
            .expect("it leaves");
        gone.bridge
            .drain(Duration::from_secs(5))
            .await
            .expect("all hosts receive its goodbye");
        until("the other two follow one of them", || {
            let now = hosts[0].leader();
            now.is_some() && now != leader && hosts[1].leader() == now
        })
        .await;
        for host in &hosts {
            for name in [
                "packet_malformed",
                "packet_refused",
                "token_refused",
                "malformed",
            ] {
                assert_eq!(host.count(name), 0, "{name}");
            }
        }
    });
}

#[test]
fn the_bridges_own_tls_runs_end_to_end_over_plain_zenoh() {
    let authority = Authority::new("ours");
    play(async {
        let hosts = three(|name, peer| {
            let tls = authority.config(name);
            Host::with(name, &ALL, |builder| over(builder, peer).tls(tls))
        });
        until("all follow one", || {
            let leader = hosts[0].leader();
            leader.is_some() && hosts.iter().all(|host| host.leader() == leader)
        })
        .await;
    });
}

#[test]
fn a_peer_is_dialled_by_its_name_and_found_when_it_comes() {
    play(async {
        let seed = endpoint();
        let a = Host::start("a", &["a", "b"], ZenohOptions::peer().listen(&seed));
        let status = &a.bridge.peers()[0];
        assert_eq!(status.address.as_deref(), Some("b"));
        until("it is looked for", || a.bridge.traffic().dials > 0).await;
        let mut events = a.bridge.events();
        // A voter that comes back needs its store.
        let records = tempfile::TempDir::new().expect("a folder");
        let start = || {
            Host::kept("b", &["a", "b"], records.path(), |builder| {
                let zenoh = ZenohOptions::peer().connect(&seed);
                over(builder, zenoh).secret(secret("ours"))
            })
        };
        let b = start();
        let up = |event| matches!(event, BridgeEvent::PeerUp { .. }).then_some(());
        event(&mut events, up).await;
        until("both follow one", || {
            a.leader().is_some() && a.leader() == b.leader()
        })
        .await;
        b.agent.leave(DEADLINE).await.expect("it ends");
        b.bridge.stop();
        let lost = |event| matches!(event, BridgeEvent::PeerLost { .. }).then_some(());
        event(&mut events, lost).await;
        let b = start();
        until("both follow one again", || {
            a.is_linked_with("b") && a.leader().is_some() && a.leader() == b.leader()
        })
        .await;
    });
}

#[test]
fn impossible_settings_over_zenoh_are_refused_and_change_nothing() {
    play(async {
        let group = actix_bully::Group::new("g").expect("a good name");
        let at = endpoint();
        let all = ["a", "b"];
        let start = |zenoh| over(builder("a", &all), zenoh).carry(&group).start();
        for (zenoh, says) in [
            (ZenohOptions::peer().listen("tls/127.0.0.1:0"), "zenoh#2557"),
            (
                ZenohOptions::peer().listen("tcp/0.0.0.0:0"),
                "dangerous_plaintext",
            ),
            (
                ZenohOptions::peer().listen("quic/localhost:0"),
                "certificates",
            ),
            (ZenohOptions::peer(), "no endpoint"),
            (
                ZenohOptions::peer()
                    .listen("quic/localhost:0")
                    .certificates("/none/ca", "/none/c", "/none/k"),
                "the zenoh session cannot be opened",
            ),
        ] {
            let refused = start(zenoh).expect_err("it is refused").to_string();
            assert!(refused.contains(says), "{refused}");
        }
        let both = over(builder("a", &all), ZenohOptions::peer().listen(&at)).listen("127.0.0.1:0");
        let refused = both.carry(&group).start().expect_err("it is refused");
        assert!(refused.to_string().contains(".listen("), "{refused}");
        let one = start(ZenohOptions::peer().listen(&at)).expect("a refusal leaves the group free");
        let other = actix_bully::Group::new("g").expect("a good name");
        let second = over(builder("b", &all), ZenohOptions::peer().listen(&at));
        let refused = second
            .carry(&other)
            .start()
            .expect_err("the port is taken")
            .to_string();
        assert!(
            refused.contains("the zenoh session cannot be opened"),
            "{refused}"
        );
        one.stop();
    });
}
