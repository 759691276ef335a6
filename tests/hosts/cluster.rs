//! A process of the node example on each host, and what can be done to it.

use std::{
    env,
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

#[path = "cluster/agreement.rs"] // relative to this file, wherever it is included
mod agreement;
#[path = "cluster/anew.rs"]
mod anew;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use super::{
    Wrong,
    check::{self, Belief},
    log::{Line, Log},
};

/// Where the nodes are.
pub(crate) trait Place {
    /// How a program is run at the place of a node.
    fn program(&self, host: usize, program: &Path) -> Command;

    /// Where a node listens.
    fn address(&self, host: usize) -> String;
}

/// What every node is told.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting {
    /// How many hosts there are; all vote.
    pub(crate) hosts: usize,
    /// Never two leaders, or a leader on every side.
    pub(crate) quorum: bool,
    /// In the quorum mode: whether no voter has a store.
    pub(crate) diskless: bool,
    /// A preset of the timings.
    pub(crate) timings: &'static str,
    /// In the quorum mode: how long a live leader stays when one of a higher rank is there, in
    /// milliseconds.
    pub(crate) preempt: u64,
}

/// Nodes a, b, c and so on; the later in the alphabet, the higher in rank.
#[derive(Debug)]
pub(crate) struct Cluster<P: Place> {
    setting: Setting,
    /// The program of the nodes.
    program: PathBuf,
    /// What each node is told beside the rest.
    pub(crate) flags: Vec<Option<&'static str>>,
    /// What all nodes are told beside the rest.
    more: Vec<String>,
    folder: TempDir,
    /// Where they are: on hosts with cables and rules between them, or side by side.
    pub(crate) net: P,
    /// What they said.
    pub(crate) log: Log,
    nodes: Vec<Node>,
}

#[derive(Debug, Default)]
struct Node {
    process: Option<Child>,
    incarnation: u32,
    frozen: bool,
    /// How often its host was lost and begun anew, with another name and an empty store.
    lives: u32,
    /// How much longer its host was up when it is started next, in seconds.
    up_before: u64,
}

/// How long anything may take that has to happen.
pub(crate) const SOON: Duration = Duration::from_secs(15);
/// How often a leader says that it leads, in milliseconds.
const PULSE: &str = "2";

impl<P: Place> Cluster<P> {
    /// Starts a node at every place and waits for the first leader.
    ///
    /// # Errors
    /// What did not work.
    pub(crate) fn start(program: &Path, net: P, setting: Setting) -> Result<Self, Wrong> {
        Self::start_with(program, net, setting, &env::temp_dir(), &[])
    }

    /// The same with stores in a folder in that one, and with more that all nodes are told.
    ///
    /// # Errors
    /// What did not work.
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
            flags: vec![None; setting.hosts],
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

    /// The numbers of all hosts.
    pub(crate) fn all(&self) -> Vec<usize> {
        (0..self.setting.hosts).collect()
    }

    /// Starts a node again, with the store that it had.
    ///
    /// # Errors
    /// What did not work.
    pub(crate) fn restart(&mut self, host: usize) -> Result<(), Wrong> {
        self.launch(host, false)
    }

    /// Starts a node again, with the store that it had, on a host that has been up for so many seconds
    /// more than this machine: its clock reads that much more.
    ///
    /// # Errors
    /// What did not work.
    pub(crate) fn restart_up_before(&mut self, host: usize, seconds: u64) -> Result<(), Wrong> {
        self.nodes[host].up_before = seconds;
        self.restart(host)
    }

    /// Starts a node whose store is gone; says what it says about that.
    ///
    /// # Errors
    /// If it runs all the same.
    pub(crate) fn restart_without_store(&mut self, host: usize) -> Result<String, Wrong> {
        fs::remove_dir_all(self.store(host))?;
        self.restart_refused(host)
    }

    /// Starts a node that finds it cannot run; says what it says about that.
    ///
    /// # Errors
    /// If it runs all the same.
    pub(crate) fn restart_refused(&mut self, host: usize) -> Result<String, Wrong> {
        self.launch(host, false)?;
        let process = self.nodes[host].process.take();
        let Some(process) = process else {
            return Err(Wrong(String::from("it was not started")));
        };
        let done = process.wait_with_output()?;
        let said = fs::read_to_string(self.complaints(host))?;
        if done.status.success() {
            return Err(Wrong(String::from("a node that cannot vote runs")));
        }
        Ok(said)
    }

    /// Kills a process at once.
    ///
    /// # Errors
    /// What did not work.
    pub(crate) fn kill(&mut self, host: usize) -> Result<(), Wrong> {
        let node = &mut self.nodes[host];
        node.frozen = false;
        if let Some(mut process) = node.process.take() {
            process.kill()?;
            process.wait()?;
        }
        Ok(())
    }

