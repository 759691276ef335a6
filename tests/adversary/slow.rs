//! Peers that are more than the bridge has room for, that send single bytes or too many bytes, and that never read.

use actix::clock::sleep;
use actix_bully::remote::{
    BridgeEvent, Limits, Peer,
    internals::wire::{MessagesWriter, Targets, encode_payload, encode_ping},
    transport::Tcp,
};
use bytes::BytesMut;
use tokio::net::TcpSocket;

use super::kit::{
    INCARNATION, MS, Raw, Scene, allow_sockets, framed, hello, nack, patient, play, until,
};

/// Sends single bytes with pauses, until the other end closes.
async fn trickle(raw: &mut Raw, bytes: &[u8]) {
    for byte in bytes {
        if !raw.say(&[*byte]).await {
            break;
        }
        sleep(MS(20)).await;
    }
}

/// `src/remote/bridge/gate/tests.rs` tests which connection loses its slot.
#[test]
fn a_storm_of_connections_is_counted_and_passes() {
    if let Err(why) = allow_sockets(2_048) {
        println!("skipped: {why}");
        return;
    }
    play(async {
        let long = MS(20_000);
        let limits = patient().handshake(long).first_byte(long);
        let mut scene = Scene::set(&limits, vec![Peer::inbound("x")]).await;
        let before = scene.counts();
        let mut open = Vec::new();
        for _ in 0..1_000 {
            open.push(Raw::dial(scene.at()).await);
        }
        let refused = ("too_many_connections", 992);
        scene.counted(&before, &[refused]).await;
        scene.is_unhurt().await;
        drop(open);
        scene.counted(&before, &[refused, ("lost", 8)]).await;
        let _x = Raw::dial(scene.at()).await.greet("x").await;
        scene.is_unhurt().await;
    });
}

#[test]
fn a_greeting_that_comes_byte_by_byte_is_not_waited_for() {
    play(async {
        let limits = patient().handshake(MS(500));
        let mut scene = Scene::set(&limits, vec![Peer::inbound("x")]).await;
        let before = scene.counts();
        let mut raw = Raw::dial(scene.at()).await;
        let greeting = framed(|out| hello("x").encode(out));
        trickle(&mut raw, &greeting).await;
        assert_eq!(raw.ends().await, None);
        scene.counted(&before, &[("handshake_timeout", 1)]).await;

        // A peer that only says hello runs into the same deadline.
        let mut raw = Raw::dial(scene.at()).await;
        raw.hello(hello("x")).await;
        assert_eq!(raw.ends().await, None);
        scene.counted(&before, &[("handshake_timeout", 2)]).await;
        // The bridge reports this event, because a refused caller gets no other report.
        let is_told = |event: &BridgeEvent| {
            matches!(
                event,
                BridgeEvent::Refused {
                    node: None,
                    name: "handshake_timeout",
                    ..
                }
            )
        };
        assert!(scene.told().iter().any(is_told));
        scene.is_unhurt().await;
    });
}

#[test]
fn a_silent_connection_loses_its_slot_long_before_a_greeting_must_be_done() {
    play(async {
        let limits = patient().handshake(MS(60_000)).first_byte(MS(100));
        let mut scene = Scene::set(&limits, vec![Peer::inbound("x")]).await;
        let before = scene.counts();
        let mut silent = Raw::dial(scene.at()).await;
        assert_eq!(silent.ends().await, None);
        scene.counted(&before, &[("handshake_timeout", 1)]).await;
        // A single byte is enough to keep the slot.
        let mut slow = Raw::dial(scene.at()).await;
        slow.say(&[0]).await;
        sleep(MS(500)).await;
        drop(slow);
        let expected = [("handshake_timeout", 1), ("lost", 1)];
        scene.counted(&before, &expected).await;
        scene.is_unhurt().await;
    });
}

