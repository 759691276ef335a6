//! The way back: what a store of release 0.1 becomes, and that nothing is forgotten on the way.

mod histories;

use std::{
    fs,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use serde::{Deserialize, Serialize};

use crate::{
    protocol::{AgentId, Incarnation, Term},
    store::{
        Damage, FileStore, Generation, Incarnations, StoreError, StoreIdentity, TermStore,
        files::{CallHook, DiskCall, Files},
    },
};

/// As the quorum election has it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Vote {
    term: Term,
    voted_for: Option<AgentId>,
    #[serde(default)]
    promise: u64,
    #[serde(default)]
    voters: Option<u64>,
}

fn vote(term: u64, promise: u64) -> Vote {
    Vote {
        term: Term(term),
        voted_for: "api-2".parse().ok(),
        promise,
        ..Vote::default()
    }
}

fn identity(node: &str) -> StoreIdentity {
    let name = |text: &str| text.parse().expect("a name");
    StoreIdentity {
        cluster: name("production"),
        group: name("jobs"),
        node: name(node),
    }
}

/// Release 0.1: what it writes, and takes.
fn old(term: u64) -> String {
    let lines = format!(
        "actix-bully store 1\n{{\"cluster\":\"production\",\"group\":\"jobs\",\"node\":\"api-1\",\
         \"record\":{{\"term\":{term},\"voted_for\":\"api-2\"}}}}\n"
    );
    format!("{lines}crc32 {:08x}\n", crc32fast::hash(lines.as_bytes()))
}

/// A folder with a store of release 0.1 in it.
fn upgraded_node(term: u64) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("jobs");
    fs::write(&path, old(term)).expect("written");
    (folder, path)
}

fn open(path: &Path) -> Result<FileStore<Vote>, StoreError> {
    FileStore::open(path, identity("api-1"))
}

fn beside(path: &Path) -> PathBuf {
    path.with_file_name("jobs.supplement")
}

async fn keep(store: &FileStore<Vote>, record: Vote) -> Result<(), StoreError> {
    store.save(store.begin()?, record).await
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).expect("text")
}

#[actix_rt::test]
async fn a_store_of_release_0_1_stays_as_that_release_would_write_it() {
    let (_folder, path) = upgraded_node(7);
    let store = open(&path).expect("whole");
    assert_eq!(store.format().expect("it works"), 1);
    assert_eq!(store.load().expect("whole"), Some(vote(7, 0)));
    assert_eq!(text(&path), old(7));
    keep(&store, vote(8, 900)).await.expect("saved");
    store.remember(Incarnation(17)).expect("there is room");
    assert_eq!(text(&path), old(8), "byte for byte");
    assert_eq!(
        text(&beside(&path)),
        "actix-bully supplement 1\n{\"cluster\":\"production\",\"group\":\"jobs\",\"node\":\"api-1\",\
         \"generation\":1,\"incarnation\":17,\"added\":{\"promise\":900}}\ncrc32 6b9f5d80\n"
    );
    drop(store);
    let store = open(&path).expect("whole");
    assert_eq!(store.load().expect("whole"), Some(vote(8, 900)));
    assert_eq!(store.last().expect("it works"), Incarnation(17));
    assert_eq!(store.begin().expect("it works"), Generation::new(2));
}

#[actix_rt::test]
async fn after_the_way_back_and_again_upwards_the_longest_promise_still_counts() {
    let (_folder, path) = upgraded_node(7);
    let store = open(&path).expect("whole");
    keep(&store, vote(8, 900)).await.expect("saved");
    store.remember(Incarnation(17)).expect("there is room");
    drop(store);
    fs::write(&path, old(9)).expect("the old release votes");
    let store = open(&path).expect("whole");
    assert_eq!(store.load().expect("whole"), Some(vote(9, 900)));
    assert_eq!(store.last().expect("it works"), Incarnation(17));
    drop(store);
    // What the operator removed is not known; release 0.1 would not know it either.
    fs::remove_file(beside(&path)).expect("it is there");
    let store = open(&path).expect("whole");
    assert_eq!(store.load().expect("whole"), Some(vote(9, 0)));
    assert_eq!(store.last().expect("it works"), Incarnation(0));
}

