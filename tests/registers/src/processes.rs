//! Processes that hold a lease in turn, and what they say of it.
//!
//! Decided here: how they are run and heard. Not here: what is wrong with what they say (`judge.rs`), what befalls them
//! (`rounds.rs`, `moving.rs`), and what they are (`bin/holder.rs`).
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

/// Nanoseconds by a clock that all processes of a host share.
pub fn nanoseconds() -> i128 {
    let now = clock_gettime(ClockId::Monotonic);
    i128::from(now.tv_sec) * 1_000_000_000 + i128::from(now.tv_nsec)
}

/// The words that run a process: the program, its name and its store.
pub fn words(program: &str, process: usize, store: &str) -> Vec<String> {
    vec![program.into(), format!("api-{process}"), store.into()]
}

/// A line of a process.
#[derive(Clone, Debug)]
enum Heard {
    Leads(Said),
    /// What that process knows.
    Knows(usize, Knowledge),
    /// It has withdrawn its score.
    Withdrawn(usize),
    /// The fence refused it although it considered itself leader.
    Refused(String),
}

/// Which leader a process knows.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Knowledge {
    /// It has not said so yet.
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
    /// The words that run each.
    commands: Vec<Vec<String>>,
    running: Vec<Option<Running>>,
    heard: Receiver<Heard>,
    say: Sender<Heard>,
    hearing: Hearing,
    /// What each of them knows.
    known: Vec<Knowledge>,
}

impl Processes {
    /// Starts so many on one store.
    pub fn start(program: &str, store: &str, number: usize) -> Self {
        Self::run((0..number).map(|process| words(program, process, store)))
    }

    /// Starts one for each of these commands.
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

    /// Starts one for each of these commands, after all have ended. They are judged together with those.
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

    /// Starts one that has ended, under the same name.
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
                // A line that its end cut off says nothing.
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

    /// Waits until one leads by a higher token than that; says which.
    #[track_caller]
    pub fn wait_for_leader(&mut self, after: u64) -> Said {
        let what = format!("nobody leads after token {after}");
        self.wait_until(&what, |_, heard| match heard {
            Heard::Leads(said) if said.token > after => Some(*said),
            _ => None,
        })
    }

    /// Waits until one of these leads.
    pub fn wait_for_one_of(&mut self, processes: std::ops::Range<usize>) -> Said {
        self.wait_until("none of them leads", |_, heard| match heard {
            Heard::Leads(said) if processes.contains(&said.process) => Some(*said),
            _ => None,
        })
    }

    /// Waits until all know the same leader.
    pub fn wait_until_all_know_one(&mut self) {
        self.wait_until("they do not agree", |known, _| {
            let first = known.first()?;
            let is_one = known.iter().all(|other| other == first);
            (is_one && matches!(first, Knowledge::Leader(_))).then_some(())
        });
    }

    /// Takes the score of each of them away, and waits until none knows a leader, for as long as a promise lasts: one that was
    /// asked later than the others may be elected before it obeys.
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

    /// The last of all that said that they lead.
    pub fn newest(&self) -> Option<Said> {
        self.hearing
            .looks
            .iter()
            .max_by_key(|said| said.token)
            .copied()
    }

    /// Listens for a while.
    pub fn listen(&mut self, span: Duration) {
        let begun = Instant::now();
        while let Some(left) = span.checked_sub(begun.elapsed()) {
            if let Ok(heard) = self.heard.recv_timeout(left) {
                self.note(heard);
            }
        }
    }

    /// Between these two moments no process leads, or not that one: [`judge`](Self::judge) holds them to it.
    pub fn expect_silence(&mut self, process: Option<usize>, (from, until): (i128, i128)) {
        self.hearing.silences.push(Silence {
            process,
            from,
            until,
        });
    }

    /// `kill -9`.
    pub fn kill(&mut self, process: usize) {
        if let Some(mut running) = self.running[process].take() {
            running.child.kill().expect("it can be killed");
            running.end();
        }
    }

    /// Has it open, read and close every file of a folder.
    pub fn read(&mut self, process: usize, folder: &Path) {
        if let Some(running) = &mut self.running[process] {
            writeln!(running.input, "read {}", folder.display()).expect("it reads");
        }
    }

    /// Asks it to hand over and to end.
    pub fn leave(&mut self, process: usize) {
        if let Some(mut running) = self.running[process].take() {
            writeln!(running.input, "leave").expect("it reads");
            running.end();
        }
    }

    /// Stands still, and goes on.
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

    /// Ends all of them; says how many tenures there were.
    ///
    /// # Panics
    /// As [`verdict`](Self::verdict) says.
    pub fn judge(self) -> usize {
        self.verdict().unwrap_or_else(|wrong| panic!("{wrong}"))
    }

    /// Ends all of them; says how many tenures there were.
    ///
    /// # Errors
    /// What is wrong with what they said: see [`Hearing::verdict`].
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
    /// Once it has ended; all that it said was heard.
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

/// What a line says: `leads TOKEN FROM UNTIL`, `knows NAME`, `knows nobody`, `withdrawn`, or `refused TOKEN`.
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
