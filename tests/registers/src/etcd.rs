//! An etcd for the tests: its data is in a temporary folder, it listens at free ports, and it ends with the tests.
//!
//! Its program is that of Debian's package `etcd-server`, or the program that `ETCD` names.
#![expect(
    clippy::disallowed_methods,
    reason = "a deadline of real time, for another process"
)]

use std::{
    env,
    ffi::OsString,
    fs,
    io::{Read as _, Write as _},
    net::TcpStream,
    process::{Child, Command, Stdio},
    thread,
    time::Instant,
};

use actix_bully::register::{EtcdBuilder, EtcdRegister, Register};
use actix_bully_database_tests::{free_port, stopped};
use actix_bully_tls_tests::Leaf;
use tempfile::TempDir;

use crate::{DEADLINE, block_on, key, rounds::StoreServer};

/// A running server.
#[derive(Debug)]
pub struct Etcd {
    process: Child,
    folder: TempDir,
    arguments: Vec<OsString>,
    endpoint: String,
    log: fs::File,
}

/// The settings of one member of a cluster.
struct Member<'a> {
    name: &'a str,
    /// The URL at which the other members reach this member.
    peer: &'a str,
    /// The list of all members, an argument of each member.
    cluster: &'a str,
}

/// Arguments of `etcdctl` that give the role `jobs` its rights. A user with this role may use all registers.
pub const JOBS_MAY_WRITE: &[&str] = &[
    "role",
    "grant-permission",
    "jobs",
    "--prefix=true",
    "readwrite",
    "actix-bully/",
];

impl Etcd {
    /// Makes users and roles. The server does not ask for a login yet.
    pub fn make_users(&self) {
        for words in [
            &["user", "add", "root:root"][..],
            &["role", "add", "jobs"],
            JOBS_MAY_WRITE,
            &["user", "add", "jobs:sesame"],
            &["user", "grant-role", "jobs", "jobs"],
            &["role", "add", "one"],
            &[
                "role",
                "grant-permission",
                "one",
                "readwrite",
                "actix-bully/group/one",
            ],
            &[
                "role",
                "grant-permission",
                "one",
                "read",
                "actix-bully/group/holder",
            ],
            &["user", "add", "one:one"],
            &["user", "grant-role", "one", "one"],
        ] {
            self.ctl(words);
        }
    }

    /// Starts a new server.
    pub fn start() -> Self {
        Self::at("127.0.0.1")
    }

    /// Starts a new server that listens at this address.
    pub fn at(address: &str) -> Self {
        let server = Self::run(&format!("http://{address}"), &[]);
        server.wait_until_it_works(&EtcdRegister::builder([server.endpoint()]));
        server
    }

    /// Starts a new server with more arguments, and does not wait until it answers.
    pub fn with(arguments: &[&str]) -> Self {
        Self::run("http://127.0.0.1", arguments)
    }

    /// Starts a new server with TLS and this certificate, which names `localhost`.
    pub fn secure(leaf: &Leaf) -> Self {
        Self::secured(leaf, None)
    }

    /// Starts a new server with TLS that also asks each client for a certificate. `clients` has the authorities of
    /// these certificates, in PEM.
    pub fn mutual(leaf: &Leaf, clients: &str) -> Self {
        Self::secured(leaf, Some(clients))
    }

