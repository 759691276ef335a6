//! Applications of five agents in the quorum mode, under faults of the agents, their links and their clocks: never do two
//! actors run at once, and no tick begins twice or is lost where that is promised.
//!
//! Each agent has a singleton, a schedule that skips missed due times, and a schedule that makes up for them.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    panic::resume_unwind,
    rc::Rc,
    time::Duration,
};

use actix::{Actor, ActorContext, AsyncContext, Context, Handler, clock};
use actix_bully::{
    agent::{ElectionHandle, LeaderGuard, OnPanic},
    clock::{WallClock as _, WallTime},
    leader::{
        Singleton, SteppingDown,
        schedule::{Misfire, ScheduleHandle, Tick},
    },
    testkit::{VirtualWallClock, cluster::Cluster},
};
use fastrand::Rng;

use super::{
    schedule::kit::{DAWN, SECOND},
    singleton::worker::restarts,
};
use crate::stage::{MS, play};

const NAMES: [&str; 5] = ["agent-1", "agent-2", "agent-3", "agent-4", "agent-5"];

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Trouble {
    Crash,
    /// All that crashed or were stopped start again.
    Restart,
    Hang,
    Resume,
    StepDown,
    Isolate,
    Heal,
    Stop,
    Clock,
}

/// Each is drawn as often as it is here.
const DRAWN: [Trouble; 11] = [
    Trouble::Crash,
    Trouble::Crash,
    Trouble::Restart,
    Trouble::Restart,
    Trouble::Hang,
    Trouble::Resume,
    Trouble::StepDown,
    Trouble::Isolate,
    Trouble::Heal,
    Trouble::Stop,
    Trouble::Clock,
];

/// What happened to one due time.
#[derive(Clone, Copy, Debug, Default)]
struct Runs {
    begun: u32,
    ended: u32,
    named_repeats: u32,
}

/// What all applications of a history write down.
#[derive(Debug, Default)]
struct History {
    /// The actors that exist: from `started` to `Drop`, which is longer than they can do anything.
    running: Vec<String>,
    /// The due times of the schedule that skips, and of the schedule that makes up.
    skip: BTreeMap<WallTime, Runs>,
    least: BTreeMap<WallTime, Runs>,
    /// The highest fence of all that was done.
    highest: u64,
    starts: u32,
    told: u32,
    writes: u32,
    panics: u32,
    refused: u64,
    is_calm: bool,
    wrong: Vec<String>,
}

type Shared = Rc<RefCell<History>>;

impl History {
    /// The leader does something, under its fence.
    fn acts(&mut self, leader: &LeaderGuard, what: &str) {
        let fence = leader.fence().map_or(0, |fence| fence.number());
        if fence < self.highest || fence == 0 || !leader.is_leader() {
            let line = format!("{}: {what}, under fence {fence}", leader.token());
            self.wrong.push(line);
        }
        self.highest = fence.max(self.highest);
    }

    fn of(&mut self, misfire: Misfire) -> &mut BTreeMap<WallTime, Runs> {
        match misfire {
            Misfire::Skip => &mut self.skip,
            _ => &mut self.least,
        }
    }

    fn begin(&mut self, tick: &Tick, now: WallTime, misfire: Misfire) {
        let runs = self.of(misfire).entry(tick.due).or_default();
        runs.begun += 1;
        runs.named_repeats += u32::from(tick.is_repeat);
        self.acts(&tick.leader, "a tick");
        if misfire == Misfire::Skip && now.since(tick.due) > SECOND {
            self.wrong.push(format!("{tick:?} at {now}"));
        }
    }
}

/// A worker that writes under its fence.
struct Writer {
    leader: LeaderGuard,
    history: Shared,
    rng: Rng,
    name: Option<String>,
}

impl Writer {
    fn write(&self) {
        let mut history = self.history.borrow_mut();
        history.writes += 1;
        history.acts(&self.leader, "a row");
    }
}

impl Actor for Writer {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Context<Self>) {
        let name = self.leader.token().to_string();
        let mut history = self.history.borrow_mut();
        history.starts += 1;
        if !history.running.is_empty() {
            let line = format!("{name} began beside {:?}", history.running);
            history.wrong.push(line);
        }
        history.running.push(name.clone());
        drop(history);
        self.name = Some(name);
        self.write();
        ctx.run_interval(MS(7), |writer, _| {
            writer.write();
            if writer.rng.u32(..500) == 0 && !writer.history.borrow().is_calm {
                writer.history.borrow_mut().panics += 1;
                resume_unwind(Box::new("a bug in the writer"));
            }
        });
    }
}

