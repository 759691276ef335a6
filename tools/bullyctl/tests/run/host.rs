//! `bullyctl run` as a process on a host, and the fate of its command.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a deadline of real time, for other processes, whose words belong to the test's"
)]

use std::{
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::unruly::{self, UNRULY};

/// Time limit for each step of a test.
const DEADLINE: Duration = Duration::from_secs(30);

/// A folder with a lease of several hosts, and with the files that their commands write.
pub(crate) struct Place(TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// Returns a place in memory, in which other processes do not slow down a write.
    #[allow(dead_code, reason = "the rounds on hosts of their own need it")]
    pub(crate) fn in_memory() -> Self {
        let memory = Path::new("/dev/shm");
        let made = tempfile::tempdir_in(memory);
        Self(made.unwrap_or_else(|_| tempfile::tempdir().unwrap()))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Returns the path of a node's configuration, with a lease in a folder.
    pub(crate) fn config(&self, node: &str) -> PathBuf {
        let leases = self.path().join("leases");
        let text = format!("[lease]\nfolder = \"{}\"", leases.display());
        self.config_with(node, &text)
    }

    pub(crate) fn config_with(&self, node: &str, more: &str) -> PathBuf {
        let path = self.path().join(format!("{node}.toml"));
        let text = format!("node = \"{node}\"\ngroup = \"jobs\"\n{more}\n");
        fs::write(&path, text).unwrap();
        path
    }

    /// Starts a `bullyctl run` with the unruly command for this node.
    pub(crate) fn unruly(&self, node: &str, words: &[&str]) -> Host {
        let mut bullyctl = bullyctl(&self.config(node), &[], &command());
        bullyctl.env(UNRULY, self.unruly_by(words));
        Host::spawn(bullyctl)
    }

    pub(crate) fn unruly_by(&self, words: &[&str]) -> String {
        let folder = self.path().display().to_string();
        [&[&*folder], words].concat().join(" ")
    }

    /// Returns the lines that commands wrote to this file.
    pub(crate) fn lines(&self, name: &str) -> Vec<String> {
        let text = fs::read_to_string(self.path().join(name)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Waits until this number of commands is ready. Returns all processes that the commands noted.
    pub(crate) fn wait_for_ready(&self, number: usize) -> Vec<Pid> {
        wait_until("the command is ready", || {
            self.lines("ready").len() >= number
        });
        let pids = self.lines("pids");
        let own = |line: &String| line.split(' ').nth(1).unwrap().parse().unwrap();
        pids.iter().map(own).filter_map(Pid::from_raw).collect()
    }

    /// Asserts that two commands never ran at one time.
    pub(crate) fn assert_no_overlap(&self) {
        assert_eq!(self.lines("overlaps"), [""; 0]);
        let fence = |line: &String| line.split(' ').nth(1).unwrap().parse::<u64>().unwrap();
        let starts = self.lines("starts");
        assert!(starts.iter().map(fence).is_sorted(), "{starts:?}");
    }
}

/// Returns the unruly command. It needs the variable [`UNRULY`].
pub(crate) fn command() -> Vec<String> {
    unruly::words(crate::COMMAND)
}

/// Returns a `bullyctl run` with this configuration.
pub(crate) fn bullyctl(config: &Path, options: &[&str], command: &[String]) -> Command {
    let mut bullyctl = Command::new(env!("CARGO_BIN_EXE_bullyctl"));
    bullyctl.args(["run", "--config"]).arg(config).args(options);
    bullyctl.arg("--").args(command).stdin(Stdio::null());
    bullyctl
}

/// A running `bullyctl run`. A drop kills it, and then the command ends too.
pub(crate) struct Host {
    child: Child,
    told: Receiver<String>,
    pub(crate) heard: Vec<String>,
}

impl Host {
    pub(crate) fn spawn(mut bullyctl: Command) -> Self {
        let mut child = bullyctl
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (tell, told) = channel();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                eprintln!("{line}");
                tell.send(line).ok();
            }
        });
        Self {
            child,
            told,
            heard: Vec::new(),
        }
    }

    /// Starts a `bullyctl run` whose standard error the test does not read.
    #[allow(dead_code, reason = "the rounds on hosts of their own read it")]
    pub(crate) fn unheard(mut bullyctl: Command, stderr: Stdio) -> Self {
        let child = bullyctl.stdout(Stdio::null()).stderr(stderr);
        Self {
            child: child.spawn().unwrap(),
            told: channel().1,
            heard: Vec::new(),
        }
    }

    pub(crate) fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Returns the guard, which is the only child of `bullyctl`.
    pub(crate) fn guard(&self) -> Pid {
        let mut found = None;
        wait_until("there is a guard", || {
            found = children(self.pid()).first().copied();
            found.is_some()
        });
        found.unwrap()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).unwrap();
    }

    /// Waits until `bullyctl` has printed these words.
    pub(crate) fn wait_for(&mut self, words: &str) {
        let begun = Instant::now();
        loop {
            let left = DEADLINE.saturating_sub(begun.elapsed());
            match self.told.recv_timeout(left) {
                Ok(line) => {
                    let is_it = line.contains(words);
                    self.heard.push(line);
                    if is_it {
                        return;
                    }
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    panic!("it does not say \"{words}\": {:?}", self.heard);
                }
            }
        }
    }

    /// Waits until the command runs, and returns its process.
    #[allow(
        dead_code,
        reason = "the rounds on hosts of their own have a command that notes it"
    )]
    pub(crate) fn wait_for_command(&mut self) -> Pid {
        self.wait_for("the command runs as process");
        let told = self.heard.last().and_then(|line| line.rsplit(' ').next());
        Pid::from_raw(told.unwrap().parse().unwrap()).unwrap()
    }

    pub(crate) fn wait(&mut self) -> ExitStatus {
        let mut ended = None;
        wait_until("bullyctl ends", || {
            ended = self.child.try_wait().unwrap();
            ended.is_some()
        });
        ended.unwrap()
    }

    /// Sends the signal, and waits for the end of `bullyctl`.
    pub(crate) fn end(mut self, signal: Signal) -> Option<i32> {
        self.signal(signal);
        self.wait().code()
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

pub(crate) fn children(of: Pid) -> Vec<Pid> {
    let of = of.as_raw_nonzero();
    let tasks = fs::read_dir(format!("/proc/{of}/task"));
    let tasks = tasks.into_iter().flatten().flatten();
    let files = tasks.map(|task| fs::read_to_string(task.path().join("children")));
    let all: String = files.map(Result::unwrap_or_default).collect();
    let numbers = all.split(' ').filter_map(|pid| pid.parse().ok());
    numbers.filter_map(Pid::from_raw).collect()
}

/// Returns whether the process runs. A zombie does not run.
pub(crate) fn is_alive(process: Pid) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero()));
    stat.is_ok_and(|stat| {
        let state = stat.rsplit_once(") ").map(|(_, rest)| rest.chars().next());
        !matches!(state, Some(Some('Z' | 'X')))
    })
}

pub(crate) fn wait_until_gone(processes: &[Pid]) {
    wait_until("all processes of the command have ended", || {
        !processes.iter().any(|it| is_alive(*it))
    });
}

pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(
            begun.elapsed() < DEADLINE,
            "not within {DEADLINE:?}: {what}"
        );
        pause();
    }
}

/// Waits for a moment, so that a waiting test leaves the cores to other processes.
pub(crate) fn pause() {
    let (_never, told) = channel::<()>();
    told.recv_timeout(Duration::from_millis(2)).ok();
}
