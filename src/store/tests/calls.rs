//! A store whose calls fail; the tests of `record_file` in `bully-register` have their order.

use std::{
    io::ErrorKind,
    path::Path,
    sync::{Arc, Mutex},
};

use tokio::{runtime, task::spawn_blocking};

use crate::{
    protocol::Incarnation,
    store::{FileStore, Incarnations, StoreError, StoreIdentity, TermStore},
};
use bully_register::record_file::tried::{Event, Tried};

fn mine() -> StoreIdentity {
    let name = || "x".parse().expect("a name");
    StoreIdentity {
        cluster: name(),
        group: name(),
        node: name(),
    }
}

fn create(path: &Path, system: &Arc<Tried>) -> FileStore<u64> {
    let system = Arc::<Tried>::clone(system);
    FileStore::create_on(path, mine(), system).expect("a new store")
}

fn open(path: &Path) -> FileStore<u64> {
    FileStore::open_on(path, mine(), Arc::new(Tried::default())).expect("whole")
}

/// The calls of a save: two looks at the name, the write, the sync, two looks again.
const WRITE: usize = 2;
const SYNC: usize = 3;

#[actix_rt::test]
async fn a_disk_that_is_full_leaves_the_record_before_and_works_again_when_there_is_room() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("jobs");
    let system = Arc::new(Tried::default());
    let store = create(&path, &system);
    let generation = store.begin().expect("it works");
    store.save(generation, 1).await.expect("saved");
    for kind in [ErrorKind::StorageFull, ErrorKind::QuotaExceeded] {
        system.plan(WRITE, Event::Fails(kind));
        let refused = store.save(generation, 2).await.expect_err("no room");
        assert!(matches!(refused, StoreError::Full { .. }), "{refused:?}");
        assert!(refused.is_full());
        assert!(refused.to_string().contains(
            "cannot be written, its disk is full: make room; the agent comes back by its restart \
             policy, or is started again"
        ));
        system.plan(WRITE, Event::Fails(kind));
        let refused = store.remember(Incarnation(7)).expect_err("no room");
        assert!(refused.is_full(), "{refused:?}");
        assert_eq!(store.load().expect("as before"), Some(1));
    }
    store.save(generation, 3).await.expect("there is room");
    drop(store);
    assert_eq!(open(&path).load().expect("whole"), Some(3));
}

#[actix_rt::test]
async fn a_disk_that_fails_at_the_sync_is_not_believed_any_more() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("jobs");
    let system = Arc::new(Tried::default());
    let store = create(&path, &system);
    let generation = store.begin().expect("it works");
    store.save(generation, 1).await.expect("saved");
    system.plan(SYNC, Event::Fails(ErrorKind::Other));
    assert!(store.save(generation, 2).await.is_err());
    let refused = store.save(generation, 3).await.expect_err("for good");
    assert!(matches!(refused, StoreError::Failed { .. }), "{refused:?}");
    assert!(store.load().is_err() && store.begin().is_err());
    assert!(store.remember(Incarnation(1)).is_err());
    drop(store);
    assert_eq!(open(&path).load().expect("whole"), Some(1));
}

#[test]
fn an_application_that_fills_the_pool_of_threads_holds_up_no_save() {
    let runtime = runtime::Builder::new_current_thread()
        .max_blocking_threads(1)
        .build()
        .expect("a runtime");
    let folder = tempfile::tempdir().expect("a folder");
    let store = create(&folder.path().join("jobs"), &Arc::default());
    let generation = store.begin().expect("it works");
    let busy = Arc::new(Mutex::new(()));
    let held = busy.lock().expect("free");
    runtime.block_on(async {
        let work = Arc::clone(&busy);
        let work = spawn_blocking(move || drop(work.lock()));
        store.save(generation, 1).await.expect("saved");
        assert!(!work.is_finished());
        drop(held);
        work.await.expect("it ends");
    });
}

#[test]
fn two_new_stores_have_two_ids_and_each_keeps_its_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let ids = ["one", "two"].map(|name| {
        let path = folder.path().join(name);
        let store = create(&path, &Arc::default());
        let id = store.id().expect("it is in a file");
        drop(store);
        assert_eq!(open(&path).id(), Some(id));
        id
    });
    assert_ne!(ids[0], ids[1]);
}
