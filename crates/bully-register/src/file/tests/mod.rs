//! Tests of a folder's operations, with system calls that a test records and lets fail, and of the pure parts.

mod names;

use std::{fs, io::ErrorKind, os::unix::fs::symlink, path::Path, rc::Rc, sync::Arc};

use futures::future::{Either, join, select};
use tempfile::TempDir;
use tokio::task::LocalSet;

use super::{
    PATIENCE, THREADS,
    failure::FileFailure,
    folder::Folder,
    kind::{kind_at, shared_kind},
    list, patiently, serve,
};
use crate::{
    Entry, MOST_LISTED, RegisterError, RegisterKey, RegisterRefusal, Removal, Swap, Version,
    jobs::Jobs,
    record_file::tried::{Call, Event, Tried},
};

fn key(text: &str) -> RegisterKey {
    text.parse().unwrap()
}

fn folder(path: &Path, system: &Arc<Tried>) -> Folder {
    Folder::on(path.to_path_buf(), Arc::<Tried>::clone(system))
}

fn done(swap: Result<Swap, FileFailure>) -> Version {
    match swap.unwrap() {
        Swap::Done(version) => version,
        Swap::Conflict(found) => panic!("{found:?}"),
    }
}

/// A folder with one entry.
struct Leases {
    temporary: TempDir,
    system: Arc<Tried>,
    folder: Folder,
    lease: RegisterKey,
    entry: Entry,
}

impl Leases {
    fn new() -> Self {
        let temporary = tempfile::tempdir().unwrap();
        let system = Arc::<Tried>::default();
        let folder = folder(temporary.path(), &system);
        let lease = key("shop/cron/lease");
        let version = done(folder.swap(&lease, None, b"1"));
        let entry = folder.read(&lease).unwrap().unwrap();
        assert_eq!(entry.version, version);
        system.take();
        Self {
            temporary,
            system,
            folder,
            lease,
            entry,
        }
    }

    /// Returns the path of the entry's file.
    fn file(&self) -> std::path::PathBuf {
        let name = self.folder.names(&key("shop/cron")).unwrap().remove(0);
        self.temporary.path().join(name)
    }

    fn lock(&self) -> fs::File {
        let file = fs::File::open(self.file()).unwrap();
        file.lock().unwrap();
        file
    }

    fn read(&self) -> Option<Entry> {
        self.folder.read(&self.lease).unwrap()
    }

    fn swap(&self, expected: Option<&Entry>, value: &[u8]) -> Result<Swap, FileFailure> {
        self.folder.swap(&self.lease, expected, value)
    }
}

type Operation<'a> = &'a dyn Fn(&Folder) -> Result<(), FileFailure>;

fn is_unknown<T>(outcome: &Result<T, FileFailure>) -> bool {
    matches!(outcome, Err(FileFailure::Error(error)) if error.is_unknown())
}

#[test]
fn each_write_is_synced_and_a_record_of_another_process_first() {
    let temporary = tempfile::tempdir().unwrap();
    let (one, other) = (Arc::<Tried>::default(), Arc::<Tried>::default());
    let mine = folder(temporary.path(), &one);
    let theirs = folder(temporary.path(), &other);
    let lease = key("shop/cron/lease");
    done(mine.swap(&lease, None, b"1"));
    assert!(one.take().contains(&Call::SyncFolder));
    let syncs = |system: &Tried| {
        let calls = system.take().into_iter();
        calls.filter(|call| *call == Call::SyncData).count()
    };
    for (folder, system, expected) in [
        (&mine, &one, 1),
        (&theirs, &other, 2),
        (&theirs, &other, 1),
        (&mine, &one, 2),
        (&mine, &one, 1),
    ] {
        let known = folder.read(&lease).unwrap();
        assert_eq!(syncs(system), 0, "a read");
        done(folder.swap(&lease, known.as_ref(), b"2"));
        assert_eq!(syncs(system), expected);
    }
}