#[test]
fn a_frame_that_comes_byte_by_byte_ends_the_link() {
    play(async {
        let limits = patient().frame_time(MS(500));
        let mut scene = Scene::set(&limits, vec![Peer::inbound("x")]).await;
        let before = scene.counts();
        let mut raw = Raw::dial(scene.at()).await.greet("x").await;
        raw.announce("x1").await;
        // Each byte breaks the silence, but the frame still does not become whole.
        trickle(&mut raw, &[&[0, 0, 4, 0][..], &[0x93; 1_024]].concat()).await;
        assert_eq!(raw.ends().await, None);
        scene.counted(&before, &[("frame_timeout", 1)]).await;
        scene.is_unhurt().await;
    });
}

#[test]
fn a_peer_that_is_silent_once_ready_is_given_up() {
    play(async {
        let limits = Limits::builder().silence(MS(1_500)).ping_after(MS(100));
        let mut scene = Scene::set(&limits, vec![Peer::inbound("x")]).await;
        let before = scene.counts();
        let mut raw = Raw::dial(scene.at()).await.greet("x").await;
        assert_eq!(raw.ends().await, None);
        scene.counted(&before, &[("silent", 1)]).await;
        scene.is_unhurt().await;
    });
}

#[test]
fn more_bytes_than_the_limit_end_the_link() {
    play(async {
        let limits = patient().rate(64 * 1024).burst(128 * 1024);
        let mut scene = Scene::set(&limits, vec![Peer::inbound("x")]).await;
        let before = scene.counts();
        let mut raw = Raw::dial(scene.at()).await.greet("x").await;
        // Each frame is correct. Only the number of frames breaks a rule.
        let frames = framed(|out| {
            for _ in 0..60_000 {
                encode_ping(raw.next(), 1, out);
            }
        });
        assert!(frames.len() > 512 * 1024);
        raw.say(&frames).await;
        raw.ends().await;
        scene.counted(&before, &[("rate", 1)]).await;
        let answered = scene.traffic().frames_out;
        assert!(answered < 20_000, "not each is answered: {answered}");
        scene.is_unhurt().await;
    });
}

#[test]
fn a_peer_that_never_reads_is_given_up() {
    play(async {
        let long = MS(300_000);
        let limits = patient().silence(long).write_time(MS(500));
        // The system must not give up first, because that has another name: it would give up two seconds after the
        // peer's window was full, even if the buffers before the window are not full yet.
        let tcp = Tcp { user_timeout: long };
        let mut scene = Scene::set_over(tcp, &limits, vec![Peer::inbound("x")]).await;
        let before = scene.counts();
        // This socket accepts few bytes before the peer reads.
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(4 * 1024).unwrap();
        let stream = socket.connect(scene.at()).await.unwrap();
        let mut raw = Raw::with(stream).greet("x").await;
        raw.announce("x1").await;
        raw.message(Targets::All, &nack(1)).await;
        let mut turns = 0;
        while scene.since(&before).is_empty() {
            turns += 1;
            assert!(turns < 2_000, "sockets hold a few MiB, not that much");
            for _ in 0..2_000 {
                scene.say_to("x1", nack(1));
            }
            sleep(MS(1)).await;
        }
        scene.counted(&before, &[("slow_peer", 1)]).await;
        drop(raw);
        scene.is_unhurt().await;
    });
}

/// The agents have a turn between two turns of the link. Here a mailbox has room for a quarter of a frame.
#[test]
fn an_agent_that_reads_keeps_up_with_a_peer_that_says_everything_at_once() {
    play(async {
        let limits = patient().mailbox(32 * 1024);
        let mut scene = Scene::set(&limits, vec![Peer::inbound("x")]).await;
        let mut raw = Raw::dial(scene.at()).await.greet("x").await;
        raw.announce("x1").await;
        let before = scene.counts();
        let heard = scene.traffic().messages_in;
        for _ in 0..5 {
            let seq = raw.next();
            let frame = framed(|out| {
                let mut messages = MessagesWriter::begin(seq, out);
                let mut payload = BytesMut::new();
                encode_payload(&nack(0), &mut payload).unwrap();
                for _ in 0..1_000 {
                    messages.push(0, 0, INCARNATION, Targets::All, &payload);
                }
                assert!(messages.end());
            });
            raw.say(&frame).await;
        }
        let all = || scene.traffic().messages_in >= heard + 5_000;
        until("all of it arrives", all).await;
        assert_eq!(scene.since(&before), []);
        scene.is_unhurt().await;
    });
}
