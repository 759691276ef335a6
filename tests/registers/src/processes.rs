//! Processes that hold a lease in turn, and the lines that they print.
//!
//! Decided here: how the processes are run and how their lines are read. Not here: which lines are wrong
//! (`judge.rs`), the faults (`rounds.rs`, `moving.rs`), and the program of a process (`bin/holder.rs`).
#![expect(
    clippy::disallowed_methods,
    reason = "a deadline of real time, for other processes"
)]

use std::{
    collections::BTreeSet,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use actix_bully::protocol::Timings;
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

/// The content of a line that a process printed.
#[derive(Clone, Debug)]
enum Heard {
    Leads(Said),
    /// The process knows this leader, or no leader.
    Knows(usize, Knowledge),
    /// The process has withdrawn its score.
    Withdrawn(usize),
    /// The fence refused a write although the writer considered itself leader.
    Refused(String),
}

/// The leader that a process knows.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Knowledge {
    /// The process has not named its leader yet.
    Unsaid,
    Nobody,
    Leader(String),
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
    heard: Receiver<Heard>,
    say: Sender<Heard>,
    hearing: Hearing,
    /// The leader that each process knows.
    known: Vec<Knowledge>,
}

impl Processes {
    /// Starts `number` processes on one store.
    pub fn start(program: &str, store: &str, number: usize) -> Self {
        Self::run((0..number).map(|process| words(program, process, store)))
    }

    /// Starts a process for each command line.
    pub fn run(commands: impl IntoIterator<Item = Vec<String>>) -> Self {
        let (say, heard) = channel();
        let mut processes = Self {
            commands: Vec::new(),
            running: Vec::new(),
            heard,
            say,
            hearing: Hearing::default(),
            known: Vec::new(),
        };
        processes.run_instead(commands);
        processes
    }

    /// Starts a process for each command line, after all former processes have ended. The lines of the new and of the
    /// former processes are judged together.
    pub fn run_instead(&mut self, commands: impl IntoIterator<Item = Vec<String>>) {
        assert!(self.running.iter().all(Option::is_none), "some still run");
        while let Ok(heard) = self.heard.try_recv() {
            self.note(heard);
        }
        self.commands = commands.into_iter().collect();
        self.running = self.commands.iter().map(|_| None).collect();
        self.known = vec![Knowledge::Unsaid; self.commands.len()];
        for process in 0..self.commands.len() {
            self.restart(process);
        }
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
        self.known[process] = Knowledge::Unsaid;
        self.running[process] = Some(Running {
            child,
            input,
            reader,
        });
    }

    /// Waits until a process leads with a token that is higher than `after`, and returns its line.
    #[track_caller]
    pub fn wait_for_leader(&mut self, after: u64) -> Said {
        let what = format!("nobody leads after token {after}");
        self.wait_until(&what, |_, heard| match heard {
            Heard::Leads(said) if said.token > after => Some(*said),
            _ => None,
        })
    }

    /// Waits until one of the given processes leads, and returns its line.
    pub fn wait_for_one_of(&mut self, processes: std::ops::Range<usize>) -> Said {
        self.wait_until("none of them leads", |_, heard| match heard {
            Heard::Leads(said) if processes.contains(&said.process) => Some(*said),
            _ => None,
        })
    }

    /// Waits until all processes know the same leader.
    pub fn wait_until_all_know_one(&mut self) {
        self.wait_until("they do not agree", |known, _| {
            let first = known.first()?;
            let is_one = known.iter().all(|other| other == first);
            (is_one && matches!(first, Knowledge::Leader(_))).then_some(())
        });
    }

