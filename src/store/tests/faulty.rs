//! A planted fault reaches whatever is written or read.

use crate::{
    protocol::Incarnation,
    store::{FaultyStore, Incarnations, MemoryStore},
};

#[test]
fn an_incarnation_is_remembered_by_the_store_inside_or_not_at_all() {
    let store = FaultyStore::new(MemoryStore::<u64>::new());
    store.remember(Incarnation(3)).expect("a good disk");
    assert_eq!(store.last().expect("a good disk"), Incarnation(3));
    store.fill();
    assert!(store.remember(Incarnation(4)).expect_err("full").is_full());
    assert_eq!(store.last().expect("it can be read"), Incarnation(3));
    store.make_room();
    store.fail_at(2);
    store.remember(Incarnation(5)).expect("the first one");
    assert!(store.remember(Incarnation(6)).is_err(), "the second one");
    assert!(store.last().is_err(), "and so does all that follows");
    let inside = store.inner().last().expect("a good disk");
    assert_eq!(inside, Incarnation(5));
}
