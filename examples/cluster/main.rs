//! Agents that elect a leader while one thing after the other happens to them.
//!
//! ```text
//! $ cargo run --example cluster
//! ```
//!
//! Expected output: a line for each election, with its time and its messages, and the leader of each agent
//! at the beginning, during a partition, and in the end; see `examples/expected/cluster.txt`.
//!
//! The clock is virtual: waiting takes no time, and each run is the same. Try next:
//!
//! ```text
//! $ cargo run --example cluster -- --real-time
//! $ cargo run --example cluster -- --agents 9 --seed 7
//! $ cargo run --example cluster -- --protocol ring
//! $ cargo run --example cluster -- --script "crash 5; settle; status"
//! $ cargo run --example cluster -- --interactive
//! $ cargo run --example cluster -- --protocol reorganization
//! $ cargo run --example cluster -- --mermaid story.md
//! $ cargo run --example cluster -- --protocol ballot
//! $ cargo run --example cluster -- --protocol quorum
//! $ cargo run --example cluster -- --json
//! ```
//!
//! Read on: `story.rs` is the story, `command.rs` says what can be done, `session.rs` runs commands, `screen.rs` shows them,
//! `../shared/protocol.rs` names the elections.

mod args;
mod command;
mod json;
#[path = "../shared/protocol.rs"]
mod protocol;
mod screen;
mod session;
mod story;

use std::{io, process::ExitCode};

use actix::{System, SystemRunner};
use actix_bully::{protocol::Election, testkit::cluster::ClusterBuilder};
use args::Args;
use clap::Parser;
use protocol::Play;
use session::{Session, Wrong};

fn main() -> ExitCode {
    let args = Args::parse();
    let outcome = match system(args.real_time) {
        Ok(system) => {
            let (protocol, agents) = (args.protocol, args.agents);
            let outcome = system.block_on(protocol::run(protocol, agents, Command(&args)));
            outcome.unwrap_or_else(|wrong| Err(wrong.into()))
        }
        Err(wrong) => Err(wrong.into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(wrong) => {
            screen::error(&*wrong);
            ExitCode::from(2)
        }
    }
}

/// What the command line asks for.
struct Command<'a>(&'a Args);

impl Play for Command<'_> {
    type Outcome = Result<(), Wrong>;

    async fn play<E: Election>(self, cluster: ClusterBuilder<E>) -> Self::Outcome {
        play(self.0, cluster).await
    }
}

/// Tells the story, or runs the commands that were given.
async fn play<E: Election>(args: &Args, cluster: ClusterBuilder<E>) -> Result<(), Wrong> {
    // A script that cannot be read is refused before anything runs.
    let script = args.script.as_deref().map(command::read).transpose()?;
    let mut session = Session::begin(args, cluster).await?;
    let outcome = match script {
        Some(script) => session.run(script).await,
        None if args.interactive => session.interact(args.real_time).await,
        None => story::tell(&mut session, args.agents).await,
    };
    // Also of a run that failed: that is when it is wanted most.
    if let Some(file) = &args.mermaid {
        session.draw(file)?;
    }
    outcome
}

/// Where the agents run: in virtual time unless the real one is asked for.
fn system(real_time: bool) -> io::Result<SystemRunner> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(!real_time)
        .build()?;
    Ok(System::with_tokio_rt(move || runtime))
}
