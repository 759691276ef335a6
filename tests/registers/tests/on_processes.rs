//! Processes that share nothing but a store: killed, frozen, told to leave. Never do two lead, and tokens grow.
//!
//! `REGISTER_PROCESSES` and `REGISTER_ROUNDS` say how many, for a long run.

use actix_bully_database_tests::Server;
use actix_bully_register_tests::{
    processes::Processes,
    rounds::{long, number, play},
};
use tempfile::TempDir;

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
fn of_processes_on_a_database_one_leads_whatever_befalls_the_server() {
    play(&mut Server::on_tcp(), env!("CARGO_BIN_EXE_holder"));
}
