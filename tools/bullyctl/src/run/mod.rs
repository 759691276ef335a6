//! A command that runs only while this host leads.
//!
//! ```text
//!   bullyctl run --config /etc/jobs.toml -- /usr/bin/report --all
//!
//!   bullyctl ── deadline, at each renewal ──▶ guard ── SIGTERM, SIGKILL ──▶ the command
//!      the node, which elects                   starts and ends it             a process group of its own
//! ```
//!
//! The configuration of `bullyctl` makes it a node, see [`actix_bully::config`]. When it leads, it starts a *guard*: a
//! second process of its own executable. The guard starts the command, without a shell.
//!
//! # Environment and signals of the command
//! - The environment, the folder and the three standard streams of `bullyctl`. A command that reads a terminal is
//!   stopped by that terminal, like every background job: give it a file or a pipe.
//! - `BULLY_NODE` and `BULLY_GROUP`, the names in the configuration, and `BULLY_FENCE`, the number of the leadership
//!   at the start of the command. The command sends the fence with each write, and its database refuses lower numbers
//!   ([`fence`](actix_bully::leader::fence)). The term may rise while the command runs. Its fence stays valid until
//!   the database sees a higher number, so nothing else in this leadership may write with the newer number.
//! - SIGTERM, to its whole process group, when the leadership is handed over; then the time of `drain`, less the
//!   margin.
//! - SIGKILL when that time is over, when the lease is not renewed, and when `bullyctl` or the guard ends. A hand-over
//!   waits until all processes have ended, for 5 s more than the drain at most.
//!
//! When the command ends, every process that it left is killed: the command must stay in the foreground. If the
//! command ends by itself, with any status, the work of [`lead`](actix_bully::agent::ElectionHandle::lead) has ended.
//! In the first minute this counts as a failure, and the group waits before the next try, 1 s at first and a minute at
//! most; later the host hands over.
//!
//! # Deadline of the command
//! With a lease, the guard has a deadline by `CLOCK_BOOTTIME`, which counts a suspend: the time until which the leader
//! may rely on its leadership. The guard kills the command an eighth of a lease before the deadline (the *margin*,
//! which is printed), even while `bullyctl` stands still. The other hosts wait longer than that for the lease to run
//! out, so the command has ended when another host leads, unless the kernel needs longer than the margin. A process that
//! waits for a disk ends after the disk has answered. A process with much memory needs time: 33 ms with 1 GB and 0.4 s
//! with 10 GB, on a machine with 2 cores. For such a command choose timings with a longer lease: the margin of the preset
//! `wan` is 0.5 s. A hand-over needs no longer lease, because it waits for the end of the command.
//!
//! A command that was killed because a renewal was late has not failed: it runs again in the same leadership, as soon
//! as the lease has room, or on the next leader. With `--once` it does not run again: only a command that was not yet
//! started waits for the renewal.
//!
//! | a process stands still, or is killed | effect |
//! |---|---|
//! | `bullyctl` stands still | the guard kills the command at the deadline less the margin |
//! | `bullyctl` is killed | the guard kills the command at once |
//! | the guard is killed, or stands still at the end | the command is killed with it, and `bullyctl` kills the rest |
//! | both are killed at one moment | the command is killed with the guard; processes that it has started continue |
//! | the reader of the standard error | messages are lost, and the command runs and ends as usual |
//! | both stand still (a freezer, a virtual machine) | the command may continue before they do: only the fence helps |
//!
//! In the mode without a lease (neither `quorum.voters` nor the section `lease`) two hosts may lead for a while, for
//! example after a network partition. Then the command runs on both, until one host receives a message of the other.
//! This mode has a deadline too: a leader that stands still for the detection time loses the leadership. It has no
//! fence, so `run` refuses this mode without `--no-fence`. It also refuses voters without a disk, because their fences
//! have a condition.
//!
//! # End of all processes
//! The guard is a subreaper: every process that the command starts becomes a child of the guard when its own parent
//! has ended, also after `setsid` and a double fork. The guard kills the command and its process group while the command
//! is not reaped, then its own children, until none is left. It cannot kill a process that runs as another user
//! (`sudo`, `setuid`): run `bullyctl` as that user. As process 1 of a container `bullyctl` reaps orphans; if its guard
//! is killed there, `bullyctl` kills all processes that it has adopted since the command began.
//!
//! # End of a run
//! INT, TERM, HUP and QUIT have the same effect. While this host waits to lead, each of them ends `bullyctl` at once.
//! While the command runs, the host hands over, and a second signal kills the command. In all cases the command ends
//! before `bullyctl`. With systemd `TimeoutStopSec` must exceed the drain by 10 s. `bullyctl --help` has the exit codes.
//!
//! - `--once` leads, runs the command to its end, hands over, and exits with the status of the command, even if the
//!   end of the leadership ended the command. Another host that was started with `--once` runs the command as well,
//!   when it leads. For a job that must run only once in the whole group, use a
//!   [schedule](actix_bully::leader::schedule).
//! - `--try DURATION` gives up if this host has not led within this time.
//!
//! Decided here: the platform, and that the command must exist before the election starts. `limits.rs`: all deadlines.
//! `outcome.rs`: exit codes. `node.rs`: the order of a run, and the effect of a signal. `guarded.rs`: one run of the
//! command, in this process; `guard.rs`: the same in the guard. `children.rs`: the end of all processes. `wrapper.rs`:
//! the last step before the command. `messages.rs`: lines on the standard error, which nothing waits for.

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
mod messages;
#[cfg(target_os = "linux")]
mod node;
mod outcome;
#[cfg(target_os = "linux")]
mod signals;
#[cfg(all(test, target_os = "linux"))]
mod tests;
#[cfg(target_os = "linux")]
mod wrapper;

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use crate::failure::Failure;

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
    /// Overrides the configuration with the environment variables that have this prefix
    #[arg(long, value_name = "PREFIX")]
    pub(crate) env: Option<String>,
    /// Runs the command even if nothing refuses a late write of a former leader's command
    #[arg(long)]
    pub(crate) no_fence: bool,
    /// Leads, runs the command to its end, hands over, and exits with its status
    #[arg(long)]
    pub(crate) once: bool,
    /// Gives up if this host has not led within this time: 30, 500ms, 30s, 5m or 1h
    #[arg(long = "try", value_name = "DURATION", value_parser = outcome::span)]
    pub(crate) within: Option<Duration>,
    /// The command and its arguments. It is started without a shell, and stays in the foreground
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

