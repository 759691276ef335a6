//! The cost of a panic for its thread, without any election. There are three kinds: an injected panic of a test, a real
//! panic, and a real panic that prints a backtrace.
//!
//! `cargo bench --bench panic` in this folder. Each row is a process of its own, because the first backtrace of a
//! process reads its debug information; "later" is the median of all others. The output goes through a pipe, as to a
//! collector of logs.

#![expect(
    clippy::disallowed_methods,
    reason = "a measurement reads the real clock"
)]

use std::{cell::Cell, env, process::Command, rc::Rc, time::Instant};

use actix::{Actor, Addr, Context, Handler, Message, Supervised};
use actix_bully::supervisor::{Guardian, RestartPolicy, Supervision};
use actix_bully_benches::system;
use tokio::task::yield_now;

/// The name of each row, its value of `RUST_BACKTRACE`, and its kind of panic.
const ROWS: [(&str, &str, Boom); 4] = [
    ("injected, without a message", "0", Boom::Injected),
    ("panic!", "0", Boom::Real),
    ("panic!, RUST_BACKTRACE=1", "1", Boom::Real),
    ("panic!, RUST_BACKTRACE=full", "full", Boom::Real),
];

fn main() {
    if let Some(row) = env::var("PANIC_ROW")
        .ok()
        .and_then(|row| row.parse::<usize>().ok())
    {
        return measure(ROWS.get(row).map_or(Boom::Real, |row| row.2));
    }
    println!("until the parent is told, us{:>16}{:>12}", "first", "later");
    for (row, (name, backtrace, _)) in ROWS.iter().enumerate() {
        let output = env::current_exe().and_then(|program| {
            Command::new(program)
                .env("PANIC_ROW", row.to_string())
                .env("RUST_BACKTRACE", backtrace)
                .output()
        });
        match output {
            Ok(output) => print!("{name:<28}{}", String::from_utf8_lossy(&output.stdout)),
            Err(wrong) => println!("{name:<28} not measured: {wrong}"),
        }
    }
}

fn measure(boom: Boom) {
    let mut all: Vec<f64> = system().block_on(async {
        let mut all = Vec::new();
        for _ in 0..200 {
            all.push(until_told(boom).await);
        }
        all
    });
    let first = all.remove(0);
    all.sort_by(f64::total_cmp);
    let later = all.get(all.len() / 2).copied().unwrap_or(f64::NAN);
    println!("{first:>15.1}{later:>12.1}");
}

async fn until_told(boom: Boom) -> f64 {
    let told = Rc::new(Cell::new(false));
    let parent = Parent(Rc::clone(&told)).start();
    let addr: Addr<Fragile> = Guardian::builder(0u8)
        .policy(RestartPolicy::temporary())
        .parent(parent.recipient())
        .start(|_| Fragile);
    yield_now().await;
    let began = Instant::now();
    addr.do_send(boom);
    while !told.get() {
        yield_now().await;
    }
    began.elapsed().as_secs_f64() * 1e6
}

struct Parent(Rc<Cell<bool>>);

impl Actor for Parent {
    type Context = Context<Self>;
}

impl Handler<Supervision<u8>> for Parent {
    type Result = ();
    fn handle(&mut self, _: Supervision<u8>, _: &mut Context<Self>) {
        self.0.set(true);
    }
}

struct Fragile;

impl Actor for Fragile {
    type Context = Context<Self>;
}

impl Supervised for Fragile {}

#[derive(Clone, Copy, Message)]
#[rtype(result = "()")]
enum Boom {
    Injected,
    Real,
}

impl Handler<Boom> for Fragile {
    type Result = ();
    fn handle(&mut self, boom: Boom, _: &mut Context<Self>) {
        match boom {
            Boom::Injected => std::panic::resume_unwind(Box::new("injected")),
            Boom::Real => panic!("a bug"),
        }
    }
}
