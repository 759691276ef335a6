//! Marks in the store of a lease: if no leader has asked for a mark for 30 days, it is removed. All other marks stay.

use std::time::Duration;

use actix::clock;
use actix_bully::{
    agent::BullyAgent,
    protocol::Timings,
    register::{Register, RegisterKey},
    testkit::VirtualClock,
};

use super::kit::{DAWN, begin};
use crate::{
    stage::play,
    store::{Lists, Store, group},
};

const DAY: u64 = 24 * 3_600 * 1_000;
const MINUTE: Duration = Duration::from_secs(60);

/// Returns the mark of a schedule for which a leader last asked `days` days ago.
fn mark(schedule: &str, days: u64) -> String {
    let asked = DAWN.as_millis() - days * DAY;
    format!(
        r#"{{"record":"actix-bully schedule 1","cluster":"default","group":"jobs","schedule":"{schedule}","leader":{{"number":{{"term":1,"incarnation":7}},"node":"z"}},"mark":null,"asked":{asked}}}"#
    )
}

fn key(schedule: &str) -> RegisterKey {
    format!("default/jobs/schedule/{schedule}").parse().unwrap()
}

async fn has(store: &Store, schedule: &str) -> bool {
    store.inner.read(&key(schedule)).await.unwrap().is_some()
}

/// Runs a leader with the schedule `x` for twenty minutes, on a store with three marks of different ages.
async fn twenty_minutes(store: &Store) {
    for (schedule, days) in [("old", 31), ("recent", 29), ("x", 31)] {
        store.put(&key(schedule), mark(schedule, days)).await;
    }
    // These entries are something else: one is the mark of another schedule, and one belongs to another cluster.
    store.put(&key("other"), mark("old", 31)).await;
    let foreign = mark("foreign", 31).replace("default", "bank");
    store.put(&key("foreign"), foreign).await;
    let agent = BullyAgent::builder("a")
        .timings(Timings::default())
        .lease(store.clone())
        .clock(VirtualClock::new())
        .join(&group())
        .start()
        .unwrap();
    begin(&agent);
    let every = agent.every("x", MINUTE);
    let schedule = every.start(|_| async {}).unwrap();
    clock::sleep(MINUTE * 9).await;
    assert!(has(store, "old").await, "the application may start it yet");
    clock::sleep(MINUTE * 11).await;
    assert!(schedule.status().begun > 15, "{:?}", schedule.status());
    assert!(
        has(store, "recent").await,
        "the mark of \"recent\" is removed"
    );
    for kept in ["x", "other", "foreign"] {
        assert!(has(store, kept).await, "{kept}");
    }
}

#[test]
fn a_mark_that_no_leader_has_asked_for_in_30_days_is_removed_from_the_store() {
    play(async {
        let store = Store::whole();
        twenty_minutes(&store).await;
        assert!(!has(&store, "old").await);
        // A leader seldom writes a record only to note that it has asked. The record of the last tick has the day.
        let record = store.inner.read(&key("x")).await.unwrap().unwrap();
        let text = String::from_utf8(record.value).unwrap();
        let asked = format!("\"asked\":{}", DAWN.as_millis() / 1_000_000);
        assert!(text.contains(&asked), "{text}");
    });
}

#[test]
fn a_mark_stays_that_another_agent_asks_for_meanwhile_or_that_the_store_cannot_list_or_remove() {
    let [mut written, mut unlisted, mut kept] = [(); 3].map(|()| Store::whole());
    written.written_meanwhile = Some(mark("old", 0));
    unlisted.lists = Lists::Lacking;
    kept.removes = false;
    for store in [written, unlisted, kept] {
        play(async {
            twenty_minutes(&store).await;
            assert!(has(&store, "old").await, "{store:?}");
        });
    }
}
