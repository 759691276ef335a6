//! The node's side of a sentinel: the process that it starts.
//!
//! Decided here: when a process may start a sentinel, the program, arguments and pipes that the sentinel gets, and how
//! its end is seen without its process number. Not here: the sentinel's own work (`process.rs`), the bytes of an order
//! (`order.rs`), and when a bridge starts another sentinel (`remote/bridge/ends/keep.rs`).

use std::{
    env,
    fs::read_dir,
    io,
    os::{
        fd::{AsFd, OwnedFd},
        unix::process::CommandExt,
    },
    process::{Command, Stdio, exit},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::{Errno, write},
    pipe::{PipeFlags, pipe_with},
    process::{
        Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, getpid, pidfd_open, pidfd_send_signal,
        waitid,
    },
};

use super::{Sentinel, SentinelDriver, SentinelError, Watched, process};

/// Name of the environment variable that marks a sentinel's process.
const MARK: &str = "ACTIX_BULLY_SENTINEL";

/// Starts a sentinel. In the process of a sentinel, this function runs the sentinel and never returns.
pub(super) fn start() -> Result<Sentinel, SentinelError> {
    if env::var_os(MARK).is_some() {
        exit(process::live());
    }
    // The sentinel's process runs the same `main` up to this call. So a part of the program that starts before this
    // call, such as a thread, would also start in the sentinel.
    let threads = read_dir("/proc/self/task").map_err(SentinelError::Start)?;
    if threads.count() != 1 {
        return Err(SentinelError::NotFirst);
    }
    Ok(Sentinel {
        driver: Box::new(SentinelProcess::spawn()?),
    })
}

/// A sentinel of this process. Dropping it ends the sentinel without a notice.
#[derive(Debug)]
struct SentinelProcess {
    id: u32,
    /// The process by its pidfd, never by its number. The application may wait for all its children, and then the
    /// number may belong to another process.
    process: OwnedFd,
    pipe: OwnedFd,
}

impl SentinelProcess {
    fn spawn() -> Result<Self, SentinelError> {
        // The node opens the pidfd of itself and passes it on. If the child opened the pidfd of its parent, the parent
        // could have ended before the call.
        let node = pidfd_open(getpid(), PidfdFlags::empty());
        let node = node.map_err(|why| SentinelError::Pidfd(why.into()))?;
        let flags = PipeFlags::CLOEXEC | PipeFlags::NONBLOCK;
        let (theirs, pipe) = pipe_with(flags).map_err(|why| SentinelError::Start(why.into()))?;
        // Started through /proc: a newer version may have replaced the program's file.
        let mut child = Command::new("/proc/self/exe")
            .arg0("actix-bully-sentinel")
            // The sentinel gets the arguments of the node: a `main` may read its arguments before it starts a sentinel,
            // and must reach this call in the sentinel too.
            .args(env::args_os().skip(1))
            .env(MARK, "1")
            .process_group(0)
            .stdin(Stdio::from(node))
            .stdout(Stdio::from(theirs))
            .stderr(Stdio::null())
            .spawn()
            .map_err(SentinelError::Start)?;
        let process = pidfd_open(Pid::from_child(&child), PidfdFlags::empty());
        let process = process.map_err(|why| {
            child.kill().ok();
            SentinelError::Pidfd(why.into())
        })?;
        let id = child.id();
        Ok(Self { id, process, pipe })
    }
}

impl SentinelProcess {
    /// Takes the sentinel's exit status from the kernel, so that no zombie remains. The application may have taken
    /// it already.
    fn reap(&self) {
        let ended = WaitId::PidFd(self.process.as_fd());
        while matches!(
            waitid(ended.clone(), WaitIdOptions::EXITED),
            Err(Errno::INTR)
        ) {}
    }
}

impl SentinelDriver for SentinelProcess {
    fn id(&self) -> u32 {
        self.id
    }

    fn order(&mut self, order: &Watched) -> Result<(), SentinelError> {
        let bytes = order.encode();
        loop {
            match write(&self.pipe, &bytes) {
                Ok(len) if len == bytes.len() => return Ok(()),
                // An order was written in part. A pipe takes an order in one piece, so this is an error.
                Ok(_) => return Err(SentinelError::Pipe(io::ErrorKind::WriteZero.into())),
                Err(Errno::INTR) => {}
                Err(why) => return Err(SentinelError::Pipe(why.into())),
            }
        }
    }

    fn has_ended(&mut self) -> bool {
        let mut ended = [PollFd::new(&self.process, PollFlags::IN)];
        if matches!(poll(&mut ended, Some(&Timespec::default())), Ok(0) | Err(_)) {
            return false;
        }
        self.reap();
        true
    }

    fn restart(&mut self) -> Result<(), SentinelError> {
        // The former sentinel is dropped, and so killed, only after the new one exists.
        *self = Self::spawn()?;
        Ok(())
    }
}

impl Drop for SentinelProcess {
    fn drop(&mut self) {
        // The sentinel ignores SIGTERM. After KILL it sends nothing, even if it has an order.
        pidfd_send_signal(&self.process, Signal::KILL).ok();
        self.reap();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_with_more_threads_than_one_is_not_started_a_second_time() {
        // A test runs on a thread of its own.
        assert!(matches!(start(), Err(SentinelError::NotFirst)));
    }
}
