//! The real API server of Kubernetes on Debian's etcd: its files are in a temporary folder, it listens at free ports,
//! and it ends with its test.
//!
//! `KUBE_APISERVER` names its program. The default is the program that `.ci/soak kubernetes` builds in the cache
//! folder. Without a program, the tests of the API server print a line and are skipped.
#![expect(
    clippy::disallowed_methods,
    reason = "a deadline of real time, for another process"
)]

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::Instant,
};

use actix_bully::register::KubernetesRegister;
use actix_bully_database_tests::{free_port, stopped};
use actix_bully_tls_tests::Authority;
use tempfile::TempDir;

use crate::{DEADLINE, etcd::Etcd, rounds::StoreServer, wire::Wire};

/// The version of the API server that is tested. The program in the cache folder has it in its name.
pub const VERSION: &str = "v1.36.3";

/// An etcd, and one or several API servers on it.
#[derive(Debug)]
pub struct Cluster {
    etcd: Etcd,
    servers: Vec<ApiServer>,
    folder: TempDir,
}

/// One API server.
#[derive(Debug)]
pub struct ApiServer {
    process: Child,
    program: PathBuf,
    arguments: Vec<String>,
    port: u16,
    /// The wire between the API server and its etcd.
    wire: Wire,
    log: PathBuf,
}

/// A user of the cluster, and its token.
#[derive(Clone, Copy, Debug)]
pub enum User {
    /// A user with every right.
    Admin,
    /// A user without rights, until a test gives it a Role.
    Plain,
}

impl User {
    const fn token(self) -> &'static str {
        match self {
            Self::Admin => "admin-token",
            Self::Plain => "plain-token",
        }
    }
}

/// Returns the path of the program if the file exists. Otherwise prints how to build it.
pub fn program() -> Option<PathBuf> {
    let built = || {
        let cache = env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
        let cache = cache.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cache")))?;
        Some(cache.join(format!("actix-bully/kube-apiserver-{VERSION}")))
    };
    let named = env::var_os("KUBE_APISERVER").map(PathBuf::from);
    let found = named.or_else(built).filter(|path| path.exists());
    if found.is_none() {
        eprintln!("skipped: there is no API server; run `.ci/soak kubernetes`, which builds it");
    }
    found
}

impl Cluster {
    /// Starts one API server, and waits until it works. Returns `None` if the program is missing.
    pub fn start() -> Option<Self> {
        Self::of(1)
    }

    /// Starts `number` API servers on one etcd. Returns `None` if the program is missing.
    pub fn of(number: usize) -> Option<Self> {
        let program = program()?;
        let folder = TempDir::with_prefix("kubernetes-").expect("a temporary folder can be made");
        let authority = Authority::new("kubernetes");
        let leaf = authority.node("localhost");
        for (name, text) in [
            ("ca.pem", &*authority.pem),
            ("server.pem", &leaf.certificate),
            ("server.key", &leaf.key),
            (
                "tokens.csv",
                "admin-token,admin,1,system:masters\nplain-token,plain,2\n",
            ),
        ] {
            fs::write(folder.path().join(name), text).expect("it can be written");
        }
        // The server signs the tokens of pods with this key, which must be an RSA or ECDSA key.
        let key = folder.path().join("accounts.key");
        let made = Command::new("openssl")
            .args(["genrsa", "-out"])
            .arg(key)
            .output();
        assert!(
            made.is_ok_and(|made| made.status.success()),
            "openssl is there"
        );
        let etcd = Etcd::start();
        let servers = (0..number)
            .map(|number| ApiServer::run(&program, folder.path(), &etcd, number))
            .collect();
        let cluster = Self {
            etcd,
            servers,
            folder,
        };
        for server in &cluster.servers {
            server.wait_until_ready(&cluster);
        }
        Some(cluster)
    }

    /// Opens a register for the user, in the namespace `default`.
    pub fn open(&self, user: User) -> KubernetesRegister {
        let file = self.kubeconfig(user.token(), &self.address(0));
        let builder = KubernetesRegister::builder().kubeconfig_file(file);
        builder.open().expect("the kubeconfig is right")
    }

    /// Writes a kubeconfig that names the server at `at` and this token, and returns its path.
    pub fn kubeconfig(&self, token: &str, at: &str) -> PathBuf {
        let name = format!("{token}-{}", at.replace(['.', ':'], "-"));
        let path = self.folder.path().join(name);
        self.write_kubeconfig(&path, token, at);
        path
    }

