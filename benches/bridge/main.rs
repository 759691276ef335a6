//! The cost of the bridge beside a connection that is written by hand: small messages over loopback TCP, from one
//! thread to another.
//!
//! `cargo bench --bench bridge` in this folder. Four ways of carrying the same message:
//!
//! | | names | encoded, decoded by | ends |
//! |---|---|---|---|
//! | bridge | group, sender, its incarnation, receiver | rmp-serde, the strict decoder | in an actor |
//! | by hand (`by_hand.rs`) | sender, receiver | rmp-serde, rmp-serde | in an actor |
//! | proxy (`proxied.rs`) | as the bridge, once for many | rmp-serde, the strict decoder | in the leader's actor |
//! | payload only (`payload.rs`) | none | rmp-serde, the strict decoder | in the reader |
//!
//! The bridge is compared with the connection by hand: both carry messages between actors, but the connection has no
//! checks, limits, counters and order. The proxy is compared with the bridge. Payload only is compared with nothing: no
//! application could use it, since its messages reach no actor. It shows the cost of frames, sockets and the codec.
//!
//! All four hold the sender back in the same way. They are measured in turn; the ratios are medians of rounds. CPU is
//! the time of the process, with both ends. If there are two cores, each end has its own, as on two hosts. The bench
//! fails when a ratio misses its aim.
//!
//! With thousands of messages ahead both ends always have work, so the ratio shows the amount of work. With 96 ahead
//! the sender waits for the receiver, so the ratio also shows whether one end delays a message that the other waits
//! for.
//!
//! `-- --only bridge` (or `by-hand`, `payload`, `proxy`) sends one backlog in this way, for a profiler.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    clippy::as_conversions,
    reason = "sockets live in real time; figures are for people"
)]

mod by_hand;
mod cores;
mod cost;
mod message;
mod ours;
mod payload;
mod proxied;
mod tally;

use std::{
    net::SocketAddr,
    process::ExitCode,
    sync::{Arc, mpsc},
    thread,
    time::Duration,
};

use actix::clock::timeout;
use actix_bully::remote::internals::wire::encode_payload;
use bytes::BytesMut;

use by_hand::ByHand;
use cores::have_core;
use cost::{Cost, cost, median};
use message::message;
use ours::Bridged;
use payload::Payload;
use proxied::Proxied;
use tally::Tally;

/// Largest CPU time for each message of a backlog by the bridge, as a multiple of the time by hand.
const MOST_CPU: f64 = 1.3;
/// Longest time for each message of a backlog by the proxy, as a multiple of the time by the bridge.
const MOST_PROXY: f64 = 1.3;

/// Longest time to wait for a backlog: a message that is lost never arrives.
const LONGEST: Duration = Duration::from_secs(240);

/// The number of rounds and messages.
struct Plan {
    rounds: usize,
    messages: usize,
    echoes: usize,
}

/// One limit for the messages under way.
struct Row {
    name: &'static str,
    window: usize,
    /// Least throughput by the bridge, as a share of the throughput by hand.
    least: f64,
}

const ROWS: &[Row] = &[
    Row {
        name: "4,000 ahead",
        window: 4_000,
        least: 0.8,
    },
    Row {
        name: "96 ahead",
        window: 96,
        least: 0.9,
    },
];

/// The four ways, which share a tally.
struct Ways {
    bridge: Bridged,
    proxy: Proxied,
    by_hand: ByHand,
    payload: Payload,
}

/// The costs of one round.
struct Costs {
    bridge: Cost,
    proxy: Cost,
    by_hand: Cost,
    payload: Cost,
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().collect();
    let only = args.iter().skip_while(|arg| *arg != "--only").nth(1);
    let plan = if args.iter().any(|arg| arg == "--test") {
        Plan {
            rounds: 1,
            messages: 8_000,
            echoes: 50,
        }
    } else {
        Plan {
            rounds: 60,
            messages: 48_000,
            echoes: 500,
        }
    };
    let tally = Arc::new(Tally::default());
    let far = Arc::clone(&tally);
    actix_bully_benches::system().block_on(async {
        let near = ours::host("a", None);
        let (by_hand, payload) = serve(near.address(), far);
        have_core(0); // not earlier: threads that it starts inherit the limit
        let mut ways = Ways {
            by_hand: ByHand::dial(&by_hand, Arc::clone(&tally)).await,
            payload: Payload::dial(&payload, Arc::clone(&tally)).await,
            proxy: Proxied::link(&near.led, Arc::clone(&tally)).await,
            bridge: Bridged::link(near, Arc::clone(&tally)).await,
        };
        let measured = match only {
            Some(only) => timeout(LONGEST, ways.alone(only, &plan)).await,
            None => timeout(LONGEST, ways.measure(&plan)).await,
        };
        measured.unwrap_or_else(|_| {
            let counts = ways.bridge.counts();
            let counts: Vec<_> = counts.iter().filter(|(_, n)| *n > 0).collect();
            println!("not done in {LONGEST:?}: messages were lost; {counts:?}");
            ExitCode::FAILURE
        })
    })
}

/// Starts the far ends of all four on a thread of their own.
fn serve(bridge: String, tally: Arc<Tally>) -> (SocketAddr, SocketAddr) {
    let (told, addresses) = mpsc::channel();
    thread::spawn(move || {
        have_core(1);
        actix_bully_benches::system().block_on(async {
            let by_hand = by_hand::serve(Arc::clone(&tally)).await;
            let payload = payload::serve(Arc::clone(&tally)).await;
            let bridge = ours::serve(Arc::clone(&tally), &bridge);
            let _leader = proxied::serve(&bridge.led, tally);
            told.send((by_hand, payload))
                .expect("the main thread waits for the addresses");
            std::future::pending::<()>().await;
        });
    });
    addresses.recv().expect("they listen")
}

