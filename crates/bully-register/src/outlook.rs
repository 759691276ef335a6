//! Errors of the system: whether the same call may succeed later.
//!
//! A process can run out of descriptors, threads, memory, locks and disk space. Decided here, in one table: which
//! errors pass by themselves, which need room on a disk, and which are final. Not here: the effect of a failed call. A
//! failed write may have done its work; `record_file/` describes how its owner finds that out.
//!
//! | error | outlook | an operator |
//! |---|---|---|
//! | `EMFILE` | passes | gives this process more files |
//! | `ENFILE` | passes | gives the host more files |
//! | `ENOMEM`, `ENOBUFS` | passes | gives the process or its host more memory |
//! | `ENOLCK` | passes | looks for processes that lock too many files |
//! | `EAGAIN` at the start of a thread or a process | passes | lets this process start more of them |
//! | `EINTR`, `EAGAIN`, `EBUSY`, `ETXTBSY`, a time limit | passes | does nothing |
//! | `ENOSPC`, `EDQUOT` | needs room | makes room, or raises the quota |
//! | any other | final | mends the cause that the error reports |
//!
//! # Boundaries
//! | boundary | passes or needs room | final |
//! |---|---|---|
//! | a vote, the record of an agent | the write is tried again, at growing intervals, the whole record into the same slot; no message that depends on it is sent before it is durable; reported in log, diagnosis and health | the agent ends |
//! | the file of a vote, at its start | the start fails with an error | the same |
//! | a register, a schedule's mark | tried again, at growing intervals (`RegisterError`); reported in diagnosis and health | reported, and tried again at long intervals |
//! | a dial of a peer, or the lookup of its name | tried again, at growing intervals; the advice is about the shortage, not the address | the same |
//! | the acceptance of a connection | tried again, at growing intervals, reported once | the same |
//! | a timer of the kernel | the clock is read at short intervals, and the timer is tried again at the next wait | the same |
//! | the sentinel's process | started again, at growing intervals; meanwhile only the lease shows the end of a process | the same |
//! | the reading of renewed certificates | skipped; the certificates in use stay | the same |
//! | a thread of a store or an arbiter, at its start | the start fails with an error | the same |

use std::io::{self, ErrorKind};

/// Whether a call that failed may succeed later.
///
/// ```
/// # use bully_register::Outlook;
/// use bully_register::Shortage;
/// use std::io;
///
/// let full = io::Error::from(io::ErrorKind::StorageFull);
/// assert_eq!(Outlook::of(&full), Outlook::NeedsRoom);
/// let busy = io::Error::from(io::ErrorKind::OutOfMemory);
/// assert_eq!(Outlook::of(&busy), Outlook::Passes(Shortage::Memory));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outlook {
    /// The same call may succeed in a moment.
    Passes(Shortage),
    /// The same call may succeed when the disk or this user's quota has room.
    NeedsRoom,
    /// The same call fails again.
    Final,
}

/// The resource that is short for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Shortage {
    /// The descriptors of this process: `EMFILE`.
    Descriptors,
    /// The descriptors of the host: `ENFILE`.
    HostDescriptors,
    /// Memory: `ENOMEM`, `ENOBUFS`.
    Memory,
    /// Locks of files: `ENOLCK`.
    Locks,
    /// No shortage is known: the call was interrupted, or a resource was in use.
    Moment,
}

impl Outlook {
    /// Returns the outlook of an error of the system.
    pub fn of(error: &io::Error) -> Self {
        #[cfg(unix)]
        if let Some(outlook) = error.raw_os_error().and_then(of_number) {
            return outlook;
        }
        of_kind(error.kind())
    }

    /// Returns whether the call is worth another try.
    pub const fn is_worth_a_try(self) -> bool {
        match self {
            Self::Passes(_) | Self::NeedsRoom => true,
            Self::Final => false,
        }
    }

