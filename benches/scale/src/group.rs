//! Processes that elect a leader in one of several ways.

use std::{
    env,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

#[cfg(feature = "zenoh")]
use actix_bully_zenoh_tests::Raw;
use clap::ValueEnum;
use tempfile::TempDir;

use crate::{Wrong, costs, log::Log, stores::Store};

/// Longest time until all agree.
const SOON: Duration = Duration::from_secs(300);
/// Time from the agreement until the election causes no more work.
const SETTLE: Duration = Duration::from_secs(5);
/// Address of the router of a zenoh network.
#[cfg(feature = "zenoh")]
const ROUTER: &str = "tcp/127.0.0.1:7399";
/// Number of voters: enough for a group of any size.
const VOTERS: usize = 5;

/// The way in which the processes know of each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Way {
    /// Links of the bridge, each process with each
    Mesh,
    /// Links of the bridge, each process with the voters
    Bridge,
    /// A zenoh network of peers
    #[cfg(feature = "zenoh")]
    Zenoh,
    /// A zenoh network with one router
    #[cfg(feature = "zenoh")]
    ZenohRouter,
    /// A lease in a folder of files
    Files,
    /// A lease in PostgreSQL (feature `stores`)
    Postgres,
    /// A lease in etcd (feature `stores`)
    Etcd,
}

impl Way {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Mesh => "mesh",
            Self::Bridge => "bridge",
            #[cfg(feature = "zenoh")]
            Self::Zenoh => "zenoh",
            #[cfg(feature = "zenoh")]
            Self::ZenohRouter => "zenoh-router",
            Self::Files => "files",
            Self::Postgres => "postgres",
            Self::Etcd => "etcd",
        }
    }

    /// Returns whether the processes send to each other over the loopback, instead of to a store.
    const fn has_links(self) -> bool {
        !matches!(self, Self::Files | Self::Postgres | Self::Etcd)
    }
}

/// The cost of idle processes.
pub(crate) struct Idle {
    /// Processor time of all processes together, without the store, in percent of one core.
    pub(crate) cpu_percent: f64,
    /// Memory of each process.
    pub(crate) memory_mib: f64,
    /// Traffic of all processes in a second.
    pub(crate) kbytes: Option<f64>,
    /// Transactions of the store in a second.
    pub(crate) store_operations: Option<f64>,
}

/// Processes that run until the value is dropped.
pub(crate) struct Group {
    way: Way,
    running: Vec<Option<Child>>,
    log: Log,
    beside: Beside,
    folder: TempDir,
}

/// The server that runs beside the processes.
enum Beside {
    Nothing,
    Store(Store),
    #[cfg(feature = "zenoh")]
    Router(#[expect(dead_code, reason = "it passes messages on until it is dropped")] Raw),
}

impl Beside {
    fn start(way: Way, processes: usize) -> Result<Self, Wrong> {
        Ok(match way {
            Way::Mesh | Way::Bridge | Way::Files => Self::Nothing,
            #[cfg(feature = "zenoh")]
            Way::Zenoh => Self::Nothing,
            #[cfg(feature = "zenoh")]
            Way::ZenohRouter => Self::Router(Raw::router(ROUTER)),
            Way::Postgres | Way::Etcd => Self::Store(Store::start(way, processes)?),
        })
    }

    /// Returns the number of a store's operations until now: transactions, or requests of clients.
    fn operations(&self) -> Option<i64> {
        match self {
            Self::Store(store) => store.operations(),
            #[cfg(feature = "zenoh")]
            Self::Router(_) => None,
            Self::Nothing => None,
        }
    }
}

impl Group {
    /// Starts `processes` processes. Returns the time until all knew one leader.
    pub(crate) fn start(way: Way, processes: usize) -> Result<(Self, Duration), Wrong> {
        let mut group = Self {
            way,
            running: Vec::new(),
            log: Log::default(),
            beside: Beside::start(way, processes)?,
            folder: TempDir::new()?,
        };
        let began = Instant::now();
        for process in 0..processes {
            let child = group.spawn(process, processes)?;
            group.running.push(Some(child));
        }
        group.agree(0)?;
        let took = began.elapsed();
        sleep(SETTLE);
        Ok((group, took))
    }

    fn spawn(&self, process: usize, processes: usize) -> Result<Child, Wrong> {
        let mut command = Command::new(participant()?);
        command.args([&name(process), "--score", &process.to_string()]);
        match &self.beside {
            Beside::Nothing if self.way == Way::Files => {
                let folder = self.folder.path().join("leases");
                command.args(["lease", &format!("files:{}", folder.display())]);
            }
            Beside::Nothing => self.link(&mut command, process, processes),
            Beside::Store(store) => {
                command.args(["lease", &store.address()]);
            }
            #[cfg(feature = "zenoh")]
            Beside::Router(_) => self.link(&mut command, process, processes),
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::null()).spawn()?;
        if let Some(output) = child.stdout.take() {
            self.log.follow(process, 1, Duration::ZERO, output);
        }
        Ok(child)
    }