    /// The name of the node that is on that host now.
    pub(crate) fn called(&self, host: usize) -> String {
        match self.nodes[host].lives {
            0 => name(host),
            lives => format!("{}{}", name(host), lives + 1),
        }
    }

    /// Whether the others were never told of that one but by a change of the voters.
    pub(crate) fn is_begun_anew(&self, host: usize) -> bool {
        self.nodes[host].lives > 0
    }

    /// Asks a process to stop.
    ///
    /// # Errors
    /// What did not work.
    pub(crate) fn ask_to_stop(&self, host: usize) -> Result<(), Wrong> {
        self.signal(host, Signal::TERM)
    }

    /// Asks a process to stop, and waits until it has.
    ///
    /// # Errors
    /// What did not work, or that it did not end well.
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

    /// Stops a process in its tracks, as a long pause would.
    ///
    /// # Errors
    /// What did not work.
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
    ///
    /// # Errors
    /// What did not work.
    pub(crate) fn thaw(&mut self, host: usize) -> Result<(), Wrong> {
        self.nodes[host].frozen = false;
        self.signal(host, Signal::CONT)
    }

    /// Brings a process back, whatever became of it.
    ///
    /// # Errors
    /// What did not work.
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

    /// Tells a node a command on its standard input.
    ///
    /// # Errors
    /// What did not work.
    pub(crate) fn tell(&mut self, host: usize, command: &str) -> Result<(), Wrong> {
        let process = self.nodes[host].process.as_mut();
        let Some(input) = process.and_then(|process| process.stdin.as_mut()) else {
            return Err(Wrong(format!("{} does not run", name(host))));
        };
        writeln!(input, "{command}")?;
        Ok(())
    }

    /// All but one.
    pub(crate) fn others(&self, host: usize) -> Vec<usize> {
        let mut all = self.all();
        all.retain(|other| *other != host);
        all
    }

    /// What has been said since some line.
    pub(crate) fn since(&self, line: usize) -> Vec<Line> {
        self.log.lines().get(line..).unwrap_or_default().to_vec()
    }

    /// How many lines there are.
    pub(crate) fn mark(&self) -> usize {
        self.log.lines().len()
    }

    /// The leaderships so far.
    pub(crate) fn beliefs(&self) -> Vec<Belief> {
        check::beliefs(&self.log.lines())
    }

    /// Which processes run and are not frozen.
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

    /// Whether the promise of the quorum mode was kept, if it was made.
    ///
    /// # Errors
    /// How it was broken.
    pub(crate) fn verdict(&self) -> Result<(), Wrong> {
        if self.setting.quorum {
            let lines = self.log.lines();
            check::one_leader(&lines)?;
            check::one_list(&lines)
        } else {
            Ok(())
        }
    }

    /// Leaves the stores and all that the nodes said where they are, for whoever looks for a fault; says where.
    ///
    /// # Errors
    /// What did not work.
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
        command.args(["--name", &self.called(host), "--score", &host.to_string()]);
        command.args(["--listen", &self.net.address(host)]);
        command.args([
            "--dangerous-plaintext",
            "--json",
            "--commands",
            "--forgiving",
        ]);
        command.args(["--pulse", PULSE, "--timings", self.setting.timings]);
        for peer in self.others(host) {
            let said = format!("{}={}", self.called(peer), self.net.address(peer));
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
        command.args(self.flags[host]);
        command.args(&self.more);
        if self.is_begun_anew(host) {
            command.arg("--learner"); // the list that is typed names the node before
        }
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

    /// By a call of the kernel: to start a program for it takes as long as some of what is measured.
    fn signal(&self, host: usize, signal: Signal) -> Result<(), Wrong> {
        kill_process(Pid::from_child(self.process(host)?), signal)
            .map_err(|wrong| Wrong(format!("{} got no {signal:?}: {wrong}", name(host))))
    }

    fn process(&self, host: usize) -> Result<&Child, Wrong> {
        let process = self.nodes[host].process.as_ref();
        process.ok_or_else(|| Wrong(format!("{} does not run", name(host))))
    }

    fn store(&self, host: usize) -> PathBuf {
        self.folder.path().join(self.called(host))
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

/// The same program by a clock that reads so many seconds more, in a time namespace of its own.
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

/// The name of a host and of its node.
pub(crate) fn name(host: usize) -> String {
    let label = u8::try_from(host).map(|host| char::from(b'a' + host));
    label.map_or_else(|_| format!("n{host}"), String::from)
}
