//! The messages for the operator: lines on the standard error, which the thread that leads never waits for.
//!
//! ```text
//!   tell, a warning of the node ──▶ waiting lines, at most 64 KiB ── a thread of its own ──▶ standard error
//! ```
//!
//! Decided here: a line that finds no room is lost, and the number of lost lines is printed later. The reader of a pipe
//! may stop reading, and then each write to the pipe waits. If the thread that leads waited, it would not ask the
//! command to end, while the agent, on a thread of its own, gives the leadership away.

use std::{
    io::{self, Write},
    mem,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

use rustix::{
    event::{PollFd, PollFlags, poll},
    io::{Errno, write},
    stdio::stderr,
};

/// Prints a message when the standard error has room.
pub(super) fn tell(text: &str) {
    MESSAGES.push(format!("bullyctl: {text}\n").as_bytes());
}

/// Starts the thread that writes.
pub(super) fn start() -> io::Result<()> {
    let writer = thread::Builder::new().name("messages".to_owned());
    writer.spawn(|| {
        loop {
            MESSAGES
                .next()
                .split_inclusive(|byte| *byte == b'\n')
                .for_each(write_line);
        }
    })?;
    Ok(())
}

/// Waits until all messages are written, but at most for a second.
pub(super) fn flush() {
    let lines = MESSAGES.lines();
    let has_more = |lines: &mut Lines| lines.is_writing || !lines.waiting.is_empty();
    // Lines that are not written in this time are lost.
    drop(
        MESSAGES
            .changed
            .wait_timeout_while(lines, LONGEST_FLUSH, has_more),
    );
}

/// Passes the lines of `tracing` on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Warnings;

impl Write for Warnings {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        MESSAGES.push(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The messages that wait, for the whole process.
static MESSAGES: Messages = Messages {
    lines: Mutex::new(Lines {
        waiting: Vec::new(),
        lost: 0,
        is_writing: false,
    }),
    changed: Condvar::new(),
};

struct Messages {
    lines: Mutex<Lines>,
    changed: Condvar,
}

struct Lines {
    waiting: Vec<u8>,
    /// Number of lines that had no room.
    lost: u64,
    /// Whether the thread writes lines that it has taken.
    is_writing: bool,
}

impl Messages {
    fn push(&self, line: &[u8]) {
        self.lines().push(line);
        self.changed.notify_all();
    }

    /// Waits for lines, and takes them.
    fn next(&self) -> Vec<u8> {
        let mut lines = self.lines();
        lines.is_writing = false;
        self.changed.notify_all();
        let is_empty = |lines: &mut Lines| lines.waiting.is_empty();
        let waited = self.changed.wait_while(lines, is_empty);
        let mut lines = waited.unwrap_or_else(PoisonError::into_inner);
        lines.is_writing = true;
        lines.take()
    }

    fn lines(&self) -> MutexGuard<'_, Lines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lines {
    fn push(&mut self, line: &[u8]) {
        if self.waiting.len().saturating_add(line.len()) > MOST {
            self.lost = self.lost.saturating_add(1);
        } else {
            self.waiting.extend_from_slice(line);
        }
    }

    fn take(&mut self) -> Vec<u8> {
        let mut taken = mem::take(&mut self.waiting);
        let lost = mem::take(&mut self.lost);
        if lost > 0 {
            let told = format!("bullyctl: {lost} messages are lost: the standard error was full\n");
            taken.extend_from_slice(told.as_bytes());
        }
        taken
    }
}

/// Writes a line in one call if possible, so that no line of the command is printed inside it.
fn write_line(mut line: &[u8]) {
    // `io::stderr` is not used, because other threads would wait for its lock.
    let stderr = stderr();
    while !line.is_empty() {
        match write(stderr, line) {
            Ok(len) => line = line.get(len..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => {
                poll(&mut [PollFd::new(&stderr, PollFlags::OUT)], None).ok();
            }
            // The line is lost: there is no other place for it.
            Err(_) => return,
        }
    }
}

/// Largest number of bytes that wait: as many as a pipe holds.
const MOST: usize = 64 << 10;
const LONGEST_FLUSH: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_without_room_is_counted_and_the_next_ones_are_taken() {
        let mut lines = Lines {
            waiting: Vec::new(),
            lost: 0,
            is_writing: false,
        };
        let long = vec![b'x'; MOST - 2];
        for line in [&*long, b"a\n", b"b\n", b"c\n"] {
            lines.push(line);
        }
        let taken = lines.take();
        let taken = str::from_utf8(&taken[MOST - 2..]).unwrap();
        let lost = "bullyctl: 2 messages are lost: the standard error was full\n";
        assert_eq!(taken, format!("a\n{lost}"));
        lines.push(b"d\n");
        assert_eq!(lines.take(), b"d\n");
    }
}
