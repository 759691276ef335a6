//! A store whose calls fail; the tests of `record_file` in `bully-register` check the order of the calls.

use std::{
    io::ErrorKind,
    path::Path,
    sync::{Arc, Mutex, mpsc},
    time::Duration,
};

use rustix::io::Errno;
use tokio::{runtime, task::spawn_blocking};

use crate::{
    protocol::Incarnation,
    store::{FileStore, Generations, Incarnations, Outlook, StoreError, StoreIdentity, TermStore},
};
use bully_register::record_file::tried::{Call, Event, Tried};

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

/// Positions of the write and the sync among the calls of a save. Two calls check the name before them, and two after
/// them.
const WRITE: usize = 2;
const SYNC: usize = 3;

const CALLS: [Call; 6] = [
    Call::Held,
    Call::Named,
    Call::Write,
    Call::SyncData,
    Call::Held,
    Call::Named,
];

/// Errors of each outlook, with a word from the store's error.
const ERRORS: [(Errno, &str); 12] = [
    (Errno::MFILE, "ulimit -n"),
    (Errno::NFILE, "fs.file-max"),
    (Errno::NOMEM, "no memory left"),
    (Errno::NOBUFS, "no memory left"),
    (Errno::AGAIN, "tries again by itself"),
    (Errno::BUSY, "tries again by itself"),
    (Errno::NOSPC, "make room; an agent that runs tries again"),
    (Errno::DQUOT, "make room; an agent that runs tries again"),
    (Errno::IO, "check the disk"),
    (Errno::ROFS, "check the disk"),
    (Errno::ACCESS, "check the disk"),
    (Errno::FBIG, "check the disk"),
];

/// Returns whether a part of the save may be on the disk if the call at this position fails.
fn may_be_written(at: usize) -> bool {
    at >= SYNC
}

#[actix_rt::test]
async fn each_error_at_each_call_of_a_save_leaves_a_record_and_a_later_save_counts_unless_it_is_final()
 {
    for (at, call) in CALLS.iter().enumerate() {
        for (number, word) in ERRORS {
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().join("jobs");
            let system = Arc::new(Tried::default());
            let store = create(&path, &system);
            let generation = store.begin().expect("it works");
            store.save(generation, 1).await.expect("saved");
            system.take();
            system.plan(at, Event::Refused(number.raw_os_error()));
            let refused = store.save(generation, 2).await.expect_err("refused");
            let scene = format!("{call:?} {number:?}: {refused}");
            assert_eq!(system.take().get(at), Some(call), "{scene}");
            assert!(refused.to_string().contains(word), "{scene}");
            let is_final = refused.outlook() == Outlook::Final;
            assert_eq!(is_final, word == "check the disk", "{scene}");

            let is_lost = is_final && may_be_written(at);
            if is_lost {
                assert!(store.load().is_err() && store.begin().is_err(), "{scene}");
                assert!(store.remember(Incarnation(1)).is_err(), "{scene}");
                let later = store.save(generation, 3).await;
                assert!(matches!(later, Err(StoreError::Failed { .. })), "{scene}");
            } else {
                assert_eq!(store.load().expect("the one before"), Some(1), "{scene}");
            }
            if !is_final {
                store.save(generation, 2).await.expect("the same record");
                assert_eq!(store.load().expect("it is durable"), Some(2), "{scene}");
            }
            drop((store, system));
            let found = open(&path).load().expect("whole");
            let is_either = is_lost && matches!(found, Some(1 | 2));
            let expected = if is_final { Some(1) } else { Some(2) };
            assert!(is_either || found == expected, "{scene}: {found:?}");
        }
    }
}

/// Linux marks the pages of a failed sync as clean. Only a new write of all bytes and its sync bring them to the disk.
#[actix_rt::test]
async fn a_record_whose_sync_found_no_room_is_written_whole_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("jobs");
    let system = Arc::new(Tried::default());
    let store = create(&path, &system);
    let generation = store.begin().expect("it works");
    store.save(generation, 1).await.expect("saved");
    for _ in 0..3 {
        system.plan(SYNC, Event::Fails(ErrorKind::StorageFull));
        assert!(store.save(generation, 2).await.is_err());
    }
    system.take();
    store.save(generation, 2).await.expect("there is room");
    assert_eq!(system.take(), CALLS, "the record, and a sync of it");
    // The image has the content of the disk, without the system's cache.
    let image = folder.path().join("image");
    std::fs::write(&image, system.durable()).expect("written");
    assert_eq!(open(&image).load().expect("whole"), Some(2));
}

#[actix_rt::test]
async fn a_disk_that_is_full_remembers_no_incarnation_and_does_when_there_is_room() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("jobs");
    let system = Arc::new(Tried::default());
    let store = create(&path, &system);
    for kind in [ErrorKind::StorageFull, ErrorKind::QuotaExceeded] {
        system.plan(WRITE, Event::Fails(kind));
        let refused = store.remember(Incarnation(7)).expect_err("no room");
        assert_eq!(refused.outlook(), Outlook::NeedsRoom);
        assert_eq!(store.last().expect("as before"), Incarnation(0));
    }
    store.remember(Incarnation(7)).expect("there is room");
    drop(store);
    assert_eq!(open(&path).last().expect("whole"), Incarnation(7));
}

#[actix_rt::test]
async fn a_save_during_which_another_agent_begins_has_failed() {
    let folder = tempfile::tempdir().expect("a folder");
    let system = Arc::new(Tried::default());
    let store = Arc::new(create(&folder.path().join("jobs"), &system));
    let first = store.begin().expect("it works");
    store.save(first, 1).await.expect("saved");
    system.take();
    let (other, (tell, told)) = (Arc::clone(&store), mpsc::channel());
    let begins = move || {
        tell.send((other.begin(), other.load()))
            .expect("it is read");
    };
    system.plan(WRITE, Event::Before(Box::new(begins)));
    let late = store.save(first, 2).await.expect_err("another one began");
    assert!(matches!(late, StoreError::Superseded { .. }), "{late}");
    let (next, known) = told.recv().expect("it began");
    assert_eq!(known.expect("it works"), Some(1));
    let next = next.expect("it works");
    store.save(next, 3).await.expect("it is the latest");
}

#[test]
fn a_store_that_is_opened_is_written_again_so_that_a_failing_disk_is_noticed_at_the_start() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("jobs");
    drop(create(&path, &Arc::default()));
    let system = Arc::new(Tried::default());
    let open = || FileStore::<u64>::open_on(&path, mine(), Arc::<Tried>::clone(&system));
    drop(open().expect("whole"));
    let calls = system.take();
    assert!(calls.contains(&Call::Write), "{calls:?}");
    let sync = calls.iter().rposition(|call| *call == Call::SyncData);
    system.plan(sync.expect("it is durable"), Event::Fails(ErrorKind::Other));
    assert!(open().is_err());
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
        let behind_a_pointer = Arc::new(open(&path));
        assert!(behind_a_pointer.probe() > Some(Duration::ZERO));
        id
    });
    assert_ne!(ids[0], ids[1]);
}

#[test]
fn the_generations_of_a_store_go_on_after_the_last_one() {
    let before = Generations::default();
    let last = [before.begin(), before.begin()][1];
    let after = Generations::after(last);
    assert!(after.check(last).is_ok(), "no agent has begun since");
    let next = after.begin();
    assert!(after.check(last).is_err() && after.check(next).is_ok());
}