impl Ways {
    /// Sends one backlog by one way, for a profiler: valgrind has no clock for CPU.
    async fn alone(&mut self, way: &str, plan: &Plan) -> ExitCode {
        let (window, messages) = (ROWS[0].window, plan.messages);
        match way {
            "bridge" => self.bridge.send(window, messages).await,
            "by-hand" => self.by_hand.send(window, messages).await,
            "payload" => self.payload.send(window, messages).await,
            "proxy" => self.proxy.send(window, messages).await,
            other => {
                println!("{other} is not bridge, by-hand, payload or proxy");
                return ExitCode::FAILURE;
            }
        }
        println!("{way}: {messages} messages");
        ExitCode::SUCCESS
    }

    async fn measure(&mut self, plan: &Plan) -> ExitCode {
        let mut bytes = BytesMut::new();
        encode_payload(&message(1), &mut bytes).expect("it can be encoded");
        let (rounds, messages) = (plan.rounds, plan.messages);
        println!(
            "{rounds} rounds of {messages} messages, payload {} bytes",
            bytes.len()
        );
        println!(
            "{:<12} {:<14} {:>9} {:>9} {:>8} {:>8} {:>10} {:>8}",
            "row", "bridge beside", "its ns", "ours", "through", "its cpu", "ours", "cpu"
        );
        let mut missed = false;
        for row in ROWS {
            missed |= line(row, &self.backlogs(row, plan).await);
        }
        self.round_trips(plan).await;
        if plan.rounds == 1 {
            return ExitCode::SUCCESS; // one round proves nothing
        }
        if missed {
            println!(
                "\nmissed: a backlog's cpu is to be <= {MOST_CPU}; by a proxy its time <= {MOST_PROXY} of the bridge's; its throughput >= that of its row: {:?}",
                ROWS.iter().map(|row| row.least).collect::<Vec<_>>()
            );
            return ExitCode::FAILURE;
        }
        ExitCode::SUCCESS
    }

    async fn backlogs(&mut self, row: &Row, plan: &Plan) -> Vec<Costs> {
        let (window, messages) = (row.window, plan.messages);
        let mut all = Vec::new();
        for round in 0..=plan.rounds {
            let costs = Costs {
                by_hand: cost(messages, self.by_hand.send(window, messages)).await,
                bridge: cost(messages, self.bridge.send(window, messages)).await,
                proxy: cost(messages, self.proxy.send(window, messages)).await,
                payload: cost(messages, self.payload.send(window, messages)).await,
            };
            if round > 0 || plan.rounds == 1 {
                all.push(costs); // the first round fills caches
            }
        }
        all
    }

    async fn round_trips(&mut self, plan: &Plan) {
        let mut times: [Vec<Duration>; 4] = Default::default();
        for _ in 0..plan.rounds {
            times[0].extend(self.by_hand.echo(plan.echoes).await);
            times[1].extend(self.bridge.echo(plan.echoes).await);
            times[2].extend(self.payload.echo(plan.echoes).await);
            times[3].extend(self.proxy.echo(plan.echoes).await);
        }
        println!("\n{:<14} {:>10} {:>11}", "round trip", "p50 us", "p99 us");
        for (name, times) in ["by hand", "bridge", "payload only", "ask by proxy"]
            .iter()
            .zip(&mut times)
        {
            times.sort_unstable();
            let share = |percent: usize| {
                let at = (times.len() * percent / 100).min(times.len() - 1);
                times[at].as_secs_f64() * 1e6
            };
            println!("{name:<14} {:>10.1} {:>11.1}", share(50), share(99));
        }
    }
}

/// Prints the ratios of a row. Returns whether the row misses its aim.
fn line(row: &Row, costs: &[Costs]) -> bool {
    let (through, cpu) = beside(row, "by hand", costs, |costs| costs.by_hand);
    beside(row, "payload only", costs, |costs| costs.payload);
    let proxy = costs
        .iter()
        .map(|costs| costs.proxy.wall / costs.bridge.wall);
    let proxy = median(proxy.collect());
    let cpu_of = costs.iter().map(|costs| costs.proxy.cpu / costs.bridge.cpu);
    println!(
        "{:<12} proxy, of the bridge's time: {proxy:.2}, of its cpu: {:.2}",
        row.name,
        median(cpu_of.collect())
    );
    through < row.least || cpu > MOST_CPU || proxy > MOST_PROXY
}

fn beside(row: &Row, name: &str, costs: &[Costs], base: fn(&Costs) -> Cost) -> (f64, f64) {
    let of = |value: fn(Cost, Cost) -> f64| {
        let each = costs.iter().map(|costs| value(base(costs), costs.bridge));
        median(each.collect())
    };
    let through = of(|base, bridge| base.wall / bridge.wall);
    let cpu = of(|base, bridge| bridge.cpu / base.cpu);
    println!(
        "{:<12} {name:<14} {:>9.0} {:>9.0} {through:>8.2} {:>8.0} {:>10.0} {cpu:>8.2}",
        row.name,
        of(|base, _| base.wall),
        of(|_, bridge| bridge.wall),
        of(|base, _| base.cpu),
        of(|_, bridge| bridge.cpu),
    );
    (through, cpu)
}
