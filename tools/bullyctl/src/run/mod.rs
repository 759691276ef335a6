//! A command that runs only while this host leads.
//!
//! ```text
//!   bullyctl run --config /etc/jobs.toml -- /usr/bin/report --all
//!
//!   bullyctl ── deadline, at each renewal ──▶ guard ── SIGTERM, SIGKILL ──▶ the command
//!      the node, which elects                   starts and ends it             a process group of its own
//! ```
//!
//! `bullyctl` is a node by its configuration, as [`actix_bully::config`] says. When it leads it starts a *guard*, which is its own
//! executable once more, and the guard starts the command, without a shell.
//!
//! # What the command gets
//! - The environment, the folder and the three standard streams of `bullyctl`. A command that reads a terminal is
//!   stopped by that terminal, as every background job is: give it a file or a pipe.
//! - `BULLY_NODE` and `BULLY_GROUP`, the names in the configuration, and `BULLY_FENCE`, the number of the leadership at the start of the command. The
//!   command sends it along with each write, and its database refuses lower ones ([`fence`](actix_bully::leader::fence)). The term may
//!   rise while it runs. Its number stays valid as long as the database saw no higher one: so nothing else of this
//!   leadership may write with the newer number.
//! - SIGTERM, to its whole process group, when the leadership is handed over; then the time of `drain`, less the margin.
//! - SIGKILL when that time is over, when the lease is not renewed, and when `bullyctl` or the guard ends.
//!
//! When the command ends, each process that it left is killed: it has to stay in the foreground. The end of the
//! command by itself, with any status, counts as the end of the work of [`lead`](actix_bully::agent::ElectionHandle::lead): within a minute
//! it has failed, and the group waits before the next try, 1 s at first and a minute at most; later the host hands over.
//!
//! # For how long it runs
//! With a lease the guard has a deadline by `CLOCK_BOOTTIME`, which counts a suspend: the end of what the leader may rely on. It kills the
//! command an eighth of a lease before (the *margin*, which is printed), also while `bullyctl` stands still. The others
//! let the lease run out for longer than that, so the command has ended when another host leads, unless the kernel
//! cannot end it: a process that waits for a disk ends after the disk has answered.
//!
//! A command that was killed because a renewal was late has not failed: it runs again in the same leadership, as soon as the
//! lease has room, or on the host that leads then.
//!
//! | stands still, or is killed | then |
//! |---|---|
//! | `bullyctl` stands still | the guard kills the command at the deadline less the margin |
//! | `bullyctl` is killed | the guard kills the command at once |
//! | the guard is killed, or stands still at the end | the command is killed with it, and `bullyctl` kills the rest |
//! | both are killed at one moment | the command is killed with the guard; what it has started works on |
//! | both stand still (a freezer, a virtual machine) | the command may go on before they do: only the fence helps |
//!
//! In the mode without a lease (neither `quorum.voters` nor the section `lease`) two hosts may lead for a while, as after a cut of the network,
//! and a command runs on both until one hears of the other. A deadline is there too: a leader that stands still for the detection time L leads
//! no more. There is no fence, so `run` refuses this mode unless `--no-fence` is said. So it does with voters without a disk,
//! whose fences have a condition.
//!
//! # What is ended
//! The guard is a subreaper: every process that comes of the command becomes its child at the latest when its own parent has
//! ended, also after `setsid` and a double fork. It kills the command's process group while the group's leader is not
//! reaped, then its children, until none is left. A process that runs as another user (`sudo`, `setuid`) cannot be
//! killed: run `bullyctl` as that user. As process 1 of a container `bullyctl` reaps orphans; if its guard is killed there, it kills all that
//! it has adopted since the command began.
//!
//! # How it ends
//! INT, TERM, HUP and QUIT are one and the same. While this host waits to lead, each of them ends `bullyctl` at once; while the command runs
//! the host hands over, and a second signal kills the command. None of them leaves the command behind. With systemd
//! `TimeoutStopSec` has to exceed the drain. The exit codes are in `bullyctl --help`.
//!
//! - `--once` leads, runs the command to its end, hands over, and exits with the status of the command, also where the end of the
//!   leadership ended it. Another host that was started with it runs the command as well, when it leads. A job that
//!   shall run once in all is a [schedule](actix_bully::leader::schedule).
//! - `--try DURATION` gives up when this host does not lead by then.
//!
//! Decided here: the platform, and that the command is looked for before anything is elected. `limits.rs`: all deadlines. `outcome.rs`: exit
//! codes, and what a signal does. `node.rs`: the order of a run. `guarded.rs`: one run of the command, as this process sees it; `guard.rs`: as the guard
//! does. `children.rs`: until none is left. `wrapper.rs`: the last step before the command.

