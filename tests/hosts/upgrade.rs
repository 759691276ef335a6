//! A group of the last release, upgraded process by process while it elects, and what becomes of the way back.
//!
//! ```text
//! $ cargo build --release --example node
//! $ cargo run --release --manifest-path tests/hosts/Cargo.toml --bin upgrade -- --node target/release/examples/node
//! ```
//!
//! The old node is built from the commit that `.ci/releases` names, in a work tree beside the build; `--old` names one that
//! is built already. Where the history lacks that commit, as in a shallow clone, it says "skipped", and why: what the
//! old release sends is kept in bytes all the same (`src/remote/wire/tests/messages_1.txt`), and `tests/remote/versions.rs`
//! plays both versions.
#![expect(
    clippy::print_stdout,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "shows what it does, counts hosts from 0 to n, and runs in real time"
)]

#[cfg_attr(
    not(test),
    expect(dead_code, reason = "hosts of their own have more to be asked")
)]
mod check;
#[expect(dead_code, reason = "hosts of their own have more done to them")]
mod cluster;
mod log;
mod loopback;
#[path = "../support/ports.rs"]
mod ports;
mod wrong;

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
    time::{Duration, Instant},
};

use cluster::{Cluster, Setting, name};
use loopback::Loopback;
use wrong::Wrong;

/// How a process is ended before its next one has the other release.
#[derive(Clone, Copy, Debug)]
enum End {
    Asked,
    Killed,
}

/// The programs of the two releases.
struct Releases {
    old: PathBuf,
    new: PathBuf,
}

fn main() -> ExitCode {
    let began = Instant::now();
    let releases = match releases() {
        Ok(Some(releases)) => releases,
        Ok(None) => return ExitCode::SUCCESS,
        Err(wrong) => {
            println!("upgrade: {wrong}");
            return ExitCode::from(2);
        }
    };
    println!(
        "-- the old node is there after {:.0} s",
        began.elapsed().as_secs_f64()
    );
    let stories = [
        ([0, 1, 2], End::Asked),
        ([2, 1, 0], End::Killed),
        ([1, 2, 0], End::Killed),
    ];
    let mut failed = 0;
    for (order, end) in stories {
        let began = Instant::now();
        let outcome = upgraded(&releases, &order, end);
        let took = began.elapsed().as_secs_f64();
        match outcome {
            Ok(terms) => println!(
                "ok      {order:?} {end:?} {took:5.1} s  {terms} terms, one leader in each"
            ),
            Err(wrong) => {
                failed += 1;
                println!("FAILED  {order:?} {end:?} {took:5.1} s  {wrong}");
            }
        }
    }
    ExitCode::from(u8::from(failed > 0))
}

/// Up in this order, back to the old release, up again, then the new record: how many terms there were.
fn upgraded(releases: &Releases, order: &[usize; 3], end: End) -> Result<usize, Wrong> {
    let setting = Setting {
        hosts: 3,
        quorum: true,
        diskless: false,
        timings: "default",
        preempt: 1_000,
    };
    let mut cluster = Cluster::start(&releases.old, Loopback::new(3), setting)?;
    roll(&mut cluster, &releases.new, order, end)?;
    // Half of the way back, in the other order; then all of it: no store keeps the old release away.
    let back: Vec<_> = order.iter().rev().copied().collect();
    roll(&mut cluster, &releases.old, &back[..1], end)?;
    roll(&mut cluster, &releases.new, &back[..1], end)?;
    roll(&mut cluster, &releases.old, &back, end)?;
    roll(&mut cluster, &releases.new, order, end)?;
    // The operator enables the new record, node by node, and the way back ends: the old release refuses it in words.
    for host in order {
        cluster.flags[*host] = Some("--upgrade-store");
        replace(&mut cluster, &releases.new, *host, end)?;
        cluster.agree()?;
        cluster.flags[*host] = None;
        refused(&mut cluster, &releases.old, *host)?;
        cluster.programs[*host].clone_from(&releases.new);
        cluster.restart(*host)?;
        cluster.agree()?;
        cluster.verdict()?;
    }
    Ok(cluster.beliefs().len())
}

