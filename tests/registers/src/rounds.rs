//! Rounds of faults: a server, and the network before it, fail while three processes elect a leader through the
//! server.
//!
//! `REGISTER_ROUNDS` is the number of rounds, for a long run.

use std::{env, time::Duration};

use actix_bully::protocol::Timings;
use actix_bully_database_tests::Server;

use crate::{
    judge::Said,
    processes::{Processes, nanoseconds, words},
    wire::Wire,
};

/// A server that keeps leases.
pub trait StoreServer {
    /// Returns the address, `host:port`.
    fn address(&self) -> String;
    /// Returns the name of the store for a process that reaches the server at `at`.
    fn store(&self, at: &str) -> String;
    /// Ends the server at once, without a message to its clients.
    fn crash(&mut self);
    /// Starts the server again, with every write that it has confirmed.
    fn restart(&mut self);
    /// Stops the processes of the server where they stand.
    fn freeze(&self);
    /// Lets the processes of the server run again.
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

/// Returns the number in an environment variable, or the default.
pub fn number(name: &str, default: usize) -> usize {
    let named = env::var(name).ok();
    named.map_or(default, |named| named.parse().expect("a number"))
}

/// Returns the timings of the processes: `lan` unless `REGISTER_TIMINGS` names `default` or `wan`. The longer timings
/// are for more processes than the cores can serve at `lan`.
pub fn timings() -> Timings {
    match env::var("REGISTER_TIMINGS").as_deref() {
        Ok("default") => Timings::default(),
        Ok("wan") => Timings::wan(),
        Ok("lan") | Err(_) => Timings::lan(),
        Ok(other) => panic!("REGISTER_TIMINGS is lan, default or wan, not {other}"),
    }
}

/// Returns a time that is longer than a lease, and longer than another agent waits until a lease ends.
pub fn long() -> Duration {
    timings().promise() * 3
}

/// A time that is longer than a register waits for an answer.
const VERY_LONG: Duration = Duration::from_millis(2_500);

/// The faults, in the order in which the rounds use them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// Only the leader loses the connection with the server.
    LeaderCutOff,
    ServerKilled,
    ServerFrozen,
    /// All processes lose the connection with the server.
    ServerCutOff,
    LeaderKilled,
}

const FATES: [(Fate, &str); 5] = [
    (Fate::LeaderCutOff, "the leader is cut off"),
    (Fate::ServerKilled, "the server was killed and begins again"),
    (Fate::ServerFrozen, "the server stood still and goes on"),
    (Fate::ServerCutOff, "the server was cut off and is back"),
    (Fate::LeaderKilled, "the leader is killed"),
];

/// Plays rounds of all faults over wires that can be cut. Fails if two processes lead at one time, if a later leader
/// has no higher token, if no process becomes leader, or if a leader stays leader for a lease's time without the
/// server.
pub fn play(server: &mut impl StoreServer, program: &str) {
    let rounds = number("REGISTER_ROUNDS", 5);
    let wires: Vec<_> = (0..3).map(|_| Wire::to(&server.address())).collect();
    let stores = wires
        .iter()
        .map(|it| server.store(&it.address().to_string()));
    let commands: Vec<_> = stores
        .enumerate()
        .map(|(process, store)| words(program, process, &store))
        .collect();
    let mut story = Story {
        wires,
        server,
        processes: Processes::run(commands),
    };
    let mut took = FATES.map(|_| Vec::new());
    let mut leader = story.processes.wait_for_leader(0);
    for round in 0..rounds {
        let span = if round % 10 < 5 { long() } else { VERY_LONG };
        let at = round % FATES.len();
        let (since, next) = story.befall(FATES[at].0, leader, span);
        took[at].push((next.from - since) / 1_000_000);
        leader = next;
    }
    let tenures = story.processes.judge();
    println!("{rounds} rounds, {tenures} tenures; ms until one leads, median and most:");
    for ((_, name), mut took) in FATES.into_iter().zip(took) {
        took.sort_unstable();
        if let (Some(median), Some(most)) = (took.get(took.len() / 2), took.last()) {
            let times = took.len();
            println!("{times:>4} times {median:>5} {most:>5}  {name}");
        }
    }
    // Two of five rounds always end the leader's tenure.
    assert!(
        tenures > rounds * 2 / 5,
        "{tenures} tenures in {rounds} rounds"
    );
}

struct Story<'a, S> {
    /// The connection of each process with the server.
    wires: Vec<Wire>,
    server: &'a mut S,
    processes: Processes,
}

impl<S: StoreServer> Story<'_, S> {
    /// Applies a fault for a time. Returns the next leader, and the moment from which a new leader was possible.
    fn befall(&mut self, fate: Fate, leader: Said, span: Duration) -> (i128, Said) {
        let process = leader.process;
        match fate {
            Fate::LeaderCutOff => {
                self.wires[process].cut();
                let cut = nanoseconds();
                let next = self.processes.wait_for_leader(leader.token);
                self.processes.listen(span);
                let silence = (cut + lease(), nanoseconds());
                self.processes.expect_silence(Some(process), silence);
                self.wires[process].mend();
                (cut, next)
            }
            Fate::LeaderKilled => {
                let killed = nanoseconds();
                self.processes.kill(process);
                self.processes.restart(process);
                (killed, self.processes.wait_for_leader(leader.token))
            }
            Fate::ServerKilled => {
                self.server.crash();
                let silence = self.listen_without_server(span);
                self.server.restart();
                self.next_after(leader, silence)
            }
            Fate::ServerFrozen => {
                self.server.freeze();
                let silence = self.listen_without_server(span);
                self.server.resume();
                self.next_after(leader, silence)
            }
            Fate::ServerCutOff => {
                self.wires.iter().for_each(Wire::cut);
                let silence = self.listen_without_server(span);
                self.wires.iter().for_each(Wire::mend);
                self.next_after(leader, silence)
            }
        }
    }

    /// Listens while the server is away, and returns the moment at which this time ended.
    fn listen_without_server(&mut self, span: Duration) -> i128 {
        let away = nanoseconds();
        self.processes.listen(span);
        let until = nanoseconds();
        let silence = (away + lease(), until);
        self.processes.expect_silence(None, silence);
        until
    }

    fn next_after(&mut self, leader: Said, until: i128) -> (i128, Said) {
        // The old leader may lead again with its old token, since no other process has taken the lease.
        (until, self.processes.wait_for_leader(leader.token - 1))
    }
}

/// Returns the longest time for which a leader without an answer of the server leads, in nanoseconds.
pub fn lease() -> i128 {
    let lease = timings().lease().as_nanos();
    lease.try_into().expect("a short time")
}
