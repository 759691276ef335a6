//! Voters whose configuration names a file for the marks of schedules. The marks are the progress of the schedules.

use std::{
    future::ready,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
};

use actix::clock::sleep;
use actix_bully::{
    clock::WallTime,
    config::{Config, RunError, RunningNode},
    remote::transport::Pipes,
    testkit::VirtualWallClock,
};

use super::{
    configured::{of_trio, start_with},
    kit::{MS, scene, until},
    logging,
};

/// Returns the configuration of a node of the trio with its file of marks.
fn with_marks(name: &str, folder: &Path, how: &str) -> Config {
    let marks = folder.join(format!("{name}.marks"));
    let marks = ("QUORUM_MARKS_FILE", marks.to_str().unwrap());
    of_trio(name, folder, &[marks, ("QUORUM_STORE", how)])
}

/// Starts a node with a wall clock that moves with the virtual time. Each later start begins an hour later.
fn start(config: &Config, pipes: &Pipes, start: u64) -> Result<RunningNode, RunError> {
    let wall = VirtualWallClock::new(WallTime::from_millis(3_600_000 * (1_000 + start)));
    start_with(config, pipes, start, |agent| agent.wall_clock(wall))
}

#[test]
fn voters_with_a_file_of_marks_run_a_schedule_without_more_code() {
    scene(async |pipes, folder| {
        let ticks = Arc::new(AtomicU32::new(0));
        let nodes = ["a", "b", "c"].map(|name| {
            let node = start(&with_marks(name, folder, "open-or-create"), pipes, 1).unwrap();
            let ticks = Arc::clone(&ticks);
            let every = node.agent().every("report", MS(1_000));
            let count = move |_| {
                ticks.fetch_add(1, Relaxed);
                ready(())
            };
            every.start(count).unwrap();
            node
        });
        until("ticks begin", || ticks.load(Relaxed) > 2).await;
        drop(nodes);
    });
}

#[test]
fn a_voter_whose_file_of_marks_is_missing_does_not_start() {
    scene(async |pipes, folder| {
        let first = [("QUORUM_STORE", "open-or-create")];
        let running = start(&of_trio("a", folder, &first), pipes, 1).unwrap();
        running.leave(MS(5_000)).await.unwrap();
        drop(running);
        sleep(MS(1_000)).await;
        let refused = start(&with_marks("a", folder, "open"), pipes, 2).unwrap_err();
        let said = refused.to_string();
        let (fault, advice) = said.split_once(" does not exist: ").unwrap();
        assert!(fault.starts_with("the store in `quorum.marks_file` cannot be used: /"));
        let due =
            "if this node never had it, start the node once with `store = \"open-or-create\"`";
        assert_eq!(advice, due);
        let again = start(&with_marks("a", folder, "open-or-create"), pipes, 3).unwrap();
        again.leave(MS(5_000)).await.unwrap();
    });
}

/// The store of votes was made by `create` alone. So a file of marks that is added later must be made by `open`, and the
/// store warns once, because no other voter knows the marks of a file that was lost.
#[test]
fn a_single_voter_gets_a_file_of_marks_at_a_later_start() {
    let warned = logging::logged(tracing::Level::WARN, |lines| {
        scene(async |pipes, folder| {
            let marks = folder.join("marks");
            let started = async |how, number| {
                let alone = [("QUORUM_VOTERS", "a"), ("QUORUM_STORE", how)];
                let marks = ("QUORUM_MARKS_FILE", marks.to_str().unwrap());
                let keys = [&alone[..], &[marks][usize::from(how == "create")..]].concat();
                let running = start(&of_trio("a", folder, &keys), pipes, number).unwrap();
                running.leave(MS(5_000)).await.unwrap();
                drop(running);
                sleep(MS(1_000)).await;
            };
            started("create", 1).await;
            assert!(!marks.exists());
            started("open", 2).await;
            assert!(marks.exists());
            started("open", 3).await;
        });
        lines.about("/marks store=")
    });
    assert_eq!(warned.len(), 1, "{warned:#?}");
}