    /// Withdraws the score of each process, and waits until no process has known a leader for the time of a promise.
    /// A process that gets the command later than another process may be elected before it obeys.
    pub fn withdraw(&mut self) {
        let mut asked = BTreeSet::new();
        for (process, running) in self.running.iter_mut().enumerate() {
            if let Some(running) = running {
                writeln!(running.input, "withdraw").expect("it reads");
                asked.insert(process);
            }
        }
        let knows_nobody = |known: &[Knowledge]| known.iter().all(|it| *it == Knowledge::Nobody);
        loop {
            self.wait_until("some still know a leader", |known, heard| {
                if let Heard::Withdrawn(process) = heard {
                    asked.remove(process);
                }
                (asked.is_empty() && knows_nobody(known)).then_some(())
            });
            self.listen(Timings::lan().promise());
            if knows_nobody(&self.known) {
                return;
            }
        }
    }

    #[track_caller]
    fn wait_until<T>(
        &mut self,
        otherwise: &str,
        mut find: impl FnMut(&[Knowledge], &Heard) -> Option<T>,
    ) -> T {
        let begun = Instant::now();
        loop {
            match self.heard.recv_timeout(DEADLINE) {
                Ok(heard) => {
                    self.note(heard.clone());
                    if let Some(found) = find(&self.known, &heard) {
                        return found;
                    }
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    panic!("{otherwise}");
                }
            }
            let known = &self.known;
            assert!(
                begun.elapsed() < DEADLINE,
                "{otherwise}; they know {known:?}"
            );
        }
    }

    /// Returns the last line by which a process said that it leads.
    pub fn newest(&self) -> Option<Said> {
        self.hearing
            .looks
            .iter()
            .max_by_key(|said| said.token)
            .copied()
    }

    /// Collects lines for a time.
    pub fn listen(&mut self, span: Duration) {
        let begun = Instant::now();
        while let Some(left) = span.checked_sub(begun.elapsed()) {
            if let Ok(heard) = self.heard.recv_timeout(left) {
                self.note(heard);
            }
        }
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

    /// Makes the process open, read and close every file of a folder.
    pub fn read(&mut self, process: usize, folder: &Path) {
        if let Some(running) = &mut self.running[process] {
            writeln!(running.input, "read {}", folder.display()).expect("it reads");
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
    /// If [`verdict`](Self::verdict) returns an error.
    pub fn judge(self) -> usize {
        self.verdict().unwrap_or_else(|wrong| panic!("{wrong}"))
    }

    /// Ends all processes, and returns the number of tenures.
    ///
    /// # Errors
    /// If the lines of the processes break a rule; see [`Hearing::verdict`].
    pub fn verdict(mut self) -> Result<usize, String> {
        for process in 0..self.running.len() {
            self.kill(process);
        }
        while let Ok(heard) = self.heard.try_recv() {
            self.note(heard);
        }
        self.hearing.verdict()
    }

    fn note(&mut self, heard: Heard) {
        match heard {
            Heard::Leads(said) => self.hearing.looks.push(said),
            Heard::Knows(process, leader) => self.known[process] = leader,
            Heard::Refused(line) => self.hearing.refused.push(line),
            Heard::Withdrawn(_) => {}
        }
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

/// Reads a line: `leads TOKEN FROM UNTIL`, `knows NAME`, `knows nobody`, `withdrawn`, or `refused TOKEN`.
fn heard(process: usize, line: &str) -> Option<Heard> {
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    match word {
        "leads" => {
            let numbers: Option<Vec<i128>> = rest.split(' ').map(|it| it.parse().ok()).collect();
            let &[token, from, until] = &*numbers? else {
                return None;
            };
            Some(Heard::Leads(Said {
                process,
                token: token.try_into().ok()?,
                from,
                until,
            }))
        }
        "knows" => Some(Heard::Knows(
            process,
            match rest {
                "nobody" => Knowledge::Nobody,
                leader => Knowledge::Leader(leader.to_owned()),
            },
        )),
        "withdrawn" => Some(Heard::Withdrawn(process)),
        "refused" => Some(Heard::Refused(format!("process {process}, token {rest}"))),
        _ => None,
    }
}