#[test]
fn whichever_call_fails_an_error_that_is_not_unknown_has_changed_nothing() {
    let lease = key("shop/cron/lease");
    let swap = |folder: &Folder| {
        let known = Folder::read(folder, &lease)?;
        let swap = folder.swap(&lease, known.as_ref(), b"next")?;
        assert!(matches!(swap, Swap::Done(_)), "{swap:?}");
        Ok(())
    };
    let remove = |folder: &Folder| {
        if let Some(known) = folder.read(&lease)? {
            assert_eq!(folder.remove(&lease, &known)?, Removal::Done);
        }
        Ok(())
    };
    let operations: [Operation<'_>; 2] = [&swap, &remove];
    for is_there in [false, true] {
        for (which, operation) in operations.iter().enumerate() {
            for at in 0.. {
                let temporary = tempfile::tempdir().unwrap();
                let system = Arc::<Tried>::default();
                let folder = folder(temporary.path(), &system);
                if is_there {
                    done(folder.swap(&lease, None, b"before"));
                }
                let before = folder.read(&lease).unwrap();
                system.take();
                system.plan(at, Event::Fails(ErrorKind::Other));
                let outcome = operation(&folder);
                let calls = system.take().len();
                let when = format!("{which}, there: {is_there}, call {at}: {outcome:?}");
                if outcome.is_err() && !is_unknown(&outcome) {
                    assert_eq!(folder.read(&lease).unwrap(), before, "{when}");
                }
                if at >= calls {
                    assert!(outcome.is_ok(), "{when}");
                    break;
                }
            }
        }
    }
}

/// The conformance suite has the other half of this clause: the version of a removed entry does not appear again.
#[test]
fn a_copy_in_the_place_of_a_file_is_another_version_of_the_same_value() {
    let leases = Leases::new();
    let copy = leases.temporary.path().join("copy");
    fs::copy(leases.file(), &copy).unwrap();
    fs::rename(&copy, leases.file()).unwrap();
    let found = leases.read().unwrap();
    assert_eq!(found.value, leases.entry.value);
    assert_ne!(found.version, leases.entry.version);
    let refused = leases.swap(Some(&leases.entry), b"2").unwrap();
    assert_eq!(refused, Swap::Conflict(Some(found)));
}

#[tokio::test(start_paused = true)]
async fn a_file_that_stays_locked_is_tried_again_and_given_up() {
    let leases = Leases::new();
    let file = leases.lock();
    let begun = tokio::time::Instant::now();
    let mut tries = 0;
    let refused = patiently(|| {
        tries += 1;
        leases.swap(Some(&leases.entry), b"2")
    });
    let words = refused.await.expect_err("it is locked").to_string();
    assert_eq!(begun.elapsed(), PATIENCE);
    // The pauses are 1, 2, 4 and then 8 ms, so that waiting processes leave the processors to the process that writes.
    assert_eq!(tries, 16);
    #[cfg(target_os = "linux")]
    assert!(
        words.contains(&format!("locked by process {}", std::process::id())),
        "{words}"
    );
    file.unlock().unwrap();
    let written = patiently(|| leases.swap(Some(&leases.entry), b"2")).await;
    assert!(matches!(written, Ok(Swap::Done(_))), "{written:?}");
}

#[tokio::test(start_paused = true)]
async fn a_file_that_is_locked_holds_up_its_key_alone() {
    let leases = Leases::new();
    let _file = leases.lock();
    let (jobs, asked) = Jobs::new();
    let locked = jobs.swap(&leases.lease, Some(&leases.entry), b"2".to_vec());
    let other = jobs.swap(&key("shop/cron/claim"), None, b"1".to_vec());
    drop(jobs);
    let asks = async {
        match select(locked, other).await {
            Either::Right((Ok(Swap::Done(_)), locked)) => locked.await.expect_err("it is locked"),
            Either::Right((swap, _)) | Either::Left((swap, _)) => panic!("{swap:?}"),
        }
    };
    let folder = Rc::new(leases.folder.clone());
    LocalSet::new()
        .run_until(join(serve(folder, asked), asks))
        .await;
}

/// A reader that is paused while it holds the lock would delay all other processes.
#[tokio::test(start_paused = true)]
async fn readers_take_no_lock_and_what_was_changed_is_told_without_it() {
    let leases = Leases::new();
    let first = &leases.entry;
    done(leases.swap(Some(first), b"2"));
    let _file = leases.lock();
    leases.system.take();
    let second = leases.read();
    assert!(!leases.system.take().contains(&Call::Lock));
    assert_eq!(second.as_ref().unwrap().value, b"2");
    let listed = list(&leases.folder, &key("shop/cron")).await;
    assert_eq!(listed.unwrap().len(), 1);
    for expected in [Some(first), None] {
        let conflict = leases.swap(expected, b"3").unwrap();
        assert_eq!(conflict, Swap::Conflict(second.clone()));
    }
    let conflict = leases.folder.remove(&leases.lease, first).unwrap();
    assert_eq!(conflict, Removal::Conflict(second.clone()));
    let waits = leases.swap(second.as_ref(), b"3");
    assert!(matches!(waits, Err(FileFailure::InUse(_))), "{waits:?}");
}

/// Processes from before the change of a link must see the same store as later processes.
#[test]
fn a_file_or_folder_that_is_moved_away_is_a_change() {
    let leases = Leases::new();
    let [link, beside, away] =
        ["link", "beside", "away"].map(|it| leases.temporary.path().join(it));
    let inner = leases.temporary.path().join("inner");
    fs::create_dir(&inner).unwrap();
    symlink(&inner, &link).unwrap();
    let folder = Folder::make(&link).unwrap();
    assert!(folder.name().unwrap().ends_with("/inner"));
    done(folder.swap(&leases.lease, None, b"1"));
    let entry = folder.read(&leases.lease).unwrap();
    let gone = || {
        assert_eq!(folder.read(&leases.lease).unwrap(), None);
        let swap = folder.swap(&leases.lease, entry.as_ref(), b"2").unwrap();
        assert_eq!(swap, Swap::Conflict(None));
    };
    let file = inner.join(&folder.names(&key("shop/cron")).unwrap()[0]);
    fs::rename(&file, &beside).unwrap();
    gone();
    fs::rename(&beside, &file).unwrap();
    assert_eq!(folder.read(&leases.lease).unwrap(), entry);
    // Without the folder no operation works, and the register does not make a new folder by itself.
    let direct = Folder::make(&inner).unwrap();
    fs::rename(&inner, &away).unwrap();
    for outcome in [
        direct.read(&leases.lease).map(drop),
        direct.swap(&leases.lease, None, b"2").map(drop),
        direct.names(&key("shop")).map(drop).map_err(Into::into),
    ] {
        let FileFailure::Error(error) = outcome.unwrap_err() else {
            panic!("no file is locked");
        };
        assert!(matches!(error, RegisterError::Unreachable(_)), "{error:?}");
    }
    assert!(!inner.exists());
    fs::remove_file(&link).unwrap();
    fs::create_dir(&link).unwrap();
    gone();
}

#[test]
fn a_path_that_is_no_folder_or_in_none_is_refused() {
    let leases = Leases::new();
    for path in [
        leases.file(),
        leases.temporary.path().join("missing/leases"),
    ] {
        let refused = Folder::make(&path).unwrap_err();
        let words = refused.to_string();
        assert!(words.contains(path.to_str().unwrap()), "{words}");
    }
}

#[test]
fn a_file_that_no_register_wrote_is_refused_and_not_listed() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = folder(temporary.path(), &Arc::default());
    let [lease, claim] = ["shop/cron/lease", "shop/cron/claim"].map(key);
    for key in [&lease, &claim] {
        done(folder.swap(key, None, b"1"));
    }
    let names = folder.names(&key("shop/cron")).unwrap();
    let [one, other] = &*names else {
        panic!("{names:?}");
    };
    let path = |name: &str| temporary.path().join(name);
    let (of_one, _) = folder.read_file(one).unwrap().unwrap();
    // The record of another key.
    fs::copy(path(other), path(one)).unwrap();
    let refused = folder.read(&of_one);
    let is_foreign = |refused: &Result<_, _>| {
        matches!(
            refused,
            Err(FileFailure::Error(RegisterError::Foreign { .. }))
        )
    };
    assert!(is_foreign(&refused), "{refused:?}");
    assert_eq!(folder.read_file(one).unwrap(), None);
    // The file has no record at all.
    fs::write(path(one), vec![0; 16_384]).unwrap();
    let before = fs::read(path(one)).unwrap();
    let refused = folder.swap(&of_one, None, b"mine");
    let is_refused = |refused: &Result<Swap, FileFailure>| {
        matches!(
            refused,
            Err(FileFailure::Error(RegisterError::Refused {
                refusal: RegisterRefusal::Other,
                ..
            }))
        )
    };
    assert!(is_refused(&refused), "{refused:?}");
    assert_eq!(fs::read(path(one)).unwrap(), before);
}

