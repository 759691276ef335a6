//! A saved record can be loaded again, and no other record can.

use std::{future::poll_fn, os::unix::fs::PermissionsExt, sync::Arc, task::Poll};

use actix_bully::{
    store::{MemoryStore, TermStore},
    testkit::FaultyStore,
};

use super::{create, identity, keep, kept, open, place, vote};

#[actix_rt::test]
async fn a_store_is_fresh_until_the_first_save() {
    let (_folder, path) = place();
    drop(create(&path).expect("a new store"));
    let store = open(&path).expect("it exists");
    assert_eq!(store.load().expect("it can be read"), None);
    keep(&store, vote(1)).await.expect("saved");
    assert_eq!(store.load().expect("it can be read"), Some(vote(1)));
    drop(store);
    assert_eq!(kept(&path), Some(vote(1)));
}

#[actix_rt::test]
async fn a_save_that_no_caller_waits_for_cannot_undo_a_later_one() {
    let (_folder, path) = place();
    let store = create(&path).expect("a new store");
    let generation = store.begin().expect("it works");
    for term in 0..20 {
        let mut begun = store.save(generation, vote(2 * term));
        let _begun = poll_fn(|cx| Poll::Ready(begun.as_mut().poll(cx))).await;
        drop(begun);
        let second = store.save(generation, vote(2 * term + 1));
        second.await.expect("saved");
        assert_eq!(
            store.load().expect("it can be read"),
            Some(vote(2 * term + 1))
        );
    }
    drop(store);
    assert_eq!(kept(&path), Some(vote(39)));
}

#[actix_rt::test]
async fn nothing_happens_before_a_save_is_polled() {
    let (_folder, path) = place();
    let store = create(&path).expect("a new store");
    drop(keep(&store, vote(1)));
    drop(store);
    assert_eq!(kept(&path), None);
}

#[test]
fn a_file_is_its_owners_only() {
    let (_folder, path) = place();
    drop(create(&path).expect("a new store"));
    let rights = std::fs::metadata(&path).expect("the file").permissions();
    assert_eq!(rights.mode() & 0o777, 0o600);
}

#[test]
fn a_store_says_whose_it_is_and_whether_it_lasts() {
    let (_folder, path) = place();
    let store = create(&path).expect("a new store");
    assert!(!store.is_volatile());
    assert_eq!(store.identity(), Some(&identity("api-1")));
    let memory = MemoryStore::<u64>::new();
    assert!(memory.is_volatile());
    assert_eq!(memory.identity(), None);
    assert_eq!(memory.id(), memory.clone().id());
    assert_ne!(memory.id(), MemoryStore::<u64>::new().id());
    let faulty = FaultyStore::new(store);
    assert!(!faulty.is_volatile());
    assert_eq!(faulty.identity(), Some(&identity("api-1")));
    assert!(faulty.id().is_some());
    assert!(FaultyStore::new(memory.clone()).is_volatile());
    let shared = Arc::new(faulty);
    assert!(!TermStore::is_volatile(&shared));
    assert_eq!(TermStore::identity(&shared), Some(&identity("api-1")));
    assert!(TermStore::id(&shared).is_some());
    assert!(TermStore::is_volatile(&Arc::new(memory)));
}

#[test]
fn a_store_on_a_disk_is_measured_also_if_it_is_shared() {
    let (_folder, path) = place();
    let store = Arc::new(create(&path).expect("a new store"));
    assert!(TermStore::probe(&store).is_some());
}

#[actix_rt::test]
async fn memory_outlives_the_agent() {
    let store = MemoryStore::new();
    let again = store.clone();
    assert_eq!(again.load().expect("memory"), None);
    keep(&store, vote(1)).await.expect("saved");
    drop(store);
    assert_eq!(again.load().expect("memory"), Some(vote(1)));
}
