//! A driver with a bad disk, and in a process without free descriptors.

use std::{
    env,
    fs::{self, File},
    future::poll_fn,
    iter::from_fn,
    pin::pin,
    process::Command,
    sync::Arc,
    task::Poll,
};

use actix_bully::{
    store::{MemoryStore, Outlook, StoreError, TermStore},
    testkit::FaultyStore,
};
use bully_register::Shortage;

use super::{create, keep, names, open, place, vote};

#[actix_rt::test]
async fn a_save_that_failed_is_the_last() {
    let (folder, path) = place();
    let store = create(&path).expect("a new store");
    keep(&store, vote(1)).await.expect("saved");
    let aside = folder.path().join("aside");
    fs::rename(&path, &aside).expect("moved");
    assert!(keep(&store, vote(2)).await.is_err());
    fs::rename(&aside, &path).expect("moved back");
    let refused = keep(&store, vote(3)).await.expect_err("failed for good");
    assert!(matches!(refused, StoreError::Failed { .. }), "{refused:?}");
    let refused = store.load().expect_err("failed for good");
    assert!(matches!(refused, StoreError::Failed { .. }), "{refused:?}");
    drop(store);
    let store = open(&path).expect("looked at again");
    assert_eq!(store.load().expect("it can be read"), Some(vote(1)));
    keep(&store, vote(4)).await.expect("saved");
    assert_eq!(names(&folder), ["jobs.store"]);
}

#[actix_rt::test]
async fn a_planted_fault_comes_when_it_was_asked_for() {
    let memory = MemoryStore::new();
    let store = FaultyStore::new(memory.clone());
    keep(&store, vote(1)).await.expect("saved");
    store.fail_at(3);
    keep(&store, vote(2)).await.expect("saved");
    keep(&store, vote(3)).await.expect("saved");
    assert!(keep(&store, vote(4)).await.is_err());
    assert!(keep(&store, vote(5)).await.is_err(), "for good");
    assert!(store.load().is_err());
    assert_eq!(memory.record(), Some(vote(3)));
    assert_eq!(store.inner().record(), Some(vote(3)));
}

#[actix_rt::test]
async fn a_held_save_waits_and_has_written_nothing() {
    let store = Arc::new(FaultyStore::new(MemoryStore::new()));
    store.hold();
    let mut saving = pin!(keep(&store, vote(1)));
    let waits = poll_fn(|cx| Poll::Ready(saving.as_mut().poll(cx).is_pending())).await;
    assert!(waits);
    assert_eq!(store.load().expect("memory"), None);
    store.release();
    saving.await.expect("saved");
    assert_eq!(store.load().expect("memory"), Some(vote(1)));
}

const STORE: &str = "STORE_OF_A_CHILD";

#[actix_rt::test]
async fn child_that_has_no_descriptor_left() {
    let Some(path) = env::var_os(STORE) else {
        return;
    };
    let store = open(path.as_ref()).expect("free and whole");
    let mut taken: Vec<_> = from_fn(|| File::open("/dev/null").ok()).collect();
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

/// The process is another run of this test binary: the test above, with fewer descriptors.
#[test]
fn a_process_without_a_descriptor_votes_on_and_is_told_when_it_cannot_open_its_store() {
    let (_folder, path) = place();
    drop(create(&path).expect("a new store"));
    let part = "store::faults::child_that_has_no_descriptor_left";
    let output = Command::new("sh")
        .args(["-c", r#"ulimit -n 64; exec "$0" "$@""#])
        .arg(env::current_exe().expect("this binary"))
        .args([part, "--exact", "--nocapture"])
        .env(STORE, &path)
        .output()
        .expect("a process");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("\ndone"), "{said}");
}