/// Runs the command whenever this host leads. Operators command the node at the socket. With `is_json` the caller prints
/// a failure, for programs.
#[cfg(target_os = "linux")]
pub(crate) fn run(run: &Run, socket: Option<&Path>, is_json: bool) -> Result<ExitCode, Failure> {
    let config = crate::config::load(&run.config, run.env.as_deref())?;
    if let Some(program) = run.command.first()
        && !is_there(program)
    {
        return Err(RunFailure::NotFound(program.clone()).into());
    }
    messages::start().map_err(|error| RunFailure::Host {
        what: "a thread for messages",
        error,
    })?;
    // Prints the warnings of the node while it runs.
    tracing_subscriber::fmt()
        .with_writer(|| messages::Warnings)
        .with_max_level(tracing_subscriber::filter::LevelFilter::WARN)
        .init();
    // A failure is printed in the same way, so that this thread does not wait for a reader.
    let mut ended = node::run(run, socket, &config);
    if let (Err(failure), false) = (&ended, is_json) {
        messages::tell(&failure.to_string());
        ended = Ok(failure.code());
    }
    messages::flush();
    Ok(ExitCode::from(ended?))
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn run(_: &Run, _: Option<&Path>, _: bool) -> Result<ExitCode, Failure> {
    Err(RunFailure::Elsewhere.into())
}

/// Returns whether the program exists, by the rules of `exec`.
#[cfg(target_os = "linux")]
fn is_there(program: &std::ffi::OsStr) -> bool {
    use std::{env, os::unix::ffi::OsStrExt};
    if program.as_bytes().contains(&b'/') {
        return Path::new(program).exists();
    }
    // If PATH is not set, the system searches a default PATH, which is not checked here.
    env::var_os("PATH")
        .is_none_or(|path| env::split_paths(&path).any(|folder| folder.join(program).is_file()))
}
