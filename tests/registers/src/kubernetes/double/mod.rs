//! An API server in the process of a test.
//!
//! ```text
//!   KubernetesRegister ──▶ http.rs: a request ──▶ script.rs: the test's plan ──▶ store.rs: the Leases
//!                             ▲                                                             │
//!                             └──────────────── watch.rs: what changes ◀────────────────────┘
//! ```
//!
//! Decided here: the questions that a test asks about the double, and the faults that a test orders. Without a fault
//! the double answers as the real API server does (`store.rs`).

mod http;
mod script;
mod status;
mod store;
mod watch;

use std::{
    collections::BTreeMap,
    fs,
    net::{SocketAddr, TcpListener},
    path::PathBuf,
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
};

use actix_bully::register::KubernetesRegister;
use actix_bully_tls_tests::{Leaf, attacker};
use futures::future::select;
use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    runtime,
    sync::{oneshot, watch as tokio_watch},
    task::{LocalSet, spawn_local},
};
use tokio_rustls::TlsAcceptor;

use script::FaultScript;
use store::{LeaseStore, StoreEvent};

pub use script::{KubeFault, KubeVerb};
pub use status::KubeStatus;
pub use store::WatchEnd;

/// The only namespace of the double.
pub const NAMESPACE: &str = "jobs";

/// A running double; see the [module](self). It ends when it is dropped.
#[derive(Debug)]
pub struct KubeDouble {
    shared: Arc<Shared>,
    address: SocketAddr,
    is_secure: bool,
    folder: TempDir,
    _ends: oneshot::Sender<()>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<DoubleState>,
    /// A number that grows when the open watches have to look for events.
    grown: tokio_watch::Sender<u64>,
    /// A number that grows when the held requests may go on.
    released: tokio_watch::Sender<u64>,
}

#[derive(Debug)]
struct DoubleState {
    store: LeaseStore,
    script: FaultScript,
    token: Option<String>,
    asked: BTreeMap<KubeVerb, usize>,
    connections: usize,
    watches: usize,
    is_frozen: bool,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, DoubleState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn grow(&self) {
        self.grown.send_modify(|grown| *grown += 1);
    }
}

impl KubeDouble {
    /// Starts a server without Leases, which accepts requests without a token.
    pub fn start() -> Self {
        Self::run(None)
    }

    /// Starts such a server over TLS, with this certificate.
    pub fn secure(leaf: &Leaf) -> Self {
        Self::run(Some(leaf))
    }

    fn run(leaf: Option<&Leaf>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        listener.set_nonblocking(true).expect("it may be asked");
        let address = listener.local_addr().expect("it has an address");
        let shared = Arc::new(Shared {
            state: Mutex::new(DoubleState {
                store: LeaseStore::new(),
                script: FaultScript::default(),
                token: None,
                asked: BTreeMap::new(),
                connections: 0,
                watches: 0,
                is_frozen: false,
            }),
            grown: tokio_watch::Sender::new(0),
            released: tokio_watch::Sender::new(0),
        });
        let tls = leaf.map(|leaf| TlsAcceptor::from(attacker::listener(leaf, Vec::new())));
        let (ends, ended) = oneshot::channel::<()>();
        let serving = Arc::clone(&shared);
        thread::spawn(move || {
            let runtime = runtime::Builder::new_current_thread().enable_all().build();
            let runtime = runtime.expect("a runtime can be built");
            LocalSet::new().block_on(&runtime, async {
                select(pin!(accept(listener, tls, serving)), ended).await;
            });
        });
        let double = Self {
            shared,
            address,
            is_secure: leaf.is_some(),
            folder: TempDir::with_prefix("double-").expect("a temporary folder can be made"),
            _ends: ends,
        };
        double.log_in(&json!({}), &json!({}));
        double
    }

    /// Returns the path of the kubeconfig that [`log_in`](Self::log_in) wrote last.
    pub fn kubeconfig(&self) -> PathBuf {
        self.folder.path().join("config")
    }

    /// Returns a path in the folder of the kubeconfig.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes the kubeconfig. `user` and `cluster` are the fields of its user and more fields of its cluster.
    pub fn log_in(&self, user: &Value, cluster: &Value) {
        let mut cluster = cluster.clone();
        let scheme = if self.is_secure {
            "https://localhost"
        } else {
            "http://127.0.0.1"
        };
        if cluster["server"].is_null() {
            cluster["server"] = json!(format!("{scheme}:{}", self.address.port()));
        }
        let config = json!({
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "here",
            "contexts": [{"name": "here", "context": {"cluster": "it", "user": "me", "namespace": NAMESPACE}}],
            "clusters": [{"name": "it", "cluster": cluster}],
            "users": [{"name": "me", "user": user}],
        });
        fs::write(self.kubeconfig(), config.to_string()).expect("it can be written");
    }

    /// Accepts only requests with this token from now on.
    pub fn require_token(&self, token: &str) {
        self.shared.state().token = Some(token.to_owned());
    }

