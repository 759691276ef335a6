//! A process of the node example on each host, and the faults that can happen to it.

use std::{
    env,
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

#[path = "cluster/agreement.rs"] // relative to this file: another file may include it
mod agreement;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use super::{
    Wrong,
    check::{self, Belief},
    log::{Line, Log},
};

/// The place of the nodes.
pub(crate) trait Place {
    /// Returns the command that runs a program at the place of a node.
    fn program(&self, host: usize, program: &Path) -> Command;

    /// Returns the address on which a node listens.
    fn address(&self, host: usize) -> String;
}

/// The settings of every node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting {
    /// Number of hosts. All of them vote.
    pub(crate) hosts: usize,
    /// Whether the mode is the quorum mode; else the available mode.
    pub(crate) quorum: bool,
    /// Whether no voter has a store, in the quorum mode.
    pub(crate) diskless: bool,
    /// The name of a preset of timings.
    pub(crate) timings: &'static str,
    /// Time for which a live leader stays after a node of a higher rank is there, in milliseconds, in the quorum mode.
    pub(crate) preempt: u64,
}

/// The nodes a, b, c and so on. A later name has a higher rank.
#[derive(Debug)]
pub(crate) struct Cluster<P: Place> {
    setting: Setting,
    /// The program of the nodes.
    program: PathBuf,
    /// Additional arguments of all nodes.
    more: Vec<String>,
    folder: TempDir,
    /// The place: hosts with cables and rules between them, or one machine.
    pub(crate) net: P,
    /// The lines that the nodes printed.
    pub(crate) log: Log,
    nodes: Vec<Node>,
}

#[derive(Debug, Default)]
struct Node {
    process: Option<Child>,
    incarnation: u32,
    frozen: bool,
    /// Seconds that the host was up longer than this machine, for its next start.
    up_before: u64,
}

/// Longest time for anything that has to happen.
pub(crate) const SOON: Duration = Duration::from_secs(15);
/// Interval of the lines of a leader, in milliseconds.
const PULSE: &str = "2";

impl<P: Place> Cluster<P> {
    /// Starts a node at every place and waits for the first leader.
    pub(crate) fn start(program: &Path, net: P, setting: Setting) -> Result<Self, Wrong> {
        Self::start_with(program, net, setting, &env::temp_dir(), &[])
    }

    /// Starts nodes like [`start`](Self::start), with stores in a new folder inside of `folder`, and with additional
    /// arguments.
    pub(crate) fn start_with(
        program: &Path,
        net: P,
        setting: Setting,
        base: &Path,
        more: &[String],
    ) -> Result<Self, Wrong> {
        let mut cluster = Self {
            setting,
            program: program.to_path_buf(),
            more: more.to_vec(),
            folder: TempDir::new_in(base)?,
            net,
            log: Log::default(),
            nodes: (0..setting.hosts).map(|_| Node::default()).collect(),
        };
        for host in 0..setting.hosts {
            cluster.launch(host, setting.quorum)?;
        }
        cluster.agree()?;
        Ok(cluster)
    }

    /// Returns the numbers of all hosts.
    pub(crate) fn all(&self) -> Vec<usize> {
        (0..self.setting.hosts).collect()
    }

    /// Starts a node again with its former store.
    pub(crate) fn restart(&mut self, host: usize) -> Result<(), Wrong> {
        self.launch(host, false)
    }

    /// Starts a node again with its former store. Its host has been up for `seconds` longer than this machine: its
    /// clock shows that much more.
    pub(crate) fn restart_up_before(&mut self, host: usize, seconds: u64) -> Result<(), Wrong> {
        self.nodes[host].up_before = seconds;
        self.restart(host)
    }

    /// Deletes the store of a node, starts the node, and returns the reason with which it refuses to run.
    ///
    /// # Errors
    /// If the node runs.
    pub(crate) fn restart_without_store(&mut self, host: usize) -> Result<String, Wrong> {
        fs::remove_dir_all(self.store(host))?;
        self.launch(host, false)?;
        let process = self.nodes[host].process.take();
        let Some(process) = process else {
            return Err(Wrong(String::from("the node was not started")));
        };
        let done = process.wait_with_output()?;
        let said = fs::read_to_string(self.complaints(host))?;
        if done.status.success() {
            return Err(Wrong(String::from("the node runs, but it must refuse")));
        }
        Ok(said)
    }

