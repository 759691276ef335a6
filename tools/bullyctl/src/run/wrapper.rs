//! The last step before the command: the process that becomes the command.
//!
//! A parent-death signal does not survive a fork, so only the process itself can request it. The request outlasts the
//! `exec` by which the process becomes the command. So the command ends with its guard, even if the guard and
//! `bullyctl` are killed at one moment. A program that changes its user (`setuid`, file capabilities) loses the
//! request.

use std::{
    ffi::OsString,
    io::{self, Write},
    os::unix::process::CommandExt,
    process::{Command, ExitCode},
};

use rustix::process::{Pid, Signal, getpid, getppid, set_parent_process_death_signal};

use super::error::{CANNOT_RUN, NOT_FOUND};

/// The arguments of the process.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct WrapperArgs {
    /// The guard
    #[arg(long)]
    pub(crate) guard: i32,
    /// The command
    #[arg(last = true, required = true)]
    pub(crate) command: Vec<OsString>,
}

/// Returns the arguments with which a guard starts a wrapper.
pub(super) fn words(command: &[OsString]) -> Vec<OsString> {
    let guard = getpid().as_raw_nonzero().to_string();
    let own = ["run-command", "--guard", &guard, "--"].map(OsString::from);
    own.into_iter().chain(command.iter().cloned()).collect()
}

/// Becomes the command, and returns only if the change fails.
pub(crate) fn live(args: &WrapperArgs) -> ExitCode {
    let Some((program, words)) = args.command.split_first() else {
        return ExitCode::from(NOT_FOUND);
    };
    let asked = set_parent_process_death_signal(Some(Signal::KILL));
    let error = match asked {
        // The guard had ended before this process requested the signal, so no signal would come.
        Ok(()) if getppid() != Pid::from_raw(args.guard) => return ExitCode::FAILURE,
        Ok(()) => Command::new(program).args(words).exec(),
        Err(error) => error.into(),
    };
    say(&format!("{} cannot be started: {error}", program.display()));
    ExitCode::from(match error.kind() {
        io::ErrorKind::NotFound => NOT_FOUND,
        _ => CANNOT_RUN,
    })
}

/// Prints a message for the operator. It may block: `bullyctl` does not wait for this process.
pub(super) fn say(text: &str) {
    // If the standard error cannot be written, there is no other place for the message.
    writeln!(io::stderr().lock(), "bullyctl: {text}").ok();
}
