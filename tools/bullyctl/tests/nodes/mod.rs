//! Three nodes in a thread with its own System, and `bullyctl` as a process.
#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a scene that cannot be set fails the test"
)]

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::mpsc,
    thread::{self, JoinHandle},
    time::Duration,
};

use actix::{Actor, Context, Handler, System, clock::sleep};
use actix_bully::{
    Group,
    agent::{BullyAgent, BullyHandle, DrainingToken, Notice},
    elections::bully::Preemption,
    operate::{Operated, SocketGuard, serve_socket},
    protocol::{About, Timings},
    remote::{BridgeHandle, Peer, RemoteBridge},
    store::{FileStore, StoreIdentity},
    web::{Token, routes},
};
use actix_web::{App, HttpServer, dev::ServerHandle, rt, web};
use serde::de::DeserializeOwned;
use tempfile::TempDir;
use tokio::sync::oneshot;

const TOKEN: &str = "0123456789abcdef";
const SCORES: [(&str, i32); 4] = [("n1", 10), ("n2", 20), ("n3", 30), ("n4", 5)];

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
    hold: mpsc::Sender<mpsc::Sender<()>>,
}

impl Running {
    /// Makes the node's work last until all nodes end.
    pub(crate) fn hold_work(&self) {
        let (held, holding) = mpsc::channel();
        self.hold.send(held).unwrap();
        holding.recv().unwrap();
    }
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
        Self::start_as(false)
    }

    /// Starts three voters of a quorum, and the learner `n4`.
    pub(crate) fn start_quorum() -> Self {
        Self::start_as(true)
    }

    fn start_as(is_quorum: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("token"), format!("{TOKEN}\n")).unwrap();
        let (stop, stopped) = oneshot::channel();
        let (started, starting) = mpsc::channel();
        let path = folder.path().to_owned();
        let thread =
            thread::spawn(move || System::new().block_on(run(path, is_quorum, started, stopped)));
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

    pub(crate) fn wait_for_epoch(&self, epoch: u64) {
        for _ in 0..3_000 {
            let mut voters = self.all.values().map(|node| node.handle.voters());
            if voters.all(|voters| voters.is_some_and(|voters| voters.epoch == epoch)) {
                return;
            }
            thread::park_timeout(Duration::from_millis(10));
        }
        panic!("some do not know epoch {epoch}");
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

/// A worker that never reports the end of its work.
struct Worker;

impl Actor for Worker {
    type Context = Context<Self>;
}

impl Handler<Notice> for Worker {
    type Result = ();
    fn handle(&mut self, _: Notice, _: &mut Context<Self>) {}
}

/// The parts of a node, which the node needs while it runs.
struct Parts {
    handle: BullyHandle,
    bridge: BridgeHandle,
    _socket: SocketGuard,
    servers: [ServerHandle; 2],
    hold: mpsc::Receiver<mpsc::Sender<()>>,
}

async fn run(
    folder: PathBuf,
    is_quorum: bool,
    started: mpsc::Sender<BTreeMap<&'static str, Running>>,
    mut stopped: oneshot::Receiver<()>,
) {
    let mut all = BTreeMap::new();
    let mut parts: Vec<Parts> = Vec::new();
    for (name, score) in SCORES.into_iter().take(if is_quorum { 4 } else { 3 }) {
        let (node, its) = start(name, score, is_quorum, &folder);
        for other in &parts {
            let address = its.bridge.local_addr().unwrap().to_string();
            other.bridge.add_peer(Peer::new(name, &address)).unwrap();
            let address = other.bridge.local_addr().unwrap().to_string();
            its.bridge
                .add_peer(Peer::new(other.handle.id().as_str(), &address))
                .unwrap();
        }
        all.insert(name, node);
        parts.push(its);
    }
    settle(&parts, is_quorum).await;
    started.send(all).unwrap();
    let mut held: Vec<(actix::Addr<Worker>, DrainingToken)> = Vec::new();
    while stopped.try_recv() == Err(oneshot::error::TryRecvError::Empty) {
        for node in &parts {
            if let Ok(told) = node.hold.try_recv() {
                let worker = Worker.start();
                let token = node.handle.subscribe_draining(worker.clone().recipient());
                held.push((worker, token.unwrap()));
                sleep(Duration::from_millis(20)).await;
                told.send(()).unwrap();
            }
        }
        sleep(Duration::from_millis(5)).await;
    }
    for node in parts {
        for server in node.servers {
            server.stop(false).await;
        }
        node.bridge.stop();
    }
}

/// Waits until all nodes are linked, and `n3` leads.
async fn settle(parts: &[Parts], is_quorum: bool) {
    while !parts.iter().all(is_linked) {
        sleep(Duration::from_millis(5)).await;
    }
    if is_quorum {
        // Until now `n3` was the only eligible voter: see `elect`.
        for (node, (_, score)) in parts.iter().zip(SCORES) {
            node.handle.set_score(score).unwrap();
        }
        while !parts.iter().all(|node| knows_scores(&node.handle)) {
            sleep(Duration::from_millis(5)).await;
        }
    }
}

fn is_linked(node: &Parts) -> bool {
    let leader = node.handle.leader();
    let report = Operated::new(&node.handle).bridge(&node.bridge).report();
    let peers = report.bridge.unwrap().peers;
    leader.is_some_and(|leader| leader.id.as_str() == "n3")
        && peers
            .iter()
            .all(|peer| peer.link == "linked" && peer.agents == 1)
}

fn knows_scores(handle: &BullyHandle) -> bool {
    let report = Operated::new(handle).report();
    SCORES.iter().all(|(name, score)| {
        let mut members = report.agents.iter().flat_map(|agent| &agent.members);
        let member = members.find(|member| member.agent.as_str() == *name);
        member.is_some_and(|member| member.score == Some((*score).into()))
    })
}

fn elect(name: &str, score: i32, is_quorum: bool, group: &Group, folder: &Path) -> BullyHandle {
    let mut agent = BullyAgent::builder(name).timings(Timings::lan());
    if is_quorum {
        agent = agent.quorum(["n1", "n2", "n3"]).learner();
    }
    // The first linked voter would be elected first, and `n1` and `n2` never give way. So they get their score when
    // `n3` leads.
    agent = if is_quorum && name != "n3" {
        agent.ineligible()
    } else {
        agent.score(score)
    };
    let agent = agent.preemption(if name == "n3" && is_quorum {
        // The promises of the voters must end first.
        Preemption::After(Duration::from_secs(1))
    } else if name == "n3" {
        Preemption::Immediately
    } else {
        Preemption::Never
    });
    let agent = agent.join(group);
    let agent = if name == "n1" {
        agent.about("http://10.0.0.1:8080")
    } else {
        agent
    };
    if is_quorum {
        let identity = StoreIdentity {
            cluster: "trio".parse().unwrap(),
            group: "orders".parse().unwrap(),
            node: name.parse().unwrap(),
        };
        let votes = FileStore::create(folder.join(format!("{name}.vote")), identity).unwrap();
        agent.store(votes).start().unwrap()
    } else {
        agent.start().unwrap()
    }
}

fn start(name: &'static str, score: i32, is_quorum: bool, folder: &Path) -> (Running, Parts) {
    let group = Group::new("orders").unwrap();
    let bridge = RemoteBridge::builder(name)
        .listen("127.0.0.1:0")
        .carry(&group);
    let bridge = bridge.start().unwrap();
    let handle = elect(name, score, is_quorum, &group, folder);
    let node = Operated::new(&handle).bridge(&bridge);
    let path = folder.join(format!("{name}.sock"));
    let socket = serve_socket(&path, node.clone()).unwrap();
    let plain = routes(node);
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
    let (hold, holding) = mpsc::channel();
    let running = Running {
        handle: handle.clone(),
        bridge: bridge.local_addr().unwrap().to_string(),
        url,
        url_without_commands,
        socket: path,
        hold,
    };
    let parts = Parts {
        handle,
        bridge,
        _socket: socket,
        servers: [plain, guarded],
        hold: holding,
    };
    (running, parts)
}
