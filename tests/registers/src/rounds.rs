//! What befalls a server and the network before it while three processes elect by it.
//!
//! `REGISTER_ROUNDS` says how often, for a long run.

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

/// What is between processes and a server, and can be cut: what is sent then arrives nowhere, and nobody is told.
pub trait Network {
    /// How many processes there are.
    fn processes(&self) -> usize;
    /// The words that run that process.
    fn words(&self, program: &str, process: usize, server: &impl StoreServer) -> Vec<String>;
    /// That process reaches the server no more.
    fn cut(&self, process: usize);
    /// It does again.
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

/// A number that the environment says.
pub fn number(name: &str, default: usize) -> usize {
    let named = env::var(name).ok();
    named.map_or(default, |named| named.parse().expect("a number"))
}

/// The timings of the processes: `lan`, or `default` for more processes than the cores serve at `lan`, or `wan`.
pub fn timings() -> Timings {
    match env::var("REGISTER_TIMINGS").as_deref() {
        Ok("default") => Timings::default(),
        Ok("wan") => Timings::wan(),
        Ok("lan") | Err(_) => Timings::lan(),
        Ok(other) => panic!("REGISTER_TIMINGS is lan, default or wan, not {other}"),
    }
}

/// Longer than a lease, and than others wait for its end.
pub fn long() -> Duration {
    timings().promise() * 3
}

/// Longer than a register waits for an answer.
const VERY_LONG: Duration = Duration::from_millis(2_500);

/// What befalls them, in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// The leader alone reaches the server no more.
    LeaderCutOff,
    ServerKilled,
    ServerFrozen,
    /// No process reaches the server.
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

/// Rounds of everything over wires that can be cut; see [`play_over`].
pub fn play(server: &mut impl StoreServer, program: &str) {
    let wires: Vec<_> = (0..3).map(|_| Wire::to(&server.address())).collect();
    play_over(&wires, server, program);
}

/// Rounds of everything. Fails if two lead at one time, a later leader has no higher token, nobody comes to lead, or one
/// leads although it has not reached the server for as long as a lease.
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
    // Two of five rounds end the leader's tenure for certain.
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
    /// Says who leads next, and since when that was possible.
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

    /// Until when the server was away.
    fn listen_without_server(&mut self, span: Duration) -> i128 {
        let away = nanoseconds();
        self.processes.listen(span);
        let until = nanoseconds();
        let silence = (away + lease(), until);
        self.processes.expect_silence(None, silence);
        until
    }

    fn next_after(&mut self, leader: Said, until: i128) -> (i128, Said) {
        // It may be the same one, with the same token: nobody has taken the lease from it.
        (until, self.processes.wait_for_leader(leader.token - 1))
    }
}

/// For how long a leader leads that nobody answers, in nanoseconds.
pub fn lease() -> i128 {
    let lease = timings().lease().as_nanos();
    lease.try_into().expect("a short time")
}
