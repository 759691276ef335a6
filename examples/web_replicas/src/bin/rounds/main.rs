//! Three replicas, and rounds in which the leader is killed, frozen, asked to stop, cut off, or on a full disk. In every
//! round, no row with a lower fence may follow a row with a higher fence, and the job may not pause for longer than the
//! printed bound. Within that bound each remaining replica redirects to the new leader.
//!
//! ```text
//! cargo run -p web-replicas --bin rounds -- 10
//! cargo run -p web-replicas --bin rounds -- 10 'folder = "/tmp/leases"'
//! cargo run -p web-replicas --features postgres --bin rounds -- 10 'postgres_url_file = "/etc/jobs/postgres"'
//! cargo run -p web-replicas --features etcd --bin rounds -- 10 'etcd_endpoints = ["http://127.0.0.1:2379"]'
//! ```
//!
//! In the first command the three replicas vote. In the others they share a store. The store is the only line of their
//! configuration that changes: a line of the section `[lease]`, as in `every_key.toml` of the crate.
//!
//! The full disk is a small disk in memory, mounted where only this program sees it. If such a mount is not allowed,
//! those rounds are skipped, and the last line says this.
#![expect(
    clippy::disallowed_methods,
    reason = "processes live in real time, and there is no runtime that a wait would block"
)]

mod database;
mod disk;
mod replica;
mod way;
mod wires;

use std::{
    env,
    error::Error,
    fs, io,
    path::Path,
    process::ExitCode,
    time::{Duration, Instant},
};

use actix_bully::{elections::lease::LeaseConfig, protocol::Timings};

use database::{Database, Row};
use replica::Replicas;
use way::Way;

type Wrong = Box<dyn Error>;

/// The way in which the leader ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// `kill -9`.
    Kill,
    /// The leader is stopped for longer than its lease, and continues.
    Freeze,
    /// SIGTERM: the leader hands over.
    Terminate,
    /// Its cable is pulled: no link of it delivers anything. Its HTTP server still answers.
    Cut,
    /// The disk with its vote is full when it is killed, and when it comes back. It still works.
    FullDisk,
}

const ENDS: [End; 5] = [
    End::Kill,
    End::Freeze,
    End::Terminate,
    End::Cut,
    End::FullDisk,
];

/// Longest wait for an event that must happen.
const SOON: Duration = Duration::from_secs(20);
/// Interval of the job's rows.
const INTERVAL: Duration = Duration::from_millis(20);
/// Time for a new leader's job to begin, and for a write to the database, on a machine with other work.
const START: Duration = Duration::from_millis(300);

fn main() -> ExitCode {
    let rounds = env::args().nth(1).map_or(Ok(10), |text| text.parse());
    let Ok(rounds) = rounds else {
        eprintln!("rounds: name a number of rounds, such as 10");
        return ExitCode::from(2);
    };
    if let Some(code) = disk::in_own_namespace() {
        return code;
    }
    match play(rounds, env::args().nth(2).as_deref()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(wrong) => {
            eprintln!("rounds: {wrong}");
            ExitCode::FAILURE
        }
    }
}

/// Returns the longest pause between rows that the timings promise, if the two other replicas and the store work.
fn bound(lease: Option<&str>) -> Result<Duration, Wrong> {
    let timings = Timings::lan();
    let failover = if lease.is_none() {
        // On a machine with other work a voter may answer later than the timings assume: then a round ends by its
        // deadline.
        timings.worst_case_quorum_failover(1) + timings.deadline()
    } else {
        let usual = LeaseConfig::new("default", "jobs")?;
        LeaseConfig { timings, ..usual }.worst_case_failover(1)
    };
    Ok(failover + INTERVAL + START)
}

