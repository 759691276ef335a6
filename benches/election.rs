//! The time from the panic of a leader until every survivor knows the next leader, beside a bare actix broadcast to the
//! same number of actors, in the same run. It also counts messages, and measures cold starts.
//!
//! `cargo bench --bench election` in this folder prints the table of the README.

#![expect(
    clippy::disallowed_methods,
    reason = "a measurement reads the real clock"
)]

use std::{
    cell::Cell,
    rc::Rc,
    time::{Duration, Instant},
};

use actix::{Actor, Addr, Context, Handler, Message, Supervised};
use actix_bully::testkit::virtual_system;
use actix_bully::{
    agent::BullyHandle,
    supervisor::{Guardian, RestartPolicy},
    testkit::Inject,
};
use actix_bully_benches::{Peers, begin, elect, name, settled, system};
use tokio::task::yield_now;

fn main() {
    let quick = std::env::args().any(|arg| arg == "--test");
    let sizes: &[u32] = if quick {
        &[5, 100]
    } else {
        &[5, 100, 1_000, 10_000]
    };
    println!(
        "panic of one supervised actor until its parent is told: {:.1} us",
        panic_alone()
    );
    println!();
    println!(
        "{:>6}  {:>13}  {:>13}  {:>6}  {:>9}  {:>14}  {:>9}",
        "agents", "broadcast us", "fail-over us", "ratio", "messages", "cold start us", "messages"
    );
    for n in sizes {
        // The membership is merged after 8 crashes, after 17, and after 35. So the rounds contain each kind.
        let rounds = if quick {
            40
        } else {
            (20_000 / n).clamp(8, 200)
        };
        let row = measure(*n, rounds);
        let cold = cold_start(*n);
        println!(
            "{n:>6}  {:>13.1}  {:>13.1}  {:>6.2}  {:>9}  {:>14.1}  {:>9}",
            row.broadcast, row.failover, row.ratio, row.messages, cold.micros, cold.messages
        );
    }
    println!(
        "\n1,000 agents that have a leader: {:.2} % of a core",
        idle_share(1_000)
    );
    let groups = if quick { 10 } else { 1_000 };
    println!(
        "{groups} groups of 10 agents each, all started and elected: {:.1} ms",
        many_groups(groups)
    );
}

struct Row {
    broadcast: f64,
    failover: f64,
    ratio: f64,
    messages: u64,
}

