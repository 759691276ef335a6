//! In which order a record reaches the disk, and what is left when one of the calls fails.

use std::{
    io::{self, ErrorKind},
    mem,
    path::Path,
    sync::{Arc, Mutex},
};

use crate::{
    protocol::Incarnation,
    store::{
        FileStore, Incarnations, StoreError, StoreIdentity, TermStore,
        files::{CallHook, DiskCall, Files},
    },
};

const DURABLE: [DiskCall; 4] = [
    DiskCall::Write,
    DiskCall::Sync,
    DiskCall::Rename,
    DiskCall::SyncFolder,
];

/// Writes down what was asked, and lets one call fail.
#[derive(Debug, Default)]
struct Seen {
    calls: Mutex<Vec<DiskCall>>,
    fails: Mutex<Option<(DiskCall, ErrorKind)>>,
}

impl Seen {
    /// All calls since the last look.
    fn take(&self) -> Vec<DiskCall> {
        mem::take(&mut self.calls.lock().unwrap())
    }

    /// This call fails from now on, for that reason; none does for `None`.
    fn fail(&self, fails: Option<(DiskCall, ErrorKind)>) {
        *self.fails.lock().unwrap() = fails;
    }
}

impl CallHook for Seen {
    fn see(&self, call: DiskCall) -> io::Result<()> {
        self.calls.lock().unwrap().push(call);
        match *self.fails.lock().unwrap() {
            Some((failing, kind)) if failing == call => Err(kind.into()),
            _ => Ok(()),
        }
    }
}

fn on(seen: &Arc<Seen>) -> Files {
    let hook: Arc<dyn CallHook> = Arc::<Seen>::clone(seen);
    Files { hook: Some(hook) }
}

fn mine() -> StoreIdentity {
    let name = || "x".parse().expect("a name");
    StoreIdentity {
        cluster: name(),
        group: name(),
        node: name(),
    }
}

fn create(path: &Path, files: &Arc<Seen>) -> Result<FileStore<u64>, StoreError> {
    FileStore::create_on(path, mine(), on(files))
}

fn open(path: &Path, files: &Arc<Seen>) -> Result<FileStore<u64>, StoreError> {
    FileStore::open_on(path, mine(), on(files))
}

#[actix_rt::test]
async fn a_file_is_synced_before_it_is_renamed_and_its_folder_afterwards() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("jobs");
    let files = Arc::new(Seen::default());
    let store = create(&path, &files).expect("a new store");
    assert_eq!(files.take(), DURABLE, "created");
    let generation = store.begin().expect("it works");
    assert_eq!(files.take(), [], "to begin touches no disk");
    store.save(generation, 1).await.expect("saved");
    assert_eq!(files.take(), DURABLE, "saved");
    store.remember(Incarnation(7)).expect("remembered");
    assert_eq!(files.take(), DURABLE, "remembered");
    drop(store);
    drop(open(&path, &files).expect("whole"));
    assert_eq!(files.take(), DURABLE, "opened");
}

#[actix_rt::test]
async fn a_disk_that_is_full_leaves_the_record_before_and_works_again_when_there_is_room() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("jobs");
    let files = Arc::new(Seen::default());
    let store = create(&path, &files).expect("a new store");
    let generation = store.begin().expect("it works");
    store.save(generation, 1).await.expect("saved");
    for (call, kind) in [
        (DiskCall::Write, ErrorKind::StorageFull),
        (DiskCall::Sync, ErrorKind::StorageFull),
        (DiskCall::Write, ErrorKind::QuotaExceeded),
    ] {
        files.fail(Some((call, kind)));
        let refused = store.save(generation, 2).await.expect_err("no room");
        assert!(matches!(refused, StoreError::Full { .. }), "{refused:?}");
        assert!(refused.is_full());
        assert!(refused.to_string().contains(
            "cannot be written, its disk is full: make room; the agent comes back by its restart \
             policy, or is started again"
        ));
        let refused = store.remember(Incarnation(7)).expect_err("no room");
        assert!(refused.is_full(), "{refused:?}");
        assert_eq!(store.load().expect("as before"), Some(1));
        assert_eq!(std::fs::read_dir(folder.path()).expect("there").count(), 1);
    }
    files.fail(None);
    store.save(generation, 3).await.expect("there is room");
    drop(store);
    assert_eq!(
        open(&path, &files).expect("whole").load().expect("whole"),
        Some(3)
    );
}

#[actix_rt::test]
async fn a_disk_that_fails_at_the_renaming_or_after_it_is_not_believed_any_more() {
    for call in [DiskCall::Rename, DiskCall::SyncFolder] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("jobs");
        let files = Arc::new(Seen::default());
        let store = create(&path, &files).expect("a new store");
        let generation = store.begin().expect("it works");
        files.fail(Some((call, ErrorKind::StorageFull)));
        assert!(store.save(generation, 1).await.is_err());
        files.fail(None);
        let refused = store.save(generation, 2).await.expect_err("for good");
        assert!(matches!(refused, StoreError::Failed { .. }), "{refused:?}");
        assert!(store.load().is_err() && store.begin().is_err());
        assert!(store.remember(Incarnation(1)).is_err());
        drop(store);
        let found = open(&path, &files).expect("whole").load().expect("whole");
        assert_eq!(
            found.is_some(),
            call == DiskCall::SyncFolder,
            "either may be there"
        );
    }
}

#[test]
fn a_new_store_that_is_not_durable_is_none() {
    for call in DURABLE {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("jobs");
        let files = Arc::new(Seen::default());
        files.fail(Some((call, ErrorKind::StorageFull)));
        assert!(create(&path, &files).expect_err("no room").is_full());
        assert_eq!(std::fs::read_dir(folder.path()).expect("there").count(), 0);
        drop(create(&path, &Arc::default()).expect("nothing is in the way"));
    }
}
