//! What befalls a server and the network before it while three processes elect by it.
//!
//! `REGISTER_ROUNDS` says how often, for a long run.

use std::{env, time::Duration};

use actix_bully::protocol::Timings;
use actix_bully_database_tests::Server;

use crate::{etcd::Etcd, processes::Processes, wire::Wire};

/// A server that keeps leases.
pub trait StoreServer {
    /// Its address, `host:port`.
    fn address(&self) -> String;
    /// How a process names it that reaches it there.
    fn store(&self, at: &str) -> String;
    /// It ends without a word.
    fn crash(&mut self);
    /// It begins again, with what it had confirmed.
    fn restart(&mut self);
    /// It stands still.
    fn freeze(&self);
    /// It goes on.
    fn resume(&self);
}

impl StoreServer for Server {
    fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port())
    }

    fn store(&self, at: &str) -> String {
        format!("postgres:postgres://postgres@{at}/postgres")
    }

    fn crash(&mut self) {
        Server::crash(self);
    }

    fn restart(&mut self) {
        Server::restart(self);
    }

    fn freeze(&self) {
        Server::freeze(self);
    }

    fn resume(&self) {
        Server::resume(self);
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
        Etcd::crash(self);
    }

    fn restart(&mut self) {
        Etcd::restart(self);
    }

    fn freeze(&self) {
        Etcd::freeze(self);
    }

    fn resume(&self) {
        Etcd::resume(self);
    }
}

/// A number that the environment says.
pub fn number(name: &str, default: usize) -> usize {
    let named = env::var(name).ok();
    named.map_or(default, |named| named.parse().expect("a number"))
}

/// Longer than a lease, and than others wait for its end.
pub fn long() -> Duration {
    Timings::lan().promise() * 3
}

/// Longer than a register waits for an answer.
const VERY_LONG: Duration = Duration::from_millis(2_500);

/// Rounds of everything. Fails if two lead at one time, a later leader has no higher token, or nobody comes to lead.
pub fn play(server: &mut impl StoreServer, program: &'static str) {
    let rounds = number("REGISTER_ROUNDS", 5);
    let wires: Vec<_> = (0..3).map(|_| Wire::to(&server.address())).collect();
    let stores = wires
        .iter()
        .map(|wire| server.store(&wire.address().to_string()));
    let mut processes = Processes::on(program, stores.collect());
    let mut token = 0;
    for round in 0..rounds {
        let leader = processes.wait_for_leader(token);
        // Whoever leads afterwards may be the same one, with the same token, unless it was kept from the others.
        token = leader.token - 1;
        let while_it_lasts = if round % 10 < 5 { long() } else { VERY_LONG };
        match round % 5 {
            0 => {
                wires[leader.process].cut();
                token = processes.wait_for_leader(leader.token).token - 1;
                processes.listen(while_it_lasts);
                wires[leader.process].mend();
            }
            1 => {
                server.crash();
                processes.listen(while_it_lasts);
                server.restart();
            }
            2 => {
                server.freeze();
                processes.listen(while_it_lasts);
                server.resume();
            }
            3 => {
                wires.iter().for_each(Wire::cut);
                processes.listen(while_it_lasts);
                wires.iter().for_each(Wire::mend);
            }
            _ => {
                processes.kill(leader.process);
                processes.restart(leader.process);
                token = leader.token;
            }
        }
    }
    processes.wait_for_leader(token);
    let tenures = processes.judge();
    println!("{rounds} rounds, {tenures} tenures");
    // Two of five rounds end the leader's tenure for certain.
    assert!(
        tenures > rounds * 2 / 5,
        "{tenures} tenures in {rounds} rounds"
    );
}
