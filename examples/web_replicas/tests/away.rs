//! A replica whose database is unavailable for a while: its job ends with the reason, no factory panics, and the job
//! goes on when the database is back.
#![expect(
    clippy::disallowed_methods,
    reason = "a process lives in real time, and there is no runtime that a wait would block"
)]

use std::{
    env, fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    sync::mpsc::{self, Receiver},
    thread,
    time::{Duration, Instant},
};

use rusqlite::Connection;

/// Longest wait for an event that must happen.
const SOON: Duration = Duration::from_secs(30);

/// Kills the process when the test ends.
struct Replica(Child);

impl Drop for Replica {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// Starts a replica that is a majority by itself. Returns it with the lines of its log.
fn start(folder: &Path, database: &Path, mode: &str) -> (Replica, Receiver<String>) {
    let config = folder.join("jobs.toml");
    let text = format!(
        "node = \"api-1\"\ngroup = \"jobs\"\ntimings.preset = \"lan\"\n[quorum]\nvoters = [\"api-1\"]\n{mode}\n"
    );
    fs::write(&config, text).unwrap();
    let mut process = Command::new(env!("CARGO_BIN_EXE_web-replicas"))
        .arg(config)
        .env("DATABASE", database)
        .env("HTTP", "127.0.0.1:0")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let log = BufReader::new(process.stderr.take().unwrap());
    let (told, lines) = mpsc::channel();
    thread::spawn(move || {
        log.lines()
            .map_while(Result::ok)
            .try_for_each(|line| told.send(line))
    });
    (Replica(process), lines)
}

/// Waits for a line with this text. Panics if a line reports a panic.
fn wait_for(lines: &Receiver<String>, text: &str) -> String {
    let end = Instant::now() + SOON;
    let mut before = String::new();
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let line = lines.recv_timeout(left);
        let line = line.unwrap_or_else(|_| panic!("no line has {text:?}: {before}"));
        assert!(!line.contains("panicked"), "{before}{line}");
        if line.contains(text) {
            return line;
        }
        before.extend([line.as_str(), "\n"]);
    }
}

fn rows(database: &Path) -> i64 {
    let database = Connection::open(database).unwrap();
    database.busy_timeout(SOON).unwrap();
    let count = "SELECT count(*) FROM job";
    database.query_row(count, (), |row| row.get(0)).unwrap()
}

#[test]
fn an_unavailable_database_ends_the_job_with_its_reason_and_no_factory_panics() {
    let folder = tempfile::tempdir().unwrap();
    let (home, away) = (folder.path().join("home"), folder.path().join("away"));
    fs::create_dir(&home).unwrap();
    let database = home.join("jobs.sqlite");
    let store = format!(
        "store_file = {:?}\nstore = \"create\"",
        folder.path().join("vote")
    );
    let (replica, log) = start(folder.path(), &database, &store);
    wait_for(&log, "leadership acquired");
    fs::rename(&home, &away).unwrap();
    // The open database cannot write, then the factory of the next leadership cannot open it.
    for reason in ["the job ends: ", "unable to open database file"] {
        let line = wait_for(&log, reason);
        assert!(line.contains("the job ends: "), "{line}");
        wait_for(&log, "work of the leader ended at once");
    }
    let before = rows(&away.join("jobs.sqlite"));
    fs::rename(&away, &home).unwrap();
    let end = Instant::now() + SOON;
    while rows(&database) <= before {
        assert!(Instant::now() < end, "the job does not go on");
        thread::park_timeout(Duration::from_millis(10));
    }
    drop(replica);
}

#[test]
fn voters_without_a_disk_are_refused_at_the_start_with_the_key_to_change() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("jobs.sqlite");
    let (mut replica, log) = start(folder.path(), &database, "diskless = true");
    let line = wait_for(&log, "Error: ");
    assert!(
        line.contains("`store_file` in place of `diskless`"),
        "{line}"
    );
    assert!(!replica.0.wait().unwrap().success());
}
