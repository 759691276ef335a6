//! The reasons why a command does not run, their remedies and exit codes.
//!
//! `timeout`, `env` and the container engines use the same codes, which differ from the usual exit codes of commands.

use std::{ffi::OsString, io};

use actix_bully::{agent::LeadError, config::RunError, operate::SocketError};

/// Exit code: this host did not lead within the time of `--try`.
pub(crate) const NOT_LEADING: u8 = 124;
/// Exit code: the command does not run, for another reason.
const DOES_NOT_RUN: u8 = 125;
/// Exit code: the command exists but cannot be started.
pub(crate) const CANNOT_RUN: u8 = 126;
/// Exit code: the command does not exist.
pub(crate) const NOT_FOUND: u8 = 127;

/// The reason why a command does not run, or has stopped.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RunFailure {
    /// The node does not start.
    #[error("the node does not start: {0}")]
    Start(Box<RunError>),
    /// The node may not lead.
    #[error(
        "{node} has a role that never leads, so the command would never run: set `role = \"leader\"`, or run the command elsewhere"
    )]
    Role {
        /// The name of the node.
        node: String,
    },
    /// Nothing refuses a late write of a former leader's command.
    #[error(
        "this configuration promises no fence{}: set `quorum.voters` and `quorum.store_file`, or a store in `lease`; or pass --no-fence, and late writes of a former leader are not refused",
        if *is_conditional { " without a condition" } else { "" }
    )]
    NoFence {
        /// Whether the mode has a conditional fence: voters without a disk promise a fence while their clocks are not
        /// set back.
        is_conditional: bool,
    },
    /// The socket for operators cannot be used.
    #[error("the socket for operators cannot be used: {0}")]
    Socket(#[from] SocketError),
    /// The command does not exist.
    #[error("{} is not found: name a program by its path, or one in a folder of PATH", .0.display())]
    NotFound(OsString),
    /// The host does not allow a facility that a run needs.
    #[error(
        "this process cannot use {what} ({error}): check whether its container or its limits forbid it"
    )]
    Host {
        /// The facility that this process cannot use.
        what: &'static str,
        /// The error of the system.
        error: io::Error,
    },
    /// The node did not lead within the time of `--try`.
    #[error(
        "{node} does not lead {group} within the time of --try, so the command did not run: allow a longer time, or see `bullyctl diagnosis`"
    )]
    NotLeading {
        /// The name of the node.
        node: String,
        /// The name of the group.
        group: String,
    },
    /// The agent has ended without a request.
    #[error("the agent of {node} has ended for good: start this program again")]
    Ended {
        /// The name of the node.
        node: String,
    },
    /// The agent did not accept the work.
    #[error(transparent)]
    Lead(#[from] LeadError),
    /// The platform is not Linux.
    #[cfg(not(target_os = "linux"))]
    #[error(
        "`run` needs Linux: only there can it end all processes of a command, and count the time of a suspend"
    )]
    Elsewhere,
}

impl RunFailure {
    /// Returns the exit code.
    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::NotLeading { .. } => NOT_LEADING,
            Self::NotFound(_) => NOT_FOUND,
            _ => DOES_NOT_RUN,
        }
    }
}
