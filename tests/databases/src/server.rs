//! A PostgreSQL server of the tests' own: in a temporary folder, on a socket there, and ended with them.
//!
//! Its programs are those of Debian's package `postgresql`, or what is in the folder that `POSTGRES_BIN` names. A
//! server does not run as root: there it runs as the user `postgres`, whom that package makes.

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

/// A running server, for as long as any test holds it.
#[derive(Debug)]
pub struct Server {
    process: Child,
    programs: Programs,
    folder: TempDir,
    /// More than each server has, as `name=value`.
    settings: Vec<String>,
    /// By which the socket has its name, and where it listens if it is told to.
    port: u16,
}

/// The server that tests of this process share.
static SHARED: Mutex<Weak<Server>> = Mutex::new(Weak::new());

impl Server {
    /// The server that runs, or a new one.
    ///
    /// # Panics
    /// When the programs are missing, or it does not answer within the deadline.
    pub fn shared() -> Arc<Self> {
        let mut shared = SHARED.lock().expect("a server has failed to start");
        if let Some(running) = shared.upgrade() {
            return running;
        }
        let server = Arc::new(Self::start());
        *shared = Arc::downgrade(&server);
        server
    }

    /// A new server, for a test that stops it.
    ///
    /// # Panics
    /// As [`shared`](Self::shared).
    pub fn start() -> Self {
        Self::prepared(USUAL_PORT, |_| Vec::new())
    }

    /// A new server that listens by TCP as well, on a port of its own.
    ///
    /// # Panics
    /// As [`shared`](Self::shared).
    pub fn on_tcp() -> Self {
        Self::with(|_| Vec::new())
    }

    /// The same with more settings, `name=value` each. The function is given the folder of its data, which is complete
    /// and can be changed.
    ///
    /// # Panics
    /// As [`shared`](Self::shared).
    pub fn with(prepare: impl FnOnce(&Path) -> Vec<String>) -> Self {
        Self::prepared(free_port(), |data| {
            // The last one of a name counts.
            let mut settings = vec![LISTEN.to_owned()];
            settings.extend(prepare(data));
            settings
        })
    }

    /// A new server that listens at every address, on a port of its own, and trusts every client from these: for a network
    /// that a test has for itself.
    ///
    /// # Panics
    /// As [`shared`](Self::shared).
    pub fn trusting(addresses: &str) -> Self {
        Self::with(|data| {
            let file = data.join("pg_hba.conf");
            let rules = fs::read_to_string(&file).expect("initdb has made it");
            let rules = format!("{rules}host all all {addresses} trust\n");
            fs::write(&file, rules).expect("it can be written");
            vec![String::from("listen_addresses=*")]
        })
    }

    /// A new server that follows this one, which listens by TCP, and takes no writes before it is
    /// [promoted](Self::promote).
    ///
    /// # Panics
    /// As [`shared`](Self::shared).
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

    /// Makes a primary of a standby.
    ///
    /// # Panics
    /// When it is none.
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

    /// Starts it again after [`crash`](Self::crash).
    ///
    /// # Panics
    /// When it does not answer within the deadline.
    pub fn restart(&mut self) {
        self.process = run(
            &self.programs,
            self.folder.path(),
            self.port,
            &self.settings,
        );
        self.wait_for_answer();
    }

    /// Ends all of its processes, as a host does that loses its power: nothing is said to any client.
    ///
    /// # Panics
    /// When it cannot be asked.
    pub fn crash(&mut self) {
        self.stop();
        self.process.wait().expect("a child can be waited for");
    }

    /// Stops all of its processes where they are, until [`resume`](Self::resume).
    ///
    /// # Panics
    /// When they cannot be listed.
    pub fn freeze(&self) {
        // Once the server itself stands still, it starts no more processes.
        stopped::freeze(self.process.id());
        self.children().into_iter().for_each(stopped::freeze);
    }

    /// They go on.
    ///
    /// # Panics
    /// As there.
    pub fn resume(&self) {
        self.children().into_iter().for_each(stopped::resume);
        stopped::resume(self.process.id());
    }

    /// How a client of another kind connects, as `key=value` pairs.
    pub fn address(&self) -> String {
        let folder = self.folder.path().display();
        let port = self.port;
        format!("host={folder} port={port} user=postgres dbname=postgres")
    }

    /// Where it listens by TCP, if it does.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// A connection of its own.
    ///
    /// # Panics
    /// When the server does not accept it.
    pub fn connect(&self) -> Client {
        self.config()
            .connect(NoTls)
            .expect("the server accepts connections")
    }

    /// The transactions that it has ended so far; one that ended a moment ago may be missing.
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
        // What hangs fails the test instead.
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
    /// Killed, it would leave a piece of shared memory behind.
    fn stop(&mut self) {
        let mut stop = self.programs.command("pg_ctl");
        stop.args(["stop", "--mode=immediate", "--silent", "--pgdata"]);
        let stopped = stop.arg(self.folder.path().join("data")).status();
        if !stopped.is_ok_and(|status| status.success()) {
            drop(self.process.kill());
        }
    }

    /// The processes that serve its clients, and its helpers.
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
    // The last one of a name counts.
    for setting in usual.into_iter().chain(settings.iter().map(|it| &**it)) {
        postgres.args(["-c", setting]);
    }
    postgres
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log);
    postgres.spawn().expect("postgres can be run")
}

/// Where the programs are, and as which user they run.
#[derive(Debug)]
struct Programs {
    folder: PathBuf,
    as_postgres: bool,
}

impl Programs {
    /// Finds them, and gives `data` to the user that they run as.
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
        // It may not read the folder of the tests.
        command.current_dir("/");
        command
    }
}

/// Runs a program to its end.
fn succeed(mut program: Command) {
    let done = program.output().expect("it can be run");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{program:?}: {said}");
}

const LISTEN: &str = "listen_addresses=127.0.0.1";
/// Where a server listens that is told nothing else.
const USUAL_PORT: u16 = 5432;

/// Where Debian's packages put them, a folder for each version.
fn newest() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").ok()?;
    let version = |entry: fs::DirEntry| entry.file_name().to_str()?.parse::<u32>().ok();
    let newest = versions.filter_map(|entry| version(entry.ok()?)).max()?;
    Some(format!("/usr/lib/postgresql/{newest}/bin").into())
}
