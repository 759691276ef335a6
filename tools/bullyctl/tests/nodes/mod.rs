//! Three nodes in a thread with its own System, and `bullyctl` as a process.
#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a scene that cannot be set fails the test"
)]

#[path = "../../../../tests/support/ports.rs"]
mod ports;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::mpsc,
    thread::{self, JoinHandle},
    time::Duration,
};

use actix::{System, clock::sleep};
use actix_bully::{
    agent::BullyHandle,
    config::{Config, RunningNode},
    operate::{Operated, SocketGuard, serve_socket},
    protocol::About,
    web::{Token, routes},
};
use actix_web::{App, HttpServer, dev::ServerHandle, rt, web};
use ports::free_addresses;
use serde::de::DeserializeOwned;
use tempfile::TempDir;
use tokio::sync::oneshot;

const NAMES: [&str; 3] = ["n1", "n2", "n3"];
const TOKEN: &str = "0123456789abcdef";

/// The exit code and the output of a process.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Said {
    pub(crate) fn read<T: DeserializeOwned>(&self) -> T {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

pub(crate) fn bullyctl(line: &str) -> Said {
    let output = Command::new(env!("CARGO_BIN_EXE_bullyctl"))
        .args(line.split_whitespace())
        .output()
        .unwrap();
    Said {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

pub(crate) struct Running {
    pub(crate) handle: BullyHandle,
    pub(crate) bridge: String,
    pub(crate) url: String,
    pub(crate) url_without_commands: String,
    socket: PathBuf,
}

/// Three nodes `n1`, `n2`, `n3`. At first `n3` leads.
pub(crate) struct Nodes {
    all: BTreeMap<&'static str, Running>,
    folder: TempDir,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Nodes {
    pub(crate) fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("token"), format!("{TOKEN}\n")).unwrap();
        let (stop, stopped) = oneshot::channel();
        let (started, starting) = mpsc::channel();
        let path = folder.path().to_owned();
        let thread = thread::spawn(move || System::new().block_on(run(path, started, stopped)));
        let all = starting.recv_timeout(Duration::from_secs(30)).unwrap();
        Self {
            all,
            folder,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn get(&self, name: &str) -> &Running {
        &self.all[name]
    }

    pub(crate) fn line_by_socket(&self, name: &str, task: &str) -> String {
        format!("--socket {} {task}", self.get(name).socket.display())
    }

    pub(crate) fn by_socket(&self, name: &str, task: &str) -> Said {
        bullyctl(&self.line_by_socket(name, task))
    }

    pub(crate) fn by_url(&self, name: &str, task: &str) -> Said {
        let (url, token) = (&self.get(name).url, self.folder().join("token"));
        bullyctl(&format!(
            "--url {url} --token-file {} {task}",
            token.display()
        ))
    }

    pub(crate) fn wait_for_leader(&self, name: &str) {
        for _ in 0..3_000 {
            let mut agents = self.all.values().map(|node| node.handle.current());
            let is_known = agents.all(|status| match status.leader {
                Some(leader) => leader.id.as_str() == name,
                None => status.lifecycle == actix_bully::agent::Lifecycle::Ended,
            });
            if is_known {
                return;
            }
            thread::park_timeout(Duration::from_millis(10));
        }
        panic!("{name} is not the leader of all");
    }

    /// Waits until the node knows of each agent a text about this host.
    pub(crate) fn wait_for_texts(&self, name: &str) {
        for _ in 0..3_000 {
            let report = Operated::new(&self.get(name).handle).report();
            let mut members = report.agents.iter().flat_map(|agent| &agent.members);
            let is_here = |about: &About| about.as_str().starts_with("http://127.0.0.1:");
            if members.all(|member| member.about.as_ref().is_some_and(is_here)) {
                return;
            }
            thread::park_timeout(Duration::from_millis(10));
        }
        panic!("{name} does not know the texts of all");
    }
}

impl Drop for Nodes {
    fn drop(&mut self) {
        self.stop.take().map(|stop| stop.send(()));
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}

/// The parts of a node, which the node needs while it runs.
struct Parts {
    node: RunningNode,
    _socket: SocketGuard,
    servers: [ServerHandle; 2],
}

async fn run(
    folder: PathBuf,
    started: mpsc::Sender<BTreeMap<&'static str, Running>>,
    stopped: oneshot::Receiver<()>,
) {
    let addresses = free_addresses(NAMES).map(|address| address.to_string());
    let nodes = NAMES.map(|name| (name, start(name, &addresses, &folder)));
    let (mut all, mut parts) = (BTreeMap::new(), Vec::new());
    for (name, (running, its)) in nodes {
        all.insert(name, running);
        parts.push(its);
    }
    while !parts.iter().all(|its| is_linked(&its.node)) {
        sleep(Duration::from_millis(5)).await;
    }
    started.send(all).unwrap();
    stopped.await.ok();
    for server in parts.iter().flat_map(|its| &its.servers) {
        server.stop(false).await;
    }
}

/// Returns whether the node has all links, and `n3` leads.
fn is_linked(node: &RunningNode) -> bool {
    let leader = node.agent().leader();
    let peers = node.operated().report().bridge.unwrap().peers;
    leader.is_some_and(|leader| leader.id.as_str() == "n3")
        && peers
            .iter()
            .all(|peer| peer.link == "linked" && peer.agents == 1)
}

/// Returns the configuration of a node. Only `n3` takes the leadership away from another agent.
fn configuration(name: &str, addresses: &[String; 3]) -> String {
    let at = NAMES.iter().position(|other| *other == name).unwrap();
    let peers = NAMES.iter().zip(addresses);
    let peers =
        peers.map(|(node, address)| format!("{{ node = {node:?}, address = {address:?} }}"));
    let more = match name {
        "n1" => "preemption = \"never\"\nabout = \"http://10.0.0.1:8080\"",
        "n2" => "preemption = \"never\"",
        _ => "preemption = \"immediately\"",
    };
    format!(
        "node = {name:?}\ngroup = \"orders\"\nscore = {}\ntimings.preset = \"lan\"\n{more}\n\
         listen = {:?}\npeers_name_all = true\npeers = [{}]",
        10 * (at + 1),
        addresses[at],
        peers.collect::<Vec<_>>().join(", "),
    )
}

fn start(name: &'static str, addresses: &[String; 3], folder: &Path) -> (Running, Parts) {
    let config = Config::from_toml(&configuration(name, addresses)).unwrap();
    let bridge = config.listen.clone().unwrap();
    let node = config.start().unwrap();
    let path = folder.join(format!("{name}.sock"));
    let socket = serve_socket(&path, node.operated()).unwrap();
    let plain = routes(node.operated());
    let with_commands = plain.clone().commands(Token::new(TOKEN).unwrap());
    let served = [plain, with_commands].map(|routes| {
        let app =
            move || App::new().service(web::scope("/bully").configure(|app| routes.configure(app)));
        let server = HttpServer::new(app).workers(1).disable_signals();
        let server = server.bind(("127.0.0.1", 0)).unwrap();
        let url = format!("http://{}/bully", server.addrs()[0]);
        let server = server.run();
        let handle = server.handle();
        rt::spawn(server);
        (url, handle)
    });
    let [(url_without_commands, plain), (url, guarded)] = served;
    let running = Running {
        handle: node.agent().clone(),
        bridge,
        url,
        url_without_commands,
        socket: path,
    };
    let parts = Parts {
        node,
        _socket: socket,
        servers: [plain, guarded],
    };
    (running, parts)
}
