//! More connections than there is room for.

#[cfg(target_os = "linux")]
use std::net::{Ipv4Addr, SocketAddr};

use actix::clock::{sleep, timeout};
use actix_bully::remote::Peer;

use super::kit::{MS, Raw, Scene, allow_sockets, patient, play};

fn known() -> Vec<Peer> {
    ["x", "y", "z"].map(Peer::inbound).to_vec()
}

#[cfg(target_os = "linux")]
async fn dial_from(last: u8, at: SocketAddr) -> Raw {
    let from = Ipv4Addr::new(127, 0, 0, last).into();
    Raw::try_dial_from(from, at).await.unwrap()
}

/// Every address of 127.0.0.0/8 is this host's, on Linux.
#[cfg(target_os = "linux")]
#[test]
fn half_open_connections_are_held_up_to_the_limits_and_no_longer_than_the_deadline() {
    play(async {
        let limits = patient()
            .handshake(MS(10_000))
            .first_byte(MS(2_000))
            .unready(5)
            .unready_per_address(3);
        let mut scene = Scene::set(&limits, known()).await;
        let before = scene.counts();
        let mut open = Vec::new();
        for from in [2, 2, 2, 2, 3, 4, 5] {
            let mut raw = dial_from(from, scene.at()).await;
            assert!(raw.hear().await.is_some(), "it is greeted");
            open.push(raw);
        }
        // Three of one address, and five that are not ready: the oldest of the most gave way.
        scene.counted(&before, &[("too_many_connections", 2)]).await;
        for raw in open.drain(..2) {
            { raw }.ends().await;
        }
        // So it does for strangers that say which nodes they are; and they do not at all.
        let x = dial_from(6, scene.at()).await;
        let _x = x.greet("x").await;
        open.remove(0).ends().await;
        let y = dial_from(6, scene.at()).await;
        let _y = y.greet("y").await;
        scene.counted(&before, &[("too_many_connections", 3)]).await;
        for raw in &mut open {
            timeout(MS(20_000), raw.outlast()).await.unwrap();
        }
        let expected = [("handshake_timeout", 4), ("too_many_connections", 3)];
        scene.counted(&before, &expected).await;
        scene.is_unhurt().await;
    });
}

#[test]
fn no_more_connections_are_ready_than_the_limit_in_all() {
    play(async {
        let limits = patient().inbound(3).unready(3).unready_per_address(3);
        let mut scene = Scene::set(&limits, known()).await;
        let before = scene.counts();
        // The honest peer is the first of the three.
        let _x = Raw::dial(scene.at()).await.greet("x").await;
        let y = Raw::dial(scene.at()).await.greet("y").await;
        let mut z = Raw::dial(scene.at()).await;
        assert!(z.hear().await.is_none(), "not even a greeting");
        scene.counted(&before, &[("too_many_connections", 1)]).await;
        drop(y);
        scene
            .counted(&before, &[("too_many_connections", 1), ("lost", 1)])
            .await;
        let _z = Raw::dial(scene.at()).await.greet("z").await;
        scene.is_unhurt().await;
    });
}

#[test]
fn a_storm_of_connections_is_counted_and_passes() {
    if let Err(why) = allow_sockets(2_048) {
        println!("skipped: {why}");
        return;
    }
    play(async {
        let long = MS(20_000);
        let limits = patient().handshake(long).first_byte(long);
        let mut scene = Scene::set(&limits, known()).await;
        let before = scene.counts();
        let mut open = Vec::new();
        for _ in 0..1_000 {
            open.push(Raw::dial(scene.at()).await);
        }
        scene
            .counted(&before, &[("too_many_connections", 992)])
            .await;
        scene.is_unhurt().await;
        drop(open);
        scene
            .counted(&before, &[("too_many_connections", 992), ("lost", 8)])
            .await;
        for _ in 0..200 {
            drop(Raw::dial(scene.at()).await);
            sleep(MS(1)).await;
        }
        let _x = Raw::dial(scene.at()).await.greet("x").await;
        scene.is_unhurt().await;
    });
}