    fn secured(leaf: &Leaf, clients: Option<&str>) -> Self {
        let folder = TempDir::with_prefix("etcd-").expect("a temporary folder can be made");
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::write(&path, text).expect("it can be written");
            path.display().to_string()
        };
        let (certificate, key) = (file("pem", &leaf.certificate), file("key", &leaf.key));
        let mut more = vec!["--cert-file", &*certificate, "--key-file", &*key];
        let clients = clients.map(|pem| file("clients", pem));
        if let Some(clients) = &clients {
            more.extend(["--client-cert-auth", "--trusted-ca-file", clients]);
        }
        Self::run_in(folder, "https://localhost", &more)
    }

    /// Starts the three members of one cluster, and does not wait until they answer.
    pub fn cluster() -> [Self; 3] {
        let names = ["one", "two", "three"];
        let peers = names.map(|name| (name, format!("http://127.0.0.1:{}", free_port())));
        let cluster = peers.clone().map(|(name, peer)| format!("{name}={peer}"));
        let cluster = cluster.join(",");
        peers.map(|(name, peer)| {
            let folder = TempDir::with_prefix("etcd-").expect("a temporary folder can be made");
            let member = Member {
                name,
                peer: &peer,
                cluster: &cluster,
            };
            // With short timings the cluster soon replaces a leader that is gone.
            let more = ["--heartbeat-interval", "50", "--election-timeout", "500"];
            Self::run_as(&member, folder, "http://127.0.0.1", &more)
        })
    }

    fn run(host: &str, more: &[&str]) -> Self {
        let folder = TempDir::with_prefix("etcd-").expect("a temporary folder can be made");
        Self::run_in(folder, host, more)
    }

    fn run_in(folder: TempDir, host: &str, more: &[&str]) -> Self {
        let peer = format!("http://127.0.0.1:{}", free_port());
        let alone = Member {
            name: "one",
            peer: &peer,
            cluster: &format!("one={peer}"),
        };
        Self::run_as(&alone, folder, host, more)
    }

    fn run_as(member: &Member<'_>, folder: TempDir, host: &str, more: &[&str]) -> Self {
        let endpoint = format!("{host}:{}", free_port());
        let listens = endpoint.replace("localhost", "127.0.0.1");
        let mut arguments: Vec<OsString> =
            ["--name", member.name, "--data-dir"].map(Into::into).into();
        arguments.push(folder.path().join("data").into());
        for (name, value) in [
            ("--listen-client-urls", &*listens),
            ("--advertise-client-urls", &endpoint),
            ("--listen-peer-urls", member.peer),
            ("--initial-advertise-peer-urls", member.peer),
            ("--initial-cluster", member.cluster),
            ("--bcrypt-cost", "4"),
            ("--log-level", "warn"),
        ] {
            arguments.extend([name.into(), value.into()]);
        }
        arguments.extend(more.iter().map(Into::into));
        let log = fs::File::create(folder.path().join("log")).expect("a log can be made");
        Self {
            process: spawn(&arguments, &log),
            folder,
            arguments,
            endpoint,
            log,
        }
    }

    /// Returns the URL for clients.
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// Opens a register on the server.
    pub fn open(&self) -> EtcdRegister {
        let register = EtcdRegister::builder([self.endpoint()]).open();
        register.expect("the endpoint is right")
    }

    /// Waits until the server answers a register with these settings.
    pub fn wait_until_it_works(&self, builder: &EtcdBuilder) {
        let register = builder.clone().open().expect("the settings are right");
        let begun = Instant::now();
        while let Err(error) = block_on(register.read(&key("test/ready"))) {
            if begun.elapsed() > DEADLINE {
                let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
                panic!("the server does not answer: {error}\n{log}");
            }
            thread::yield_now();
        }
    }

    /// Ends the server by `kill -9`.
    pub fn crash(&mut self) {
        self.process.kill().expect("it can be killed");
        self.process.wait().expect("a child can be waited for");
    }

    /// Starts the server again, and does not wait until it answers.
    pub fn restart(&mut self) {
        self.process = spawn(&self.arguments, &self.log);
    }

    /// Returns the number of requests that the server has answered, by its own metrics.
    pub fn operations(&self) -> Option<i64> {
        let address = self.endpoint().trim_start_matches("http://");
        let mut stream = TcpStream::connect(address).ok()?;
        stream
            .write_all(b"GET /metrics HTTP/1.0\r\nConnection: close\r\n\r\n")
            .ok()?;
        let mut said = String::new();
        stream.read_to_string(&mut said).ok()?;
        let handled = said
            .lines()
            .filter(|line| line.starts_with("grpc_server_handled_total"));
        let numbers = handled.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok());
        #[expect(
            clippy::cast_possible_truncation,
            clippy::as_conversions,
            reason = "a count"
        )]
        Some(numbers.sum::<f64>() as i64)
    }

    /// Runs `etcdctl` with these arguments, fails the test if it fails, and returns its output.
    pub fn ctl(&self, words: &[&str]) -> String {
        let mut ctl = Command::new("etcdctl");
        ctl.env("ETCDCTL_API", "3")
            .args(["--endpoints", self.endpoint()])
            .args(words);
        let done = ctl.output().expect("Debian's package etcd-client is there");
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "etcdctl {words:?}: {said}");
        String::from_utf8_lossy(&done.stdout).into_owned()
    }
}

impl StoreServer for Etcd {
    fn address(&self) -> String {
        self.endpoint().trim_start_matches("http://").to_owned()
    }

    fn store(&self, at: &str) -> String {
        format!("etcd:http://{at}")
    }

    fn crash(&mut self) {
        Self::crash(self);
    }

    fn restart(&mut self) {
        Self::restart(self);
    }

    fn freeze(&self) {
        stopped::freeze(self.process.id());
    }

    fn resume(&self) {
        stopped::resume(self.process.id());
    }
}

impl Drop for Etcd {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

fn spawn(arguments: &[OsString], log: &fs::File) -> Child {
    let program = env::var_os("ETCD").unwrap_or_else(|| "etcd".into());
    Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log.try_clone().expect("a log can be shared"))
        .spawn()
        .expect("there is no etcd: install Debian's package etcd-server, or set ETCD")
}
