//! What every register is asked, whichever store it is.
//!
//! A store is given as a function that connects to it: each call is another process's connection, as it were. The
//! tests in `tests/` are a file for each store; what only one of them can do wrong is there too.

pub mod counted;
pub mod disk;
pub mod etcd;
pub mod fenced;
pub mod fuse;
pub mod hosts;
pub mod judge;
pub mod many;
pub mod moving;
pub mod namespace;
#[path = "../../support/ports.rs"]
mod ports;
pub mod processes;
#[path = "../../support/raise.rs"]
mod raise;
pub mod rounds;
pub mod wire;

use std::{
    future::Future,
    sync::{Arc, Barrier},
    thread,
    time::{Duration, Instant},
};

use actix_bully::register::{
    Entry, MOST_BYTES, Register, RegisterError, RegisterKey, RegisterRefusal, Removal, Swap,
    Version,
};
use futures::{FutureExt, StreamExt, future::join_all};

/// No step of a test takes longer.
pub const DEADLINE: Duration = Duration::from_secs(30);

/// A connection of its own to the store that is tested.
pub type Connect<'a> = &'a (dyn Fn() -> Arc<dyn Register> + Sync);

/// Runs a test's future to its end.
pub fn block_on<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime can be built");
    runtime.block_on(async {
        tokio::time::timeout(DEADLINE, work)
            .await
            .expect("the store answers within the deadline")
    })
}

/// Reads until it works, or says something else than that the store is away.
///
/// # Errors
/// What else it says.
#[expect(
    clippy::disallowed_methods,
    reason = "a deadline of real time, for another process"
)]
pub fn settled(register: &dyn Register, key: &RegisterKey) -> Result<Option<Entry>, RegisterError> {
    let begun = Instant::now();
    loop {
        match block_on(register.read(key)) {
            Err(RegisterError::Unreachable(reason)) => {
                assert!(begun.elapsed() < DEADLINE, "{reason}");
                thread::yield_now();
            }
            settled => return settled,
        }
    }
}

/// The register works again, however often it has said that it does not.
pub fn works(register: &dyn Register, key: &RegisterKey) -> Option<Entry> {
    settled(register, key).expect("it works again")
}

/// Why an operation is refused, if it is.
pub fn refusal<T>(result: &Result<T, RegisterError>) -> Option<RegisterRefusal> {
    match result {
        Err(RegisterError::Refused { refusal, .. }) => Some(*refusal),
        Ok(_) | Err(_) => None,
    }
}

/// A key by its text.
pub fn key(text: &str) -> RegisterKey {
    text.parse().expect("a valid key")
}

/// All of it. `name` makes the keys differ from those of other runs in the same store.
pub fn conforms(name: &str, connect: Connect<'_>) {
    block_on(async {
        let register = connect();
        created_replaced_and_refused(&*register, &key(&format!("{name}/one"))).await;
        a_value_that_comes_again_is_another_entry(&*register, &key(&format!("{name}/again"))).await;
        values_of_every_size(&*register, &key(&format!("{name}/sizes"))).await;
        the_longest_keys_differ(&*register).await;
        a_dropped_operation_harms_nothing(&*register, &key(&format!("{name}/dropped"))).await;
        seen_at_once_by_others(&*register, &*connect(), &key(&format!("{name}/seen"))).await;
        changes_are_told(&*register, &*connect(), &key(&format!("{name}/told"))).await;
        each_of_several_reads_has_its_own_answer(&*register, name).await;
        several_hundred_keys_at_once(&register, name).await;
        removed_if_it_is_still_there(&*register, &key(&format!("{name}/removed"))).await;
        all_below_a_key_are_listed(&*register, &*connect(), &format!("{name}/list")).await;
    });
    of_many_writers_one_wins(connect, &key(&format!("{name}/count")));
}

