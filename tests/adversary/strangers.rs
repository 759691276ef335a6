//! Connections that are not ready yet: another protocol, and bad greetings. `src/remote/tests/handshake.rs` tests each
//! rule alone, and `tests/remote/strangers.rs` tests nodes that may not connect.

use actix::clock::sleep;
use actix_bully::remote::{
    BridgeEvent, Farewell, LinkId, Peer,
    internals::wire::{encode_goodbye, encode_ping, encode_proof},
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
    const TIMES: u64 = 100;
    play(async {
        let mut scene = Scene::set(&patient(), vec![Peer::inbound("x")]).await;
        scene.told();
        for _ in 0..TIMES {
            refused(&mut scene, HTTP, "frame_too_large").await;
        }
        // A second later there is room for one more report, which has the number of reports that were left out.
        sleep(MS(1_100)).await;
        refused(&mut scene, &[0; 4], "malformed").await;
        let (mut refusals, mut left_out) = (0, 0);
        for event in scene.told() {
            if let BridgeEvent::LeftOut { events } = event {
                left_out += events;
            } else if matches!(event, BridgeEvent::Refused { node: None, .. }) {
                refusals += 1;
            }
        }
        assert!((8..60).contains(&refusals), "{refusals} in a few seconds");
        assert_eq!(refusals + left_out, TIMES + 1);
        scene.is_unhurt().await;
    });
}
