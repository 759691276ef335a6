//! Processes that share nothing but a store: killed, frozen, told to leave. Never do two lead, and tokens grow.
//!
//! `REGISTER_PROCESSES` and `REGISTER_ROUNDS` say how many, for a long run.

use std::{env, time::Duration};

use actix_bully::protocol::Timings;
use actix_bully_database_tests::Server;
use actix_bully_register_tests::processes::Processes;
use tempfile::TempDir;

fn number(name: &str, default: usize) -> usize {
    let named = env::var(name).ok();
    named.map_or(default, |named| named.parse().expect("a number"))
}

/// Longer than a lease, and than others wait for its end.
fn long() -> Duration {
    Timings::lan().promise() * 3
}

#[test]
fn of_processes_on_one_file_one_leads_whatever_befalls_the_leader() {
    let folder = TempDir::with_prefix("register-").expect("a temporary folder can be made");
    let store = format!("sqlite:{}", folder.path().join("leases.db").display());
    let number_of = number("REGISTER_PROCESSES", 5);
    let mut processes = Processes::start(env!("CARGO_BIN_EXE_holder"), store, number_of);
    let mut token = 0;
    let rounds = number("REGISTER_ROUNDS", 5);
    for round in 0..rounds {
        let leader = processes.wait_for_leader(token);
        token = leader.token;
        match round % 3 {
            0 => {
                processes.kill(leader.process);
                processes.restart(leader.process);
            }
            1 => {
                // Stopped while it writes it keeps the file locked, so that none of the others can lead meanwhile.
                processes.signal(leader.process, "-STOP");
                processes.listen(long());
                processes.signal(leader.process, "-CONT");
            }
            _ => {
                processes.leave(leader.process);
                processes.restart(leader.process);
            }
        }
    }
    processes.wait_for_leader(token);
    let tenures = processes.judge();
    assert!(tenures > rounds, "{tenures} tenures in {rounds} rounds");
}

#[test]
fn a_server_that_crashes_or_stands_still_ends_the_leadership_and_brings_it_back() {
    let mut server = Server::start();
    let store = format!("postgres:{}", server.address());
    let mut processes = Processes::start(env!("CARGO_BIN_EXE_holder"), store, 3);
    let leader = processes.wait_for_leader(0);
    server.freeze();
    processes.listen(long());
    server.resume();
    let leader = processes.wait_for_leader(leader.token.saturating_sub(1));
    server.crash();
    processes.listen(long());
    server.restart();
    let leader = processes.wait_for_leader(leader.token.saturating_sub(1));
    processes.kill(leader.process);
    processes.wait_for_leader(leader.token);
    assert!(processes.judge() >= 2);
}
