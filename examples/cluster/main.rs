//! Agents that elect a leader while one event after the other happens to them.
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
//! $ cargo run --example cluster -- --protocol lease --script "isolate register; settle; status"
//! $ cargo run --example cluster -- --json
//! $ cargo run --example cluster -- --record run.jsonl --svg end.svg --rust-test repeats.rs
//! $ cargo run --example cluster -- --replay run.jsonl
//! ```
//!
//! Read on: `story.rs` is the story, `command.rs` has the commands, `session.rs` runs commands, `screen.rs` shows them,
//! `board.rs` is the table of `--interactive`, `replay.rs` plays a recording again, `copy.rs` writes the files of a run,
//! `../common/protocol.rs` names the elections.

mod args;
mod board;
mod command;
mod copy;
mod json;
#[path = "../common/protocol.rs"]
mod protocol;
mod replay;
mod screen;
mod session;
mod story;

use std::{io, process::ExitCode};

use actix::{System, SystemRunner};
use actix_bully::{record::Recording, testkit::cluster::ClusterBuilder};
use args::Args;
use bully_core::{protocol::Election, record::RecordedAgent};
use clap::Parser;
use protocol::Play;
use session::{Session, Wrong};

fn main() -> ExitCode {
    match run(Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(wrong) => {
            screen::error(&*wrong);
            ExitCode::from(2)
        }
    }
}

fn run(mut args: Args) -> Result<(), Wrong> {
    if let Some(file) = &args.show {
        let recording = copy::read(file)?;
        screen::recording(&recording, args.json);
        return copy::write(&args, recording);
    }
    if let Some(file) = &args.replay {
        let recording = copy::read(file)?;
        replay::begin_as(&mut args, &recording)?;
        return play_with(&args, &recording.header().agents, Some(&recording));
    }
    play_with(&args, &protocol::numbered(args.agents)?, None)
}

fn play_with(
    args: &Args,
    agents: &[RecordedAgent],
    again: Option<&Recording>,
) -> Result<(), Wrong> {
    let command = Command { args, again };
    system(args.real_time)?.block_on(protocol::run(args.protocol, agents, command))
}

/// The request of the command line.
struct Command<'a> {
    args: &'a Args,
    again: Option<&'a Recording>,
}

impl Play for Command<'_> {
    type Outcome = Result<(), Wrong>;

    async fn play<E: Election>(self, cluster: ClusterBuilder<E>) -> Self::Outcome {
        play(self.args, self.again, cluster).await
    }
}

/// Repeats a recorded run, tells the story, or runs the commands that were given.
async fn play<E: Election>(
    args: &Args,
    again: Option<&Recording>,
    cluster: ClusterBuilder<E>,
) -> Result<(), Wrong> {
    if let Some(recording) = again {
        let mut session = Session::start(args, cluster)?;
        let outcome = session.repeat(recording).await;
        copy::write(args, session.recording())?;
        return outcome;
    }
    // Read the script before anything runs, so that a wrong script has no effect.
    let script = args.script.as_deref().map(command::read).transpose()?;
    let mut session = Session::begin(args, cluster).await?;
    let outcome = match script {
        Some(script) => session.run(script).await,
        None if args.interactive => session.interact(args.real_time).await,
        None => story::tell(&mut session, args.agents).await,
    };
    // Write the files even after a run that failed: they are most useful then.
    copy::write(args, session.recording())?;
    session.end();
    outcome
}

/// Returns the runtime of the agents: virtual time, unless the arguments ask for real time.
fn system(real_time: bool) -> io::Result<SystemRunner> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(!real_time)
        .build()?;
    Ok(System::with_tokio_rt(move || runtime))
}