#[actix_rt::test]
async fn to_upgrade_is_final_keeps_everything_and_leaves_one_file() {
    let (folder, path) = upgraded_node(7);
    let store = open(&path).expect("whole");
    keep(&store, vote(8, 900)).await.expect("saved");
    store.remember(Incarnation(17)).expect("there is room");
    for _ in 0..2 {
        store.upgrade().expect("there is room");
        assert_eq!(store.format().expect("it works"), 2);
        assert_eq!(fs::read_dir(folder.path()).expect("there").count(), 1);
        assert!(text(&path).starts_with("actix-bully store 2\n"));
    }
    let whole = Vote {
        voters: Some(3),
        ..vote(9, 800)
    };
    keep(&store, whole.clone()).await.expect("saved");
    drop(store);
    // As a crash at the end of the upgrade would leave it: the file knows better.
    fs::write(beside(&path), "whatever").expect("written");
    let store = open(&path).expect("whole");
    assert_eq!(store.load().expect("whole"), Some(whole));
    assert_eq!(store.last().expect("it works"), Incarnation(17));
    assert!(!beside(&path).exists());
}

#[actix_rt::test]
async fn what_release_0_1_would_act_against_needs_an_upgrade_first() {
    let (_folder, path) = upgraded_node(7);
    let store = open(&path).expect("whole");
    for (field, record) in [(
        "voters",
        Vote {
            voters: Some(1),
            ..vote(8, 1)
        },
    )] {
        let refused = keep(&store, record).await.expect_err("not in format 1");
        assert_eq!(
            refused.to_string(),
            format!(
                "format 1 of a store, which release 0.1 reads, has no room for `{field}`: upgrade the store \
                 first, when no node goes back to that release"
            )
        );
        assert_eq!(store.load().expect("as before"), Some(vote(7, 0)));
    }
    keep(&store, vote(8, 1)).await.expect("nothing is broken");
    let long = Vote {
        voted_for: AgentId::new(&"\\".repeat(256)).ok(),
        ..vote(9, 1)
    };
    keep(&store, long).await.expect("it fits");
}

#[test]
fn a_supplement_that_cannot_be_trusted_is_refused_and_nothing_is_changed() {
    let (_folder, path) = upgraded_node(7);
    drop(open(&path).expect("whole"));
    let whole = text(&beside(&path));
    let sealed =
        |lines: String| format!("{lines}crc32 {:08x}\n", crc32fast::hash(lines.as_bytes()));
    let lines = |text: &str| text[..text.len() - 15].to_owned();
    let cases = [
        (
            whole.replace("\"generation\":0", "\"generation\":1"),
            "its checksum differs",
        ),
        (whole[..40].to_owned(), "its checksum differs"),
        (String::new(), "not the beginning"),
        (old(7), "not the beginning"),
        ("x".repeat(70_000), "larger than the limit"),
        (sealed(lines(&whole).replace('{', "{ ")), "not of the form"),
        (
            sealed(lines(&whole).replace("promise", "term")),
            "not of the form",
        ),
        (
            sealed(lines(&whole).replace("supplement 1", "supplement 2")),
            "has format 2",
        ),
        (
            sealed(lines(&whole).replace("api-1", "api-9")),
            "belongs to node api-9",
        ),
    ];
    for (bad, why) in cases {
        fs::write(beside(&path), &bad).expect("written");
        let refused = open(&path).expect_err(why);
        assert!(refused.to_string().contains(why), "{refused}: {why}");
        assert!(refused.to_string().contains("jobs.supplement"), "{refused}");
        assert_eq!((text(&path), text(&beside(&path))), (old(7), bad));
    }
    fs::remove_file(beside(&path)).expect("there");
    fs::create_dir(beside(&path)).expect("a folder");
    let refused = open(&path).expect_err("no file");
    let StoreError::Supplement { damage, .. } = &refused else {
        panic!("{refused:?}");
    };
    assert_eq!(*damage, Damage::NotAFile);
    assert!(
        refused
            .to_string()
            .contains("keep the node down for the longest")
    );
}

