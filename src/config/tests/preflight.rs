//! A preflight on real files and sockets: it measures each part of the configuration, and leaves no file.

use std::{fs, net::TcpListener, path::Path, time::Duration};

use actix::System;

use crate::config::{
    Config, Preflight,
    preflight::{
        PreflightFinding,
        PreflightPart::{self, Clock, Disk, Peer, Stall, StoreReads, StoreWrites},
    },
};

/// Time in which each part is measured a few times.
const SHORT: Duration = Duration::from_millis(50);

fn preflight(text: &str) -> Preflight {
    let config = Config::from_toml(text).unwrap();
    System::new().block_on(config.preflight(SHORT)).unwrap()
}

fn parts(found: &Preflight) -> Vec<(PreflightPart, Option<&str>)> {
    let checks = found.checks.iter();
    checks
        .map(|check| (check.part, check.node.as_deref()))
        .collect()
}

fn names(folder: &Path) -> usize {
    fs::read_dir(folder).unwrap().count()
}

/// Timings for slow hosts. Every disk is fast enough for them.
const SLOW: &str = "[timings]\npreset = \"wan\"";

fn quorum(folder: &Path, peer: &str, dead: &str) -> String {
    let store = folder.join("jobs.store");
    format!(
        "node = \"a\"\ngroup = \"jobs\"\nlisten = \"127.0.0.1:0\"\n\
         [[peers]]\nnode = \"b\"\naddress = \"{peer}\"\n\
         [[peers]]\nnode = \"c\"\naddress = \"{dead}\"\n\
         [quorum]\nvoters = [\"a\", \"b\", \"c\"]\nstore_file = {store:?}\n{SLOW}"
    )
}

#[test]
fn a_voter_measures_its_disk_and_its_peers_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let alive = TcpListener::bind("127.0.0.1:0").unwrap();
    let dead = TcpListener::bind("127.0.0.1:0").unwrap();
    let [at, nobody] = [&alive, &dead].map(|socket| socket.local_addr().unwrap().to_string());
    drop(dead);
    let found = preflight(&quorum(folder.path(), &at, &nobody));
    assert_eq!(
        parts(&found),
        [
            (Disk, None),
            (Peer, Some("b")),
            (Peer, Some("c")),
            (Stall, None),
            (Clock, None)
        ]
    );
    assert_eq!(names(folder.path()), 0);
    for check in &found.checks {
        let is_dead = check.node.as_deref() == Some("c");
        match &check.found {
            PreflightFinding::Measured { figure, bound } => {
                assert!(
                    !is_dead && (check.part != Disk || !figure.is_zero()),
                    "{check:?}"
                );
                assert!(!bound.is_zero(), "{check:?}");
            }
            PreflightFinding::Unknown { reason } => {
                assert!(
                    is_dead && reason.contains("no process listens there"),
                    "{reason}"
                );
            }
            PreflightFinding::Fails { reason } => panic!("{reason}"),
        }
    }
    assert!(found.is_ok(), "{found:?}");
    let json = serde_json::to_value(&found).unwrap();
    assert_eq!(json["checks"][0]["part"], "disk");
    assert!(
        json["checks"][0]["found"]["figure_ms"].is_number(),
        "{json}"
    );
    assert_eq!(json["checks"][2]["found"]["kind"], "unknown");
}

#[test]
fn a_lease_measures_its_store_and_leaves_its_lease_alone() {
    let folder = tempfile::tempdir().unwrap();
    let text = format!(
        "node = \"a\"\ngroup = \"jobs\"\n[lease]\nfolder = {:?}\n{SLOW}",
        folder.path()
    );
    let found = preflight(&text);
    assert_eq!(
        parts(&found),
        [
            (StoreReads, None),
            (StoreWrites, None),
            (Stall, None),
            (Clock, None)
        ]
    );
    assert!(found.is_ok(), "{found:?}");
    assert_eq!(names(folder.path()), 0, "no key remains in the store");
}