    /// Kills a process at once.
    pub(crate) fn kill(&mut self, host: usize) -> Result<(), Wrong> {
        let node = &mut self.nodes[host];
        node.frozen = false;
        if let Some(mut process) = node.process.take() {
            process.kill()?;
            process.wait()?;
        }
        Ok(())
    }

    /// Asks a process to stop.
    pub(crate) fn ask_to_stop(&self, host: usize) -> Result<(), Wrong> {
        self.signal(host, Signal::TERM)
    }

    /// Asks a process to stop, and waits for its end.
    ///
    /// # Errors
    /// A step that failed, or an end with a failure.
    pub(crate) fn stop(&mut self, host: usize) -> Result<(), Wrong> {
        self.ask_to_stop(host)?;
        let Some(mut process) = self.nodes[host].process.take() else {
            return Ok(());
        };
        let status = process.wait()?;
        if !status.success() {
            return Err(Wrong(format!("{} ended with {status}", name(host))));
        }
        Ok(())
    }

    /// Stops a process in the middle of its work, as a long pause would.
    pub(crate) fn freeze(&mut self, host: usize) -> Result<(), Wrong> {
        self.signal(host, Signal::STOP)?;
        self.nodes[host].frozen = true;
        let stat = format!("/proc/{}/stat", self.process(host)?.id());
        let is_stopped = || fs::read_to_string(&stat).is_ok_and(|stat| stat.contains(") T "));
        self.log
            .wait(SOON, |_| is_stopped().then_some(()))
            .ok_or_else(|| Wrong(format!("{} does not stop", name(host))))
    }

    /// Lets a frozen process go on.
    pub(crate) fn thaw(&mut self, host: usize) -> Result<(), Wrong> {
        self.nodes[host].frozen = false;
        self.signal(host, Signal::CONT)
    }

    /// Starts a process again, or lets it go on if it is frozen.
    pub(crate) fn revive(&mut self, host: usize) -> Result<(), Wrong> {
        if self.nodes[host].frozen {
            return self.thaw(host);
        }
        if self.running().contains(&host) {
            Ok(())
        } else {
            self.restart(host)
        }
    }

    /// Writes a command to a node's standard input.
    #[allow(dead_code, reason = "the benches give commands")]
    pub(crate) fn tell(&mut self, host: usize, command: &str) -> Result<(), Wrong> {
        let process = self.nodes[host].process.as_mut();
        let Some(input) = process.and_then(|process| process.stdin.as_mut()) else {
            return Err(Wrong(format!("{} does not run", name(host))));
        };
        writeln!(input, "{command}")?;
        Ok(())
    }

    /// Returns all hosts but one.
    pub(crate) fn others(&self, host: usize) -> Vec<usize> {
        let mut all = self.all();
        all.retain(|other| *other != host);
        all
    }

    /// Returns the lines that were printed after the first `line` lines.
    pub(crate) fn since(&self, line: usize) -> Vec<Line> {
        self.log.lines().get(line..).unwrap_or_default().to_vec()
    }

    /// Returns the number of lines.
    pub(crate) fn mark(&self) -> usize {
        self.log.lines().len()
    }

    /// Returns all leaderships until now.
    pub(crate) fn beliefs(&self) -> Vec<Belief> {
        check::beliefs(&self.log.lines())
    }

    /// Returns the hosts whose processes run and are not frozen.
    pub(crate) fn running(&mut self) -> Vec<usize> {
        let runs = |node: &mut Node| {
            let ended = |process: &mut Child| process.try_wait().ok().flatten().is_some();
            !node.frozen && node.process.as_mut().is_some_and(|process| !ended(process))
        };
        let nodes = self.nodes.iter_mut().enumerate();
        nodes
            .filter_map(|(host, node)| runs(node).then_some(host))
            .collect()
    }