async fn created_replaced_and_refused(register: &dyn Register, key: &RegisterKey) {
    assert_eq!(read(register, key).await, None);
    let ghost = Entry::new(key, Version::from(1), b"ghost".to_vec()).expect("small");
    let absent = swap(register, key, Some(&ghost), b"x").await;
    assert_eq!(absent, Swap::Conflict(None), "it expects what is not there");
    assert_eq!(read(register, key).await, None, "and writes nothing");

    let first = done(swap(register, key, None, b"first").await);
    let entry = read(register, key).await.expect("it is there");
    assert_eq!((&entry.version, &*entry.value), (&first, &b"first"[..]));
    let taken = swap(register, key, None, b"other").await;
    assert_eq!(taken, Swap::Conflict(Some(entry.clone())), "it is there");

    let strange = Version::new("no version of any store").expect("short");
    let ghost = Entry::new(key, strange, b"first".to_vec()).expect("small");
    let conflict = swap(register, key, Some(&ghost), b"x").await;
    assert_eq!(conflict, Swap::Conflict(Some(entry.clone())));

    let second = done(swap(register, key, Some(&entry), b"second").await);
    assert_ne!(second, first);
    let late = swap(register, key, Some(&entry), b"late").await;
    let Swap::Conflict(Some(newer)) = late else {
        panic!("an old entry was replaced: {late:?}");
    };
    assert_eq!((&newer.version, &*newer.value), (&second, &b"second"[..]));
}

async fn a_value_that_comes_again_is_another_entry(register: &dyn Register, key: &RegisterKey) {
    done(swap(register, key, None, b"a").await);
    let first = read(register, key).await.expect("it is there");
    done(swap(register, key, Some(&first), b"b").await);
    let between = read(register, key).await.expect("it is there");
    done(swap(register, key, Some(&between), b"a").await);
    let again = swap(register, key, Some(&first), b"c").await;
    assert!(matches!(again, Swap::Conflict(Some(_))), "{again:?}");
}

async fn values_of_every_size(register: &dyn Register, key: &RegisterKey) {
    let all_bytes: Vec<u8> = (0..=255).collect();
    let largest = vec![0xff; MOST_BYTES];
    let mut expected = None;
    for value in [&[][..], &all_bytes, &largest] {
        done(swap(register, key, expected.as_ref(), value).await);
        expected = read(register, key).await;
        let entry = expected.as_ref().expect("it is there");
        assert_eq!(entry.value, value, "{} bytes", value.len());
    }
    let too_large = vec![1; MOST_BYTES + 1];
    let refused = register.swap(key, expected.as_ref(), too_large).await;
    assert!(
        matches!(refused, Err(RegisterError::TooLarge { len }) if len == MOST_BYTES + 1),
        "{refused:?}"
    );
    assert_eq!(read(register, key).await, expected, "nothing was changed");
}

/// A store may answer what waits at one time together: what is there, what is not, and the same again.
async fn each_of_several_reads_has_its_own_answer(register: &dyn Register, name: &str) {
    let [there, absent] = ["there", "absent"].map(|which| key(&format!("{name}/{which}")));
    done(swap(register, &there, None, b"there").await);
    let entry = read(register, &there).await;
    let asked: Vec<_> = [&there, &absent, &there].repeat(10);
    let found = join_all(asked.iter().map(|key| read(register, key))).await;
    for (key, found) in asked.into_iter().zip(found) {
        let expected = entry.as_ref().filter(|_| *key == there);
        assert_eq!(found.as_ref(), expected, "{key}");
    }
}

/// Names of the greatest length, in one of which the last character differs.
async fn the_longest_keys_differ(register: &dyn Register) {
    let long = "\u{e4}".repeat(128);
    let one = key(&format!("{long}/{long}/{long}/{long}"));
    let other = key(&format!("{long}/{long}/{long}/{}b", &long[2..]));
    done(swap(register, &one, None, b"one").await);
    assert_eq!(read(register, &other).await, None);
    done(swap(register, &other, None, b"other").await);
    let entry = read(register, &one).await.expect("it is there");
    assert_eq!(entry.value, b"one");
}