fn play(rounds: usize, lease: Option<&str>) -> Result<(), Wrong> {
    let mut replicas = Replicas::start(lease)?;
    let database = Database::open(&replicas.database())?;
    let bound = bound(lease)?;
    let leases = lease.and_then(folder_of).map(Path::new);
    println!("a row every {INTERVAL:?}; bound of a gap: {bound:?}");
    println!("round  end        from   to     fence  gap ms  way ms");
    let mut held = 0;
    let mut longest = [Duration::ZERO; ENDS.len()];
    for round in 0..rounds {
        let at = round % ENDS.len();
        let end = ENDS[at];
        if !is_possible(end, &replicas) {
            continue;
        }
        let before = database.leader(SOON)?;
        let (gap, way) = loop {
            let way = Way::watch(replicas.others(&before.node), &before.node);
            act(&mut replicas, &before.node, end)?;
            // A replica that was frozen during a write blocks the others, until it continues or is killed.
            if end != End::Freeze || database.is_free()? && leases.map_or(Ok(true), are_free)? {
                break (database.next(&before, SOON)?, way.found()?);
            }
            held += 1;
            replicas.thaw(&before.node)?;
            database.leader(SOON)?;
        };
        let Row { node, fence, .. } = &gap.first;
        let millis = gap.lasted.as_millis();
        println!(
            "{round:>5}  {:<9}  {:<5}  {node:<5}  {fence:>5}  {millis:>6}  {:>6}",
            name(end),
            before.node,
            way.as_millis()
        );
        longest[at] = longest[at].max(gap.lasted);
        if gap.lasted > bound {
            return Err(format!("round {round}: {millis} ms without the job").into());
        }
        if way > bound {
            let millis = way.as_millis();
            return Err(format!("round {round}: {millis} ms without a way to the leader").into());
        }
        recover(&mut replicas, &before.node, end)?;
        replicas.agree(SOON)?;
        replicas.check_ways(SOON)?;
        replicas.check_pages()?;
        database.check()?;
    }
    let rows = database.check()?;
    replicas.stop()?;
    for (end, longest) in ENDS.iter().zip(longest) {
        println!("longest gap, {}: {} ms", name(*end), longest.as_millis());
    }
    println!("{rows} rows, and none with a lower fence after a higher one");
    if held > 0 {
        println!("frozen in the middle of a write, and thawed: {held} times");
    }
    if !replicas.has_small_disks() {
        println!("full disk: left out, {}", without_disks(lease));
    }
    Ok(())
}

/// Returns whether the replicas can have this end of a leader.
fn is_possible(end: End, replicas: &Replicas) -> bool {
    match end {
        End::FullDisk => replicas.has_small_disks(),
        End::Cut => replicas.has_links(),
        End::Kill | End::Freeze | End::Terminate => true,
    }
}

const fn without_disks(lease: Option<&str>) -> &'static str {
    match lease {
        None => "this user cannot mount a small one",
        Some(_) => "no vote is on a disk",
    }
}

/// Returns whether no replica keeps a file of the leases locked.
fn are_free(folder: &Path) -> io::Result<bool> {
    for entry in fs::read_dir(folder)? {
        let file = fs::File::open(entry?.path())?;
        let begun = Instant::now();
        while file.try_lock().is_err() {
            if begun.elapsed() > 2 * INTERVAL {
                return Ok(false);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    Ok(true)
}

/// Returns the folder of the leases, if the line names a folder.
fn folder_of(lease: &str) -> Option<&str> {
    lease.strip_prefix("folder = \"")?.strip_suffix('"')
}

fn act(replicas: &mut Replicas, leader: &str, end: End) -> Result<(), Wrong> {
    match end {
        End::Kill => replicas.kill(leader),
        End::Freeze => replicas.freeze(leader),
        End::Terminate => replicas.terminate(leader),
        End::Cut => {
            replicas.pull_cable(leader, true);
            Ok(())
        }
        End::FullDisk => {
            replicas.fill(leader)?;
            replicas.kill(leader)
        }
    }
}

fn recover(replicas: &mut Replicas, former: &str, end: End) -> Result<(), Wrong> {
    match end {
        End::Kill | End::Terminate => replicas.restart(former),
        End::Freeze => replicas.thaw(former),
        End::Cut => {
            replicas.pull_cable(former, false);
            Ok(())
        }
        End::FullDisk => {
            // Its votes need no additional room on the disk.
            replicas.restart(former)?;
            replicas.agree(SOON)?;
            replicas.make_room(former)
        }
    }
}

const fn name(end: End) -> &'static str {
    match end {
        End::Kill => "kill -9",
        End::Freeze => "freeze",
        End::Terminate => "SIGTERM",
        End::Cut => "cut off",
        End::FullDisk => "full disk",
    }
}
