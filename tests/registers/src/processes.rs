//! Processes that hold a lease in turn, and what they say of it.
//!
//! Decided here: what counts as two leaders. A process that said twice that it leads by one token led all the time in
//! between; no other one may have led then.
#![expect(
    clippy::disallowed_methods,
    reason = "a deadline of real time, for other processes"
)]

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    thread,
    time::{Duration, Instant},
};

use crate::DEADLINE;

/// What a process said: that it leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Said {
    /// Which process.
    pub process: usize,
    /// Its token.
    pub token: u64,
    from: i128,
    until: i128,
}

/// A time in which a process led for certain.
#[derive(Clone, Copy, Debug)]
struct Tenure {
    process: usize,
    token: u64,
    from: i128,
    until: i128,
}

/// Processes on one store.
#[derive(Debug)]
pub struct Processes {
    program: &'static str,
    /// Each has its own way to the one store, or all have the same.
    stores: Vec<String>,
    running: Vec<Option<(Child, ChildStdin)>>,
    said: Receiver<Said>,
    say: Sender<Said>,
    tenures: Vec<Tenure>,
}

impl Processes {
    /// Starts so many.
    pub fn start(program: &'static str, store: String, number: usize) -> Self {
        Self::on(program, vec![store; number])
    }

    /// Starts one for each of the names of the store.
    pub fn on(program: &'static str, stores: Vec<String>) -> Self {
        let number = stores.len();
        let (say, said) = channel();
        let mut processes = Self {
            program,
            stores,
            running: Vec::new(),
            said,
            say,
            tenures: Vec::new(),
        };
        for process in 0..number {
            processes.running.push(None);
            processes.restart(process);
        }
        processes
    }

    /// Starts one that has ended, under the same name.
    pub fn restart(&mut self, process: usize) {
        let mut child = Command::new(self.program)
            .arg(&self.stores[process])
            .arg(format!("api-{process}"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program can be run");
        let input = child.stdin.take().expect("a pipe");
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        let say = self.say.clone();
        thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let mut words = line.split(' ');
                if words.next() == Some("leads") {
                    let mut number = || words.next().and_then(|word| word.parse::<i128>().ok());
                    let numbers = (number(), number(), number());
                    let (Some(token), Some(from), Some(until)) = numbers else {
                        continue; // cut off by its end
                    };
                    let token = u64::try_from(token).expect("a term");
                    say.send(Said {
                        process,
                        token,
                        from,
                        until,
                    })
                    .ok();
                }
            }
        });
        self.running[process] = Some((child, input));
    }

    /// Waits until one leads by a higher token than that; says which.
    pub fn wait_for_leader(&mut self, after: u64) -> Said {
        let begun = Instant::now();
        loop {
            match self.said.recv_timeout(DEADLINE) {
                Ok(said) => {
                    self.note(said);
                    if said.token > after {
                        return said;
                    }
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    panic!("nobody leads after token {after}");
                }
            }
            assert!(
                begun.elapsed() < DEADLINE,
                "nobody leads after token {after}"
            );
        }
    }

    /// Listens for a while.
    pub fn listen(&mut self, span: Duration) {
        let begun = Instant::now();
        while let Some(left) = span.checked_sub(begun.elapsed()) {
            if let Ok(said) = self.said.recv_timeout(left) {
                self.note(said);
            }
        }
    }

    /// `kill -9`.
    pub fn kill(&mut self, process: usize) {
        if let Some((mut child, input)) = self.running[process].take() {
            child.kill().expect("it can be killed");
            child.wait().expect("it can be waited for");
            drop(input);
        }
    }

    /// Asks it to hand over and to end.
    pub fn leave(&mut self, process: usize) {
        if let Some((mut child, mut input)) = self.running[process].take() {
            writeln!(input, "leave").expect("it reads");
            child.wait().expect("it can be waited for");
        }
    }

    /// Stands still, and goes on.
    pub fn signal(&self, process: usize, signal: &str) {
        if let Some((child, _)) = &self.running[process] {
            let mut kill = Command::new("kill");
            let done = kill.arg(signal).arg(child.id().to_string()).status();
            assert!(done.is_ok_and(|status| status.success()));
        }
    }

    /// Ends all of them; fails if two led at one time, or a later leader had a token that was not higher.
    pub fn judge(mut self) -> usize {
        for process in 0..self.running.len() {
            self.kill(process);
        }
        while let Ok(said) = self.said.recv_timeout(Duration::from_millis(200)) {
            self.note(said);
        }
        let mut tenures = std::mem::take(&mut self.tenures);
        tenures.sort_by_key(|tenure| tenure.from);
        for (earlier, later) in tenures.iter().zip(tenures.iter().skip(1)) {
            assert!(
                earlier.until < later.from,
                "two leaders: {earlier:?}, {later:?}"
            );
            assert!(
                earlier.token < later.token,
                "no higher token: {earlier:?}, {later:?}"
            );
        }
        tenures.len()
    }

    fn note(&mut self, said: Said) {
        let same = |known: &&mut Tenure| (known.process, known.token) == (said.process, said.token);
        // From after the first look that saw it lead to before the last one.
        match self.tenures.iter_mut().rev().find(same) {
            Some(known) => known.until = known.until.max(said.from),
            None => self.tenures.push(Tenure {
                process: said.process,
                token: said.token,
                from: said.until,
                until: said.until,
            }),
        }
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        for (child, _) in self.running.iter_mut().flatten() {
            child.kill().ok();
            child.wait().ok();
        }
    }
}
