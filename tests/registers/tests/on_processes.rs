//! Processes that share nothing but a store: killed, frozen, told to leave, cut off from it, moved to it from a quorum. Never
//! do two lead, and tokens grow.
//!
//! `REGISTER_PROCESSES` and `REGISTER_ROUNDS` say how many, for a long run.

use std::{fs, time::Duration};

use actix_bully_database_tests::Server;
use actix_bully_register_tests::{
    fenced::{self, Fenced},
    hosts::{ALL, Hosts},
    moving::Move,
    processes::{Processes, words},
    rounds::{long, number, play, play_over},
};
use tempfile::TempDir;

const HOLDER: &str = env!("CARGO_BIN_EXE_holder");

fn folder() -> TempDir {
    TempDir::with_prefix("register-").expect("a temporary folder can be made")
}

fn file_in(folder: &TempDir) -> String {
    format!("sqlite:{}", folder.path().join("leases.db").display())
}

#[test]
fn of_processes_on_one_file_one_leads_whatever_befalls_the_leader() {
    let folder = folder();
    let number_of = number("REGISTER_PROCESSES", 5);
    let mut processes = Processes::start(HOLDER, &file_in(&folder), number_of);
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

/// Each leader writes rows behind a fence until it is killed, in the midst of one or of a renewal.
#[test]
fn of_processes_on_one_file_that_are_killed_one_leads_and_no_fence_goes_down() {
    let folder = folder();
    let (store, rows) = (file_in(&folder), folder.path().join("rows.sqlite"));
    Fenced::make(&rows);
    let number_of = number("REGISTER_PROCESSES", 5);
    let mut processes = Processes::run((0..number_of).map(|process| {
        let mut words = words(HOLDER, process, &store);
        words.push(rows.display().to_string());
        words
    }));
    let mut token = 0;
    let kills = number("REGISTER_ROUNDS", 5);
    for part in (0_u32..13).cycle().take(kills) {
        let leader = processes.wait_for_leader(token);
        token = leader.token;
        // At any point between two of its renewals, and between two rows.
        processes.listen(Duration::from_millis(7) * part);
        processes.kill(leader.process);
        processes.restart(leader.process);
    }
    processes.wait_for_leader(token);
    let tenures = processes.judge();
    let written = fenced::rows(&rows);
    println!("{kills} kills of {number_of} processes: {tenures} tenures, {written} rows");
    assert!(tenures > kills, "{tenures} tenures after {kills} kills");
}

#[test]
fn of_processes_on_a_database_one_leads_whatever_befalls_the_server() {
    play(&mut Server::on_tcp(), HOLDER);
}

#[test]
fn of_processes_on_hosts_of_their_own_one_leads_whatever_befalls_a_database() {
    let name = "of_processes_on_hosts_of_their_own_one_leads_whatever_befalls_a_database";
    if let Some(hosts) = Hosts::of(name, 3) {
        play_over(&hosts, &mut Server::trusting(ALL), HOLDER);
    }
}

#[test]
fn a_group_moves_from_a_quorum_to_a_lease_in_a_file_and_back() {
    let folder = folder();
    let file = folder.path().join("leases.db").display().to_string();
    let lease = format!("sqlite_file = {file:?}");
    Move::between_quorum_and(&lease, HOLDER).there_and_back();
}

#[test]
fn a_group_moves_from_a_quorum_to_a_lease_in_a_database_and_back() {
    let (server, folder) = (Server::shared(), folder());
    let url = folder.path().join("url");
    fs::write(&url, server.address()).expect("it can be written");
    let url = url.display().to_string();
    let lease = format!("postgres_url_file = {url:?}\ncreate_table = true");
    Move::between_quorum_and(&lease, HOLDER).there_and_back();
}

/// What the recipe is for, and that its test would notice.
#[test]
fn a_group_that_moves_without_the_recipe_has_two_leaders() {
    let folder = folder();
    let file = folder.path().join("leases.db").display().to_string();
    let lease = format!("sqlite_file = {file:?}");
    let verdict = Move::between_quorum_and(&lease, HOLDER).at_once();
    assert!(
        verdict
            .as_ref()
            .is_err_and(|wrong| wrong.contains("two leaders")),
        "{verdict:?}"
    );
}
