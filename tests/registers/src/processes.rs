//! Processes that hold a lease in turn, and the lines that they print.
//!
//! Decided here: how the processes are run and how their lines are read. Not here: which lines are wrong
//! (`judge.rs`), the faults (`rounds.rs`), and the program of a process (`bin/holder.rs`).
#![expect(
    clippy::disallowed_methods,
    reason = "a deadline of real time, for other processes"
)]

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, Sender, channel},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use rustix::time::{ClockId, clock_gettime};

use crate::{
    DEADLINE,
    judge::{Hearing, Said, Silence},
};

/// Returns the nanoseconds of a clock that all processes of a host share.
pub fn nanoseconds() -> i128 {
    let now = clock_gettime(ClockId::Monotonic);
    i128::from(now.tv_sec) * 1_000_000_000 + i128::from(now.tv_nsec)
}

/// Returns the command line of a process: the program, the name and the store.
pub fn words(program: &str, process: usize, store: &str) -> Vec<String> {
    vec![program.into(), format!("api-{process}"), store.into()]
}

#[derive(Debug)]
struct Running {
    child: Child,
    input: ChildStdin,
    reader: JoinHandle<()>,
}

/// Processes that hold one lease in turn.
#[derive(Debug)]
pub struct Processes {
    /// The command line of each process.
    commands: Vec<Vec<String>>,
    running: Vec<Option<Running>>,
    heard: Receiver<Said>,
    say: Sender<Said>,
    hearing: Hearing,
}

impl Processes {
    /// Starts `number` processes on one store.
    pub fn start(program: &str, store: &str, number: usize) -> Self {
        Self::run((0..number).map(|process| words(program, process, store)))
    }

    /// Starts a process for each command line.
    pub fn run(commands: impl IntoIterator<Item = Vec<String>>) -> Self {
        let (say, heard) = channel();
        let commands: Vec<_> = commands.into_iter().collect();
        let mut processes = Self {
            running: commands.iter().map(|_| None).collect(),
            commands,
            heard,
            say,
            hearing: Hearing::default(),
        };
        for process in 0..processes.commands.len() {
            processes.restart(process);
        }
        processes
    }

    /// Starts a process again that has ended, with its old name.
    pub fn restart(&mut self, process: usize) {
        let [program, arguments @ ..] = &*self.commands[process] else {
            panic!("process {process} has no program");
        };
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program can be run");
        let input = child.stdin.take().expect("a pipe");
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        let say = self.say.clone();
        let reader = thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                // The end of a process may cut its last line off; such a line is skipped.
                if let Some(heard) = heard(process, &line) {
                    say.send(heard).ok();
                }
            }
        });
        self.running[process] = Some(Running {
            child,
            input,
            reader,
        });
    }

    /// Waits until a process leads with a token that is higher than `after`, and returns its line.
    #[track_caller]
    pub fn wait_for_leader(&mut self, after: u64) -> Said {
        let begun = Instant::now();
        while let Some(left) = DEADLINE.checked_sub(begun.elapsed()) {
            if let Ok(said) = self.heard.recv_timeout(left) {
                self.hearing.looks.push(said);
                if said.token > after {
                    return said;
                }
            }
        }
        panic!("nobody leads after token {after}");
    }

    /// Collects lines for a time.
    pub fn listen(&mut self, span: Duration) {
        let begun = Instant::now();
        while let Some(left) = span.checked_sub(begun.elapsed()) {
            if let Ok(said) = self.heard.recv_timeout(left) {
                self.hearing.looks.push(said);
            }
        }
    }

    /// Returns the last line that was collected.
    pub fn latest(&self) -> Option<Said> {
        self.hearing.looks.last().copied()
    }

    /// Records that this process must not lead between the two moments, or no process at all for `None`.
    /// [`judge`](Self::judge) checks this.
    pub fn expect_silence(&mut self, process: Option<usize>, (from, until): (i128, i128)) {
        self.hearing.silences.push(Silence {
            process,
            from,
            until,
        });
    }

    /// Ends a process by `kill -9`.
    pub fn kill(&mut self, process: usize) {
        if let Some(mut running) = self.running[process].take() {
            running.child.kill().expect("it can be killed");
            running.end();
        }
    }

    /// Asks the process to hand over and to end.
    pub fn leave(&mut self, process: usize) {
        if let Some(mut running) = self.running[process].take() {
            writeln!(running.input, "leave").expect("it reads");
            running.end();
        }
    }

    /// Sends a signal to a process, for example to stop it or to let it run again.
    pub fn signal(&self, process: usize, signal: &str) {
        if let Some(running) = &self.running[process] {
            let mut kill = Command::new("kill");
            let done = kill
                .arg(signal)
                .arg(running.child.id().to_string())
                .status();
            assert!(done.is_ok_and(|status| status.success()));
        }
    }

    /// Ends all processes, and returns the number of tenures.
    ///
    /// # Panics
    /// If the lines of the processes break a rule; see [`Hearing::verdict`].
    pub fn judge(mut self) -> usize {
        for process in 0..self.running.len() {
            self.kill(process);
        }
        self.hearing.looks.extend(self.heard.try_iter());
        let verdict = self.hearing.verdict();
        verdict.unwrap_or_else(|wrong| panic!("{wrong}"))
    }
}

impl Running {
    /// Waits for the end of the process. All of its lines have been read by then.
    fn end(mut self) {
        self.child.wait().expect("it can be waited for");
        self.reader.join().expect("it reads until the end");
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        for running in self.running.iter_mut().flatten() {
            running.child.kill().ok();
            running.child.wait().ok();
        }
    }
}

/// Reads a line `leads TOKEN FROM UNTIL`. Returns `None` for any other line.
fn heard(process: usize, line: &str) -> Option<Said> {
    let numbers = line.strip_prefix("leads ")?.split(' ');
    let numbers: Option<Vec<i128>> = numbers.map(|it| it.parse().ok()).collect();
    let &[token, from, until] = &*numbers? else {
        return None;
    };
    Some(Said {
        process,
        token: token.try_into().ok()?,
        from,
        until,
    })
}