#[cfg(target_os = "linux")]
mod children;
mod error;
#[cfg(target_os = "linux")]
mod frames;
#[cfg(target_os = "linux")]
mod guard;
#[cfg(target_os = "linux")]
mod guarded;
#[cfg(target_os = "linux")]
mod limits;
#[cfg(target_os = "linux")]
mod node;
mod outcome;
#[cfg(target_os = "linux")]
mod signals;
#[cfg(target_os = "linux")]
mod wrapper;

use std::{
    ffi::OsString,
    io::{self, Write},
    path::PathBuf,
    process::ExitCode,
    time::Duration,
};

use crate::{args::Args, failure::Failure};

pub(crate) use error::RunFailure;
#[cfg(target_os = "linux")]
pub(crate) use guard::{GuardArgs, live as guard};
#[cfg(target_os = "linux")]
pub(crate) use wrapper::{WrapperArgs, live as command};

#[derive(Debug, clap::Args)]
pub(crate) struct Run {
    /// The configuration of the node
    #[arg(long, value_name = "FILE")]
    pub(crate) config: PathBuf,
    /// Puts the variables of the environment with this prefix over it
    #[arg(long, value_name = "PREFIX")]
    pub(crate) env: Option<String>,
    /// Runs the command also where nothing refuses what the command of a former leader writes late
    #[arg(long)]
    pub(crate) no_fence: bool,
    /// Leads, runs the command to its end, hands over, and exits with its status
    #[arg(long)]
    pub(crate) once: bool,
    /// Gives up when this host does not lead by then: 30, 500ms, 30s, 5m or 1h
    #[arg(long = "try", value_name = "DURATION", value_parser = outcome::span)]
    pub(crate) within: Option<Duration>,
    /// The command and its arguments. It is started without a shell, and stays in the foreground
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

/// Runs the command whenever this host leads.
#[cfg(target_os = "linux")]
pub(crate) fn run(run: &Run, args: &Args) -> Result<ExitCode, Failure> {
    if args.url.is_some() {
        return Err(Failure::Usage("a run asks no node: leave --url out"));
    }
    let config = crate::config::load(&run.config, run.env.as_deref())?;
    if let Some(program) = run.command.first()
        && !is_there(program)
    {
        return Err(RunFailure::NotFound(program.clone()).into());
    }
    // What the node has to say while it runs.
    tracing_subscriber::fmt()
        .with_writer(io::stderr)
        .with_max_level(tracing_subscriber::filter::LevelFilter::WARN)
        .init();
    let code = node::run(run, args, &config)?;
    Ok(ExitCode::from(code))
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn run(_: &Run, _: &Args) -> Result<ExitCode, Failure> {
    Err(RunFailure::Elsewhere.into())
}

/// Whether there is such a program, as `exec` will look for it.
#[cfg(target_os = "linux")]
fn is_there(program: &std::ffi::OsStr) -> bool {
    use std::{env, os::unix::ffi::OsStrExt, path::Path};
    if program.as_bytes().contains(&b'/') {
        return Path::new(program).exists();
    }
    // Without one the system has a PATH of its own.
    env::var_os("PATH")
        .is_none_or(|path| env::split_paths(&path).any(|folder| folder.join(program).is_file()))
}

/// Tells the operator.
fn tell(text: &str) {
    // There is no other place to say that nothing can be said.
    writeln!(io::stderr().lock(), "bullyctl: {text}").ok();
}
