//! Rounds of faults: a server, and the network before it, fail while three processes elect a leader through the
//! server.
//!
//! `REGISTER_ROUNDS` is the number of rounds, for a long run.

use std::{env, time::Duration};

use actix_bully::protocol::Timings;
use actix_bully_database_tests::Server;

use crate::{
    etcd::Etcd,
    hosts::{Hosts, SERVER},
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

/// The network between processes and a server. A test can cut the network of a process: bytes then do not arrive, and
/// neither end gets an error.
pub trait Network {
    /// Returns the number of processes.
    fn processes(&self) -> usize;
    /// Returns the command line that runs the process.
    fn words(&self, program: &str, process: usize, server: &impl StoreServer) -> Vec<String>;
    /// Cuts the process off from the server.
    fn cut(&self, process: usize);
    /// Connects the process with the server again.
    fn mend(&self, process: usize);
}

impl Network for Vec<Wire> {
    fn processes(&self) -> usize {
        self.len()
    }

    fn words(&self, program: &str, process: usize, server: &impl StoreServer) -> Vec<String> {
        let store = server.store(&self[process].address().to_string());
        words(program, process, &store)
    }

    fn cut(&self, process: usize) {
        self[process].cut();
    }

    fn mend(&self, process: usize) {
        self[process].mend();
    }
}

impl Network for Hosts {
    fn processes(&self) -> usize {
        self.number()
    }

    fn words(&self, program: &str, process: usize, server: &impl StoreServer) -> Vec<String> {
        let address = server.address();
        let port = address.rsplit(':').next().expect("it has a port");
        let store = server.store(&format!("{SERVER}:{port}"));
        Self::on(process, words(program, process, &store))
    }

    fn cut(&self, process: usize) {
        self.pull(process);
    }

    fn mend(&self, process: usize) {
        self.plug(process);
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

const FATES: [Fate; 5] = [
    Fate::LeaderCutOff,
    Fate::ServerKilled,
    Fate::ServerFrozen,
    Fate::ServerCutOff,
    Fate::LeaderKilled,
];

impl Fate {
    const fn name(self) -> &'static str {
        match self {
            Self::LeaderCutOff => "the leader is cut off",
            Self::ServerKilled => "the server was killed and begins again",
            Self::ServerFrozen => "the server stood still and goes on",
            Self::ServerCutOff => "the server was cut off and is back",
            Self::LeaderKilled => "the leader is killed",
        }
    }
}

/// Plays rounds of all faults over wires that can be cut; see [`play_over`].
pub fn play(server: &mut impl StoreServer, program: &str) {
    let wires: Vec<_> = (0..3).map(|_| Wire::to(&server.address())).collect();
    play_over(&wires, server, program);
}

/// Plays rounds of all faults. Fails if two processes lead at one time, if a later leader has no higher token, if no
/// process becomes leader, or if a leader stays leader for a lease's time without the server.
pub fn play_over(network: &impl Network, server: &mut impl StoreServer, program: &str) {
    let rounds = number("REGISTER_ROUNDS", 5);
    let commands = 0..network.processes();
    let commands: Vec<_> = commands
        .map(|process| network.words(program, process, &*server))
        .collect();
    let mut story = Story {
        network,
        server,
        processes: Processes::run(commands),
    };
    let mut took = FATES.map(|_| Vec::new());
    let mut leader = story.processes.wait_for_leader(0);
    for round in 0..rounds {
        let span = if round % 10 < 5 { long() } else { VERY_LONG };
        let at = round % FATES.len();
        let (since, next) = story.befall(FATES[at], leader, span);
        took[at].push((next.from - since) / 1_000_000);
        leader = next;
    }
    let tenures = story.processes.judge();
    println!("{rounds} rounds, {tenures} tenures; ms until one leads, median and most:");
    for (fate, mut took) in FATES.into_iter().zip(took) {
        took.sort_unstable();
        if let (Some(median), Some(most)) = (took.get(took.len() / 2), took.last()) {
            println!(
                "{:>4} times {median:>5} {most:>5}  {}",
                took.len(),
                fate.name()
            );
        }
    }
    // Two of five rounds always end the leader's tenure.
    assert!(
        tenures > rounds * 2 / 5,
        "{tenures} tenures in {rounds} rounds"
    );
}

struct Story<'a, N, S> {
    network: &'a N,
    server: &'a mut S,
    processes: Processes,
}

impl<N: Network, S: StoreServer> Story<'_, N, S> {
    /// Applies a fault for a time. Returns the next leader, and the moment from which a new leader was possible.
    fn befall(&mut self, fate: Fate, leader: Said, span: Duration) -> (i128, Said) {
        let process = leader.process;
        let all = 0..self.network.processes();
        match fate {
            Fate::LeaderCutOff => {
                self.network.cut(process);
                let cut = nanoseconds();
                let next = self.processes.wait_for_leader(leader.token);
                self.processes.listen(span);
                let silence = (cut + lease(), nanoseconds());
                self.processes.expect_silence(Some(process), silence);
                self.network.mend(process);
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
                all.clone().for_each(|process| self.network.cut(process));
                let silence = self.listen_without_server(span);
                all.for_each(|process| self.network.mend(process));
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
