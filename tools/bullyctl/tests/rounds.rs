//! Commands of `bullyctl run` on their own hosts: the test cuts the cable of the leader's host, and no two commands run
//! at one time.
//!
//! ```text
//!   api-0, host-0 ── eth0 ═══ v0 ┐
//!   api-1, host-1 ── eth0 ═══ v1 ├ br0: the test, and the store that it starts
//!   api-2, host-2 ── eth0 ═══ v2 ┘     (api-2 for a quorum only)
//! ```
//! The command is the unruly one, with all its ways to outlive its end. Its processes lock a file together, so that two
//! commands at one time are noticed until the last process has ended. `RUN_ROUNDS` is the number of rounds for each
//! preset, and `RUN_PRESETS` has the presets. The hosts need root, as `hosts.rs` of the tests of registers explains.
#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a scene that cannot be set fails the test, which measures real time and shows it"
)]

#[path = "run/host.rs"]
#[expect(dead_code, reason = "the tests of one host do more")]
mod host;
#[path = "run/unruly.rs"]
mod unruly;

use std::{env, fs, os::unix::fs::PermissionsExt, process::Command, time::Instant};

use actix_bully_database_tests::Server;
use actix_bully_register_tests::{
    hosts::{ALL, Hosts, SERVER},
    rounds::number,
};
use host::{Host, Place, bullyctl, command, wait_until};
use rustix::process::Signal;

/// Name of the test that becomes the unruly command if the variable `UNRULY` is set.
const COMMAND: &str = "by_a_quorum_no_two_commands_overlap";

#[test]
fn by_a_quorum_no_two_commands_overlap() {
    unruly::live();
    let Some(hosts) = Hosts::of(COMMAND, 3) else {
        return;
    };
    play(&hosts, "a quorum", |place, host| {
        let folder = place.path().display();
        let peer = |peer: usize| {
            let address = format!("10.77.0.{}:7400", peer + 1);
            format!("[[peers]]\nnode = \"api-{peer}\"\naddress = \"{address}\"\n")
        };
        let peers = [0, 1, 2].map(peer).concat();
        format!(
            "listen = \"0.0.0.0:7400\"
peers_name_all = true
dangerous_plaintext = true
[quorum]
voters = [\"api-0\", \"api-1\", \"api-2\"]
store_file = \"{folder}/votes-{host}\"
store = \"open-or-create\"
{peers}"
        )
    });
}

#[test]
fn by_a_database_no_two_commands_overlap() {
    if let Some(hosts) = Hosts::of("by_a_database_no_two_commands_overlap", 2) {
        let server = Server::trusting(ALL);
        play(&hosts, "PostgreSQL", |place, _| {
            let file = place.path().join("url");
            let url = format!("postgres://postgres@{SERVER}:{}/postgres\n", server.port());
            fs::write(&file, url).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
            let file = file.display();
            format!("[lease]\ncreate_table = true\npostgres_url_file = \"{file}\"")
        });
    }
}

/// Plays the rounds with each preset. `more` returns the configuration of a host without its name and its timings.
fn play(hosts: &Hosts, store: &str, more: impl Fn(&Place, usize) -> String) {
    let presets = env::var("RUN_PRESETS").unwrap_or_else(|_| "default".to_owned());
    for preset in presets.split(' ') {
        let place = Place::in_memory();
        let group = format!("jobs-{preset}");
        let running: Vec<_> = (0..hosts.number())
            .map(|host| {
                let text = format!(
                    "node = \"api-{host}\"\ngroup = \"{group}\"\ntimings.preset = \"{preset}\"\n{}\n",
                    more(&place, host)
                );
                let config = place.path().join(format!("api-{host}.toml"));
                fs::write(&config, text).unwrap();
                start(&place, host, &bullyctl(&config, &[], &command()))
            })
            .collect();
        let mut took = Vec::new();
        let rounds = number("RUN_ROUNDS", 1);
        let mut leader = place.next_start(0, None);
        for _ in 0..rounds {
            let before = place.lines("starts").len();
            hosts.pull(leader);
            let pulled = Instant::now();
            let next = place.next_start(before, Some(leader));
            took.push(pulled.elapsed());
            hosts.plug(leader);
            leader = next;
        }
        for host in running {
            assert_eq!(host.end(Signal::TERM), Some(0));
        }
        place.assert_no_overlap();
        took.sort_unstable();
        let starts = place.lines("starts").len();
        let median = took.get(took.len() / 2).copied().unwrap_or_default();
        let most = took.last().copied().unwrap_or_default();
        println!(
            "{store}, {preset}: {rounds} rounds, {starts} commands, none beside another one; {median:.1?} (at most {most:.1?}) from the pulled cable to the next command"
        );
    }
}

fn start(place: &Place, host: usize, run: &Command) -> Host {
    let words = [run.get_program()].into_iter().chain(run.get_args());
    let words = words.map(|word| word.to_str().unwrap().to_owned());
    let mut words = Hosts::on(host, words.collect()).into_iter();
    let mut run = Command::new(words.next().unwrap());
    run.args(words);
    run.env(
        unruly::UNRULY,
        place.unruly_by(&["ignore", "fork", "setsid", "thread", "regroup"]),
    );
    Host::spawn(run)
}

impl Place {
    /// Waits for the next start of a command on another host than `not`, and returns the host.
    fn next_start(&self, after: usize, not: Option<usize>) -> usize {
        let not = not.map(|host| format!("api-{host} "));
        let mut found = None;
        wait_until("another host runs the command", || {
            let starts = self.lines("starts");
            let mut new = starts.iter().skip(after);
            let other = new.find(|line| not.as_ref().is_none_or(|not| !line.starts_with(not)));
            let host = |line: &String| line["api-".len()..].split(' ').next()?.parse().ok();
            found = other.and_then(host);
            found.is_some()
        });
        found.unwrap()
    }
}
