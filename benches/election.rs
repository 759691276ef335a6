//! A leader panics: until every survivor has been told who leads next, beside a bare actix
//! broadcast to as many actors, in the same run; messages, memory and cold starts with it.
//!
//! `cargo bench --bench election` in this folder prints the table of the README.

use std::{
    cell::Cell,
    rc::Rc,
    time::{Duration, Instant},
};

use actix::{Actor, Addr, Context, Handler, Message, Supervised};
use actix_bully::{
    Group,
    agent::{BullyAgent, BullyHandle, Inject},
    supervisor::{Guardian, RestartPolicy},
};
use actix_bully_benches::{Peers, name};
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
        "{:>6}  {:>13}  {:>13}  {:>7}  {:>9}  {:>13}  {:>9}  {:>13}",
        "agents",
        "broadcast us",
        "fail-over us",
        "ratio",
        "messages",
        "cold start us",
        "messages",
        "bytes/agent"
    );
    for n in sizes {
        let rounds = if quick { 2 } else { (20_000 / n).clamp(8, 200) };
        let row = measure(*n, rounds);
        let cold = cold_start(*n);
        println!(
            "{n:>6}  {:>13.1}  {:>13.1}  {:>7.2}  {:>9}  {:>13.1}  {:>9}  {:>13}",
            row.broadcast,
            row.failover,
            row.ratio,
            row.messages,
            cold.micros,
            cold.messages,
            memory(*n)
        );
    }
    if !quick {
        println!(
            "\n1,000 groups of 10 agents each, all started and elected: {:.1} ms",
            many_groups()
        );
    }
}

struct Row {
    broadcast: f64,
    failover: f64,
    ratio: f64,
    messages: u64,
}

/// Kills leader after leader; before each, a broadcast to as many bare actors.
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

/// The leader, agent `k`, panics; ends when the lowest in rank, who hears of it last, follows the
/// next one, and checks that everybody does.
async fn fail_over(agents: &[BullyHandle], k: u32) {
    let leader = &agents[k as usize - 1];
    let next = name(k - 1);
    leader.addr().do_send(Inject::Crash);
    while agents[0].leader().is_none_or(|l| l.id != next) {
        yield_now().await;
    }
}

struct Cold {
    micros: f64,
    messages: u64,
}

/// All agents are started in one turn of the arbiter, until the last one knows the leader.
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

fn many_groups() -> f64 {
    run(async {
        let start = Instant::now();
        let mut all = Vec::new();
        for _ in 0..1_000 {
            all.push(begin(10));
        }
        for (_, agents) in &all {
            settled(agents).await;
        }
        start.elapsed().as_secs_f64() * 1e3
    })
}

async fn elect(n: u32) -> (Group, Vec<BullyHandle>) {
    let (group, agents) = begin(n);
    settled(&agents).await;
    (group, agents)
}

fn begin(n: u32) -> (Group, Vec<BullyHandle>) {
    let group: Group = Group::new("bench").expect("a valid name");
    let start = |k: u32| {
        BullyAgent::builder(name(k).as_str())
            .score(k)
            .join(&group)
            .restart_policy(RestartPolicy::temporary())
            .start()
            .expect("it starts")
    };
    let agents = (1..=n).map(start).collect();
    (group, agents)
}

/// Until everybody follows the highest.
async fn settled(agents: &[BullyHandle]) {
    let highest = agents.last().expect("at least one").id();
    for agent in agents {
        while agent.leader().is_none_or(|l| l.id != *highest) {
            yield_now().await;
        }
    }
}

async fn shut_down(agents: Vec<BullyHandle>) {
    let leave = agents.iter().map(|a| a.leave(Duration::from_secs(1)));
    futures::future::join_all(leave).await;
}

/// Bytes on the heap per agent, over a bare actor, when all know their leader.
fn memory(n: u32) -> i64 {
    let agents = allocation_counter::measure(|| {
        let system = system();
        system.block_on(async {
            let (_group, agents) = elect(n).await;
            std::mem::forget(agents);
        });
        std::mem::forget(system);
    });
    let bare = allocation_counter::measure(|| {
        let system = system();
        system.block_on(async {
            std::mem::forget(Peers::start(n));
            yield_now().await;
        });
        std::mem::forget(system);
    });
    (agents.bytes_current - bare.bytes_current) / i64::from(n)
}

/// What one panic costs that has nothing to do with an election.
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

fn system() -> actix_rt::SystemRunner {
    actix_rt::System::new()
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