impl Handler<SteppingDown> for Writer {
    type Result = ();
    fn handle(&mut self, _: SteppingDown, ctx: &mut Context<Self>) {
        self.history.borrow_mut().told += 1;
        match self.rng.u32(..3) {
            0 => ctx.stop(),
            1 => {
                let after = MS(self.rng.u64(1..300));
                ctx.run_later(after, |_, ctx| ctx.stop());
            }
            _ => {} // the limit of the hand-over ends it
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let mut history = self.history.borrow_mut();
        let running = &mut history.running;
        running.retain(|name| Some(name) != self.name.as_ref());
    }
}

struct Scene {
    cluster: Cluster,
    history: Shared,
    walls: BTreeMap<&'static str, VirtualWallClock>,
    schedules: Vec<ScheduleHandle>,
    rng: Rng,
}

impl Scene {
    fn new(seed: u64, history: Shared) -> Self {
        let builder = Cluster::builder().agents(5).seed(seed).quorum();
        let wall = VirtualWallClock::new(DAWN);
        let mut scene = Self {
            cluster: builder.start().unwrap(),
            history,
            walls: NAMES.map(|name| (name, wall.another())).into(),
            schedules: Vec::new(),
            rng: Rng::with_seed(seed),
        };
        for name in NAMES {
            scene.set_clock(name, 1_500);
            scene.serve(name);
        }
        scene
    }

    /// Sets a clock ahead or back, by `by` at most.
    fn set_clock(&mut self, name: &str, by: i64) {
        let ahead = self.rng.i64(-by..=by);
        self.walls[name].set_ahead(ahead);
    }

    /// Starts the application of that agent.
    fn serve(&mut self, name: &str) {
        let agent = self.cluster.handle(name).unwrap();
        let (history, mut rng) = (Rc::clone(&self.history), self.rng.fork());
        let factory = move |leader| Writer {
            leader,
            history: Rc::clone(&history),
            rng: rng.fork(),
            name: None,
        };
        let singleton = Singleton::builder(agent, factory);
        let singleton = singleton.on_panic(OnPanic::RestartOrStepDown(restarts(2)));
        assert!(singleton.start().is_ok(), "it starts");

        let wall = &self.walls[name];
        agent.schedules().clock(wall.clone()).start().unwrap();
        for (name, misfire) in [("skip", Misfire::Skip), ("least", Misfire::AtLeastOnce)] {
            let (history, mut rng) = (Rc::clone(&self.history), self.rng.fork());
            let wall = wall.clone();
            let work = move |tick: Tick| {
                let history = Rc::clone(&history);
                let takes = MS(rng.u64(..1_600));
                history.borrow_mut().begin(&tick, wall.now(), misfire);
                async move {
                    clock::sleep(takes).await;
                    let mut history = history.borrow_mut();
                    history.of(misfire).entry(tick.due).or_default().ended += 1;
                }
            };
            let every = agent.every(name, SECOND).misfire(misfire);
            self.schedules.push(every.start(work).unwrap());
        }
    }

    /// Mostly the leader, whose troubles concern the application; else any.
    fn target(&mut self) -> &'static str {
        let leads = |name: &&str| {
            let agent = self.cluster.handle(name);
            agent.is_ok_and(ElectionHandle::is_leader)
        };
        let leader = NAMES.into_iter().find(leads);
        let any = NAMES[self.rng.usize(..NAMES.len())];
        leader.filter(|_| self.rng.u32(..4) > 0).unwrap_or(any)
    }

    /// Whether any had to start again.
    fn restart(&mut self) -> bool {
        let restarted = NAMES.map(|name| self.cluster.restart(name).is_ok());
        for (name, is_new) in NAMES.into_iter().zip(restarted) {
            if is_new {
                self.serve(name);
            }
        }
        restarted.contains(&true)
    }

