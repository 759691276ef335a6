//! Seeds of cuts, partitions, crashes and restarts across hosts: what holds all the time, and what
//! holds again afterwards. The same seed is the same run.

use std::{fmt::Write, path::Path};

use actix::clock::{Instant, sleep};
use actix_bully::{
    remote::{NodeIncarnation, transport::Pipes},
    testkit::{CrashBridge, Inject},
};
use fastrand::Rng;

use super::{
    kit::{Host, MS, builder, play},
    voters::{believer, host},
};

const NAMES: [&str; 3] = ["a", "b", "c"];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Available,
    Quorum,
}

/// Three hosts, one of which may be down.
struct World<'a> {
    pipes: Pipes,
    hosts: [Option<Host>; 3],
    incarnation: u64,
    folder: &'a Path,
    mode: Mode,
    log: String,
    began: Instant,
}

impl World<'_> {
    fn note(&mut self, what: &str) {
        let at = self.began.elapsed().as_millis();
        writeln!(self.log, "{at:>6} {what}").unwrap();
    }

    fn up(&self) -> Vec<&Host> {
        self.hosts.iter().flatten().collect()
    }

    async fn fault(&mut self, rng: &mut Rng) {
        let (k, other) = (rng.usize(..3), rng.usize(1..3));
        let (one, two) = (NAMES[k], NAMES[(k + other) % 3]);
        match rng.u8(..8) {
            0 | 1 => {
                self.note(&format!("cut {one} {two}"));
                self.pipes.cut(one, two);
            }
            2 => {
                self.note(&format!("partition {one} {two}"));
                self.pipes.partition(one, two);
            }
            3 => {
                self.note(&format!("deafen {two} to {one}"));
                self.pipes.partition_one_way(one, two);
            }
            4 => self.heal(),
            5 => {
                self.note(&format!("crash the bridge of {one}"));
                if let Some(host) = &self.hosts[k] {
                    host.bridge.addr().do_send(CrashBridge);
                }
            }
            6 => {
                self.note(&format!("crash the agent of {one}"));
                if let Some(host) = &self.hosts[k] {
                    host.agents[0].addr().do_send(Inject::Crash);
                }
            }
            _ => match self.hosts[k].take() {
                Some(host) if self.up().len() == 2 => {
                    self.note(&format!("kill {one}"));
                    host.stop().await;
                }
                Some(host) => self.hosts[k] = Some(host),
                None => self.revive(k),
            },
        }
    }

    fn agrees(&self) -> bool {
        let up = self.up();
        let leaders = self.mode.leaders(&up);
        leaders.len() == 1 && up.iter().all(|host| host.follows(&leaders[0]))
    }

    /// What happened, and the state in which it ended.
    fn picture(&self) -> String {
        let mut picture = self.log.clone();
        for host in self.up() {
            let (peers, agent) = (host.bridge.peers(), host.agents[0].current());
            writeln!(picture, "{peers:?}\n{agent:?}\n{:?}", host.group.members()).unwrap();
        }
        picture
    }

    fn heal(&mut self) {
        self.note("heal");
        for (one, two) in [("a", "b"), ("b", "c"), ("a", "c")] {
            self.pipes.heal(one, two);
        }
    }

    fn revive(&mut self, k: usize) {
        self.incarnation += 1_000;
        self.note(&format!("start {}", NAMES[k]));
        self.hosts[k] = Some(
            self.mode
                .host(&self.pipes, NAMES[k], self.incarnation, self.folder),
        );
    }
}

impl Mode {
    fn host(self, pipes: &Pipes, name: &'static str, incarnation: u64, folder: &Path) -> Host {
        if self == Self::Quorum {
            return host(pipes, name, incarnation, folder);
        }
        let others: Vec<_> = NAMES.into_iter().filter(|other| *other != name).collect();
        let mut host = Host::with(|group| {
            let bridge = builder(pipes, name, &others);
            bridge
                .incarnation(NodeIncarnation(incarnation))
                .carry(group)
        });
        host.agent(&format!("{name}1"), 0);
        host
    }

    /// The agents that consider themselves leader: in quorum mode two of them fail the test.
    fn leaders(self, hosts: &[&Host]) -> Vec<String> {
        if self == Self::Quorum {
            return believer(hosts).into_iter().collect();
        }
        let agents = hosts.iter().flat_map(|host| &host.agents);
        let leading = agents.filter(|agent| agent.is_leader());
        leading.map(|agent| agent.id().to_string()).collect()
    }
}

/// One history; its log.
fn history(seed: u64, mode: Mode) -> String {
    let folder = tempfile::tempdir().unwrap();
    let (folder, mut log) = (folder.path(), String::new());
    play(async {
        let mut rng = Rng::with_seed(seed);
        let pipes = Pipes::new();
        let hosts = NAMES.map(|name| Some(mode.host(&pipes, name, 1_000, folder)));
        let mut world = World {
            pipes,
            hosts,
            incarnation: 1_000,
            folder,
            mode,
            log: String::new(),
            began: Instant::now(),
        };
        let mut leaders = Vec::new();
        for _ in 0..30 {
            world.fault(&mut rng).await;
            for _ in 0..rng.u64(1..160) {
                sleep(MS(5)).await;
                let now = mode.leaders(&world.up());
                if now != leaders {
                    world.note(&format!("believes: {now:?}"));
                    leaders = now;
                }
            }
        }
        world.heal();
        for k in 0..3 {
            if world.hosts[k].is_none() {
                world.revive(k);
            }
        }
        // Attempts to dial are 10 s apart at most, and take 3 s.
        let healed = Instant::now();
        while !world.agrees() {
            assert!(healed.elapsed() < MS(15_000), "{}", world.picture());
            sleep(MS(1)).await;
        }
        sleep(MS(15_000)).await;
        for (one, two) in [("a", "b"), ("b", "c"), ("a", "c")] {
            assert_eq!(world.pipes.connections(one, two), 1, "{one} {two}");
        }
        log = std::mem::take(&mut world.log);
        for host in world.up() {
            assert_eq!(host.group.members().len(), 3);
            writeln!(log, "{:?}", host.bridge.traffic()).unwrap();
        }
    });
    log
}

/// How many seeds; `SEEDS` asks for another number.
fn seeds(few: u64) -> u64 {
    let asked = std::env::var("SEEDS").ok();
    asked.and_then(|text| text.parse().ok()).unwrap_or(few)
}

#[test]
fn whatever_happens_no_two_consider_themselves_leader_and_all_agree_in_the_end() {
    for seed in 0..seeds(4) {
        eprintln!("seed {seed}"); // shown when it fails
        let log = history(seed, Mode::Quorum);
        assert!(log.contains("believes"), "seed {seed}: {log}");
    }
}

#[test]
fn each_side_has_a_leader_and_all_agree_in_the_end() {
    for seed in 0..seeds(12) {
        eprintln!("seed {seed}"); // shown when it fails
        let log = history(seed, Mode::Available);
        assert!(log.contains("believes"), "seed {seed}: {log}");
    }
}

/// Without a store: what waits for a disk takes real time.
#[test]
fn the_same_seed_is_the_same_run() {
    for seed in 100..102 {
        let [first, second] = [(); 2].map(|()| history(seed, Mode::Available));
        assert_eq!(first, second, "seed {seed}");
    }
}
