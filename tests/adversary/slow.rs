//! Peers that send nothing, single bytes or too many bytes, and that never read.

use actix::clock::sleep;
use actix_bully::remote::{
    Limits, LimitsBuilder, Peer,
    internals::wire::{MessagesWriter, Targets, encode_payload, encode_ping},
    transport::Tcp,
};
use bytes::BytesMut;
use tokio::net::TcpSocket;

use super::kit::{INCARNATION, MS, Raw, Scene, framed, hello, nack, patient, play, until};

/// Sends single bytes with pauses, until the other end closes.
async fn trickle(raw: &mut Raw, bytes: &[u8]) {
    for byte in bytes {
        if !raw.say(&[*byte]).await {
            break;
        }
        sleep(MS(20)).await;
    }
}

/// Lets a peer act on a new connection to a victim with these limits. Checks that the victim ends the connection for
/// the reason `why`, and no other one.
fn ends_for(why: &str, limits: &LimitsBuilder, act: impl AsyncFnOnce(Raw) -> Raw) {
    play(async {
        let mut scene = Scene::set(limits, vec![Peer::inbound("x")]).await;
        let before = scene.counts();
        let mut raw = act(Raw::dial(scene.at()).await).await;
        raw.ends().await;
        scene.counted(&before, &[(why, 1)]).await;
        scene.is_unhurt().await;
    });
}

#[test]
fn a_greeting_that_takes_too_long_is_not_waited_for() {
    let late = "handshake_timeout";
    let limits = patient().handshake(MS(500));
    ends_for(late, &limits, async |mut raw| {
        let greeting = framed(|out| hello("x").encode(out));
        trickle(&mut raw, &greeting).await;
        raw
    });
    ends_for(late, &limits, async |mut raw| {
        raw.hello(hello("x")).await;
        raw
    });
    // A silent connection loses its slot long before a greeting must be done.
    let limits = patient().handshake(MS(60_000)).first_byte(MS(100));
    ends_for(late, &limits, async |raw| raw);
}

/// Each byte breaks the silence, but the frame still does not become whole.
#[test]
fn a_frame_that_comes_byte_by_byte_ends_the_link() {
    let limits = patient().frame_time(MS(500));
    ends_for("frame_timeout", &limits, async |raw| {
        let mut raw = raw.greet("x").await;
        trickle(&mut raw, &[&[0, 0, 4, 0][..], &[0x93; 1_024]].concat()).await;
        raw
    });
}

#[test]
fn a_peer_that_is_silent_once_ready_is_given_up() {
    let limits = Limits::builder().silence(MS(1_500)).ping_after(MS(100));
    ends_for("silent", &limits, async |raw| raw.greet("x").await);
}

/// Each frame is correct. Only the number of frames breaks a rule.
#[test]
fn more_bytes_than_the_limit_end_the_link() {
    let limits = patient().rate(64 * 1024).burst(128 * 1024);
    ends_for("rate", &limits, async |raw| {
        let mut raw = raw.greet("x").await;
        let frames = framed(|out| {
            for _ in 0..60_000 {
                encode_ping(raw.next(), 1, out);
            }
        });
        assert!(frames.len() > 512 * 1024);
        raw.say(&frames).await;
        raw
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