/// Kills leader after leader; before each crash, sends a broadcast to the same number of bare actors.
fn measure(n: u32, rounds: u32) -> Row {
    run(async move {
        let (mut broadcasts, mut failovers, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
        let (mut most, mut done) = (0, 0);
        while done < rounds {
            let peers = Peers::start(n);
            let (group, agents) = elect(n).await;
            let kills = (n / 2).min(rounds - done);
            for k in 0..kills {
                let broadcast = micros(|| peers.broadcast()).await;
                let before = group.counters().sent;
                let failover = micros(|| fail_over(&agents, n - k)).await;
                assert!(
                    all_told(&agents, n - k),
                    "an agent learned of the leader later"
                );
                idle(n).await; // the report of the crash follows the announcement
                most = most.max(group.counters().sent - before);
                broadcasts.push(broadcast);
                failovers.push(failover);
                ratios.push(failover / broadcast);
            }
            done += kills;
            shut_down(agents).await;
        }
        Row {
            broadcast: median(broadcasts),
            failover: median(failovers),
            ratio: median(ratios),
            messages: most,
        }
    })
}

/// Lets the leader, agent `k`, panic. Ends when the last survivor follows the next leader; messages go out in the order
/// of the names.
async fn fail_over(agents: &[BullyHandle], k: u32) {
    let survivors = &agents[..k as usize - 1];
    let next = survivors.last().expect("a successor").id();
    let told = |agent: &BullyHandle| agent.leader().is_some_and(|l| l.id == *next);
    let last = survivors
        .iter()
        .filter(|a| a.id() != next)
        .max_by_key(|a| a.id());
    agents[k as usize - 1].addr().do_send(Inject::Crash);
    while !last.is_none_or(told) {
        yield_now().await;
    }
}

/// Waits until no work is left: a turn is 61 tasks.
async fn idle(n: u32) {
    for _ in 0..n / 20 + 50 {
        yield_now().await;
    }
}

fn all_told(agents: &[BullyHandle], k: u32) -> bool {
    let next = name(k - 1);
    agents[..k as usize - 1]
        .iter()
        .all(|a| a.leader().is_some_and(|l| l.id == next))
}

struct Cold {
    micros: f64,
    messages: u64,
}

/// Starts all agents in one turn of the arbiter; measures until the last one knows the leader.
fn cold_start(n: u32) -> Cold {
    run(async move {
        let start = Instant::now();
        let (group, agents) = elect(n).await;
        let micros = start.elapsed().as_secs_f64() * 1e6;
        let messages = group.counters().sent;
        shut_down(agents).await;
        Cold { micros, messages }
    })
}

/// Returns the share of a core that an idle group takes, with the default timings. In virtual time no wait takes long,
/// so a virtual minute takes as long as the work in it.
fn idle_share(n: u32) -> f64 {
    let minute = Duration::from_secs(60);
    virtual_system().block_on(async move {
        let (_group, agents) = elect(n).await;
        let start = Instant::now();
        actix_rt::time::sleep(minute).await;
        assert!(all_follow_highest(&agents));
        100.0 * start.elapsed().as_secs_f64() / minute.as_secs_f64()
    })
}

fn all_follow_highest(agents: &[BullyHandle]) -> bool {
    let highest = agents.last().map(BullyHandle::id);
    agents
        .iter()
        .all(|a| a.leader().as_ref().map(|l| &l.id) == highest)
}

fn many_groups(groups: u32) -> f64 {
    run(async move {
        let start = Instant::now();
        let all: Vec<_> = (0..groups)
            .map(|k| begin(&format!("bench-{k}"), 10))
            .collect();
        for (_, agents) in &all {
            settled(agents).await;
        }
        start.elapsed().as_secs_f64() * 1e3
    })
}

async fn shut_down(agents: Vec<BullyHandle>) {
    let leave = agents.iter().map(|a| a.leave(Duration::from_secs(1)));
    futures::future::join_all(leave).await;
}

/// Returns the cost of one panic without any election.
fn panic_alone() -> f64 {
    run(async {
        let mut all = Vec::new();
        for _ in 0..200 {
            let told = Rc::new(Cell::new(false));
            let parent = Parent.start();
            let addr: Addr<Fragile> = Guardian::builder(0u8)
                .policy(RestartPolicy::temporary())
                .parent(parent.recipient())
                .start(|_| Fragile);
            yield_now().await;
            TOLD.with(|t| t.set(Some(Rc::clone(&told))));
            all.push(
                micros(|| async {
                    addr.do_send(Boom);
                    while !told.get() {
                        yield_now().await;
                    }
                })
                .await,
            );
        }
        median(all)
    })
}

thread_local! { static TOLD: Cell<Option<Rc<Cell<bool>>>> = const { Cell::new(None) }; }

struct Parent;
impl Actor for Parent {
    type Context = Context<Self>;
}
impl Handler<actix_bully::supervisor::Supervision<u8>> for Parent {
    type Result = ();
    fn handle(&mut self, _: actix_bully::supervisor::Supervision<u8>, _: &mut Context<Self>) {
        if let Some(told) = TOLD.with(Cell::take) {
            told.set(true);
        }
    }
}

struct Fragile;
impl Actor for Fragile {
    type Context = Context<Self>;
}
impl Supervised for Fragile {}
#[derive(Message)]
#[rtype(result = "()")]
struct Boom;
impl Handler<Boom> for Fragile {
    type Result = ();
    fn handle(&mut self, _: Boom, _: &mut Context<Self>) {
        std::panic::resume_unwind(Box::new("injected"))
    }
}

fn run<T>(future: impl Future<Output = T>) -> T {
    system().block_on(future)
}

async fn micros<F: Future<Output = ()>>(work: impl FnOnce() -> F) -> f64 {
    let start = Instant::now();
    work().await;
    start.elapsed().as_secs_f64() * 1e6
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