async fn a_dropped_operation_harms_nothing(register: &dyn Register, key: &RegisterKey) {
    for _ in 0..100 {
        let mut given_up = register.swap(key, None, b"given up".to_vec());
        drop((&mut given_up).now_or_never());
        drop(given_up);
        let mut given_up = register.read(key);
        drop((&mut given_up).now_or_never());
    }
    let before = read(register, key).await;
    let now = swap(register, key, before.as_ref(), b"kept").await;
    // One that was given up may have come between.
    let entry = match now {
        Swap::Done(_) => read(register, key).await.expect("it is there"),
        Swap::Conflict(entry) => entry.expect("somebody came first"),
    };
    assert!([&b"kept"[..], b"given up"].contains(&&*entry.value));
}

/// What one connection has confirmed is what another one reads from then on.
async fn seen_at_once_by_others(one: &dyn Register, other: &dyn Register, key: &RegisterKey) {
    let mut entry = None;
    for round in 0_u32..50 {
        let (writer, reader) = if round % 2 == 0 {
            (one, other)
        } else {
            (other, one)
        };
        done(swap(writer, key, entry.as_ref(), &round.to_be_bytes()).await);
        entry = read(reader, key).await;
        let seen = entry.as_ref().expect("it is there");
        assert_eq!(seen.value, round.to_be_bytes());
    }
}

async fn changes_are_told(register: &dyn Register, other: &dyn Register, key: &RegisterKey) {
    let Some(mut changes) = register.changes(key) else {
        return;
    };
    // The first one may come from the subscription itself, or from before it.
    let mut entry = None;
    for round in 0_u32..10 {
        done(swap(other, key, entry.as_ref(), &round.to_be_bytes()).await);
        loop {
            changes.next().await.expect("it goes on");
            entry = read(register, key).await;
            if entry
                .as_ref()
                .is_some_and(|entry| entry.value == round.to_be_bytes())
            {
                break;
            }
        }
    }
}

/// As many elections as have a record there, all at once on one connection.
async fn several_hundred_keys_at_once(register: &Arc<dyn Register>, name: &str) {
    let elections = (0_u32..400).map(|number| {
        let key = key(&format!("{name}/many/{number}"));
        async move {
            done(swap(&**register, &key, None, &number.to_be_bytes()).await);
            let entry = read(&**register, &key).await.expect("it is there");
            assert_eq!(entry.value, number.to_be_bytes());
            done(swap(&**register, &key, Some(&entry), b"again").await);
        }
    });
    join_all(elections).await;
}

async fn removed_if_it_is_still_there(register: &dyn Register, key: &RegisterKey) {
    done(swap(register, key, None, b"a").await);
    let first = read(register, key).await.expect("it is there");
    let mut changes = register.changes(key);
    done(swap(register, key, Some(&first), b"b").await);
    let second = read(register, key).await.expect("it is there");
    let late = remove(register, key, &first).await;
    assert_eq!(late, Removal::Conflict(Some(second.clone())));
    let strange = Version::new("no version of any store").expect("short");
    let ghost = Entry::new(key, strange, b"b".to_vec()).expect("small");
    let conflict = remove(register, key, &ghost).await;
    assert_eq!(conflict, Removal::Conflict(Some(second.clone())));
    assert_eq!(read(register, key).await.as_ref(), Some(&second));

    assert_eq!(remove(register, key, &second).await, Removal::Done);
    assert_eq!(read(register, key).await, None);
    if let Some(changes) = &mut changes {
        // It tells of the last swap, and of the removal at the latest.
        changes.next().await.expect("it goes on");
    }
    let twice = remove(register, key, &second).await;
    assert_eq!(twice, Removal::Conflict(None));

    // The same values again are other entries.
    for value in [b"a", b"b"] {
        let known = read(register, key).await;
        done(swap(register, key, known.as_ref(), value).await);
    }
    for old in [&first, &second] {
        let replaced = swap(register, key, Some(old), b"x").await;
        assert!(matches!(replaced, Swap::Conflict(Some(_))), "{replaced:?}");
        let removed = remove(register, key, old).await;
        assert!(matches!(removed, Removal::Conflict(Some(_))), "{removed:?}");
    }
}