    /// Writes such a kubeconfig into the file `path`.
    pub fn write_kubeconfig(&self, path: &Path, token: &str, at: &str) {
        let authority = self.folder.path().join("ca.pem");
        let text = format!(
            "apiVersion: v1
kind: Config
current-context: it
contexts: [{{name: it, context: {{cluster: it, user: it}}}}]
clusters: [{{name: it, cluster: {{server: 'https://{at}', tls-server-name: localhost, certificate-authority: '{}'}}}}]
users: [{{name: it, user: {{token: {token}}}}}]
",
            authority.display()
        );
        let new = path.with_extension("new");
        fs::write(&new, text).expect("it can be written");
        fs::rename(new, path).expect("it can be replaced");
    }

    /// Returns the address of an API server, by its number.
    pub fn address(&self, server: usize) -> String {
        format!("127.0.0.1:{}", self.servers[server].port)
    }

    /// Returns the etcd of the cluster.
    pub fn etcd(&self) -> &Etcd {
        &self.etcd
    }

    /// Returns an API server, by its number.
    pub fn server(&mut self, server: usize) -> &mut ApiServer {
        &mut self.servers[server]
    }

    /// Sends a request of an administrator to the first API server, and returns the status and the body of the
    /// answer.
    pub fn ask(&self, method: &str, path: &str, body: &str) -> (u16, String) {
        self.ask_at(0, method, path, body)
    }

    fn ask_at(&self, server: usize, method: &str, path: &str, body: &str) -> (u16, String) {
        let asked = Command::new("curl")
            .args(["--silent", "--max-time", "10", "--request", method])
            .arg("--cacert")
            .arg(self.folder.path().join("ca.pem"))
            .args(["--header", "Authorization: Bearer admin-token"])
            .args(["--header", "Content-Type: application/json"])
            // The server formats its answers for people if the client is curl, so the request names another client.
            .args(["--user-agent", "tests"])
            .args(["--data", body, "--write-out", "\n%{http_code}"])
            .arg(format!(
                "https://localhost:{}{path}",
                self.servers[server].port
            ))
            .output()
            .expect("curl is there");
        let said = String::from_utf8_lossy(&asked.stdout).into_owned();
        let (body, status) = said.rsplit_once('\n').unwrap_or(("", "0"));
        (status.parse().unwrap_or(0), body.to_owned())
    }

    /// Sends a request as [`ask`](Self::ask) does, and fails the test unless it succeeds.
    pub fn done(&self, method: &str, path: &str, body: &str) -> String {
        let (status, said) = self.ask(method, path, body);
        assert!(
            (200..300).contains(&status),
            "{method} {path}: {status} {said}"
        );
        said
    }

    /// Returns the number of requests for Leases that the first API server has answered, by its own metrics.
    pub fn operations(&self) -> Option<i64> {
        let (_, said) = self.ask("GET", "/metrics", "");
        let counts = said.lines().filter(|line| {
            line.starts_with("apiserver_request_total") && line.contains("resource=\"leases\"")
        });
        let counts = counts.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok());
        #[expect(
            clippy::cast_possible_truncation,
            clippy::as_conversions,
            reason = "a count"
        )]
        Some(counts.sum::<f64>() as i64)
    }

    /// Gives the user `plain` a Role with these verbs on Leases. An empty list takes all rights away.
    pub fn may(&self, verbs: &[&str]) {
        let verbs: Vec<_> = verbs.iter().map(|verb| format!("{verb:?}")).collect();
        let rules = if verbs.is_empty() {
            String::from("[]")
        } else {
            format!(
                r#"[{{"apiGroups":["coordination.k8s.io"],"resources":["leases"],"verbs":[{}]}}]"#,
                verbs.join(",")
            )
        };
        let role = format!(
            r#"{{"apiVersion":"{RBAC}","kind":"Role","metadata":{{"name":"jobs"}},"rules":{rules}}}"#
        );
        let binding = format!(
            r#"{{"apiVersion":"{RBAC}","kind":"RoleBinding","metadata":{{"name":"jobs"}},"roleRef":{{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"jobs"}},"subjects":[{{"kind":"User","name":"plain","apiGroup":"rbac.authorization.k8s.io"}}]}}"#
        );
        let path = format!("/apis/{RBAC}/namespaces/default/roles");
        if self.ask("PUT", &format!("{path}/jobs"), &role).0 >= 300 {
            self.done("POST", &path, &role);
        }
        let path = format!("/apis/{RBAC}/namespaces/default/rolebindings");
        self.ask("POST", &path, &binding);
    }
}

