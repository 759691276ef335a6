//! The reasons for a missing answer, with advice and exit codes.

use std::{io, path::PathBuf, process::ExitCode};

use actix_bully::config::ConfigError;

use crate::run::RunFailure;

/// The exit codes, as the help shows them.
pub(crate) const CODES: &str = "\
Exit codes:
  0  done
  1  refused, or the command had another outcome; the text describes it. Of a preflight: something is too slow or does not work
  2  the arguments are wrong
  3  no node answers there
  4  the time is over and nothing is known yet: ask for the status
  5  not permitted: another user's socket, a token that is missing or wrong
  6  the node cannot answer, or its answer cannot be understood: another program, or a later version

Exit codes of run:
  0    a signal asked it to end, and it has handed over
  n    with --once: the status of the command, or 128 + n where signal n ended it; the same where signal n asked bullyctl to
       end before the command ran
  2    the arguments or the configuration are wrong
  124  it did not lead within --try
  125  it does not run: the node does not start, its mode has no fence, this is not Linux; or its agent has ended for good
  126  the command cannot be started
  127  the command is not found";

/// Exit code: the command was refused, or had another outcome than the requested one.
pub(crate) const REFUSED: u8 = 1;
/// Exit code: the outcome is not known yet.
pub(crate) const LATE: u8 = 4;

/// The reason why there was no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The arguments are valid, but cannot be carried out.
    #[error("{0}")]
    Usage(&'static str),
    /// A file that the arguments name cannot be used.
    #[error("{} cannot be read: is the file there, and may this user read it? ({error})", path.display())]
    File {
        /// The path of the file.
        path: PathBuf,
        /// The reason why the file cannot be read.
        error: io::Error,
    },
    /// The configuration that the arguments name is refused.
    #[error("{} is refused: {error}", path.display())]
    Config {
        /// The path of the configuration.
        path: PathBuf,
        /// The reason why the configuration is refused.
        error: Box<ConfigError>,
    },
    /// The runtime for the measurement does not start.
    #[error("the measurement cannot start: allow this process more threads and open files ({0})")]
    Runtime(io::Error),
    /// No node answers.
    #[error("no node answers at {place}: {cause}; {advice}")]
    Unreachable {
        /// The socket or the URL that was tried.
        place: String,
        /// The reason why no node answered.
        cause: String,
        /// The advice to the user.
        advice: &'static str,
    },
    /// The node does not answer this user.
    #[error("not permitted: {0}")]
    Denied(String),
    /// The node, or a program in its place, gave an unexpected answer.
    #[error(
        "the answer cannot be understood: {0}; look whether a node sent it, and use the bullyctl of the node's release"
    )]
    Odd(String),
    /// The node cannot answer, and has sent the reason.
    #[error("the node cannot answer: {0}")]
    Unable(String),
    /// The command of `run` does not run.
    #[error(transparent)]
    Run(#[from] RunFailure),
    /// The output cannot be printed.
    #[error("the output cannot be printed: has its reader ended, or is its disk full? ({0})")]
    Output(io::Error),
}

impl Failure {
    /// Returns the exit code.
    pub(crate) fn code(&self) -> ExitCode {
        ExitCode::from(match self {
            Self::Usage(_) | Self::File { .. } | Self::Config { .. } => 2,
            Self::Unreachable { .. } => 3,
            Self::Denied(_) => 5,
            Self::Run(failure) => failure.code(),
            Self::Odd(_) | Self::Unable(_) | Self::Output(_) | Self::Runtime(_) => 6,
        })
    }

    /// Returns the name of the failure, for programs.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Usage(_) | Self::File { .. } | Self::Config { .. } => "usage",
            Self::Unreachable { .. } => "unreachable",
            Self::Denied(_) => "denied",
            Self::Run(_) => "run",
            Self::Odd(_) => "odd",
            Self::Unable(_) => "unable",
            Self::Output(_) => "output",
            Self::Runtime(_) => "runtime",
        }
    }
}
