//! The reasons why no sentinel runs, and why an order is refused.

use std::{fmt, io};

use bully_register::Outlook;

/// Reason why this node has no sentinel. Without a sentinel, the node's peers wait until its lease has ended.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum SentinelError {
    /// This operating system has no pidfd.
    #[error(
        "a sentinel needs Linux 5.3 or newer: run without a sentinel, and the other agents elect once the lease has ended"
    )]
    NotAvailable,
    /// `Sentinel::start` was not the first call in `main`.
    #[error(
        "this process has more than one thread: call Sentinel::start() first in a plain main, before any runtime, or the sentinel would begin as a second copy of the program"
    )]
    NotFirst,
    /// The kernel gives no pidfd of this process.
    #[error(
        "the kernel gives this process no pidfd ({0}): {advice}", advice = Advice(.0, "allow pidfd_open, or run without a sentinel")
    )]
    Pidfd(#[source] io::Error),
    /// The process could not be started.
    #[error(
        "the sentinel's process cannot be started ({0}): {advice}", advice = Advice(.0, "look whether /proc is mounted, and whether the file of this program may be executed")
    )]
    Start(#[source] io::Error),
    /// The random bytes could not be generated.
    #[error(
        "the system gives no random bytes for a sentinel: allow the call getrandom, or run without a sentinel ({0})"
    )]
    Random(#[source] getrandom::Error),
    /// The sentinel accepts no more orders: it has probably ended.
    #[error(
        "the sentinel (the process that reports the end of this process) takes no orders, so it has probably ended: the bridge starts another sentinel by itself ({0})"
    )]
    Pipe(#[source] io::Error),
}

debug_is_text!(SentinelError);

/// The advice for a shortage of processes, files or space, or else the given advice.
struct Advice<'a>(&'a io::Error, &'static str);

impl fmt::Display for Advice<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(error, otherwise) = self;
        // At the limit of processes the kernel fails with `EAGAIN`, which Rust calls `WouldBlock`.
        let advice = if error.kind() == io::ErrorKind::WouldBlock {
            Some("let this user start more processes (`ulimit -u`, `TasksMax=`)")
        } else {
            Outlook::of(error).advice()
        };
        f.write_str(advice.unwrap_or(otherwise))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use rustix::io::Errno;

    use super::*;

    #[test]
    fn a_process_that_could_not_be_started_for_a_shortage_is_told_what_is_short() {
        for (number, word) in [
            (Errno::MFILE, "ulimit -n"),
            (Errno::AGAIN, "ulimit -u"),
            (Errno::NOMEM, "memory"),
            (Errno::NOENT, "/proc is mounted"),
        ] {
            let error = SentinelError::Start(number.into());
            assert!(error.to_string().contains(word), "{error}");
        }
        let error = SentinelError::Pidfd(Errno::MFILE.into());
        assert!(error.to_string().contains("ulimit -n"), "{error}");
        let error = SentinelError::Pidfd(Errno::NOSYS.into());
        assert!(error.to_string().contains("allow pidfd_open"), "{error}");
    }
}