    /// Returns the advice to an operator about the shortage; `None` if no shortage is known.
    pub const fn advice(self) -> Option<&'static str> {
        let Self::Passes(shortage) = self else {
            return None;
        };
        Some(match shortage {
            Shortage::Descriptors => {
                "this process has no file descriptor left: raise its limit (`ulimit -n`, `LimitNOFILE=`), or find out what keeps them open"
            }
            Shortage::HostDescriptors => {
                "this host has no file descriptor left: raise `fs.file-max`, or find the process that keeps them open"
            }
            Shortage::Memory => {
                "the system has no memory left for this process: raise its limit, or give the host more"
            }
            Shortage::Locks => {
                "the system has no lock left for a file: find the process that holds many locks"
            }
            Shortage::Moment => return None,
        })
    }
}

/// Returns the outlook by the error number, for errors that `std` does not distinguish by kind; `None` for other
/// errors.
#[cfg(unix)]
fn of_number(number: i32) -> Option<Outlook> {
    use rustix::io::Errno;

    Some(match Errno::from_raw_os_error(number) {
        Errno::MFILE => Outlook::Passes(Shortage::Descriptors),
        Errno::NFILE => Outlook::Passes(Shortage::HostDescriptors),
        Errno::NOBUFS => Outlook::Passes(Shortage::Memory),
        Errno::NOLCK => Outlook::Passes(Shortage::Locks),
        _ => return None,
    })
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the system has many more errors, and each of them is final"
)]
const fn of_kind(kind: ErrorKind) -> Outlook {
    match kind {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Outlook::NeedsRoom,
        ErrorKind::OutOfMemory => Outlook::Passes(Shortage::Memory),
        ErrorKind::Interrupted
        | ErrorKind::WouldBlock
        | ErrorKind::TimedOut
        | ErrorKind::ResourceBusy
        | ErrorKind::ExecutableFileBusy => Outlook::Passes(Shortage::Moment),
        _ => Outlook::Final,
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use rustix::io::Errno;

    use super::{Outlook::*, Shortage::*, *};

    #[test]
    fn each_error_of_the_table_has_its_outlook() {
        for (number, outlook) in [
            (Errno::MFILE, Passes(Descriptors)),
            (Errno::NFILE, Passes(HostDescriptors)),
            (Errno::NOMEM, Passes(Memory)),
            (Errno::NOBUFS, Passes(Memory)),
            (Errno::NOLCK, Passes(Locks)),
            (Errno::INTR, Passes(Moment)),
            (Errno::AGAIN, Passes(Moment)),
            (Errno::BUSY, Passes(Moment)),
            (Errno::TXTBSY, Passes(Moment)),
            (Errno::TIMEDOUT, Passes(Moment)),
            (Errno::NOSPC, NeedsRoom),
            (Errno::DQUOT, NeedsRoom),
            (Errno::IO, Final),
            (Errno::ROFS, Final),
            (Errno::ACCESS, Final),
            (Errno::PERM, Final),
            (Errno::NOENT, Final),
            (Errno::FBIG, Final),
            (Errno::STALE, Final),
            (Errno::BADF, Final),
            (Errno::NODEV, Final),
        ] {
            let error = io::Error::from(number);
            assert_eq!(Outlook::of(&error), outlook, "{error}");
            // A library may wrap the error: it keeps the kind, and loses the number.
            let told = Outlook::of(&io::Error::new(error.kind(), "a file"));
            let has_a_kind = !matches!(
                number,
                Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOLCK
            );
            assert_eq!(told == outlook, has_a_kind, "{error}");
        }
        assert_eq!(Outlook::of(&io::Error::other("unknown")), Final);
    }

    #[test]
    fn a_passing_error_is_tried_again_and_each_shortage_has_its_advice() {
        let all = [Descriptors, HostDescriptors, Memory, Locks];
        for (shortage, word) in all
            .into_iter()
            .zip(["ulimit -n", "fs.file-max", "memory", "locks"])
        {
            let advice = Passes(shortage).advice().unwrap_or_default();
            assert!(advice.contains(word), "{advice}");
            assert!(Passes(shortage).is_worth_a_try());
        }
        for outlook in [Passes(Moment), NeedsRoom, Final] {
            assert_eq!(outlook.advice(), None);
        }
        assert!(NeedsRoom.is_worth_a_try() && !Final.is_worth_a_try());
    }
}
