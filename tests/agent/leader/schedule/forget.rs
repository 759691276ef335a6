//! Marks in the store of a lease that no leader asks for any more: they are removed, and no others.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::Duration,
};

use actix::clock;
use actix_bully::{
    agent::BullyAgent,
    clock::WallTime,
    protocol::Timings,
    register::{
        Entry, MemoryRegister, Register, RegisterKey, RegisterListing, RegisterReading, Removing,
        Swapping,
    },
    testkit::VirtualClock,
};

use super::kit::{DAWN, begin, noting};
use crate::{
    registers::group,
    stage::{Log, MS, play},
};

const DAY: u64 = 24 * 3_600 * 1_000;
const MINUTE: Duration = Duration::from_secs(60);

/// A store of marks that another process writes too.
#[derive(Clone, Debug, Default)]
struct AgedStore {
    inner: MemoryRegister,
    has_no_list: bool,
    has_no_removal: bool,
    /// Just before a removal another agent asks for that mark.
    is_asked_meanwhile: Arc<AtomicBool>,
}

impl AgedStore {
    /// Writes the mark of a schedule that was asked for so many days ago.
    async fn put(&self, schedule: &str, days: u64) {
        let asked = WallTime::from_millis(DAWN.as_millis() - days * DAY);
        let value = format!(
            r#"{{"record":"actix-bully schedule 1","cluster":"default","group":"jobs","schedule":"{schedule}","leader":{{"number":{{"term":1,"incarnation":7}},"node":"z"}},"mark":null,"asked":{}}}"#,
            asked.as_millis()
        );
        let key = key(schedule);
        let expected = self.inner.read(&key).await.unwrap();
        let swap = self.inner.swap(&key, expected.as_ref(), value.into_bytes());
        swap.await.unwrap();
    }

    async fn has(&self, schedule: &str) -> bool {
        self.inner.read(&key(schedule)).await.unwrap().is_some()
    }
}

fn key(schedule: &str) -> RegisterKey {
    format!("default/jobs/schedule/{schedule}").parse().unwrap()
}

impl Register for AgedStore {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn read(&self, key: &RegisterKey) -> RegisterReading {
        self.inner.read(key)
    }

    fn swap(&self, key: &RegisterKey, expected: Option<&Entry>, value: Vec<u8>) -> Swapping {
        self.inner.swap(key, expected, value)
    }

    fn list(&self, prefix: &RegisterKey) -> Option<RegisterListing> {
        (!self.has_no_list).then(|| self.inner.list(prefix))?
    }

    fn remove(&self, key: &RegisterKey, expected: &Entry) -> Option<Removing> {
        if self.has_no_removal {
            return None;
        }
        let (store, key, expected) = (self.clone(), key.clone(), expected.clone());
        Some(Box::pin(async move {
            if store.is_asked_meanwhile.load(SeqCst) {
                store.put("old", 0).await;
            }
            store.inner.remove(&key, &expected).unwrap().await
        }))
    }
}

/// A leader with the schedule `x` for twenty minutes, on a store that has these marks.
async fn twenty_minutes(store: &AgedStore, log: &Log) {
    for (schedule, days) in [("old", 31), ("recent", 29), ("x", 31)] {
        store.put(schedule, days).await;
    }
    let agent = BullyAgent::builder("a")
        .timings(Timings::default())
        .lease(store.clone())
        .clock(VirtualClock::new())
        .join(&group())
        .start()
        .unwrap();
    begin(&agent);
    let every = agent.every("x", MINUTE);
    let _schedule = every.start(noting(log, MS(0))).unwrap();
    clock::sleep(MINUTE * 9).await;
    assert!(store.has("old").await, "the application may start it yet");
    clock::sleep(MINUTE * 11).await;
    let ticks = log.take().len();
    assert!(ticks > 15, "{ticks}");
    assert!(
        store.has("recent").await,
        "the mark of \"recent\" is removed"
    );
    assert!(store.has("x").await, "it runs");
}

#[test]
fn a_mark_that_no_leader_has_asked_for_in_30_days_is_removed_from_the_store() {
    play(async {
        let store = AgedStore::default();
        twenty_minutes(&store, &Log::default()).await;
        assert!(!store.has("old").await);
    });
}

#[test]
fn a_mark_that_another_agent_asks_for_meanwhile_stays() {
    play(async {
        let store = AgedStore::default();
        store.is_asked_meanwhile.store(true, SeqCst);
        twenty_minutes(&store, &Log::default()).await;
        assert!(store.has("old").await);
    });
}

#[test]
fn a_store_that_cannot_list_or_remove_keeps_its_marks() {
    for (has_no_list, has_no_removal) in [(true, false), (false, true)] {
        play(async move {
            let store = AgedStore {
                has_no_list,
                has_no_removal,
                ..AgedStore::default()
            };
            twenty_minutes(&store, &Log::default()).await;
            assert!(store.has("old").await);
        });
    }
}

/// A question alone is seldom written: the record of a schedule that is seldom due says the day.
#[test]
fn a_leader_notes_in_the_record_that_it_asks() {
    play(async {
        let store = AgedStore::default();
        twenty_minutes(&store, &Log::default()).await;
        let record = store.inner.read(&key("x")).await.unwrap().unwrap();
        let text = String::from_utf8(record.value).unwrap();
        let asked = format!("\"asked\":{}", DAWN.as_millis() / 1_000_000);
        assert!(text.contains(&asked), "{text}");
    });
}