#[test]
fn more_files_than_a_register_lists_are_refused() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = folder(temporary.path(), &Arc::default());
    for number in 0..=MOST_LISTED {
        let name = format!("shop_present_{number}-0.entry");
        fs::write(temporary.path().join(name), "").unwrap();
    }
    let refused = folder.names(&key("shop/present"));
    assert!(matches!(refused, Err(RegisterError::TooMany { .. })));
    assert_eq!(folder.names(&key("shop/cron")).unwrap(), [""; 0]);
}

#[test]
fn file_systems_that_another_kernel_may_have_are_named() {
    for (number, name) in [
        (0x6969, Some("NFS")),
        (0x6573_5546, Some("FUSE")),
        (0x0102_1997, Some("9p")),
        // ext4, tmpfs and overlay
        (0xef53, None),
        (0x0102_1994, None),
        (0x794c_7630, None),
    ] {
        assert_eq!(shared_kind(number), name);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_path_has_the_number_of_its_file_system() {
    let kind = kind_at(Path::new("/proc")).unwrap();
    assert_eq!(kind, Some(0x9fa0));
}

/// Another file system may be mounted at the path at any time.
#[test]
fn a_folder_on_a_file_system_that_other_hosts_may_share_is_refused_in_words() {
    let mut leases = Leases::new();
    leases.folder.kind_at = |_| Ok(Some(0x6573_5546));
    let (folder, lease) = (&leases.folder, &leases.lease);
    for refused in [
        folder.prepare().map_err(FileFailure::Error),
        folder.read(lease).map(drop),
        folder.swap(lease, Some(&leases.entry), b"2").map(drop),
        folder.remove(lease, &leases.entry).map(drop),
        folder.names(lease).map(drop).map_err(FileFailure::Error),
    ] {
        let Err(FileFailure::Error(error)) = refused else {
            panic!("{refused:?}");
        };
        let is_refused = matches!(&error, RegisterError::Refused { refusal, .. } if *refusal == RegisterRefusal::Other);
        let words = error.to_string();
        assert!(
            is_refused && words.contains("is on FUSE, which other hosts may share"),
            "{words}"
        );
    }
}
