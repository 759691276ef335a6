//! The stores that are servers: PostgreSQL and etcd.

use actix_bully_database_tests::Server;
use actix_bully_register_tests::etcd::Etcd;

use crate::{Wrong, group::Way};

/// A server that runs until it is dropped.
pub(crate) enum Store {
    Postgres(Server),
    Etcd(Etcd),
}

impl Store {
    /// Starts the server for `processes` processes.
    #[expect(clippy::unnecessary_wraps, reason = "where no store is built it fails")]
    pub(crate) fn start(way: Way, processes: usize) -> Result<Self, Wrong> {
        Ok(match way {
            Way::Etcd => Self::Etcd(Etcd::start()),
            _ => Self::Postgres(server(processes)),
        })
    }

    /// Returns the address for a participant.
    pub(crate) fn address(&self) -> String {
        match self {
            Self::Postgres(server) => format!("postgres:{}", server.address()),
            Self::Etcd(etcd) => format!("etcd:{}", etcd.endpoint()),
        }
    }

    /// Returns the number of the store's operations until now: transactions, or requests of clients.
    pub(crate) fn operations(&self) -> Option<i64> {
        match self {
            Self::Postgres(server) => server.operations(),
            Self::Etcd(etcd) => etcd.operations(),
        }
    }
}

/// Starts a server that accepts two connections for each process.
fn server(processes: usize) -> Server {
    let mut server = Server::start();
    let connections = 2 * processes + 20;
    let set = format!("ALTER SYSTEM SET max_connections = {connections}");
    let done = server.connect().batch_execute(&set);
    if done.is_ok() {
        server.crash();
        server.restart();
    }
    server
}
