//! Three processes of the replica, and the faults for them.
//!
//! Decided here: their configurations. By default they vote, each on its own disk; a line about a store replaces
//! votes, ports and peers.

#[path = "../../../../../tests/support/ports.rs"]
mod ports;

use std::{
    env,
    fmt::Write as _,
    fs,
    io::{self, BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Stdio},
    thread::{self, sleep},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use ports::free_addresses;

use super::{
    SOON, Wrong,
    database::Database,
    disk,
    way::{ask, leader_by},
    wires::{self, Cable},
};

const NAMES: [&str; 3] = ["api-1", "api-2", "api-3"];
/// Time within which a running replica answers.
const PATIENCE: Duration = Duration::from_millis(500);
/// Folder of the vote, in a replica's folder.
const DISK: &str = "disk";

pub(crate) struct Replicas {
    folder: TempDir,
    all: Vec<Replica>,
    has_small_disks: bool,
    /// The cable of each replica.
    cables: [Cable; 3],
}

struct Replica {
    name: &'static str,
    folder: PathBuf,
    /// Whether the replica keeps its own votes.
    votes: bool,
    process: Option<Child>,
    /// Address of its routes.
    http: String,
}

impl Replicas {
    /// Starts all three for the first time.
    pub(crate) fn start(lease: Option<&str>) -> Result<Self, Wrong> {
        let folder = TempDir::new()?;
        let own = NAMES.map(|name| folder.path().join(name));
        let mut has_small_disks = true;
        for own in &own {
            let disk = own.join(DISK);
            fs::create_dir_all(&disk)?;
            has_small_disks &= lease.is_none() && disk::mount(&disk);
        }
        let cables: [Cable; 3] = Default::default();
        let configs = match lease {
            None => voters(folder.path(), &cables)?,
            Some(lease) => NAMES.map(|name| sharers(name, lease)).into(),
        };
        let mut all = Vec::new();
        for ((name, own), config) in NAMES.into_iter().zip(own).zip(configs) {
            fs::write(own.join("config.toml"), config)?;
            all.push(Replica {
                name,
                folder: own,
                votes: lease.is_none(),
                process: None,
                http: String::new(),
            });
        }
        let mut replicas = Self {
            folder,
            all,
            has_small_disks,
            cables,
        };
        let database = replicas.database();
        drop(Database::open(&database)?);
        for replica in &mut replicas.all {
            replica.launch(&database, true)?;
        }
        for replica in &mut replicas.all {
            replica.listen()?;
        }
        replicas.agree(SOON)?;
        Ok(replicas)
    }

    pub(crate) const fn has_small_disks(&self) -> bool {
        self.has_small_disks
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.folder.path().join("jobs.sqlite")
    }

    pub(crate) fn restart(&mut self, name: &str) -> Result<(), Wrong> {
        let database = self.database();
        let replica = self.find(name)?;
        replica.launch(&database, false)?;
        replica.listen()
    }

    pub(crate) fn kill(&mut self, name: &str) -> Result<(), Wrong> {
        if let Some(mut process) = self.find(name)?.process.take() {
            process.kill()?;
            process.wait()?;
        }
        Ok(())
    }

    pub(crate) fn freeze(&mut self, name: &str) -> Result<(), Wrong> {
        self.find(name)?.signal(Signal::STOP)
    }

    pub(crate) fn thaw(&mut self, name: &str) -> Result<(), Wrong> {
        self.find(name)?.signal(Signal::CONT)
    }

    /// Pulls the cable of a replica, or plugs it in again.
    pub(crate) fn pull_cable(&self, name: &str, is_pulled: bool) {
        let both = NAMES.iter().zip(&self.cables);
        let own = both.filter(|(of, _)| **of == name);
        own.for_each(|(_, cable)| cable.pull(is_pulled));
    }

    /// Returns whether the replicas need links to each other.
    pub(crate) fn has_links(&self) -> bool {
        self.all.iter().all(|replica| replica.votes)
    }

    /// Asks a replica to stop, and waits for its end, which must be a success.
    pub(crate) fn terminate(&mut self, name: &str) -> Result<(), Wrong> {
        let replica = self.find(name)?;
        replica.signal(Signal::TERM)?;
        let Some(mut process) = replica.process.take() else {
            return Ok(());
        };
        let end = Instant::now() + SOON;
        while Instant::now() < end {
            match process.try_wait()? {
                Some(status) if status.success() => return Ok(()),
                Some(status) => return Err(format!("{name} ended with {status}").into()),
                None => sleep(Duration::from_millis(5)),
            }
        }
        process.kill()?;
        Err(format!("{name} does not end within {SOON:?} of SIGTERM").into())
    }

    pub(crate) fn fill(&mut self, name: &str) -> Result<(), Wrong> {
        disk::fill(&self.find(name)?.folder.join(DISK))
    }

    pub(crate) fn make_room(&mut self, name: &str) -> Result<(), Wrong> {
        disk::make_room(&self.find(name)?.folder.join(DISK))
    }

    /// Returns whether the replica's routes show that it leads.
    pub(crate) fn leads(&self, name: &str) -> bool {
        let replica = self.all.iter().find(|replica| replica.name == name);
        replica
            .and_then(Replica::leader)
            .is_some_and(|leader| leader == name)
    }

    /// Waits until all three follow one leader.
    pub(crate) fn agree(&self, within: Duration) -> Result<(), Wrong> {
        let end = Instant::now() + within;
        loop {
            let leaders: Vec<_> = self.all.iter().map(Replica::leader).collect();
            let first = leaders.first().and_then(Option::as_ref);
            if first.is_some() && leaders.iter().all(|leader| leader.as_ref() == first) {
                return Ok(());
            }
            if Instant::now() > end {
                return Err(
                    format!("the replicas do not agree within {within:?}: {leaders:?}").into(),
                );
            }
            sleep(Duration::from_millis(10));
        }
    }

    /// Returns the addresses of the other replicas' routes.
    pub(crate) fn others(&self, than: &str) -> Vec<String> {
        let others = self.all.iter().filter(|replica| replica.name != than);
        others.map(|replica| replica.http.clone()).collect()
    }

    /// Waits until a request for the leader reaches the leader through each of the three replicas.
    pub(crate) fn check_ways(&self, within: Duration) -> Result<(), Wrong> {
        let end = Instant::now() + within;
        loop {
            let leaders: Vec<_> = self.all.iter().map(|each| leader_by(&each.http)).collect();
            let first = leaders.first().filter(|first| first.is_ok());
            if first.is_some() && leaders.iter().all(|leader| Some(leader) == first) {
                return Ok(());
            }
            if Instant::now() > end {
                return Err(format!("not every replica leads to the leader: {leaders:?}").into());
            }
            sleep(Duration::from_millis(10));
        }
    }

    /// Checks that all replicas answer an operator's tools: alive, ready, and one of three leads.
    pub(crate) fn check_pages(&self) -> Result<(), Wrong> {
        let mut leading = 0;
        for replica in &self.all {
            get(&replica.http, "/health/live")?;
            get(&replica.http, "/health/ready")?;
            let metrics = get(&replica.http, "/metrics")?;
            let series = format!(
                "bully_is_leader{{group=\"jobs\",node=\"{}\"}} ",
                replica.name
            );
            if !metrics.contains("bully_leaderless_seconds_bucket{") {
                return Err(format!("no buckets of histograms in {metrics}").into());
            }
            let value = metrics.lines().find_map(|line| line.strip_prefix(&series));
            leading += value
                .ok_or_else(|| format!("no {series}in {metrics}"))?
                .parse::<u32>()?;
        }
        if leading == 1 {
            return Ok(());
        }
        Err(format!("{leading} replicas lead by their metrics").into())
    }

    /// Ends all replicas, the leader last.
    pub(crate) fn stop(&mut self) -> Result<(), Wrong> {
        for name in NAMES {
            if !self.leads(name) {
                self.terminate(name)?;
            }
        }
        let left: Vec<_> = self
            .all
            .iter()
            .filter(|one| one.process.is_some())
            .map(|one| one.name)
            .collect();
        left.into_iter().try_for_each(|name| self.terminate(name))
    }

    fn find(&mut self, name: &str) -> Result<&mut Replica, Wrong> {
        let found = self.all.iter_mut().find(|replica| replica.name == name);
        found.ok_or_else(|| format!("there is no {name}").into())
    }
}

/// Returns the lines that all configurations share.
fn begin(name: &str) -> String {
    format!(
        "node = {name:?}\ngroup = \"jobs\"\npreemption = \"never\"\ncooldown = \"1s\"\ntimings.preset = \"lan\"\n"
    )
}

/// Returns the configuration of a replica that shares a store, which the line names.
fn sharers(name: &str, lease: &str) -> String {
    format!("{}[lease]\n{lease}\n", begin(name))
}

/// Returns the configurations of three replicas that vote and reach each other by wires.
fn voters(folder: &Path, cables: &[Cable; 3]) -> io::Result<Vec<String>> {
    let ports = free_addresses(NAMES);
    let ends = || NAMES.into_iter().zip(&ports).zip(cables);
    let mut configs = Vec::new();
    for ((name, at), own) in ends() {
        let vote = folder.join(name).join(DISK).join("vote");
        let mut config = format!(
            "{}listen = \"{at}\"\n[quorum]\nvoters = {NAMES:?}\nstore_file = \"{}\"\n",
            begin(name),
            vote.display()
        );
        for ((peer, far), other) in ends().filter(|((peer, _), _)| *peer != name) {
            let wire = wires::open(&far.to_string(), [own, other])?;
            config += "[[peers]]\n";
            writeln!(config, "node = {peer:?}\naddress = \"{wire}\"").ok();
        }
        configs.push(config);
    }
    Ok(configs)
}

impl Replica {
    fn launch(&mut self, database: &Path, first: bool) -> Result<(), Wrong> {
        let program = env::current_exe()?.with_file_name("web-replicas");
        let log = fs::File::options()
            .create(true)
            .append(true)
            .open(self.folder.join("log"))?;
        let mut command = Command::new(program);
        if self.votes {
            let store = if first { "create" } else { "open" };
            command.env("JOBS_QUORUM_STORE", store);
        }
        let process = command
            .arg(self.folder.join("config.toml"))
            .env("DATABASE", database)
            .env("HTTP", "127.0.0.1:0")
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()?;
        self.process = Some(process);
        Ok(())
    }

    /// Reads the address of its routes.
    fn listen(&mut self) -> Result<(), Wrong> {
        self.http.clear();
        let stdout = self
            .process
            .as_mut()
            .and_then(|process| process.stdout.take());
        let mut lines = BufReader::new(stdout.ok_or("it was not started")?);
        let mut line = String::new();
        lines.read_line(&mut line)?;
        let at = line.trim().strip_prefix("http://");
        self.http = at.ok_or_else(|| self.complaint())?.to_owned();
        drain(lines);
        Ok(())
    }

    fn complaint(&self) -> String {
        let log = fs::read_to_string(self.folder.join("log")).unwrap_or_default();
        format!(
            "{} does not start: {}",
            self.name,
            log.lines().last().unwrap_or_default()
        )
    }

    fn signal(&self, signal: Signal) -> Result<(), Wrong> {
        let process = self
            .process
            .as_ref()
            .ok_or_else(|| format!("{} does not run", self.name))?;
        let pid = Pid::from_raw(i32::try_from(process.id())?).ok_or("a process has a number")?;
        Ok(kill_process(pid, signal)?)
    }

    /// Returns the leader that it knows, by its route.
    fn leader(&self) -> Option<String> {
        let body = known(&self.http).ok()?;
        let name = body.split("\"leader\"").nth(1)?;
        NAMES
            .into_iter()
            .find(|known| name.contains(&format!("\"{known}\"")))
            .map(str::to_owned)
    }
}

/// Reads and drops the rest of the output, which would fill the pipe.
fn drain(mut lines: BufReader<ChildStdout>) {
    thread::spawn(move || io::copy(&mut lines, &mut io::sink()));
}

/// Returns its answer to `/leader`, with a redirect or without.
fn known(at: &str) -> Result<String, Wrong> {
    let (_, body) = ask(at, "/leader", PATIENCE)?;
    Ok(body)
}

/// Returns the body if the status is 200.
fn get(at: &str, path: &str) -> Result<String, Wrong> {
    let (head, body) = ask(at, path, PATIENCE)?;
    if head.starts_with("HTTP/1.1 200") {
        Ok(body)
    } else {
        Err(head.into())
    }
}

impl Drop for Replicas {
    fn drop(&mut self) {
        for replica in &mut self.all {
            if let Some(mut process) = replica.process.take() {
                process.kill().ok();
                process.wait().ok();
            }
        }
    }
}
