//! Connections that are not ready yet: another protocol, bad greetings, and strangers that claim to be another node.
//! `src/remote/tests/handshake.rs` tests each rule alone.

use actix::clock::sleep;
use actix_bully::remote::{
    BridgeEvent, ClusterId, Farewell, LinkId, NodeIncarnation, Peer,
    internals::wire::{Hello, encode_goodbye, encode_ping, encode_proof},
};

use super::kit::{MS, Raw, Scene, conditions, frame, framed, hello, patient, play};

const HTTP: &[u8] = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";

/// Sends bytes on a new connection. Checks that the connection ends, and that only the counter `why` moves.
async fn refused(scene: &mut Scene, bytes: &[u8], why: &str) -> Option<Farewell> {
    let before = scene.counts();
    let mut raw = Raw::dial(scene.at()).await;
    raw.say(bytes).await;
    let farewell = raw.ends().await;
    scene.counted(&before, &[(why, 1)]).await;
    farewell
}

#[test]
fn bytes_that_are_no_greeting_end_the_connection() {
    let ping = framed(|out| encode_ping(1, 1, out));
    let goodbye = framed(|out| encode_goodbye(Farewell::Auth, out));
    let other_link = framed(|out| {
        hello("x").encode(out);
        conditions().encode(out);
        encode_proof(LinkId([7; 16]), &[], out);
    });
    let tls = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03";
    play(async {
        let mut scene = Scene::set(&patient(), vec![Peer::inbound("x")]).await;
        for (what, bytes, why) in [
            ("HTTP", HTTP, "frame_too_large"),
            ("TLS", tls, "tls"),
            ("an empty frame", &[0; 4], "malformed"),
            ("1,025 bytes", &frame(&[0x9b; 1_025]), "frame_too_large"),
            ("PING first", &ping, "protocol"),
            ("GOODBYE", &goodbye, "goodbye"),
            ("another link", &other_link, "wrong_link"),
        ] {
            let farewell = refused(&mut scene, bytes, why).await;
            assert_eq!(farewell, None, "{what}: its sender learns nothing");
        }
        scene.is_unhurt().await;
    });
}

#[test]
fn a_connection_that_is_refused_again_and_again_is_told_of_a_few_times_and_counted() {
    const TIMES: u64 = 300;
    play(async {
        let mut scene = Scene::set(&patient(), vec![Peer::inbound("x")]).await;
        scene.told();
        for _ in 0..TIMES {
            refused(&mut scene, HTTP, "frame_too_large").await;
        }
        let told = scene.told();
        let is_refusal = |event: &&BridgeEvent| matches!(event, BridgeEvent::Refused { .. });
        let refusals = told.iter().filter(is_refusal).count();
        assert!((8..60).contains(&refusals), "{refusals} in a few seconds");
        // A second later there is room for one more report, which has the number of reports that were left out.
        sleep(MS(1_100)).await;
        refused(&mut scene, &[0; 4], "malformed").await;
        let more = scene.told();
        let left_out = |event: &BridgeEvent| {
            if let BridgeEvent::LeftOut { events } = event {
                return Some(*events);
            }
            None
        };
        let left_out: u64 = told.iter().chain(&more).filter_map(left_out).sum();
        assert_eq!(u64::try_from(refusals).unwrap() + left_out, TIMES);
        assert!(matches!(more.last(), Some(BridgeEvent::Refused { .. })));
        scene.is_unhurt().await;
    });
}

#[test]
fn a_node_that_may_not_connect_is_told_why_and_counted() {
    let other_cluster = Hello {
        cluster: ClusterId::new("other").unwrap(),
        ..hello("x")
    };
    // The name of the honest peer, with an incarnation that is earlier than the peer's.
    let former = Hello {
        incarnation: NodeIncarnation(999),
        ..hello("b")
    };
    play(async {
        let mut scene = Scene::set(&patient(), vec![Peer::inbound("x")]).await;
        for (hello, why, farewell) in [
            (other_cluster, "cluster", Farewell::Cluster),
            (hello("a"), "self", Farewell::IsSelf),
            (hello("stranger"), "auth_failed", Farewell::Auth),
            (former, "stale", Farewell::Stale),
        ] {
            let bytes = framed(|out| hello.encode(out));
            assert_eq!(refused(&mut scene, &bytes, why).await, Some(farewell));
        }
        scene.is_unhurt().await;
    });
}
