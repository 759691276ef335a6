//! The agent that may write to a store that several agents have begun, and stores of an earlier version.

use std::{fs, future::poll_fn, sync::Arc, task::Poll};

use actix_bully::{
    protocol::Incarnation,
    store::{Generation, Incarnations, MemoryStore, StoreError, TermStore},
    testkit::FaultyStore,
};

use super::{Vote, create, keep, open, place, vote};

/// Asserts that the store refuses an agent that began before the latest one, and keeps the record of the latest one.
async fn refuses_the_one_before(store: impl TermStore<Vote>) {
    let first = store.begin().expect("it works");
    store.save(first, vote(1)).await.expect("saved");
    let waiting = store.save(first, vote(2));
    let second = store.begin().expect("it works");
    assert!(second > first);
    let refused = waiting.await.expect_err("another agent began since");
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
async fn an_agent_that_began_before_the_latest_saves_nothing() {
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

#[test]
fn a_store_from_before_the_first_release_is_refused_and_left_alone() {
    let (_folder, path) = place();
    for version in [1, 2] {
        let text = format!("actix-bully store {version}\n{{\"record\":null}}\ncrc32 da2d377f\n");
        fs::write(&path, &text).expect("written");
        let refused = open(&path).expect_err("its format is not read any more");
        assert!(matches!(refused, StoreError::Damaged { .. }), "{refused:?}");
        assert_eq!(fs::read_to_string(&path).expect("text"), text);
    }
}
