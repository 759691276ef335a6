//! The cost of a proxy beside a direct `do_send`, when the sender's own agent leads: bursts of messages to the same
//! actor, both ways in turn.
//!
//! Most of the proxy's additional cost is one reading of the agent's clock for each message: the proxy must not serve a
//! leadership that has run out, however short the time since the last message is. In a long burst the reading takes two
//! thirds of a send. So the longest burst has a limit of its own, instead of the usual aim of 2.
//!
//! `cargo bench --bench proxy` in this folder. Ratios are medians of rounds, of pairs that follow each other. The bench
//! fails when a ratio misses its aim. For the cost of a proxy across hosts see `bridge/`.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    clippy::as_conversions,
    reason = "a measurement reads the real clock; figures are for people"
)]

use std::{
    hint::black_box,
    mem::take,
    process::ExitCode,
    time::{Duration, Instant},
};

use actix::{Actor, Addr, Context, Handler, Message};
use actix_bully::{Group, agent::BullyAgent, leader::LeaderProxy};
use serde::{Deserialize, Serialize};

/// Length of a burst, and longest time by a proxy until all messages are handled, as a multiple of the time by an
/// address.
const BURSTS: [(u64, f64); 3] = [(10, 2.0), (100, 2.0), (1_000, 2.2)];

#[derive(Message, Serialize, Deserialize)]
#[rtype(result = "()")]
struct Job {
    number: u64,
    size: u64,
}

#[derive(Message)]
#[rtype(result = "u64")]
struct Handled;

/// Counts the jobs since the last question.
#[derive(Default)]
struct Sink(u64);

impl Actor for Sink {
    type Context = Context<Self>;

    /// Has room for the longest burst: the proxy holds back messages beyond the room, an address does not.
    fn started(&mut self, ctx: &mut Self::Context) {
        ctx.set_mailbox_capacity(room());
    }
}

/// Returns the capacity of the actor's mailbox; `ROOM=16` is actix' own default.
fn room() -> usize {
    let room = std::env::var("ROOM").ok();
    room.and_then(|room| room.parse().ok()).unwrap_or(1_024)
}

impl Handler<Job> for Sink {
    type Result = ();
    fn handle(&mut self, job: Job, _: &mut Context<Self>) {
        black_box(job.number ^ job.size);
        self.0 += 1;
    }
}

impl Handler<Handled> for Sink {
    type Result = u64;
    fn handle(&mut self, _: Handled, _: &mut Context<Self>) -> u64 {
        take(&mut self.0)
    }
}

fn main() -> ExitCode {
    let is_test = std::env::args().any(|arg| arg == "--test");
    let rounds = if is_test { 3 } else { 4_000 };
    actix_bully_benches::system().block_on(async {
        let group = Group::new("bench").expect("a valid name");
        let agent = BullyAgent::builder("a")
            .join(&group)
            .start()
            .expect("it starts");
        let sink = Sink::default().start();
        let proxy = LeaderProxy::builder(&agent, "job").deliver_to(sink.clone().recipient());
        let proxy = proxy.start().expect("it starts");
        let led = agent.wait_for_leader(Duration::from_secs(5)).await;
        led.expect("it leads");
        actix::clock::sleep(Duration::from_millis(10)).await;
        println!(
            "{:>6}  {:>10}  {:>10}  {:>6}",
            "burst", "direct ns", "proxy ns", "ratio"
        );
        let mut missed = false;
        for (burst, most) in BURSTS {
            let mut pairs = Vec::new();
            for _ in 0..rounds {
                let direct = time(burst, &sink, |job| sink.do_send(job)).await;
                let proxied = time(burst, &sink, |job| proxy.do_send(job)).await;
                pairs.push((direct, proxied));
            }
            let of = |value: fn(&(f64, f64)) -> f64| {
                let mut all: Vec<f64> = pairs.iter().map(value).collect();
                all.sort_by(f64::total_cmp);
                all[all.len() / 2]
            };
            let ratio = of(|(direct, proxied)| proxied / direct);
            println!(
                "{burst:>6}  {:>10.0}  {:>10.0}  {ratio:>6.2}",
                of(|pair| pair.0),
                of(|pair| pair.1)
            );
            missed |= ratio > most;
        }
        let counts = proxy.counts();
        assert_eq!(
            counts.delivered,
            rounds * 1_110,
            "all messages went directly to the actor: {counts:?}"
        );
        if missed && !is_test {
            println!("missed: longest time of a burst by a proxy, as a multiple of the time by an address: {BURSTS:?}");
            return ExitCode::FAILURE;
        }
        ExitCode::SUCCESS
    })
}

/// Returns the nanoseconds for each message of a burst, until the actor has handled all.
async fn time(burst: u64, sink: &Addr<Sink>, send: impl Fn(Job)) -> f64 {
    let began = Instant::now();
    for number in 0..burst {
        send(Job {
            number,
            size: burst,
        });
    }
    // The proxy holds back messages beyond the room of the mailbox.
    let mut handled = 0;
    while handled < burst {
        handled += sink.send(Handled).await.expect("it runs");
    }
    began.elapsed().as_secs_f64() * 1e9 / burst as f64
}