    /// Sets the links to the other processes.
    fn link(&self, command: &mut Command, process: usize, processes: usize) {
        let voters: Vec<_> = (0..VOTERS.min(processes)).map(name).collect();
        let is_named = match self.way {
            #[cfg(feature = "zenoh")]
            Way::Zenoh => {
                let at = |process| format!("tcp/{}", address(process));
                command.args(["zenoh", "--listen", &at(process)]);
                // Two addresses, so that one is left when a process is killed.
                for first in (0..2).filter(|first| *first != process) {
                    command.args(["--connect", &at(first)]);
                }
                true
            }
            #[cfg(feature = "zenoh")]
            Way::ZenohRouter => {
                command.args(["zenoh", "--connect", ROUTER]);
                true
            }
            _ => {
                command.args(["bridge", &address(process)]);
                false
            }
        };
        command.args(["--voters", &voters.join(","), "--store"]);
        command.arg(self.folder.path());
        for peer in (0..processes).filter(|peer| *peer != process) {
            if self.way != Way::Mesh && process.min(peer) >= VOTERS {
                continue; // observers need no link to each other
            }
            let peer = if is_named {
                name(peer)
            } else {
                format!("{}={}", name(peer), address(peer))
            };
            command.args(["--peer", &peer]);
        }
    }

    /// Waits until all running processes know one leader with a term above `after`. Returns the leader, its term, and
    /// the time at which the last process knew it, in microseconds.
    fn agree(&self, after: u64) -> Result<(usize, u64, u64), Wrong> {
        let running = || (0..self.running.len()).filter(|process| self.running[*process].is_some());
        let agreed = self.log.wait(SOON, |lines| {
            let mut last: Vec<Option<(&str, u64, u64)>> = vec![None; self.running.len()];
            for line in lines {
                if let (Some(leader), Some(term)) = (line.leader(), line.term()) {
                    last[line.host] = Some((leader, term, line.t));
                }
            }
            let known: Option<Vec<_>> = running().map(|process| last[process]).collect();
            let known = known?;
            let (leader, term, _) = *known.first()?;
            let is_one = known.iter().all(|it| (it.0, it.1) == (leader, term));
            let process = running().find(|process| name(*process) == leader)?;
            let t = known.iter().map(|it| it.2).max()?;
            (is_one && term > after).then_some((process, term, t))
        });
        agreed.ok_or_else(|| Wrong(format!("{} processes do not agree", self.running.len())))
    }

    /// Measures the idle cost for the time `span`.
    #[expect(
        clippy::cast_precision_loss,
        clippy::as_conversions,
        reason = "less than 2^52 of anything"
    )]
    pub(crate) fn idle(&self, span: Duration) -> Result<Idle, Wrong> {
        let children: Vec<_> = self.running.iter().flatten().map(Child::id).collect();
        let read = || -> Result<(u64, u64, Option<i64>), Wrong> {
            let work = children.iter().map(|process| costs::work(*process));
            let work = work.sum::<Result<_, _>>()?;
            Ok((work, costs::sent()?.0, self.beside.operations()))
        };
        let (began, first) = (Instant::now(), read()?);
        sleep(span);
        let (took, last) = (began.elapsed().as_secs_f64(), read()?);
        let memory = children.iter().map(|process| costs::memory(*process));
        let memory = memory.sum::<Result<u64, _>>()? as f64;
        let sent = (last.1 - first.1) as f64 / took / 1e3;
        Ok(Idle {
            cpu_percent: (last.0 - first.0) as f64 / took / 1e7,
            memory_mib: memory / 1_024.0 / children.len() as f64,
            kbytes: self.way.has_links().then_some(sent),
            store_operations: first
                .2
                .zip(last.2)
                .map(|(first, last)| (last - first) as f64 / took),
        })
    }

    /// Kills the leader. Returns the time until all others knew the next leader.
    pub(crate) fn kill_leader(&mut self) -> Result<Duration, Wrong> {
        let (leader, term, _) = self.agree(0)?;
        let mut child = self.running[leader]
            .take()
            .ok_or_else(|| Wrong("the leader has ended".into()))?;
        let clock =
            actix_bully::clock::BootClock::new().map_err(|wrong| Wrong(wrong.to_string()))?;
        let began = actix_bully::clock::Clock::now(&clock).as_nanos() / 1_000;
        child.kill()?;
        child.wait()?;
        let (_, _, known) = self.agree(term)?;
        let child = self.spawn(leader, self.running.len())?;
        self.running[leader] = Some(child);
        sleep(SETTLE);
        Ok(Duration::from_micros(known.saturating_sub(began)))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for child in self.running.iter_mut().flatten() {
            // A process may have ended already.
            drop(child.kill());
            drop(child.wait());
        }
    }
}

fn name(process: usize) -> String {
    format!("p{process:03}")
}

fn address(process: usize) -> String {
    format!("127.0.0.1:{}", 7_400 + process)
}

/// Returns the path of the participant, which is in the folder of this program.
fn participant() -> Result<PathBuf, Wrong> {
    let this = env::current_exe()?;
    let folder = this.parent().unwrap_or_else(|| Path::new("."));
    Ok(folder.join("participant"))
}
