//! The node's side of a sentinel: the process that it starts.

use std::{
    env,
    fs::read_dir,
    io,
    os::{fd::OwnedFd, unix::process::CommandExt},
    process::{Child, Command, Stdio, exit},
};

use rustix::{
    io::{Errno, write},
    pipe::{PipeFlags, pipe_with},
    process::{PidfdFlags, getpid, pidfd_open},
};

use super::{Sentinel, SentinelDriver, SentinelError, Watched, process};

/// What a sentinel's process has in its environment.
const MARK: &str = "ACTIX_BULLY_SENTINEL";

/// In a sentinel's process it never returns; in every other one it starts a sentinel.
pub(super) fn start() -> Result<Sentinel, SentinelError> {
    if env::var_os(MARK).is_some() {
        exit(process::live());
    }
    // The sentinel runs the same `main` up to this call: what starts before it would start there as well.
    let threads = read_dir("/proc/self/task").map_err(SentinelError::Start)?;
    if threads.count() != 1 {
        return Err(SentinelError::NotFirst);
    }
    Ok(Sentinel {
        driver: Box::new(SentinelProcess::spawn()?),
    })
}

/// A sentinel of this process. Dropping it dismisses it: it says nothing then.
#[derive(Debug)]
struct SentinelProcess {
    child: Child,
    pipe: OwnedFd,
}

impl SentinelProcess {
    fn spawn() -> Result<Self, SentinelError> {
        // Its own pidfd: a child that asked for its parent's would race with the parent's end.
        let node = pidfd_open(getpid(), PidfdFlags::empty());
        let node = node.map_err(|why| SentinelError::Pidfd(why.into()))?;
        let flags = PipeFlags::CLOEXEC | PipeFlags::NONBLOCK;
        let (theirs, pipe) = pipe_with(flags).map_err(|why| SentinelError::Pipe(why.into()))?;
        // Through /proc: the file may have been replaced by a newer version meanwhile.
        let child = Command::new("/proc/self/exe")
            .arg0("actix-bully-sentinel")
            // The same: a `main` that asks its arguments whether to have one has to come as far there.
            .args(env::args_os().skip(1))
            .env(MARK, "1")
            .process_group(0)
            .stdin(Stdio::from(node))
            .stdout(Stdio::from(theirs))
            .stderr(Stdio::null())
            .spawn()
            .map_err(SentinelError::Start)?;
        Ok(Self { child, pipe })
    }
}

impl SentinelDriver for SentinelProcess {
    fn id(&self) -> u32 {
        self.child.id()
    }

    fn order(&mut self, order: &Watched) -> Result<(), SentinelError> {
        let bytes = order.encode()?;
        loop {
            match write(&self.pipe, &bytes) {
                Ok(len) if len == bytes.len() => return Ok(()),
                // Never in part: an order is no longer than what a pipe takes in one piece.
                Ok(_) => return Err(SentinelError::Pipe(io::ErrorKind::WriteZero.into())),
                Err(Errno::INTR) => {}
                Err(why) => return Err(SentinelError::Pipe(why.into())),
            }
        }
    }

    fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    fn restart(&mut self) -> Result<(), SentinelError> {
        // The former one is dropped, and with that killed, only when there is another one.
        *self = Self::spawn()?;
        Ok(())
    }
}

impl Drop for SentinelProcess {
    fn drop(&mut self) {
        // It ignores what asks politely. After it nothing is said, whatever it was ordered.
        if self.child.kill().is_ok() {
            drop(self.child.wait());
        }
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
