//! Processes that share nothing but a store. They are killed, frozen, asked to leave, and cut off from the store. Two
//! processes never lead at one time, and tokens grow.
//!
//! `REGISTER_PROCESSES` and `REGISTER_ROUNDS` are the numbers of processes and of rounds, for a long run. With many
//! processes, set `REGISTER_TIMINGS=default`.

use std::{fs, path::PathBuf, time::Duration};

use actix_bully_database_tests::Server;
use actix_bully_register_tests::{
    processes::{Processes, nanoseconds},
    rounds::{lease, long, number, play},
};
use tempfile::TempDir;

const HOLDER: &str = env!("CARGO_BIN_EXE_holder");

/// A folder of leases, below a temporary folder.
struct Leases(TempDir);

impl Leases {
    fn new() -> Self {
        Self(TempDir::with_prefix("register-").expect("a temporary folder can be made"))
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("leases")
    }

    /// Returns the name of the store for a process.
    fn store(&self) -> String {
        format!("files:{}", self.path().display())
    }
}

#[test]
fn of_processes_on_one_folder_one_leads_whatever_befalls_the_leader() {
    let leases = Leases::new();
    let number_of = number("REGISTER_PROCESSES", 5);
    let mut processes = Processes::start(HOLDER, &leases.store(), number_of);
    let mut token = 0;
    let rounds = number("REGISTER_ROUNDS", 5);
    for (round, part) in (0..rounds).zip((0_u32..13).cycle()) {
        let leader = processes.wait_for_leader(token);
        token = leader.token;
        // The faults come at different moments between two renewals.
        processes.listen(Duration::from_millis(7) * part);
        match round % 3 {
            0 => {
                processes.kill(leader.process);
                processes.restart(leader.process);
            }
            1 => {
                // A leader that is stopped during a write keeps a file locked, and no other process can lead
                // meanwhile.
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

/// A process that is stopped in the middle of a write keeps its file locked.
#[test]
fn of_processes_whose_file_stays_locked_none_leads_until_it_is_free() {
    let leases = Leases::new();
    let mut processes = Processes::start(HOLDER, &leases.store(), 3);
    let leader = processes.wait_for_leader(0);
    let files: Vec<_> = fs::read_dir(leases.path())
        .expect("it is there")
        .map(|entry| fs::File::open(entry.expect("an entry").path()).expect("it can be opened"))
        .collect();
    for file in &files {
        file.lock().expect("it is free soon");
    }
    let locked = nanoseconds();
    processes.listen(long());
    processes.expect_silence(None, (locked + lease(), nanoseconds()));
    drop(files);
    processes.wait_for_leader(leader.token - 1);
    processes.judge();
}

#[test]
fn of_processes_on_a_database_one_leads_whatever_befalls_the_server() {
    play(&mut Server::on_tcp(), HOLDER);
}