#[test]
fn no_store_is_made_where_a_supplement_says_that_a_node_ran() {
    let (_folder, path) = upgraded_node(7);
    drop(open(&path).expect("whole"));
    fs::remove_file(&path).expect("lost");
    let refused = FileStore::<Vote>::create(&path, identity("api-1")).expect_err("it voted");
    assert!(matches!(&refused, StoreError::Exists { path: at } if *at == beside(&path)));
    assert!(matches!(open(&path), Err(StoreError::Missing { .. })));
}

/// The process ends at a call, and no later one is made.
#[derive(Debug)]
struct Crash {
    left: AtomicUsize,
}

impl CallHook for Crash {
    fn see(&self, _call: DiskCall) -> io::Result<()> {
        let left = self.left.load(Ordering::Relaxed);
        self.left.store(left.saturating_sub(1), Ordering::Relaxed);
        if left == 0 {
            return Err(ErrorKind::Interrupted.into());
        }
        Ok(())
    }
}

/// Runs `act` on a store of that node and crashes at the call `at`; says whether it ended well.
async fn crashing<F>(path: &Path, at: usize, act: impl FnOnce(FileStore<Vote>) -> F) -> bool
where
    F: Future<Output = Result<(), StoreError>>,
{
    let left = AtomicUsize::new(at);
    let hook: Arc<dyn CallHook> = Arc::new(Crash { left });
    let files = Files { hook: Some(hook) };
    match FileStore::open_on(path, identity("api-1"), files) {
        Ok(store) => act(store).await.is_ok(),
        Err(_) => false,
    }
}

#[actix_rt::test]
async fn a_crash_at_any_write_leaves_the_record_before_or_the_next_one_and_no_shorter_promise() {
    let mut ended = 0;
    for at in [
        0, 1, 2, 3, 4, 6, 8, 11, 12, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24,
    ] {
        for promise in [400, 900, 2_000] {
            let (_folder, path) = upgraded_node(7);
            let store = open(&path).expect("whole");
            keep(&store, vote(8, 900)).await.expect("saved");
            store.remember(Incarnation(5)).expect("remembered");
            drop(store);
            let done = crashing(&path, at, |store| async move {
                store.remember(Incarnation(6))?;
                keep(&store, vote(9, promise)).await
            });
            let done = done.await;
            ended += usize::from(done);
            // Release 0.1 takes what is there, whenever it was.
            assert!([old(8), old(9)].contains(&text(&path)), "{at}");
            let store = open(&path).expect("whole");
            let found = store.load().expect("whole").expect("a record");
            let incarnation = store.last().expect("whole");
            assert!([Incarnation(5), Incarnation(6)].contains(&incarnation));
            if done {
                assert_eq!(found, vote(9, promise));
                assert_eq!(incarnation, Incarnation(6));
            } else {
                assert!([8, 9].contains(&found.term.0), "{at}: {found:?}");
                assert!([900, promise].contains(&found.promise), "{at}: {found:?}");
                let is_new = found.term.0 == 9;
                assert!(
                    !is_new || found.promise == promise,
                    "{at}: the vote is last"
                );
            }
        }
    }
    assert_eq!(ended, 3, "24 calls, and the process lives");
}

#[actix_rt::test]
async fn a_crash_at_any_write_of_an_upgrade_leaves_either_format_with_everything() {
    let mut formats = [0; 3];
    for at in 0..24 {
        let (_folder, path) = upgraded_node(7);
        let store = open(&path).expect("whole");
        keep(&store, vote(8, 900)).await.expect("saved");
        store.remember(Incarnation(5)).expect("remembered");
        drop(store);
        crashing(&path, at, |store| async move { store.upgrade() }).await;
        let store = open(&path).expect("whole");
        assert_eq!(store.load().expect("whole"), Some(vote(8, 900)), "{at}");
        assert_eq!(store.last().expect("whole"), Incarnation(5));
        formats[usize::from(store.format().expect("it works"))] += 1;
    }
    assert!(formats[1] > 0 && formats[2] > 0, "{formats:?}");
}
