//! Never two actors at once: in the quorum mode, whatever happens to the agents and their links.

use std::{cell::RefCell, collections::BTreeMap, panic::resume_unwind, rc::Rc, time::Duration};

use actix::{Actor, ActorContext, AsyncContext, Context, Handler, clock};
use actix_bully::{
    agent::{LeaderGuard, OnPanic},
    leader::{Singleton, SteppingDown},
    testkit::cluster::Cluster,
};
use fastrand::Rng;

use super::worker::restarts;
use crate::{
    leader::trouble::{NAMES, Trouble, each_happened, restart, target},
    stage::{MS, play},
};

/// What all actors of a history write down.
#[derive(Debug, Default)]
struct History {
    /// The actors that exist: from `started` to `Drop`, which is longer than they can do anything.
    running: Vec<String>,
    highest: u64,
    starts: u32,
    told: u32,
    ticks: u32,
    panics: u32,
    wrong: Vec<String>,
}

/// A worker that writes under its fence.
struct Writer {
    leader: LeaderGuard,
    history: Rc<RefCell<History>>,
    rng: Rng,
    name: Option<String>,
}

impl Writer {
    fn write(&self) {
        let fence = self.leader.fence().map_or(0, |fence| fence.number());
        let mut history = self.history.borrow_mut();
        history.ticks += 1;
        if fence < history.highest || fence == 0 || !self.leader.is_leader() {
            let line = format!("{:?} wrote under fence {fence}", self.name);
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
            if writer.rng.u32(..500) == 0 {
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
        history
            .running
            .retain(|name| Some(name) != self.name.as_ref());
    }
}

/// Starts a writer on that agent's leaderships.
fn serve(cluster: &Cluster, name: &str, history: &Rc<RefCell<History>>, seed: u64) {
    let Ok(handle) = cluster.handle(name) else {
        return;
    };
    let history = Rc::clone(history);
    let mut rng = Rng::with_seed(seed);
    let factory = move |leader| Writer {
        leader,
        history: Rc::clone(&history),
        rng: rng.fork(),
        name: None,
    };
    let builder = Singleton::builder(handle, factory);
    let builder = builder.on_panic(OnPanic::RestartOrStepDown(restarts(2)));
    assert!(builder.start().is_ok(), "it starts");
}

/// One fault; `None` if it does not fit.
async fn fault(
    cluster: &mut Cluster,
    rng: &mut Rng,
    history: &Rc<RefCell<History>>,
) -> Option<Trouble> {
    let name = target(cluster, rng)?;
    let trouble = match rng.u32(..9) {
        0 => Trouble::Crash,
        1 | 2 => Trouble::Restart,
        3 => Trouble::Hang,
        4 => Trouble::Resume,
        5 => Trouble::StepDown,
        6 => Trouble::Isolate,
        7 => Trouble::Heal,
        _ => Trouble::Stop,
    };
    for name in trouble.befall(cluster, name).await? {
        serve(cluster, name, history, rng.u64(..));
    }
    Some(trouble)
}

#[test]
fn never_do_two_actors_run_at_once_whatever_happens() {
    let mut happened: BTreeMap<Trouble, u32> = BTreeMap::new();
    let (mut starts, mut told, mut panics) = (0, 0, 0);
    for seed in 0..10 {
        let seen = &mut happened;
        let history = Rc::<RefCell<History>>::default();
        let shared = Rc::clone(&history);
        play(async move {
            let mut rng = Rng::with_seed(seed);
            let builder = Cluster::builder().agents(5).seed(seed).quorum();
            let mut cluster = builder.start().unwrap();
            for name in NAMES {
                serve(&cluster, name, &shared, rng.u64(..));
            }
            for _ in 0..40 {
                clock::sleep(MS(rng.u64(10..3_000))).await;
                if let Some(trouble) = fault(&mut cluster, &mut rng, &shared).await {
                    *seen.entry(trouble).or_default() += 1;
                }
            }
            cluster.heal();
            for name in NAMES {
                cluster.resume(name).ok();
            }
            for name in restart(&mut cluster) {
                serve(&cluster, name, &shared, rng.u64(..));
            }
            // Long enough for a cool-down, and for panics of the last seconds to be forgiven.
            let mut patience = 600;
            while shared.borrow().running.is_empty() && patience > 0 {
                clock::sleep(MS(100)).await;
                patience -= 1;
            }
            let running = shared.borrow().running.clone();
            assert_eq!(running.len(), 1, "seed {seed}: one works in the end");
            clock::sleep(Duration::from_secs(1)).await;
        });
        let history = history.borrow();
        let wrong: [String; 0] = [];
        assert_eq!(history.wrong, wrong, "seed {seed}");
        starts += history.starts;
        told += history.told;
        panics += history.panics;
        assert!(history.ticks > 100, "seed {seed}: {}", history.ticks);
    }
    println!("{happened:?}, {starts} starts, {told} told, {panics} panics");
    each_happened(&happened);
    assert!(starts > 100 && told > 5 && panics > 10);
}
