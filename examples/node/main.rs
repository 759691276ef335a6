//! One process per host: the same election on several machines.
//!
//! In three terminals:
//!
//! ```text
//! $ cargo run --example node -- --name a --score 1 --listen 127.0.0.1:7401 \
//!       --peer b=127.0.0.1:7402 --peer c=127.0.0.1:7403 --quorum a,b,c --store /tmp/node-a --init
//! $ cargo run --example node -- --name b --score 2 --listen 127.0.0.1:7402 \
//!       --peer a=127.0.0.1:7401 --peer c=127.0.0.1:7403 --quorum a,b,c --store /tmp/node-b --init
//! $ cargo run --example node -- --name c --score 3 --listen 127.0.0.1:7403 \
//!       --peer a=127.0.0.1:7401 --peer b=127.0.0.1:7402 --quorum a,b,c --store /tmp/node-c --init
//! ```
//!
//! Expected output: every terminal names the leader. Stop a node with Ctrl-C: it hands over first. Kill the leader with
//! `kill -9`: the next node leads as soon as the lease has run out. Start it again without `--init`, which is given
//! once for each node.
//!
//! Without `--quorum` and `--store` every side of a partition has a leader. For other machines build it with
//! `cargo run --features tls`, and use `--tls` and certificates that `examples/certificates` makes in a minute. On this
//! machine any other user can join as one of the nodes, unless all have the same `--secret-file`.
//!
//! Read on: `run.rs` is the program, `work.rs` the work that only the leader does.

mod args;
mod commands;
mod run;
mod screen;
mod store;
mod work;

use std::process::ExitCode;

#[cfg(feature = "sentinel")]
use actix_bully::remote::sentinel::Sentinel;
use args::Args;
use clap::Parser;

/// A plain function, without a runtime: a sentinel is started before any runtime.
fn main() -> ExitCode {
    let args = Args::parse();
    #[cfg(feature = "sentinel")]
    let sentinel = match args.sentinel.then(Sentinel::start).transpose() {
        Ok(sentinel) => sentinel,
        Err(wrong) => {
            screen::error(&wrong);
            return ExitCode::from(2);
        }
    };
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_max_level(tracing::Level::WARN)
        .init();
    let run = run::run(
        &args,
        #[cfg(feature = "sentinel")]
        sentinel,
    );
    match actix_rt::System::new().block_on(run) {
        Ok(()) => ExitCode::SUCCESS,
        Err(wrong) => {
            screen::error(&*wrong);
            ExitCode::from(2)
        }
    }
}
