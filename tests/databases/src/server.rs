//! A PostgreSQL server for the tests: its data and its socket are in a temporary folder, and it ends with the tests.
//!
//! The programs of the server are those of Debian's package `postgresql`, or those in the folder that `POSTGRES_BIN`
//! names. A PostgreSQL server refuses to run as root. If the tests run as root, the server runs as the user
//! `postgres`, which the package makes.

use std::{
    env, fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex, Weak},
    thread,
    time::Instant,
};

use postgres::{Client, Config, NoTls};
use tempfile::TempDir;

use crate::{DEADLINE, ports::free_port, stopped};

/// A running server. It ends when the last test drops it.
#[derive(Debug)]
pub struct Server {
    process: Child,
    programs: Programs,
    folder: TempDir,
    /// The settings of this server alone, as `name=value`.
    settings: Vec<String>,
    /// The port in the name of the socket. A server with a setting for TCP listens at this port, too.
    port: u16,
}

/// The server that the tests of this process share.
static SHARED: Mutex<Weak<Server>> = Mutex::new(Weak::new());

impl Server {
    /// Returns the shared server, and starts it if it does not run.
    pub fn shared() -> Arc<Self> {
        let mut shared = SHARED.lock().expect("a server has failed to start");
        if let Some(running) = shared.upgrade() {
            return running;
        }
        let server = Arc::new(Self::start());
        *shared = Arc::downgrade(&server);
        server
    }

    /// Starts a new server, for a test that stops it.
    pub fn start() -> Self {
        Self::prepared(USUAL_PORT, |_| Vec::new())
    }

    /// Starts a new server that also listens by TCP, on a free port.
    pub fn on_tcp() -> Self {
        Self::with(|_| Vec::new())
    }

    /// Starts a new server that also listens by TCP, with more settings, `name=value` each. `prepare` returns the
    /// settings. It gets the data folder of the server, which is complete, and may change the files there.
    pub fn with(prepare: impl FnOnce(&Path) -> Vec<String>) -> Self {
        Self::prepared(free_port(), |data| {
            // If a setting occurs twice, PostgreSQL takes the last value.
            let mut settings = vec![LISTEN.to_owned()];
            settings.extend(prepare(data));
            settings
        })
    }

    /// Starts a new server that listens at every address, on a free port, and trusts every client from `addresses`.
    /// It is for a test that has a network of its own.
    pub fn trusting(addresses: &str) -> Self {
        Self::with(|data| {
            let file = data.join("pg_hba.conf");
            let rules = fs::read_to_string(&file).expect("initdb has made it");
            let rules = format!("{rules}host all all {addresses} trust\n");
            fs::write(&file, rules).expect("it can be written");
            vec![String::from("listen_addresses=*")]
        })
    }

    /// Starts a standby of this server, which must listen by TCP. The standby takes no writes before it is
    /// [promoted](Self::promote).
    #[must_use = "it ends when it is dropped"]
    pub fn standby(&self) -> Self {
        let primary = format!("host=127.0.0.1 port={} user=postgres", self.port);
        Self::made(free_port(), |programs, data| {
            let mut backup = programs.command("pg_basebackup");
            backup.args(["--checkpoint=fast", "--no-sync", "--write-recovery-conf"]);
            backup.args(["--dbname", &primary, "--pgdata"]).arg(data);
            succeed(backup);
            vec![LISTEN.to_owned()]
        })
    }

    /// Turns a standby into a primary.
    pub fn promote(&self) {
        let mut promote = self.programs.command("pg_ctl");
        promote.args(["promote", "--silent", "--pgdata"]);
        promote.arg(self.folder.path().join("data"));
        succeed(promote);
    }

    fn prepared(port: u16, prepare: impl FnOnce(&Path) -> Vec<String>) -> Self {
        Self::made(port, |programs, data| {
            let mut initdb = programs.command("initdb");
            initdb.args([
                "--auth=trust",
                "--no-sync",
                "--username=postgres",
                "--no-locale",
            ]);
            initdb.args(["--encoding=UTF8", "--pgdata"]).arg(data);
            succeed(initdb);
            prepare(data)
        })
    }

    fn made(port: u16, make: impl FnOnce(&Programs, &Path) -> Vec<String>) -> Self {
        let folder = TempDir::with_prefix("fence-").expect("a temporary folder can be made");
        let programs = Programs::find(folder.path());
        let data = folder.path().join("data");
        let settings = make(&programs, &data);
        let mut server = Self {
            process: run(&programs, folder.path(), port, &settings),
            programs,
            folder,
            settings,
            port,
        };
        server.wait_for_answer();
        server
    }

    /// Starts the server again after [`crash`](Self::crash).
    pub fn restart(&mut self) {
        self.process = run(
            &self.programs,
            self.folder.path(),
            self.port,
            &self.settings,
        );
        self.wait_for_answer();
    }

    /// Ends all processes of the server at once, as a loss of power does. The server sends no client a message
    /// before.
    pub fn crash(&mut self) {
        self.stop();
        self.process.wait().expect("a child can be waited for");
    }

    /// Stops all processes of the server where they stand, until [`resume`](Self::resume) is called.
    pub fn freeze(&self) {
        // A server that stands still starts no more processes, so the list of its children is complete afterwards.
        stopped::freeze(self.process.id());
        self.children().into_iter().for_each(stopped::freeze);
    }

    /// Lets all processes of the server run again.
    pub fn resume(&self) {
        self.children().into_iter().for_each(stopped::resume);
        stopped::resume(self.process.id());
    }

