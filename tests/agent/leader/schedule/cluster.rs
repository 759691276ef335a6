//! Five agents in the quorum mode, whatever happens to them and their links.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "a scene that cannot be set fails the test"
)]

use std::{cell::RefCell, collections::BTreeMap, rc::Rc, time::Duration};

use actix::clock;
use actix_bully::{
    agent::ElectionHandle,
    clock::{WallClock as _, WallTime},
    leader::schedule::{Misfire, Tick},
    testkit::{VirtualWallClock, cluster::Cluster},
};
use fastrand::Rng;

use super::kit::{DAWN, SECOND};
use crate::stage::{MS, play};

const NAMES: [&str; 5] = ["agent-1", "agent-2", "agent-3", "agent-4", "agent-5"];

/// What happened to one due time.
#[derive(Clone, Copy, Debug, Default)]
struct Runs {
    begun: u32,
    ended: u32,
    named_repeats: u32,
}

#[derive(Debug, Default)]
struct History {
    runs: BTreeMap<WallTime, Runs>,
    wrong: Vec<String>,
    late: u32,
    leaders: Vec<String>,
    highest: u64,
}

/// Longer than "on time", where being late is in question.
const fn interval(misfire: Misfire) -> Duration {
    match misfire {
        Misfire::Late { .. } => Duration::from_secs(5),
        _ => SECOND,
    }
}

type Shared = Rc<RefCell<History>>;

struct Scene {
    cluster: Cluster,
    history: Shared,
    walls: BTreeMap<&'static str, VirtualWallClock>,
    misfire: Misfire,
    rng: Rng,
}

impl Scene {
    fn new(misfire: Misfire, seed: u64, history: Shared) -> Self {
        let builder = Cluster::builder().agents(5).seed(seed).quorum();
        let wall = VirtualWallClock::new(DAWN);
        let walls = NAMES.map(|name| (name, wall.another())).into();
        let mut scene = Self {
            cluster: builder.start().unwrap(),
            history,
            walls,
            misfire,
            rng: Rng::with_seed(seed),
        };
        for name in NAMES {
            scene.set_clock(name, 1_500);
            scene.serve(name);
        }
        scene
    }

    /// Sets a clock, by so much at most.
    fn set_clock(&mut self, name: &str, by: i64) {
        let ahead = self.rng.i64(-by..=by);
        self.walls[name].set_ahead(ahead);
    }

    /// Starts the schedule on that agent.
    fn serve(&mut self, name: &'static str) {
        let agent = self.cluster.handle(name).unwrap();
        let wall = self.walls[name].clone();
        agent.schedules().clock(wall.clone()).start().unwrap();
        let history = Rc::clone(&self.history);
        let mut rng = self.rng.fork();
        let misfire = self.misfire;
        let work = move |tick: Tick| {
            let history = Rc::clone(&history);
            let takes = MS(rng.u64(..1_600));
            history.borrow_mut().begin(&tick, wall.now(), misfire);
            async move {
                clock::sleep(takes).await;
                let mut history = history.borrow_mut();
                history.runs.entry(tick.due).or_default().ended += 1;
            }
        };
        let every = agent.every("job", interval(misfire)).misfire(misfire);
        every.start(work).unwrap();
    }

    /// One fault, or none if it does not fit; says which.
    async fn fault(&mut self) -> &'static str {
        let leads = |name: &&str| {
            self.cluster
                .handle(name)
                .is_ok_and(ElectionHandle::is_leader)
        };
        let leader = NAMES.into_iter().find(leads);
        let any = self.rng.choice(NAMES);
        let Some(name) = leader.filter(|_| self.rng.u32(..4) > 0).or(any) else {
            return "none";
        };
        let cluster = &mut self.cluster;
        let (what, done) = match self.rng.u32(..11) {
            0 | 1 => ("crash", cluster.crash(name).await.is_ok()),
            2 | 3 => ("restart", self.restart()),
            4 => ("hang", cluster.hang(name).await.is_ok()),
            5 => {
                let resumed = NAMES.map(|name| cluster.resume(name).is_ok());
                ("resume", resumed.contains(&true))
            }
            6 => ("step down", cluster.step_down(name, None).is_ok()),
            7 => ("isolate", cluster.isolate(name).is_ok()),
            8 => {
                cluster.heal();
                ("heal", true)
            }
            9 => {
                self.set_clock(name, 4_000);
                ("clock", true)
            }
            _ => ("stop", cluster.stop(name).await.is_ok()),
        };
        if done { what } else { "none" }
    }

    fn restart(&mut self) -> bool {
        let mut restarted = false;
        for name in NAMES {
            if self.cluster.restart(name).is_ok() {
                self.serve(name);
                restarted = true;
            }
        }
        restarted
    }

    /// Everything is well again, for a minute.
    async fn calm(&mut self) {
        self.cluster.heal();
        for name in NAMES {
            self.cluster.resume(name).ok();
            self.set_clock(name, 500);
        }
        self.restart();
        // The longest cool-down, and a minute.
        clock::sleep(Duration::from_secs(120)).await;
    }
}

