//! What a driver sees of a bad disk.

use std::{fs, future::poll_fn, pin::pin, sync::Arc, task::Poll};

use actix_bully::{
    store::{MemoryStore, StoreError, TermStore},
    testkit::FaultyStore,
};

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
