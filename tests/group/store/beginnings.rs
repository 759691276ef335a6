//! Which agent may write to a store that several have had, and what a store of an earlier release becomes.

use std::{fs, future::poll_fn, sync::Arc, task::Poll, time::Duration};

use actix_bully::{
    elections::quorum,
    protocol::Incarnation,
    store::{FileStore, Generation, Incarnations, MemoryStore, StoreError, TermStore},
    testkit::FaultyStore,
};

use super::{Vote, create, identity, keep, open, place, vote};

/// Each kind of store refuses an agent that began before the latest, and keeps what the latest saved.
async fn refuses_the_one_before(store: impl TermStore<Vote>) {
    let first = store.begin().expect("it works");
    store.save(first, vote(1)).await.expect("saved");
    let waiting = store.save(first, vote(2));
    let second = store.begin().expect("it works");
    assert!(second > first);
    let refused = waiting.await.expect_err("asked for in time, and too late");
    assert!(
        matches!(refused, StoreError::Superseded { by, latest } if (by, latest) == (first, second)),
        "{refused:?}"
    );
    assert_eq!(store.load().expect("it works"), Some(vote(1)));
    store.save(second, vote(3)).await.expect("saved");
    assert!(store.save(first, vote(2)).await.is_err());
    assert!(store.save(Generation::default(), vote(2)).await.is_err());
    assert_eq!(store.load().expect("it works"), Some(vote(3)));
}

#[actix_rt::test]
async fn one_that_began_before_the_latest_saves_nothing() {
    let (_folder, path) = place();
    refuses_the_one_before(Arc::new(create(&path).expect("a new store"))).await;
    assert_eq!(
        open(&path).expect("whole").load().expect("whole"),
        Some(vote(3))
    );
    refuses_the_one_before(MemoryStore::new()).await;
    refuses_the_one_before(FaultyStore::new(MemoryStore::new())).await;
}

#[actix_rt::test]
async fn a_save_on_its_way_when_the_next_one_begins_never_replaces_its_record() {
    let (_folder, path) = place();
    let store = create(&path).expect("a new store");
    for round in 0..20 {
        let before = store.begin().expect("it works");
        let mut begun = store.save(before, vote(2 * round + 1));
        let early = poll_fn(|cx| Poll::Ready(begun.as_mut().poll(cx))).await;
        let after = store.begin().expect("it works");
        let second = store.save(after, vote(2 * round + 2));
        let first = async {
            match early {
                Poll::Ready(saved) => saved,
                Poll::Pending => begun.await,
            }
        };
        let (first, second) = futures::future::join(first, second).await;
        second.expect("saved");
        assert!(
            matches!(first, Ok(()) | Err(StoreError::Superseded { .. })),
            "{first:?}"
        );
        assert_eq!(store.load().expect("it works"), Some(vote(2 * round + 2)));
    }
}

#[actix_rt::test]
async fn generations_go_on_after_a_restart() {
    let (_folder, path) = place();
    let store = create(&path).expect("a new store");
    store.begin().expect("it works");
    let second = store.begin().expect("it works");
    store.save(second, vote(1)).await.expect("saved");
    drop(store);
    let store = open(&path).expect("whole");
    assert!(
        store.save(second, vote(2)).await.is_ok(),
        "no agent has begun since"
    );
    let third = store.begin().expect("it works");
    assert!(third > second);
    assert!(store.save(second, vote(3)).await.is_err());
}

#[actix_rt::test]
async fn the_last_incarnation_is_remembered_beside_the_record() {
    let (_folder, path) = place();
    let store = create(&path).expect("a new store");
    assert_eq!(store.last().expect("it works"), Incarnation(0));
    keep(&store, vote(1)).await.expect("saved");
    store.remember(Incarnation(7)).expect("there is room");
    store.remember(Incarnation(5)).expect("nothing to do");
    drop(store);
    let store = open(&path).expect("whole");
    assert_eq!(store.last().expect("it works"), Incarnation(7));
    keep(&store, vote(2)).await.expect("saved");
    drop(store);
    let store = Arc::new(open(&path).expect("whole"));
    assert_eq!(
        store.last().expect("it works"),
        Incarnation(7),
        "a save keeps it"
    );
    assert_eq!(store.load().expect("it works"), Some(vote(2)));

    let memory = MemoryStore::<Vote>::new();
    memory.clone().remember(Incarnation(7)).expect("memory");
    assert_eq!(memory.last().expect("memory"), Incarnation(7));
}

