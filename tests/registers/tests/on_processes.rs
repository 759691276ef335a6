//! Processes that share nothing but a store. They are killed, frozen, asked to leave, cut off from the store, and
//! moved to the store from a quorum. Two processes never lead at one time, and tokens grow.
//!
//! `REGISTER_PROCESSES` and `REGISTER_ROUNDS` are the numbers of processes and of rounds, for a long run. With many
//! processes, set `REGISTER_TIMINGS=default`.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    time::Duration,
};

use actix_bully_database_tests::Server;
use actix_bully_register_tests::{
    disk,
    fenced::{self, Fenced},
    hosts::{ALL, Hosts},
    moving::Move,
    processes::{Processes, nanoseconds, words},
    rounds::{lease, long, number, play, play_over},
};
use tempfile::TempDir;

const HOLDER: &str = env!("CARGO_BIN_EXE_holder");

fn folder() -> TempDir {
    TempDir::with_prefix("register-").expect("a temporary folder can be made")
}

/// A folder of leases, below a temporary folder.
struct Leases(TempDir);

fn leases() -> Leases {
    Leases(folder())
}

impl Leases {
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
    let leases = leases();
    let number_of = number("REGISTER_PROCESSES", 5);
    let mut processes = Processes::start(HOLDER, &leases.store(), number_of);
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

/// Each leader writes rows behind a fence until it is killed, during the write of a row or during a renewal.
#[test]
fn of_processes_on_one_folder_that_are_killed_one_leads_and_no_fence_goes_down() {
    let leases = leases();
    let (store, rows) = (leases.store(), leases.0.path().join("rows.sqlite"));
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
        // The kills come at different moments between two renewals, and between two rows.
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

/// Another path to the same file.
#[derive(Clone, Copy, Debug)]
enum SameFile {
    HardLink,
    Link,
    /// A mount of the file, as two containers have it.
    Mount,
    /// A mount of the folder, as two containers have it.
    MountOfFolder,
    LinkOfFolder,
}

impl SameFile {
    /// Makes the folder `to` with the files of `from`.
    fn make(self, from: &Path, to: &Path) {
        match self {
            Self::LinkOfFolder => return symlink(from, to).expect("it can be made"),
            Self::MountOfFolder => {
                fs::create_dir(to).expect("it can be made");
                return disk::bind(from, to);
            }
            Self::HardLink | Self::Link | Self::Mount => {}
        }
        fs::create_dir(to).expect("it can be made");
        for entry in fs::read_dir(from).expect("it is there") {
            let from = entry.expect("an entry").path();
            let to = to.join(from.file_name().expect("a name"));
            match self {
                Self::HardLink => fs::hard_link(from, to).expect("it can be linked"),
                Self::Link => symlink(from, to).expect("it can be linked"),
                Self::Mount | Self::MountOfFolder | Self::LinkOfFolder => {
                    fs::write(&to, "").expect("it can be made");
                    disk::bind(&from, &to);
                }
            }
        }
    }
}

/// When the lock was chosen by the path of a file, each of these cases gave two leaders.
#[test]
fn of_processes_that_reach_one_file_by_several_paths_one_leads() {
    if disk::in_own_namespace("of_processes_that_reach_one_file_by_several_paths_one_leads") {
        return;
    }
    for way in [
        SameFile::HardLink,
        SameFile::Link,
        SameFile::Mount,
        SameFile::MountOfFolder,
        SameFile::LinkOfFolder,
    ] {
        let (leases, folder) = (leases(), folder());
        let other = folder.path().join("other");
        let mut first = Processes::start(HOLDER, &leases.store(), 1);
        let leader = first.wait_for_leader(0);
        way.make(&leases.path(), &other);
        let store = format!("files:{}", other.display());
        let both = [leases.store(), store].into_iter().enumerate();
        first.leave(leader.process);
        let both = both.map(|(process, store)| words(HOLDER, process, &store));
        first.run_instead(both);
        let mut token = leader.token;
        for _ in 0..3 {
            let leader = first.wait_for_leader(token);
            token = leader.token;
            first.listen(long());
            first.kill(leader.process);
            let next = first.wait_for_leader(token);
            assert_ne!(next.process, leader.process, "{way:?}");
            token = next.token;
            first.restart(leader.process);
            first.listen(long());
            first.leave(next.process);
            first.restart(next.process);
        }
        let tenures = first.verdict();
        let tenures = tenures.unwrap_or_else(|wrong| panic!("{way:?}: {wrong}"));
        assert!(tenures > 6, "{way:?}: {tenures} tenures");
    }
}

/// A change of the files, while three processes hold a lease in them.
#[derive(Clone, Copy, Debug)]
enum Deed {
    /// The processes open, read and close every file, the leader first, as a backup does.
    ReadByLeader,
    /// The files are copied into another folder.
    Copied,
    Removed,
    /// Each file is replaced by a copy of itself.
    Replaced,
    /// The files are renamed, and get their old names back after a while.
    Renamed,
    FolderRenamed,
}

impl Deed {
    const ALL: [Self; 6] = [
        Self::ReadByLeader,
        Self::Copied,
        Self::Removed,
        Self::Replaced,
        Self::Renamed,
        Self::FolderRenamed,
    ];

    fn act(self, folder: &Path, leader: usize, processes: &mut Processes) {
        let beside = folder.with_file_name("beside");
        if let Self::FolderRenamed = self {
            fs::rename(folder, &beside).expect("it can be renamed");
            processes.listen(long());
            return fs::rename(beside, folder).expect("it can be renamed");
        }
        fs::create_dir(&beside).expect("it can be made");
        let mut renamed = Vec::new();
        for entry in fs::read_dir(folder).expect("it is there") {
            let file = entry.expect("an entry").path();
            let other = beside.join(file.file_name().expect("a name"));
            match self {
                Self::Copied => drop(fs::copy(&file, &other).expect("it can be copied")),
                Self::Removed => fs::remove_file(&file).expect("it is there"),
                Self::Replaced => {
                    fs::copy(&file, &other).expect("it can be copied");
                    fs::rename(&other, &file).expect("it can be replaced");
                }
                Self::Renamed => {
                    fs::rename(&file, &other).expect("it can be renamed");
                    renamed.push((other, file));
                }
                Self::ReadByLeader | Self::FolderRenamed => {}
            }
        }
        if let Self::ReadByLeader = self {
            for process in [leader, 0, 1, 2] {
                processes.read(process, folder);
            }
        }
        processes.listen(long());
        for (from, to) in renamed {
            fs::rename(from, to).expect("it can be renamed");
        }
        fs::remove_dir_all(beside).expect("it is there");
    }
}

#[test]
fn of_processes_whose_files_are_copied_removed_replaced_or_renamed_one_leads() {
    let leases = leases();
    let mut processes = Processes::start(HOLDER, &leases.store(), 3);
    let mut leader = processes.wait_for_leader(0);
    for deed in Deed::ALL {
        deed.act(&leases.path(), leader.process, &mut processes);
        // Most changes cost the leader its lease. A kill of the present leader follows after each change.
        processes.wait_for_leader(leader.token - 1);
        processes.listen(long());
        let last = processes.newest().expect("one leads");
        processes.kill(last.process);
        leader = processes.wait_for_leader(last.token);
        processes.restart(last.process);
        // The next change must not come while a process starts: a start makes the folder if it is missing.
        processes.wait_until_all_know_one();
    }
    let tenures = processes.judge();
    assert!(tenures > Deed::ALL.len(), "{tenures} tenures");
}

/// A process that is stopped in the middle of a write keeps its file locked.
#[test]
fn of_processes_whose_file_stays_locked_none_leads_until_it_is_free() {
    let leases = leases();
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

#[test]
fn of_processes_on_hosts_of_their_own_one_leads_whatever_befalls_a_database() {
    let name = "of_processes_on_hosts_of_their_own_one_leads_whatever_befalls_a_database";
    if let Some(hosts) = Hosts::of(name, 3) {
        play_over(&hosts, &mut Server::trusting(ALL), HOLDER);
    }
}

#[test]
fn a_group_moves_from_a_quorum_to_a_lease_in_a_folder_and_back() {
    let leases = leases();
    let lease = format!("folder = {:?}", leases.path().display().to_string());
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

/// Without the steps of the recipe two processes lead at one time, and the test of the recipe would notice it.
#[test]
fn a_group_that_moves_without_the_recipe_has_two_leaders() {
    let leases = leases();
    let lease = format!("folder = {:?}", leases.path().display().to_string());
    let verdict = Move::between_quorum_and(&lease, HOLDER).at_once();
    assert!(
        verdict
            .as_ref()
            .is_err_and(|wrong| wrong.contains("two leaders")),
        "{verdict:?}"
    );
}