    /// Returns the address for clients of another library, as `key=value` pairs.
    pub fn address(&self) -> String {
        self.tcp_address(&self.folder.path().display().to_string())
    }

    /// Returns such an address for clients that connect by TCP, with this name of the host.
    pub fn tcp_address(&self, host: &str) -> String {
        let port = self.port;
        format!("host={host} port={port} user=postgres dbname=postgres")
    }

    /// Returns the port of the server. It listens there by TCP if it was started so.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Opens a new connection.
    pub fn connect(&self) -> Client {
        self.config()
            .connect(NoTls)
            .expect("the server accepts connections")
    }

    /// Returns the number of transactions that the server has ended. A transaction that ended a moment ago may be
    /// missing.
    pub fn operations(&self) -> Option<i64> {
        let counted = "SELECT sum(xact_commit + xact_rollback)::bigint FROM pg_stat_database";
        let row = self.connect().query_one(counted, &[]);
        row.ok().and_then(|row| row.try_get(0).ok())
    }

    fn config(&self) -> Config {
        let mut config = Config::new();
        config
            .host_path(self.folder.path())
            .port(self.port)
            .user("postgres")
            .dbname("postgres");
        // A statement that hangs makes the test fail at this time limit, so the test cannot hang.
        config.options(&format!("-c statement_timeout={}", DEADLINE.as_millis()));
        config
    }

    fn wait_for_answer(&mut self) {
        let begun = Instant::now();
        while let Err(error) = self.config().connect(NoTls) {
            let ended = self.process.try_wait().expect("a child can be asked");
            if ended.is_some() || begun.elapsed() > DEADLINE {
                let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
                panic!("the server does not answer: {error}\n{log}");
            }
            thread::yield_now();
        }
    }
}

impl Server {
    /// Stops the server through `pg_ctl`: a server that is killed leaves a piece of shared memory behind.
    fn stop(&mut self) {
        let mut stop = self.programs.command("pg_ctl");
        stop.args(["stop", "--mode=immediate", "--silent", "--pgdata"]);
        let stopped = stop.arg(self.folder.path().join("data")).status();
        if !stopped.is_ok_and(|status| status.success()) {
            drop(self.process.kill());
        }
    }

    /// Returns the child processes of the server: one for each client, and its helpers.
    fn children(&self) -> Vec<u32> {
        let server = self.process.id();
        let children = fs::read_to_string(format!("/proc/{server}/task/{server}/children"));
        let children = children.expect("this system lists the children of a process");
        let numbers = children.split_whitespace().map(str::parse);
        numbers.map(|number| number.expect("a number")).collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if matches!(self.process.try_wait(), Ok(None)) {
            self.resume();
            self.stop();
        }
        drop(self.process.wait());
    }
}

fn run(programs: &Programs, folder: &Path, port: u16, settings: &[String]) -> Child {
    let log = fs::File::create(folder.join("log")).expect("a log can be made");
    let mut postgres = programs.command("postgres");
    postgres
        .arg("-D")
        .arg(folder.join("data"))
        .arg("-k")
        .arg(folder)
        .args(["-p", &port.to_string()]);
    let usual = ["listen_addresses=", "fsync=off", "shared_buffers=16MB"];
    // If a setting occurs twice, PostgreSQL takes the last value.
    for setting in usual.into_iter().chain(settings.iter().map(|it| &**it)) {
        postgres.args(["-c", setting]);
    }
    postgres
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log);
    postgres.spawn().expect("postgres can be run")
}

/// The folder of the programs, and the user that runs them.
#[derive(Debug)]
struct Programs {
    folder: PathBuf,
    as_postgres: bool,
}

impl Programs {
    /// Finds the programs, and makes the user that runs them the owner of `data`.
    fn find(data: &Path) -> Self {
        let named = env::var_os("POSTGRES_BIN").map(PathBuf::from);
        let folder = named.or_else(newest).unwrap_or_else(|| {
            panic!("there is no PostgreSQL server: install Debian's package postgresql, or set POSTGRES_BIN")
        });
        let as_postgres = fs::metadata(data).expect("it is there").uid() == 0;
        if as_postgres {
            let given = Command::new("chown").arg("postgres").arg(data).status();
            let given = given.is_ok_and(|status| status.success());
            assert!(
                given,
                "root may not run a server, and there is no user postgres"
            );
        }
        Self {
            folder,
            as_postgres,
        }
    }

    fn command(&self, name: &str) -> Command {
        let program = self.folder.join(name);
        let mut command = if self.as_postgres {
            let mut command = Command::new("setpriv");
            command.args(["--reuid=postgres", "--regid=postgres", "--init-groups"]);
            command.arg(program);
            command
        } else {
            Command::new(program)
        };
        // The user `postgres` may not be allowed to read the folder of the tests.
        command.current_dir("/");
        command
    }
}

/// Runs a program to its end, and fails the test if the program fails.
fn succeed(mut program: Command) {
    let done = program.output().expect("it can be run");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{program:?}: {said}");
}

const LISTEN: &str = "listen_addresses=127.0.0.1";
/// The port of a server that has no setting for TCP.
const USUAL_PORT: u16 = 5432;

/// Returns the folder of the newest version among Debian's packages, which have a folder for each version.
fn newest() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").ok()?;
    let version = |entry: fs::DirEntry| entry.file_name().to_str()?.parse::<u32>().ok();
    let newest = versions.filter_map(|entry| version(entry.ok()?)).max()?;
    Some(format!("/usr/lib/postgresql/{newest}/bin").into())
}