    /// Opens a register on this server.
    pub fn open(&self) -> KubernetesRegister {
        let builder = KubernetesRegister::builder().kubeconfig_file(self.kubeconfig());
        builder.open().expect("the kubeconfig is right")
    }

    /// Plans a fault for the next `count` requests of the given verbs.
    pub fn plan(&self, verbs: &[KubeVerb], count: usize, fault: KubeFault) {
        self.shared.state().script.plan(verbs, count, fault);
    }

    /// Drops the faults that have not happened yet.
    pub fn mend(&self) {
        self.shared.state().script.clear();
    }

    /// Holds all requests back until [`resume`](Self::resume) is called.
    pub fn freeze(&self) {
        let mut state = self.shared.state();
        state.is_frozen = true;
        state
            .script
            .plan(&KubeVerb::ALL, usize::MAX, KubeFault::Held);
    }

    /// Answers again, also the requests that were held back.
    pub fn resume(&self) {
        self.mend();
        self.shared.state().is_frozen = false;
        self.release();
    }

    /// Lets the held requests go on.
    pub fn release(&self) {
        self.shared.released.send_modify(|released| *released += 1);
        self.shared.grow();
    }

    /// Returns the number of requests of a verb.
    pub fn asked(&self, verb: KubeVerb) -> usize {
        let state = self.shared.state();
        state.asked.get(&verb).copied().unwrap_or_default()
    }

    /// Returns the number of requests of all verbs.
    pub fn asked_at_all(&self) -> usize {
        self.shared.state().asked.values().sum()
    }

    /// Returns the number of connections that clients have made.
    pub fn connections(&self) -> usize {
        self.shared.state().connections
    }

    /// Returns the number of open watches.
    pub fn watches(&self) -> usize {
        self.shared.state().watches
    }

    /// Ends all open watches.
    pub fn end_watches(&self, end: WatchEnd) {
        self.tell(|_| StoreEvent::End(end));
    }

    /// Sends the present version to all open watches, as a bookmark.
    pub fn bookmark(&self) {
        self.tell(|store| StoreEvent::Bookmark(store.revision()));
    }

    fn tell(&self, event: impl FnOnce(&LeaseStore) -> StoreEvent) {
        let mut state = self.shared.state();
        let event = event(&state.store);
        state.store.events.push(event);
        drop(state);
        self.shared.grow();
    }

    /// Forgets all versions before the present one, and the later pages of lists that have begun.
    pub fn forget(&self) {
        self.shared.state().store.forget();
    }

    /// Returns the Lease with this object name.
    pub fn lease(&self, name: &str) -> Option<Value> {
        self.shared.state().store.get(name).ok().cloned()
    }

    /// Returns the Lease that keeps this key.
    pub fn lease_of(&self, key: &str) -> Option<Value> {
        let state = self.shared.state();
        let mut all = state.store.all();
        let annotation =
            |lease: &&Value| lease["metadata"]["annotations"]["actix-bully/key"] == key;
        all.find(annotation).cloned()
    }

    /// Returns the name of the object that keeps this key.
    pub fn name_of(&self, key: &str) -> String {
        let lease = self.lease_of(key).expect("it was written");
        let name = lease["metadata"]["name"].as_str();
        name.expect("it has a name").to_owned()
    }

    /// Makes a Lease, as another client does.
    pub fn create(&self, lease: Value) {
        self.write(|store| store.create(lease));
    }

    /// Changes the Lease with this name, as another client does.
    pub fn edit(&self, name: &str, change: impl FnOnce(&mut Value)) {
        self.write(|store| {
            let mut lease = store.get(name)?.clone();
            change(&mut lease);
            store.update(name, lease)
        });
    }

    /// Deletes the Lease with this name, as another client does.
    pub fn delete(&self, name: &str) {
        self.write(|store| store.delete(name, &Value::Null));
    }

    fn write(&self, work: impl FnOnce(&mut LeaseStore) -> Result<Value, KubeStatus>) {
        let done = work(&mut self.shared.state().store);
        done.expect("another client may");
        self.shared.grow();
    }
}

async fn accept(listener: TcpListener, tls: Option<TlsAcceptor>, shared: Arc<Shared>) {
    let listener = tokio::net::TcpListener::from_std(listener).expect("it can be waited for");
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            continue;
        };
        shared.state().connections += 1;
        let (shared, tls) = (Arc::clone(&shared), tls.clone());
        spawn_local(async move {
            match tls {
                None => serve(stream, shared).await,
                Some(tls) => {
                    if let Ok(stream) = tls.accept(stream).await {
                        serve(stream, shared).await;
                    }
                }
            }
        });
    }
}

async fn serve(stream: impl AsyncRead + AsyncWrite + Unpin, shared: Arc<Shared>) {
    let service = service_fn(|request| http::answer(Arc::clone(&shared), request));
    let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    // The connection ends when its client or a test closes it. The resulting error does not matter.
    connection.await.ok();
}