    /// Checks the promise of the quorum mode, if that is the mode.
    ///
    /// # Errors
    /// The broken promise.
    pub(crate) fn verdict(&self) -> Result<(), Wrong> {
        if self.setting.quorum {
            check::one_leader(&self.log.lines())
        } else {
            Ok(())
        }
    }

    /// Keeps the stores and the lines of the nodes for a later search for a fault. Returns their folder.
    pub(crate) fn keep(&mut self) -> Result<PathBuf, Wrong> {
        self.folder.disable_cleanup(true);
        let mut file = File::create(self.folder.path().join("lines"))?;
        for line in self.log.lines().iter() {
            let (host, incarnation) = (name(line.host), line.incarnation);
            writeln!(file, "{} {host}.{incarnation} {}", line.t, line.rest)?;
        }
        Ok(self.folder.path().to_path_buf())
    }

    fn launch(&mut self, host: usize, first: bool) -> Result<(), Wrong> {
        let up_before = self.nodes[host].up_before;
        let program = self.net.program(host, &self.program);
        let mut command = at_clock(up_before, program);
        command.args(["--name", &name(host), "--score", &host.to_string()]);
        command.args(["--listen", &self.net.address(host)]);
        command.args([
            "--dangerous-plaintext",
            "--json",
            "--commands",
            "--forgiving",
        ]);
        command.args(["--pulse", PULSE, "--timings", self.setting.timings]);
        for peer in self.others(host) {
            let said = format!("{}={}", name(peer), self.net.address(peer));
            command.args(["--peer", &said]);
        }
        if self.setting.quorum {
            let voters: Vec<_> = self.all().into_iter().map(name).collect();
            command.args(["--quorum", &voters.join(","), "--preempt-after"]);
            command.arg(self.setting.preempt.to_string());
            if self.setting.diskless {
                command.arg("--diskless");
            } else {
                command.arg("--store").arg(self.store(host));
            }
        }
        command.args(&self.more);
        if first && !self.setting.diskless {
            command.arg("--init");
        }
        self.nodes[host].incarnation += 1;
        let complaints = File::create(self.complaints(host))?;
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(complaints);
        let mut process = command.spawn()?;
        let node = &mut self.nodes[host];
        if let Some(output) = process.stdout.take() {
            let ahead = Duration::from_secs(up_before);
            self.log.follow(host, node.incarnation, ahead, output);
        }
        node.process = Some(process);
        node.frozen = false;
        Ok(())
    }

    /// Uses a system call: a program that sends the signal would start too slowly for some measures.
    fn signal(&self, host: usize, signal: Signal) -> Result<(), Wrong> {
        kill_process(Pid::from_child(self.process(host)?), signal)
            .map_err(|wrong| Wrong(format!("{} got no {signal:?}: {wrong}", name(host))))
    }

    fn process(&self, host: usize) -> Result<&Child, Wrong> {
        let process = self.nodes[host].process.as_ref();
        process.ok_or_else(|| Wrong(format!("{} does not run", name(host))))
    }

    fn store(&self, host: usize) -> PathBuf {
        self.folder.path().join(name(host))
    }

    fn complaints(&self, host: usize) -> PathBuf {
        let incarnation = self.nodes[host].incarnation;
        let file = format!("{}.{incarnation}.err", name(host));
        self.folder.path().join(file)
    }
}

impl<P: Place> Drop for Cluster<P> {
    fn drop(&mut self) {
        for host in self.all() {
            drop(self.kill(host));
        }
    }
}

/// Returns the program with a clock that shows `seconds` more, in a time namespace of its own.
fn at_clock(seconds: u64, program: Command) -> Command {
    if seconds == 0 {
        return program;
    }
    let mut command = Command::new("unshare");
    command.args(["--time", "--boottime", &seconds.to_string()]);
    command
        .arg("--")
        .arg(program.get_program())
        .args(program.get_args());
    command
}

/// Returns the name of a host, which is also the first name of its node.
pub(crate) fn name(host: usize) -> String {
    let label = u8::try_from(host).map(|host| char::from(b'a' + host));
    label.map_or_else(|_| format!("n{host}"), String::from)
}
