//! What other processes do: one that is killed while it saves, one whose disk is full, and one without descriptors.
//!
//! The process is this test binary once more, told by the environment which part to play.

use std::{
    env,
    fs::File,
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, Stdio},
};

use actix_bully::store::{Outlook, StoreError, TermStore};
use bully_register::Shortage;

use super::{Vote, create, keep, kept, names, open, place, vote};

const STORE: &str = "STORE_OF_A_CHILD";

/// Runs one test of this file as a process, by a shell that prepares it.
fn child(part: &str, store: &Path, prepare: &str) -> Command {
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!(r#"{prepare} exec "$0" "$@""#)])
        .arg(env::current_exe().expect("this binary"))
        .args([&format!("store::crash::{part}"), "--exact", "--nocapture"])
        .env(STORE, store)
        .stdout(Stdio::piped());
    command
}

#[actix_rt::test]
async fn child_that_saves_until_it_is_killed() {
    let Some(path) = env::var_os(STORE) else {
        return;
    };
    let store = open(path.as_ref()).expect("free and whole");
    let last = store.load().expect("it can be read");
    let mut term = last.map_or(0, |vote| vote.term.0);
    loop {
        term += 1;
        keep(&store, vote(term)).await.expect("saved");
        println!("\nsaved {term}");
    }
}

#[test]
fn what_was_saved_survives_a_kill() {
    let (folder, path) = place();
    drop(create(&path).expect("a new store"));
    let mut before = 0;
    for saves in 1..=8 {
        let mut child = child("child_that_saves_until_it_is_killed", &path, "")
            .spawn()
            .expect("a process");
        let lines = BufReader::new(child.stdout.take().expect("its output")).lines();
        let mut terms = lines.filter_map(|line| {
            let line = line.expect("text");
            line.strip_prefix("saved ")?.parse::<u64>().ok()
        });
        assert_eq!(terms.next(), Some(before + 1), "it goes on where it was");
        let refused = open(&path).expect_err("the child has it open");
        assert!(matches!(refused, StoreError::InUse { .. }), "{refused:?}");
        let seen = terms.by_ref().nth(saves).expect("it saves");
        child.kill().expect("killed");
        child.wait().expect("ended");
        let last = terms.last().unwrap_or(seen);

        let store = open(&path).expect("free and whole");
        let found: Vote = store.load().expect("it can be read").expect("there is one");
        before = found.term.0;
        assert!(
            [last, last + 1].contains(&before),
            "{last} was saved, {before} was found"
        );
        assert_eq!(names(&folder), ["jobs.store"], "nothing stays behind");
    }
}

#[actix_rt::test]
async fn child_whose_disk_is_full() {
    let Some(path) = env::var_os(STORE) else {
        return;
    };
    let store = open(path.as_ref()).expect("free and whole");
    for term in 1..=2 {
        keep(&store, vote(term))
            .await
            .expect("there is room for it");
    }
    let large = Vote {
        voted_for: "\\".repeat(256).parse().ok(),
        ..vote(3)
    };
    let cut = keep(&store, large).await;
    assert!(matches!(cut, Err(StoreError::Io { .. })), "{cut:?}");
    let refused = store.load();
    assert!(
        matches!(refused, Err(StoreError::Failed { .. })),
        "{refused:?}"
    );
    println!("\ndone");
}

#[test]
fn a_record_that_was_cut_leaves_the_one_before() {
    let (folder, path) = place();
    drop(create(&path).expect("a new store"));
    // The file may be written up to the first 512 bytes of its second slot, and a process that tries more is told
    // instead of killed.
    let output = child(
        "child_whose_disk_is_full",
        &path,
        "trap '' XFSZ; ulimit -f 1025;",
    )
    .output()
    .expect("a process");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("\ndone"), "{said}");
    assert_eq!(names(&folder), ["jobs.store"], "nothing stays behind");
    assert_eq!(kept(&path), Some(vote(2)));
}

#[actix_rt::test]
async fn child_that_has_no_descriptor_left() {
    let Some(path) = env::var_os(STORE) else {
        return;
    };
    let store = open(path.as_ref()).expect("free and whole");
    let mut taken: Vec<_> = std::iter::from_fn(|| File::open("/dev/null").ok()).collect();
    assert!(!taken.is_empty(), "its limit is reached");
    for term in 1..=3 {
        let saved = keep(&store, vote(term)).await;
        saved.expect("a save takes no descriptor");
    }
    drop(store);
    taken.extend(File::open("/dev/null"));
    let refused = open(path.as_ref()).expect_err("an open takes one");
    assert_eq!(refused.outlook(), Outlook::Passes(Shortage::Descriptors));
    assert!(refused.to_string().contains("ulimit -n"), "{refused}");
    drop(taken);
    let store = open(path.as_ref()).expect("there are some again");
    let found = store.load().expect("it can be read");
    assert_eq!(found, Some(vote(3)));
    println!("\ndone");
}

#[test]
fn a_process_without_a_descriptor_votes_on_and_is_told_when_it_cannot_open_its_store() {
    let (_folder, path) = place();
    drop(create(&path).expect("a new store"));
    let part = "child_that_has_no_descriptor_left";
    let output = child(part, &path, "ulimit -n 64;").output();
    let output = output.expect("a process");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("\ndone"), "{said}");
}
