//! The nodes of a row. They are connected by pipes in virtual time.

use std::{cell::Cell, fs, os::unix::fs::PermissionsExt, time::Duration};

use actix::clock::{Instant, sleep};
use tempfile::TempDir;

use crate::{
    agent::any::AnyConfig,
    config::{Config, RunError, RunningNode},
    record::RecordLimits,
    register::MemoryRegister,
    remote::{NodeIncarnation, transport::Pipes},
    testkit::VirtualClock,
};

use super::Seen;

pub(super) const MS: fn(u64) -> Duration = Duration::from_millis;
pub(super) const SECONDS: fn(u64) -> Duration = Duration::from_secs;

/// Keys of the nodes `a`, `b` and `c`, which find each other.
pub(super) const LINKED: &str = r#"
    listen = "HERE"
    peers_name_all = true
    peers = [{ node = "a", address = "127.0.0.1:1" }, { node = "b", address = "127.0.0.1:2" }, { node = "c", address = "127.0.0.1:3" }]
"#;

/// Keys of the same three nodes as voters.
pub(super) const QUORUM: &str = r#"
    listen = "HERE"
    peers_name_all = true
    peers = [{ node = "a", address = "127.0.0.1:1" }, { node = "b", address = "127.0.0.1:2" }, { node = "c", address = "127.0.0.1:3" }]
    quorum.voters = ["a", "b", "c"]
    quorum.store_file = "FOLDER/NODE.vote"
    quorum.store = "open-or-create"
"#;

/// Key of a lease in a folder. In virtual time a register in memory replaces the folder.
pub(super) const LEASE: &str = "lease.folder = \"FOLDER/leases\"";

/// The environment of a row. The row tests the node `a`.
pub(super) struct Scene {
    text: String,
    beside: String,
    pub(super) pipes: Pipes,
    pub(super) folder: TempDir,
    store: MemoryRegister,
    starts: Cell<u64>,
}

impl Scene {
    pub(super) fn new(text: String, beside: &str) -> Self {
        Self {
            text,
            beside: beside.to_owned(),
            pipes: Pipes::new(),
            folder: tempfile::tempdir().unwrap(),
            store: MemoryRegister::new(),
            starts: Cell::new(1_000),
        }
    }

    /// Starts the node `a` of the row.
    pub(super) fn a(&self) -> Result<RunningNode, RunError> {
        self.start("a", &self.text)
    }

    /// Starts another node with the further lines of the table and these keys.
    pub(super) fn other(&self, node: &str, more: &str) -> RunningNode {
        let text = format!("node = {node:?}\ngroup = \"jobs\"\n{}\n{more}", self.beside);
        self.start(node, &text).unwrap()
    }

    pub(super) fn start(&self, node: &str, text: &str) -> Result<RunningNode, RunError> {
        self.starts.set(self.starts.get() + 1);
        let incarnation = NodeIncarnation(self.starts.get());
        let config = self.config(node, text);
        let (host, store) = (self.pipes.host(node), self.store.clone());
        let election = config.plan()?.election;
        let starter = config.starter()?.on_this_arbiter();
        let starter = starter.bridge(move |bridge| {
            let bridge = bridge.transport(host).seed(7);
            bridge.incarnation(incarnation)
        });
        let starter = starter.agent(move |agent| {
            let agent = agent.clock(VirtualClock::new());
            match election {
                AnyConfig::Lease(config) => agent.lease_with(config, store),
                AnyConfig::Available(_) | AnyConfig::Astra(_) | AnyConfig::Quorum(_) => agent,
            }
        });
        starter.start()
    }

    pub(super) fn own(&self) -> Config {
        self.config("a", &self.text)
    }

    fn config(&self, node: &str, text: &str) -> Config {
        let folder = self.folder.path().to_str().unwrap();
        let text = text.replace("FOLDER", folder).replace("NODE", node);
        let here = format!("127.0.0.1:{}", node.as_bytes()[0] - b'a' + 1);
        Config::from_toml(&text.replace("HERE", &here)).unwrap()
    }

    pub(super) fn write(&self, name: &str, content: &str) {
        let path = self.folder.path().join(name);
        fs::write(&path, content).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    }

    pub(super) fn files(&self) -> Vec<String> {
        let mut names = Vec::new();
        let mut folders = vec![self.folder.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for file in fs::read_dir(folder).unwrap() {
                let path = file.unwrap().path();
                let name = path.strip_prefix(self.folder.path()).unwrap();
                names.push(name.to_str().unwrap().to_owned());
                folders.extend(path.is_dir().then_some(path));
            }
        }
        names.sort();
        names
    }
}

/// Starts the node without other nodes.
pub(super) async fn alone(s: Scene) -> Seen {
    let a = s.a()?;
    sleep(SECONDS(60)).await;
    Ok(format!("{} {:?}", shown(&a), s.files()))
}

/// Returns the settings of the node's election.
pub(super) async fn planned(s: Scene) -> Seen {
    Ok(format!("{:?}", s.own().plan()?.election))
}

/// Returns the node's report, and whether the node keeps a record.
pub(super) fn shown(node: &RunningNode) -> String {
    let report = serde_json::to_string(&node.operated().report()).unwrap();
    format!("{report} records: {}", node.agent().is_recording())
}

/// Returns the record of the node, which contains its durations.
pub(super) fn recorded(node: &RunningNode) -> String {
    node.agent().record(Some(RecordLimits::default()));
    node.agent().recorded().unwrap()
}

pub(super) fn leader(node: &RunningNode) -> String {
    let found = node.agent().leader();
    found.map_or_else(|| "nobody".to_owned(), |leader| leader.id.to_string())
}

/// Waits until the condition holds. Returns the time, within 1 ms and half a per cent.
pub(super) async fn until(mut holds: impl FnMut() -> bool) -> Duration {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < SECONDS(1_000), "never");
        sleep(MS(1).max(began.elapsed() / 200)).await;
    }
    began.elapsed()
}