/// As 0.1 wrote them.
const VOTED: &str = r#"actix-bully store 1
{"cluster":"production","group":"jobs","node":"api-1","record":{"term":7,"voted_for":"api-2"}}
crc32 da2d377f
"#;

#[actix_rt::test]
async fn a_store_of_release_0_1_is_read_and_stays_so_until_it_is_upgraded() {
    let (_folder, path) = place();
    fs::write(&path, VOTED).expect("written");
    let store = open(&path).expect("it is whole");
    assert_eq!(store.load().expect("it works"), Some(vote(7)));
    let text = || fs::read_to_string(&path).expect("text");
    assert_eq!(text(), VOTED);
    store.upgrade().expect("there is room");
    assert!(text().starts_with("actix-bully store 2\n"), "{}", text());
    keep(&store, vote(8)).await.expect("saved");
    drop(store);
    let store = open(&path).expect("whole");
    assert_eq!(store.load().expect("it works"), Some(vote(8)));
}

#[test]
fn the_vote_of_release_0_1_is_the_vote_of_this_one() {
    let (_folder, path) = place();
    fs::write(&path, VOTED).expect("written");
    let store = FileStore::<quorum::Vote>::open(&path, identity("api-1")).expect("it is whole");
    let found = store.load().expect("it works").expect("there is one");
    let expected = quorum::Vote {
        term: vote(7).term,
        voted_for: vote(7).voted_for,
        ..quorum::Vote::default()
    };
    assert_eq!(found, expected);
    drop(store);
    let store = FileStore::<quorum::Vote>::open(&path, identity("api-1")).expect("as before");
    assert_eq!(store.load().expect("it works"), Some(expected));
}

/// The incarnation that a node begins with is later than the last that it remembers, whatever its clock shows.
#[actix_rt::test]
async fn the_longest_promise_and_the_last_incarnation_outlast_the_way_back() {
    let (_folder, path) = place();
    fs::write(&path, VOTED).expect("written");
    let open = || FileStore::<quorum::Vote>::open(&path, identity("api-1")).expect("whole");
    let store = open();
    let record = quorum::Vote {
        promise: Duration::from_secs(9).into(),
        ..store.load().expect("it works").expect("there is one")
    };
    let begun = store.begin().expect("it works");
    store.save(begun, record.clone()).await.expect("saved");
    store.remember(Incarnation(900)).expect("there is room");
    drop(store);
    let text = fs::read_to_string(&path).expect("text");
    assert_eq!(text, VOTED, "what release 0.1 takes, byte for byte");
    // It votes: another term, in its own format.
    let voted = text.replace("\"term\":7", "\"term\":8");
    let lines = voted.split_inclusive('\n').take(2).collect::<String>();
    let sum = crc32fast::hash(lines.as_bytes());
    fs::write(&path, format!("{lines}crc32 {sum:08x}\n")).expect("written");
    let store = open();
    let found = store.load().expect("it works").expect("there is one");
    assert_eq!((found.term.0, found.promise), (8, record.promise));
    // The clock went back: the next one would be 500 by it.
    store.remember(Incarnation(500)).expect("nothing to do");
    assert_eq!(store.last().expect("it works"), Incarnation(900));
}

#[test]
fn a_store_of_a_later_release_is_refused_and_left_alone() {
    let (_folder, path) = place();
    let lines = "actix-bully store 3\nwhatever it is\n";
    let text = format!("{lines}crc32 {:08x}\n", crc32fast::hash(lines.as_bytes()));
    fs::write(&path, &text).expect("written");
    let refused = FileStore::<Vote>::open(&path, identity("api-1")).expect_err("unknown");
    assert_eq!(
        refused.to_string(),
        format!(
            "{} has format 3, this release reads formats 1 to 2: use the release that wrote it, \
             or a later one",
            path.display()
        )
    );
    assert_eq!(fs::read_to_string(&path).expect("text"), text);
}
