//! The effect of an attack on the heartbeats of healthy peers, and on a cluster that is restarted. The tests compare
//! a calm phase and an attack of the same run, in a process of its own.
//!
//! The test of heartbeats has three threads: the node under attack, its healthy peers, and the attacker. It measures
//! the interval between two heartbeats at a healthy peer. The heartbeats of a busy node arrive late.
#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a scene that cannot be set fails the test; sockets know no virtual time"
)]

mod attack;
mod healthy;
#[path = "../adversary/kit.rs"]
#[expect(dead_code, reason = "other scenes need more of it")]
mod kit;
#[expect(clippy::print_stdout, reason = "what was measured is shown")]
mod restart;

use std::{
    sync::{Arc, Mutex, PoisonError, atomic::Ordering::Relaxed},
    time::Duration,
};

use actix_bully::{
    Group,
    protocol::Timings,
    remote::{LinkId, Peer},
};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use attack::HALF_OPEN;
use healthy::{Healthy, NAMES};
use kit::{Host, MS, bridge, host, linked, patient, play, until};
use restart::{Attackers, Manner, Secure};

/// Number of sockets: both ends of each connection are in this process.
const SOCKETS: u64 = 4_096;
/// Interval of the leader's heartbeats. It is shorter than in any preset.
const HEARTBEAT: Duration = Duration::from_millis(20);
/// Number of heartbeats at each peer in one phase.
const BEATS: usize = 160;
/// Factor by which 99 of 100 heartbeats may be later under attack than in the calm.
const TIMES: u32 = 2;

/// Lock for one measurement at a time.
static ALONE: Mutex<()> = Mutex::new(());

fn timings() -> Timings {
    let builder = Timings::wan().to_builder();
    builder.detector(HEARTBEAT, MS(10_000)).build().unwrap()
}

/// The node under attack, whose agent leads, and its healthy peers.
struct Scene {
    victim: Host,
    healthy: Healthy,
    links: Vec<Option<LinkId>>,
}

impl Scene {
    async fn set() -> Self {
        // There is room for all half-open connections, and their deadline falls within each phase.
        let limits = patient()
            .handshake(MS(4_000))
            .first_byte(MS(4_000))
            .inbound(2_000)
            .unready(attack::ROOM)
            .unready_per_address(attack::ROOM);
        let peers = NAMES.map(Peer::inbound).to_vec();
        let group = Group::new("g").unwrap();
        let victim = host(bridge("a", &limits, peers), group, "a", 9, timings());
        let healthy = Healthy::start(victim.bridge.local_addr().unwrap());
        until("each peer hears heartbeats", || healthy.have_heard(3)).await;
        let links = Self::links(&victim);
        Self {
            victim,
            healthy,
            links,
        }
    }

    fn links(victim: &Host) -> Vec<Option<LinkId>> {
        let links = NAMES.iter().map(|name| linked(&victim.bridge, name));
        links.collect()
    }

    /// Measures the intervals of heartbeats, from now until each peer has heard enough heartbeats and `holds` returns
    /// true.
    async fn p99(&self, mut holds: impl FnMut() -> bool) -> Duration {
        self.healthy.forget();
        until("enough heartbeats", || {
            self.healthy.have_heard(BEATS) && holds()
        })
        .await;
        self.healthy.p99()
    }

    /// Returns whether 99 of 100 heartbeats are less than twice as late under attack as in the calm before it.
    #[expect(clippy::print_stdout, reason = "what was measured is shown")]
    async fn is_in_time_under_attack(&self) -> bool {
        let calm = self.p99(|| true).await;
        let bridge = &self.victim.bridge;
        let (attack, held) = attack::start(bridge.local_addr().unwrap());
        until("a thousand are half open", || {
            held.load(Relaxed) >= HALF_OPEN
        })
        .await;
        let before = bridge.counters();
        let moved = |name| bridge.counters().get(name).unwrap() - before.get(name).unwrap();
        let half_open = u64::try_from(HALF_OPEN).unwrap();
        let attacked = self.p99(|| moved("handshake_timeout") >= half_open).await;
        println!("99 of 100 heartbeats: {calm:.1?} in the calm, {attacked:.1?} under attack");
        for (name, _) in before.iter() {
            let (least, most) = match name {
                "frame_too_large" | "handshake_timeout" | "lost" => (200, u64::MAX),
                "too_many_connections" => (0, u64::MAX),
                _ => (0, 0),
            };
            let times = moved(name);
            assert!((least..=most).contains(&times), "{name}: {times}");
        }
        attack.end();
        attacked < calm * TIMES
    }

    /// Checks that each peer still has the same link, and that no agent follows another leader.
    fn is_unhurt(&self) {
        assert_eq!(Self::links(&self.victim), self.links);
        let leader = self.victim.agent.leader().unwrap();
        assert_eq!((leader.id.as_str(), leader.term.0), ("a1", 1));
    }
}

/// Lets this process open enough sockets. Returns whether the system allows that.
fn may_open_sockets() -> bool {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: Some(SOCKETS),
        maximum: limit.maximum,
    };
    limit.current.is_none_or(|current| current >= SOCKETS)
        || setrlimit(Resource::Nofile, raised).is_ok()
}

#[test]
fn heartbeats_of_the_healthy_come_less_than_twice_as_late_under_attack() {
    if !may_open_sockets() {
        println!("skipped: {SOCKETS} descriptors are needed");
        return;
    }
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    play(async {
        let scene = Scene::set().await;
        // Other work may have kept the machine busy in one of the phases, so the second try has a calm of its own.
        let is_in_time =
            scene.is_in_time_under_attack().await || scene.is_in_time_under_attack().await;
        assert!(is_in_time, "heartbeats are too late under attack");
        scene.is_unhurt();
        scene.healthy.end();
    });
}

#[test]
fn a_cluster_that_is_restarted_under_attack_agrees_in_less_than_twice_the_calm_time() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let plain: Secure = Arc::new(|bridge, _| bridge);
    for manner in [Manner::Waits, Manner::Hurries] {
        let says = Arc::default();
        restart::holds(&Attackers { manner, says }, &plain);
    }
}
