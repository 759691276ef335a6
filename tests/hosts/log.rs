//! The lines of all nodes, merged by the machine's one clock.

use std::{
    io::{BufRead, BufReader, Read},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

/// One line of one incarnation of one node.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// Microseconds since the boot of this machine, whatever the clock of the line's host shows.
    pub(crate) t: u64,
    /// The host.
    pub(crate) host: usize,
    /// The incarnation of its process, from 1 on.
    pub(crate) incarnation: u32,
    /// The kind of event.
    pub(crate) event: String,
    /// All fields of the line.
    pub(crate) rest: Value,
}

impl Line {
    /// Returns the term in the line.
    pub(crate) fn term(&self) -> Option<u64> {
        self.rest.get("term")?.as_u64()
    }

    /// Returns the leader in the line.
    pub(crate) fn leader(&self) -> Option<&str> {
        self.rest.get("leader")?.as_str()
    }
}

/// The lines of all nodes. Clones share the same log.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log(Arc<(Mutex<Vec<Line>>, Condvar)>);

impl Log {
    /// Reads the output of a process until it ends. The clock of the process is `ahead` of this machine's.
    pub(crate) fn follow(
        &self,
        host: usize,
        incarnation: u32,
        ahead: Duration,
        output: impl Read + Send + 'static,
    ) {
        let log = self.clone();
        thread::spawn(move || {
            for text in BufReader::new(output).lines().map_while(Result::ok) {
                if let Some(line) = line(host, incarnation, ahead, &text) {
                    log.lines().push(line);
                    log.0.1.notify_all();
                }
            }
        });
    }

    pub(crate) fn lines(&self) -> MutexGuard<'_, Vec<Line>> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `find` returns a value for the lines; returns `None` if it does not in time.
    pub(crate) fn wait<T>(
        &self,
        within: Duration,
        mut holds: impl FnMut(&[Line]) -> Option<T>,
    ) -> Option<T> {
        let until = Instant::now() + within;
        let mut lines = self.lines();
        loop {
            if let Some(found) = holds(&lines) {
                return Some(found);
            }
            let left = until.checked_duration_since(Instant::now())?;
            let woken = self.0.1.wait_timeout(lines, left.min(TICK));
            lines = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// Interval at which a condition is checked without a new line, because it may depend on more than the lines.
const TICK: Duration = Duration::from_millis(5);

fn line(host: usize, incarnation: u32, ahead: Duration, text: &str) -> Option<Line> {
    let rest: Value = serde_json::from_str(text).ok()?;
    let read = Duration::from_micros(rest.get("t")?.as_u64()?);
    Some(Line {
        t: u64::try_from(read.checked_sub(ahead)?.as_micros()).ok()?,
        host,
        incarnation,
        event: rest.get("event")?.as_str()?.to_owned(),
        rest,
    })
}

/// Returns whether this leader has printed in its newest incarnation that it leads in this term.
pub(crate) fn leads(lines: &[Line], (host, term): (usize, u64), newest: &[u32]) -> bool {
    lines.iter().rev().any(|line| {
        line.host == host
            && Some(&line.incarnation) == newest.get(host)
            && line.event == "works"
            && line.term() == Some(term)
    })
}
