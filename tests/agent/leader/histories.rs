//! Singletons of five agents in the quorum mode, under faults of the agents and their links. Two actors never run at
//! the same time. `tests/simulated_network/` has such histories for schedules and proxies.

use std::{cell::RefCell, collections::BTreeSet, panic::resume_unwind, rc::Rc, time::Duration};

use actix::{Actor, ActorContext, AsyncContext, Context, Handler, clock};
use actix_bully::{
    agent::{ElectionHandle, LeaderGuard, OnPanic},
    leader::{Singleton, SteppingDown},
    testkit::cluster::Cluster,
};
use fastrand::Rng;

use super::singleton::worker::restarts;
use crate::stage::{MS, play};

const NAMES: [&str; 5] = ["agent-1", "agent-2", "agent-3", "agent-4", "agent-5"];

/// A history draws from these troubles, of which frequent ones are named twice. With "restart", all agents that crashed
/// or were stopped start again.
const DRAWN: [&str; 10] = [
    "crash",
    "crash",
    "restart",
    "restart",
    "hang",
    "resume",
    "step down",
    "isolate",
    "heal",
    "stop",
];

/// The notes of all applications in a history.
#[derive(Debug, Default)]
struct History {
    /// The actors that exist. An actor counts from `started` to `Drop`, which is longer than it can act.
    running: Vec<String>,
    /// The highest fence of all writes so far.
    highest: u64,
    starts: u32,
    told: u32,
    writes: u32,
    panics: u32,
    is_calm: bool,
    wrong: Vec<String>,
}

type Shared = Rc<RefCell<History>>;

/// A worker that writes under the fence of its leadership.
struct Writer {
    leader: LeaderGuard,
    history: Shared,
    rng: Rng,
    name: Option<String>,
}

impl Writer {
    /// Notes a write. It is wrong if the fence is lower than an earlier one, or if the agent does not lead.
    fn write(&self) {
        let (mut history, leader) = (self.history.borrow_mut(), &self.leader);
        history.writes += 1;
        let fence = leader.fence().map_or(0, |fence| fence.number());
        if fence < history.highest || fence == 0 || !leader.is_leader() {
            let line = format!("{}: a row, under fence {fence}", leader.token());
            history.wrong.push(line);
        }
        history.highest = fence.max(history.highest);
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
    rng: Rng,
}

impl Scene {
    fn new(seed: u64, history: Shared) -> Self {
        let builder = Cluster::builder().agents(5).seed(seed).quorum();
        let mut scene = Self {
            cluster: builder.start().unwrap(),
            history,
            rng: Rng::with_seed(seed),
        };
        for name in NAMES {
            scene.serve(name);
        }
        scene
    }

    /// Starts the application of an agent.
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
    }

    /// Returns the agent for the next trouble. In most cases this is the leader, because its troubles concern the
    /// application.
    fn target(&mut self) -> &'static str {
        let leads = |name: &&str| {
            let agent = self.cluster.handle(name);
            agent.is_ok_and(ElectionHandle::is_leader)
        };
        let leader = NAMES.into_iter().find(leads);
        let any = NAMES[self.rng.usize(..NAMES.len())];
        leader.filter(|_| self.rng.u32(..4) > 0).unwrap_or(any)
    }

    /// Starts all agents again that are down. Returns whether any agent was down.
    fn restart(&mut self) -> bool {
        let restarted = NAMES.map(|name| self.cluster.restart(name).is_ok());
        for (name, is_new) in NAMES.into_iter().zip(restarted) {
            if is_new {
                self.serve(name);
            }
        }
        restarted.contains(&true)
    }

    /// Causes one trouble. Returns `None` if the trouble changes nothing.
    async fn trouble(&mut self) -> Option<&'static str> {
        let (name, trouble) = (self.target(), self.rng.choice(DRAWN)?);
        let cluster = &mut self.cluster;
        let is_done = match trouble {
            "crash" => cluster.crash(name).await.is_ok(),
            "restart" => self.restart(),
            "hang" => cluster.hang(name).await.is_ok(),
            "resume" => NAMES
                .map(|name| cluster.resume(name).is_ok())
                .contains(&true),
            "step down" => cluster.step_down(name, None).is_ok(),
            "isolate" => cluster.isolate(name).is_ok(),
            "stop" => cluster.stop(name).await.is_ok(),
            _ => {
                cluster.heal();
                true
            }
        };
        is_done.then_some(trouble)
    }

    /// Ends all troubles, and waits for the longest cool-down and a minute more.
    async fn calm(&mut self) {
        self.history.borrow_mut().is_calm = true;
        self.cluster.heal();
        for name in NAMES {
            self.cluster.resume(name).ok();
        }
        self.restart();
        clock::sleep(Duration::from_secs(120)).await;
        assert_eq!(self.history.borrow().running.len(), 1, "one works");
    }
}

/// Plays the history of this seed, and adds its troubles to `happened`.
fn history(seed: u64, happened: &mut BTreeSet<&str>) -> History {
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

#[test]
fn two_actors_never_run_at_once_and_no_write_has_an_older_fence() {
    let mut happened = BTreeSet::new();
    let (mut starts, mut told, mut panics) = (0, 0, 0);
    for seed in 0..10 {
        let history = history(seed, &mut happened);
        assert_eq!(history.wrong, [""; 0], "seed {seed}");
        assert!(history.writes > 100, "seed {seed}: {}", history.writes);
        starts += history.starts;
        told += history.told;
        panics += history.panics;
    }
    let counts = format!("{starts} starts, {told} told, {panics} panics");
    assert!(starts > 100 && told > 5 && panics > 10, "{counts}");
    for trouble in DRAWN {
        assert!(happened.contains(&trouble), "{trouble} never happened");
    }
}
