//! The node's side: the line in `main`, and the process that it starts.

use std::{
    env, io,
    os::{fd::OwnedFd, unix::process::CommandExt},
    process::{Child, Command, Stdio, exit},
    sync::atomic::{AtomicBool, Ordering},
};

use rustix::{
    io::{Errno, write},
    pipe::{PipeFlags, pipe_with},
    process::{PidfdFlags, getpid, pidfd_open},
};

use super::{Order, SentinelError, process};

/// The only argument of a sentinel's process.
const ARGUMENT: &str = "--actix-bully-sentinel";

/// Whether the program's main began with [`attend`].
static ATTENDED: AtomicBool = AtomicBool::new(false);

/// The first line of `main`, before any runtime: in a sentinel's process it never returns; in every other one
/// it does nothing, but that a bridge may start a sentinel from then on.
///
/// A sentinel is the program itself, started again. It must not open files, start threads or a runtime, hence a
/// plain `main` that begins with this line.
pub fn attend() {
    let mut arguments = env::args_os().skip(1);
    let is_sentinel =
        arguments.next().is_some_and(|first| first == ARGUMENT) && arguments.next().is_none();
    if is_sentinel {
        exit(process::live());
    }
    ATTENDED.store(true, Ordering::Relaxed);
}

/// A sentinel of this process. Dropping it dismisses it: it says nothing then.
#[derive(Debug)]
pub struct SentinelProcess {
    child: Child,
    pipe: OwnedFd,
}

impl SentinelProcess {
    /// Starts one.
    ///
    /// # Errors
    /// [`SentinelError`]: there is no sentinel, and the lease decides.
    pub fn start() -> Result<Self, SentinelError> {
        if !ATTENDED.load(Ordering::Relaxed) {
            return Err(SentinelError::NotAttended);
        }
        // Its own pidfd: a child that asked for its parent's would race with the parent's end.
        let node = pidfd_open(getpid(), PidfdFlags::empty());
        let node = node.map_err(|why| SentinelError::Pidfd(why.into()))?;
        let flags = PipeFlags::CLOEXEC | PipeFlags::NONBLOCK;
        let (theirs, pipe) = pipe_with(flags).map_err(|why| SentinelError::Pipe(why.into()))?;
        // Through /proc: the file may have been replaced by a newer version meanwhile.
        let child = Command::new("/proc/self/exe")
            .arg0("actix-bully-sentinel")
            .arg(ARGUMENT)
            .process_group(0)
            .current_dir("/")
            .stdin(Stdio::from(node))
            .stdout(Stdio::from(theirs))
            .stderr(Stdio::null())
            .spawn()
            .map_err(SentinelError::Start)?;
        Ok(Self { child, pipe })
    }

    /// Its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Orders it something. The newest order holds.
    ///
    /// # Errors
    /// [`SentinelError::Order`] for one that it would not understand, [`SentinelError::Pipe`] if it does
    /// not read any more.
    pub fn order(&mut self, order: &Order) -> Result<(), SentinelError> {
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

    /// Whether it has ended: start another one, with new bytes.
    pub fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
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
    fn a_program_whose_main_does_not_begin_with_the_line_is_not_started_a_second_time() {
        let refused = SentinelProcess::start();
        assert!(matches!(refused, Err(SentinelError::NotAttended)));
    }
}
