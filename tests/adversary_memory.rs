//! What hostile connections cost in memory: a process of its own, whose size is looked at.
//!
//! Both ends live here, so that the figure is an upper bound.
#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    reason = "a scene that cannot be set fails the test"
)]

#[path = "adversary/kit.rs"]
#[expect(dead_code, reason = "other scenes need more of it")]
mod kit;

use std::{
    fs,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use actix::clock::sleep;
use actix_bully::{
    agent::BullyAgent,
    remote::{
        Peer,
        internals::wire::{MessagesWriter, Targets, encode_payload},
    },
    testkit::Inject,
};
use bytes::BytesMut;

use kit::{INCARNATION, Raw, Scene, framed, nack, patient, play, until};

const CONNECTIONS: usize = 256;
const MOST_KIB: usize = 32 * 1024;

/// So much is said to an agent that does not read, and may cost so much.
const FRAMES: usize = 500;
const MESSAGES: usize = 1_000;
const MOST_MAIL_KIB: usize = 16 * 1024;

/// The memory of this process that is in use, in KiB.
fn resident() -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let kib = line.unwrap().split_whitespace().nth(1).unwrap();
    kib.parse().unwrap()
}

/// What is measured is measured alone.
static ALONE: Mutex<()> = Mutex::new(());

#[test]
fn hostile_connections_cost_no_more_than_32_mib() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    play(async {
        let minute = Duration::from_secs(60);
        let limits = patient()
            .handshake(minute)
            .first_byte(minute)
            .frame_time(minute)
            .silence(minute)
            .inbound(CONNECTIONS + 2)
            .unready(CONNECTIONS)
            .unready_per_address(CONNECTIONS);
        let name = |k: usize| format!("x{k}");
        let known = (0..=CONNECTIONS).map(|k| Peer::inbound(&name(k)));
        let mut scene = Scene::set(&limits, known.collect()).await;
        let idle = resident();
        let cost = || resident().saturating_sub(idle);

        // Each has sent almost all of the longest greeting.
        let mut open = Vec::new();
        let greeting = [&1_024_u32.to_be_bytes()[..], &[0; 1_023]].concat();
        for _ in 0..CONNECTIONS {
            let mut raw = Raw::dial(scene.at()).await;
            assert!(raw.hear().await.is_some(), "it was let in");
            assert!(raw.say(&greeting).await);
            open.push(raw);
        }
        scene.is_unhurt().await;
        let unready = cost();
        let before = scene.counts();
        open.clear();
        let gone = u64::try_from(CONNECTIONS).unwrap();
        scene.counted(&before, &[("lost", gone)]).await;

        // Each is a node of the table, and has sent almost all of the longest frame.
        let mut frame = vec![0; 4 + 64 * 1_024 - 1];
        frame[..4].copy_from_slice(&(64 * 1_024_u32).to_be_bytes());
        let said = scene.traffic().bytes_in;
        for k in 0..CONNECTIONS {
            let mut raw = Raw::dial(scene.at()).await.greet(&name(k)).await;
            raw.hear().await.unwrap(); // all before the frame was read
            assert!(raw.say(&frame).await);
            open.push(raw);
        }
        let bytes = u64::try_from(frame.len() * CONNECTIONS).unwrap();
        until("all was read", || scene.traffic().bytes_in - said >= bytes).await;
        let ready = cost();
        scene.is_unhurt().await;
        println!("{CONNECTIONS} connections: {unready} KiB that are not ready, {ready} KiB ready");
        assert!(unready < MOST_KIB, "{unready} KiB");
        assert!(ready < MOST_KIB, "{ready} KiB");
    });
}

/// What a peer within its rights and rates says to an agent that does not read.
#[test]
fn mail_that_an_agent_does_not_read_is_bounded_and_counted() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    play(async {
        let mut scene = Scene::set(&patient(), vec![Peer::inbound("x")]).await;
        let deaf = BullyAgent::builder("deaf").observer().join(scene.group());
        let deaf = deaf.start().unwrap();
        let mut raw = Raw::dial(scene.at()).await.greet("x").await;
        raw.announce("x1").await;
        until("all know each other", || scene.group().members().len() == 4).await;
        let hang = sleep(Duration::from_secs(600));
        deaf.addr().do_send(Inject::hang(hang));
        let before = scene.counts();
        let idle = resident();
        for _ in 0..FRAMES {
            let seq = raw.next();
            let frame = framed(|out| {
                let mut messages = MessagesWriter::begin(seq, out);
                let mut payload = BytesMut::new();
                encode_payload(&nack(0), &mut payload).unwrap();
                for _ in 0..MESSAGES {
                    messages.push(0, 0, INCARNATION, Targets::All, &payload);
                }
                assert!(messages.end());
            });
            assert!(raw.say(&frame).await);
        }
        let heard = || scene.traffic().messages_in;
        let all = u64::try_from(FRAMES * MESSAGES).unwrap();
        until("all of it arrives", || heard() >= all).await;
        let cost = resident().saturating_sub(idle);
        let moved = scene.since(&before);
        println!("{all} messages to an agent that does not read: {cost} KiB, {moved:?}");
        assert!(cost < MOST_MAIL_KIB, "{cost} KiB");
        let [("mailbox_full", lost)] = moved[..] else {
            panic!("{moved:?}");
        };
        assert!(lost > all / 2 && lost < all, "{lost} of {all}");
        scene.is_unhurt().await;
    });
}