impl History {
    fn begin(&mut self, tick: &Tick, now: WallTime, misfire: Misfire) {
        let runs = self.runs.entry(tick.due).or_default();
        runs.begun += 1;
        runs.named_repeats += u32::from(tick.is_repeat);
        let fence = tick.fence().map_or(0, |fence| fence.number());
        let within = match misfire {
            Misfire::Skip => SECOND,
            Misfire::Late { within } => within,
            _ => Duration::MAX,
        };
        if now.since(tick.due) > within || fence < self.highest || !tick.leader.is_leader() {
            self.wrong.push(format!("{tick:?} at {now}, fence {fence}"));
        }
        self.highest = self.highest.max(fence);
        self.late += u32::from(tick.is_late);
        let leader = tick.leader.token().to_string();
        if self.leaders.last() != Some(&leader) {
            self.leaders.push(leader);
        }
    }
}

/// Plays histories of faults; returns what became of each.
fn histories(misfire: Misfire) -> Vec<History> {
    let mut happened: BTreeMap<&str, u32> = BTreeMap::new();
    let mut histories = Vec::new();
    for seed in 0..5 {
        let history = Shared::default();
        let shared = Rc::clone(&history);
        let seen = &mut happened;
        play(async move {
            let mut scene = Scene::new(misfire, seed, shared);
            for _ in 0..40 {
                clock::sleep(MS(scene.rng.u64(10..3_000))).await;
                *seen.entry(scene.fault().await).or_default() += 1;
            }
            scene.calm().await;
        });
        let history = history.take();
        let wrong: [String; 0] = [];
        assert_eq!(history.wrong, wrong, "seed {seed}");
        assert!(
            history.leaders.len() > 4,
            "seed {seed}: {:?}",
            history.leaders
        );
        histories.push(history);
    }
    let all = [
        "crash",
        "restart",
        "hang",
        "resume",
        "step down",
        "isolate",
        "heal",
        "clock",
        "stop",
    ];
    for what in all {
        assert!(happened.contains_key(what), "{what} never happened");
    }
    histories
}

fn twice(history: &History) -> Vec<(WallTime, Runs)> {
    let runs = history.runs.iter().map(|(due, runs)| (*due, *runs));
    runs.filter(|(_, runs)| runs.begun > 1).collect()
}

#[test]
fn with_skip_no_tick_begins_twice_whatever_happens() {
    for history in histories(Misfire::Skip) {
        assert!(twice(&history).is_empty(), "{:?}", twice(&history));
        assert!(history.runs.len() > 60, "{}", history.runs.len());
        assert_eq!(history.late, 0);
    }
}

#[test]
fn with_late_no_tick_begins_twice_and_those_of_a_fail_over_run_late() {
    let mut late = 0;
    let within = Duration::from_secs(20);
    for history in histories(Misfire::Late { within }) {
        assert!(twice(&history).is_empty(), "{:?}", twice(&history));
        late += history.late;
    }
    assert!(late > 5, "{late}");
}

#[test]
fn with_at_least_once_no_tick_is_lost_and_a_repetition_says_so() {
    let mut repeated = 0;
    for history in histories(Misfire::AtLeastOnce) {
        let first = history.runs.keys().next().unwrap().as_millis();
        let last = history.runs.iter().rev().find(|(_, runs)| runs.ended > 0);
        let last = last.unwrap().0.as_millis();
        let due = (first..=last).step_by(1_000).map(WallTime::from_millis);
        let missing: Vec<_> = due
            .filter(|due| history.runs.get(due).is_none_or(|runs| runs.ended == 0))
            .collect();
        assert!(missing.is_empty(), "{missing:?}");
        assert!(last - first > 90_000, "{}", last - first);
        for (due, runs) in &history.runs {
            // Each beginning after the first one says so. The first one may as well: a leader that was cut off
            // had it acknowledged, and never learned of that.
            let unnamed = runs.begun - runs.named_repeats;
            assert!(unnamed <= 1, "{due}: {runs:?}");
            repeated += runs.begun - 1;
        }
    }
    assert!(repeated > 5, "{repeated}");
}
