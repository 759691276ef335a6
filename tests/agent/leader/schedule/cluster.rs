//! Five agents in the quorum mode, whatever happens to them and their links.

use std::{cell::RefCell, collections::BTreeMap, rc::Rc, time::Duration};

use actix::clock;
use actix_bully::{
    clock::{WallClock as _, WallTime},
    leader::schedule::{Misfire, Tick},
    testkit::{VirtualWallClock, cluster::Cluster},
};
use fastrand::Rng;

use super::kit::{DAWN, SECOND};
use crate::{
    leader::trouble::{NAMES, Trouble, each_happened, restart, target},
    stage::{MS, play},
};

/// What happens to an agent, or to its clock.
enum Fault {
    Of(Trouble),
    Clock,
}

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
    leaders: Vec<String>,
    highest: u64,
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
        let every = agent.every("job", SECOND).misfire(misfire);
        every.start(work).unwrap();
    }

    /// One fault; `None` if it does not fit.
    async fn fault(&mut self) -> Option<Fault> {
        let name = target(&self.cluster, &mut self.rng)?;
        let trouble = match self.rng.u32(..11) {
            0 | 1 => Trouble::Crash,
            2 | 3 => Trouble::Restart,
            4 => Trouble::Hang,
            5 => Trouble::Resume,
            6 => Trouble::StepDown,
            7 => Trouble::Isolate,
            8 => Trouble::Heal,
            9 => {
                self.set_clock(name, 4_000);
                return Some(Fault::Clock);
            }
            _ => Trouble::Stop,
        };
        for name in trouble.befall(&mut self.cluster, name).await? {
            self.serve(name);
        }
        Some(Fault::Of(trouble))
    }

    /// Everything is well again, for a minute.
    async fn calm(&mut self) {
        self.cluster.heal();
        for name in NAMES {
            self.cluster.resume(name).ok();
            self.set_clock(name, 500);
        }
        for name in restart(&mut self.cluster) {
            self.serve(name);
        }
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
        let within = if misfire == Misfire::Skip {
            SECOND
        } else {
            Duration::MAX
        };
        if now.since(tick.due) > within || fence < self.highest || !tick.leader.is_leader() {
            self.wrong.push(format!("{tick:?} at {now}, fence {fence}"));
        }
        self.highest = self.highest.max(fence);
        let leader = tick.leader.token().to_string();
        if self.leaders.last() != Some(&leader) {
            self.leaders.push(leader);
        }
    }
}

/// Plays histories of faults; returns what became of each.
fn histories(misfire: Misfire) -> Vec<History> {
    let (mut happened, mut clocks) = (BTreeMap::new(), 0);
    let mut histories = Vec::new();
    for seed in 0..5 {
        let history = Shared::default();
        let shared = Rc::clone(&history);
        let (seen, clocks) = (&mut happened, &mut clocks);
        play(async move {
            let mut scene = Scene::new(misfire, seed, shared);
            for _ in 0..40 {
                clock::sleep(MS(scene.rng.u64(10..3_000))).await;
                match scene.fault().await {
                    Some(Fault::Of(trouble)) => *seen.entry(trouble).or_default() += 1,
                    Some(Fault::Clock) => *clocks += 1,
                    None => {}
                }
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
    each_happened(&happened);
    assert!(clocks > 0, "no clock was ever set");
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
    }
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