async fn all_below_a_key_are_listed(one: &dyn Register, other: &dyn Register, name: &str) {
    let prefix = key(name);
    assert_eq!(list(one, &prefix).await, []);
    let below: Vec<_> = ["a", "a/b", "ab", "b"]
        .map(|end| key(&format!("{name}/{end}")))
        .into();
    let beside = ["", "0", "s/a"].map(|end| key(&format!("{name}{end}")));
    for key in below.iter().rev().chain(&beside) {
        done(swap(one, key, None, key.as_str().as_bytes()).await);
    }
    let mut expected = Vec::new();
    for key in below {
        let entry = read(other, &key).await.expect("it is there");
        assert_eq!(entry.value, key.as_str().as_bytes());
        expected.push((key, entry));
    }
    assert_eq!(list(other, &prefix).await, expected);
    let (gone, entry) = expected.remove(1);
    assert_eq!(remove(one, &gone, &entry).await, Removal::Done);
    assert_eq!(list(other, &prefix).await, expected);
    assert_eq!(list(one, &gone).await, []);
}

/// Threads with a connection each count in one value: no step is lost, and none is done twice.
fn of_many_writers_one_wins(connect: Connect<'_>, key: &RegisterKey) {
    let begin = Barrier::new(WRITERS);
    let mut won: Vec<u64> = thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|_| scope.spawn(|| count(&*connect(), key, &begin)))
            .collect();
        let won = writers.into_iter();
        won.flat_map(|writer| writer.join().expect("a writer counts on"))
            .collect()
    });
    won.sort_unstable();
    let all: Vec<u64> = (1..).take(WRITERS * STEPS).collect();
    assert_eq!(won, all, "each number was written by one of them");
}

/// Writes the next number, so many times; returns the numbers.
fn count(register: &dyn Register, key: &RegisterKey, begin: &Barrier) -> Vec<u64> {
    begin.wait();
    block_on(async {
        let mut won = Vec::new();
        let mut known = read(register, key).await;
        while won.len() < STEPS {
            let number = known.as_ref().map_or(0, |entry| {
                u64::from_be_bytes(*entry.value.first_chunk().expect("a number"))
            });
            let next = (number + 1).to_be_bytes();
            match register.swap(key, known.as_ref(), next.to_vec()).await {
                Ok(Swap::Done(_)) => {
                    won.push(number + 1);
                    known = read(register, key).await;
                }
                Ok(Swap::Conflict(entry)) => known = entry,
                // Nothing was written: the others had the store for too long.
                Err(RegisterError::Unreachable(_)) => known = read(register, key).await,
                Err(error) => panic!("{error}"),
            }
        }
        won
    })
}

const WRITERS: usize = 8;
const STEPS: usize = 25;

/// Reads, and fails the test where that fails.
pub async fn read(register: &dyn Register, key: &RegisterKey) -> Option<Entry> {
    register.read(key).await.expect("it can be read")
}

/// Swaps, and fails the test where that fails.
pub async fn swap(
    register: &dyn Register,
    key: &RegisterKey,
    expected: Option<&Entry>,
    value: &[u8],
) -> Swap {
    let swap = register.swap(key, expected, value.to_vec()).await;
    swap.expect("it can be written")
}

/// Removes, and fails the test where that fails.
pub async fn remove(register: &dyn Register, key: &RegisterKey, expected: &Entry) -> Removal {
    let removal = register.remove(key, expected).expect("it can remove");
    removal.await.expect("it can be written")
}

/// Lists, and fails the test where that fails.
pub async fn list(register: &dyn Register, prefix: &RegisterKey) -> Vec<(RegisterKey, Entry)> {
    let listing = register.list(prefix).expect("it can list");
    listing.await.expect("it can be read")
}

/// The version of a swap that has to be done.
pub fn done(swap: Swap) -> Version {
    match swap {
        Swap::Done(version) => version,
        Swap::Conflict(entry) => panic!("it was not replaced: {entry:?}"),
    }
}