/// Gives these nodes that release, one after the other; a leader of each mixture is killed, and one stands still.
fn roll(
    cluster: &mut Cluster<Loopback>,
    to: &Path,
    order: &[usize],
    end: End,
) -> Result<(), Wrong> {
    for host in order {
        replace(cluster, to, *host, end)?;
        let leader = cluster.agree()?;
        cluster.kill(leader)?;
        cluster.restart(leader)?;
        let leader = cluster.agree()?;
        cluster.freeze(leader)?;
        // Longer than any lease: who could take over has done so.
        cluster.log.wait(Duration::from_secs(3), |_| None::<()>);
        cluster.thaw(leader)?;
        cluster.agree()?;
        cluster.verdict()?;
    }
    Ok(())
}

/// Ends a node and starts it with that release.
fn replace(cluster: &mut Cluster<Loopback>, to: &Path, host: usize, end: End) -> Result<(), Wrong> {
    match end {
        End::Asked => cluster.stop(host)?,
        End::Killed => cluster.kill(host)?,
    }
    cluster.programs[host] = to.to_path_buf();
    cluster.restart(host)
}

/// The old release does not start with the new record, and says why.
fn refused(cluster: &mut Cluster<Loopback>, old: &Path, host: usize) -> Result<(), Wrong> {
    cluster.stop(host)?;
    cluster.programs[host] = old.to_path_buf();
    let said = cluster.restart_refused(host)?;
    if said.contains("has format 2, this release reads format 1") {
        Ok(())
    } else {
        let name = name(host);
        Err(Wrong(format!("{name} goes back without a word: {said}")))
    }
}

/// The programs that the command line names; `None`: there is no old one, and why was said.
fn releases() -> Result<Option<Releases>, Wrong> {
    let mut new = PathBuf::from("target/release/examples/node");
    let mut old = None;
    let mut arguments = env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let path = arguments.next().map(PathBuf::from);
        match (argument.as_str(), path) {
            ("--node", Some(path)) => new = path,
            ("--old", Some(path)) => old = Some(path),
            _ => {
                return Err(Wrong(String::from(
                    "say --node PATH, and --old PATH or nothing",
                )));
            }
        }
    }
    if old.is_none() {
        old = build_old()?;
    }
    Ok(old.map(|old| Releases { old, new }))
}

/// Builds the node of the last release of another version of the wire.
fn build_old() -> Result<Option<PathBuf>, Wrong> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let Ok(table) = fs::read_to_string(root.join(".ci/releases")) else {
        println!("skipped: there is no list of releases here");
        return Ok(None);
    };
    let mut rows = table.lines().filter(|line| !line.starts_with('#'));
    let Some((version, rest)) = rows.next_back().and_then(|row| row.split_once(' ')) else {
        println!("skipped: nothing was released so far");
        return Ok(None);
    };
    let commit = rest.split(' ').next().unwrap_or_default();
    let git = |arguments: &[&str]| {
        let done = Command::new("git")
            .arg("-C")
            .arg(&root)
            .args(arguments)
            .output();
        done.is_ok_and(|done| done.status.success())
    };
    if !git(&["cat-file", "-e", &format!("{commit}^{{commit}}")]) {
        println!(
            "skipped: the history here lacks the commit of release {version}, {commit}: is the clone shallow?"
        );
        return Ok(None);
    }
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let place = target.join("releases").join(version);
    let tree = place.join("tree");
    if !tree.join("Cargo.toml").exists() {
        fs::create_dir_all(&tree)?;
        // Without a trace in the clone: an archive, and no work tree that git has to know of.
        let archive = place.join("tree.tar");
        let made = git(&["archive", "-o", &archive.to_string_lossy(), commit]);
        let unpacked = Command::new("tar")
            .arg("-xf")
            .arg(&archive)
            .arg("-C")
            .arg(&tree)
            .status()?;
        if !made || !unpacked.success() {
            return Err(Wrong(format!("release {version} cannot be unpacked")));
        }
    }
    let built = Command::new("cargo")
        .args([
            "build",
            "--quiet",
            "--locked",
            "--release",
            "--example",
            "node",
        ])
        .current_dir(&tree)
        .env("CARGO_TARGET_DIR", place.join("target"))
        .status()?;
    if !built.success() {
        return Err(Wrong(format!(
            "the node of release {version} cannot be built"
        )));
    }
    Ok(Some(place.join("target/release/examples/node")))
}
