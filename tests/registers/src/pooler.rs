//! A connection pooler before a PostgreSQL server of the tests. It listens on a free port, and ends with the tests.
//!
//! Its program is that of Debian's package `pgbouncer`, which refuses to run as root. If the tests run as root, the
//! pooler runs as the user `postgres`.
#![expect(
    clippy::disallowed_methods,
    reason = "a deadline of real time, for another process"
)]

use std::{
    fs,
    net::TcpStream,
    os::unix::fs::PermissionsExt,
    process::{Child, Command, Stdio},
    thread,
    time::Instant,
};

use actix_bully_database_tests::{Server, free_port};
use tempfile::TempDir;

use crate::DEADLINE;

/// A running pooler.
#[derive(Debug)]
pub struct Pooler {
    process: Child,
    port: u16,
    _folder: TempDir,
}

impl Pooler {
    /// Starts a pooler before a server that listens by TCP. The mode is `session` or `transaction`.
    pub fn before(server: &Server, mode: &str) -> Self {
        let (port, to) = (free_port(), server.port());
        let folder = TempDir::with_prefix("pool-").expect("a temporary folder can be made");
        let settings = folder.path().join("pool.ini");
        let text = format!(
            "[databases]\npostgres = host=127.0.0.1 port={to} dbname=postgres user=postgres\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nauth_type = any\npool_mode = {mode}\ndefault_pool_size = 3\nunix_socket_dir =\n"
        );
        fs::write(&settings, text).expect("it can be written");
        for (path, mode) in [(folder.path(), 0o755), (&settings, 0o644)] {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("it is ours");
        }
        let mut command = Command::new("pgbouncer");
        if fs::metadata(folder.path()).is_ok_and(|it| std::os::unix::fs::MetadataExt::uid(&it) == 0)
        {
            command.args(["-u", "postgres"]);
        }
        let process = command
            .arg(&settings)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("there is no pgbouncer: install Debian's package of that name");
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(begun.elapsed() < DEADLINE, "the pooler does not answer");
            thread::yield_now();
        }
        Self {
            process,
            port,
            _folder: folder,
        }
    }

    /// Returns the address for clients, as `key=value` pairs.
    pub fn address(&self) -> String {
        let port = self.port;
        format!("host=127.0.0.1 port={port} user=postgres dbname=postgres")
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}