const RBAC: &str = "rbac.authorization.k8s.io/v1";

/// Path of the Leases in the namespace `default`.
pub const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/default/leases";

impl ApiServer {
    fn run(program: &Path, folder: &Path, etcd: &Etcd, number: usize) -> Self {
        let port = free_port();
        let wire = Wire::to(etcd.endpoint().trim_start_matches("http://"));
        let file = |name: &str| folder.join(name).display().to_string();
        let arguments = vec![
            format!("--etcd-servers=http://{}", wire.address()),
            "--bind-address=0.0.0.0".to_owned(),
            "--advertise-address=127.0.0.1".to_owned(),
            format!("--secure-port={port}"),
            format!("--tls-cert-file={}", file("server.pem")),
            format!("--tls-private-key-file={}", file("server.key")),
            "--endpoint-reconciler-type=none".to_owned(),
            format!("--service-account-key-file={}", file("accounts.key")),
            format!(
                "--service-account-signing-key-file={}",
                file("accounts.key")
            ),
            "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
            "--service-cluster-ip-range=10.0.0.0/24".to_owned(),
            "--authorization-mode=RBAC".to_owned(),
            format!("--token-auth-file={}", file("tokens.csv")),
        ];
        let log = folder.join(format!("server-{number}.log"));
        Self {
            process: spawn(program, &arguments, &log),
            program: program.to_owned(),
            arguments,
            port,
            wire,
            log,
        }
    }

    fn wait_until_ready(&self, cluster: &Cluster) {
        let begun = Instant::now();
        let number = cluster.servers.iter().position(|it| it.port == self.port);
        while cluster.ask_at(number.unwrap_or(0), "GET", "/readyz", "").1 != "ok" {
            if begun.elapsed() > DEADLINE {
                let log = fs::read_to_string(&self.log).unwrap_or_default();
                let end = log.len().saturating_sub(4_000);
                panic!("the API server is not ready:\n{}", &log[end..]);
            }
            thread::yield_now();
        }
    }

    /// Ends the API server by `kill -9`.
    pub fn crash(&mut self) {
        self.process.kill().expect("it can be killed");
        self.process.wait().expect("a child can be waited for");
    }

    /// Starts the API server again, and does not wait until it answers.
    pub fn restart(&mut self) {
        self.process = spawn(&self.program, &self.arguments, &self.log);
    }

    /// Returns the wire between the API server and its etcd.
    pub fn wire(&self) -> &Wire {
        &self.wire
    }
}

impl Drop for ApiServer {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

impl StoreServer for Cluster {
    fn address(&self) -> String {
        Self::address(self, 0)
    }

    fn store(&self, at: &str) -> String {
        let file = self.kubeconfig(User::Admin.token(), at);
        format!("kubernetes:{}", file.display())
    }

    fn crash(&mut self) {
        self.server(0).crash();
    }

    fn restart(&mut self) {
        self.server(0).restart();
    }

    fn freeze(&self) {
        stopped::freeze(self.servers[0].process.id());
    }

    fn resume(&self) {
        stopped::resume(self.servers[0].process.id());
    }
}

/// Returns the name of the object that has a key, as `kubectl` would show it.
pub fn object_of(cluster: &Cluster, key: &str) -> Option<String> {
    let list = cluster.done("GET", LEASES, "");
    let at = list.find(&format!("\"actix-bully/key\":\"{key}\""))?;
    // In the metadata of each item the name stands before the annotations.
    let before = &list[..at];
    let name = before.rfind("\"name\":\"")? + "\"name\":\"".len();
    list[name..].split('"').next().map(str::to_owned)
}

fn spawn(program: &Path, arguments: &[String], log: &Path) -> Child {
    let log = fs::OpenOptions::new().create(true).append(true).open(log);
    Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log.expect("a log can be made"))
        .spawn()
        .expect("the API server can be started")
}