    /// One trouble; `None` if it changes nothing.
    async fn trouble(&mut self) -> Option<Trouble> {
        let (name, trouble) = (self.target(), self.rng.choice(DRAWN)?);
        let cluster = &mut self.cluster;
        let is_done = match trouble {
            Trouble::Crash => cluster.crash(name).await.is_ok(),
            Trouble::Restart => self.restart(),
            Trouble::Hang => cluster.hang(name).await.is_ok(),
            Trouble::Resume => NAMES
                .map(|name| cluster.resume(name).is_ok())
                .contains(&true),
            Trouble::StepDown => cluster.step_down(name, None).is_ok(),
            Trouble::Isolate => cluster.isolate(name).is_ok(),
            Trouble::Heal => {
                cluster.heal();
                true
            }
            Trouble::Stop => cluster.stop(name).await.is_ok(),
            Trouble::Clock => {
                // More than 10 s ahead, its due times are refused.
                self.set_clock(name, 20_000);
                true
            }
        };
        is_done.then_some(trouble)
    }

    /// Everything is well again, for the longest cool-down and a minute.
    async fn calm(&mut self) {
        self.history.borrow_mut().is_calm = true;
        self.cluster.heal();
        for name in NAMES {
            self.cluster.resume(name).ok();
            self.set_clock(name, 500);
        }
        self.restart();
        clock::sleep(Duration::from_secs(120)).await;
        let mut history = self.history.borrow_mut();
        let refused = self.schedules.iter().map(|one| one.status().refused);
        history.refused = refused.sum();
        assert_eq!(history.running.len(), 1, "one works in the end");
    }
}

/// Plays the history of that seed; notes which troubles it had.
fn history(seed: u64, happened: &mut BTreeSet<Trouble>) -> History {
    let history = Shared::default();
    let shared = Rc::clone(&history);
    play(async move {
        let mut scene = Scene::new(seed, shared);
        for _ in 0..40 {
            clock::sleep(MS(scene.rng.u64(10..3_000))).await;
            happened.extend(scene.trouble().await);
        }
        scene.calm().await;
    });
    history.take()
}

/// Each due time up to the last ended one was run to its end, and a repetition says so.
fn assert_complete(seed: u64, ticks: &BTreeMap<WallTime, Runs>) -> u32 {
    let first = ticks.keys().next().unwrap().as_millis();
    let last = ticks.iter().rev().find(|(_, runs)| runs.ended > 0);
    let last = last.unwrap().0.as_millis();
    let due = (first..=last).step_by(1_000).map(WallTime::from_millis);
    let missing: Vec<_> = due
        .filter(|due| ticks.get(due).is_none_or(|runs| runs.ended == 0))
        .collect();
    assert!(missing.is_empty(), "seed {seed}: {missing:?}");
    assert!(last - first > 90_000, "seed {seed}: {}", last - first);
    for (due, runs) in ticks {
        // Each beginning after the first one says so. The first one may as well: a leader that was cut off had it
        // acknowledged, and never learned of that.
        let unnamed = runs.begun - runs.named_repeats;
        assert!(unnamed <= 1, "seed {seed}: {due}: {runs:?}");
    }
    ticks.values().map(|runs| runs.begun - 1).sum()
}

#[test]
fn never_do_two_actors_run_at_once_nor_a_tick_twice_and_none_is_lost_that_must_not_be() {
    let mut happened = BTreeSet::new();
    let (mut starts, mut told, mut panics, mut repeated, mut refused) = (0, 0, 0, 0, 0);
    for seed in 0..10 {
        let history = history(seed, &mut happened);
        assert_eq!(history.wrong, [""; 0], "seed {seed}");
        assert!(history.writes > 100, "seed {seed}: {}", history.writes);
        let skip = &history.skip;
        let twice: Vec<_> = skip.iter().filter(|(_, runs)| runs.begun > 1).collect();
        assert!(twice.is_empty(), "seed {seed}: {twice:?}");
        assert!(skip.len() > 60, "seed {seed}: {}", skip.len());
        repeated += assert_complete(seed, &history.least);
        starts += history.starts;
        told += history.told;
        panics += history.panics;
        refused += history.refused;
    }
    println!(
        "{starts} starts, {told} told, {panics} panics, {repeated} repeated, {refused} refused"
    );
    assert!(starts > 100 && told > 5 && panics > 10 && repeated > 5 && refused > 5);
    for trouble in DRAWN {
        assert!(happened.contains(&trouble), "{trouble:?} never happened");
    }
}
