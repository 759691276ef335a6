//! Marks in the store of a lease that no leader asks for any more: they are removed, and no others.

use std::time::Duration;

use actix::clock;
use actix_bully::{
    agent::BullyAgent,
    protocol::Timings,
    register::{Register, RegisterKey},
    testkit::VirtualClock,
};

use super::kit::{DAWN, begin, noting};
use crate::{
    stage::{Log, MS, play},
    store::{Lists, Store, group},
};

const DAY: u64 = 24 * 3_600 * 1_000;
const MINUTE: Duration = Duration::from_secs(60);

/// The mark of a schedule that was asked for so many days ago.
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

/// A leader with the schedule `x` for twenty minutes, on a store that has these marks.
async fn twenty_minutes(store: &Store, log: &Log) {
    for (schedule, days) in [("old", 31), ("recent", 29), ("x", 31)] {
        store.put(&key(schedule), mark(schedule, days)).await;
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
    assert!(has(store, "old").await, "the application may start it yet");
    clock::sleep(MINUTE * 11).await;
    let ticks = log.take().len();
    assert!(ticks > 15, "{ticks}");
    assert!(
        has(store, "recent").await,
        "the mark of \"recent\" is removed"
    );
    assert!(has(store, "x").await, "it runs");
}

#[test]
fn a_mark_that_no_leader_has_asked_for_in_30_days_is_removed_from_the_store() {
    play(async {
        let store = Store::whole();
        twenty_minutes(&store, &Log::default()).await;
        assert!(!has(&store, "old").await);
    });
}

#[test]
fn a_mark_stays_that_another_agent_asks_for_meanwhile_or_that_the_store_cannot_list_or_remove() {
    let written_meanwhile = Some(mark("old", 0));
    let lists = Lists::Lacking;
    for store in [
        Store {
            written_meanwhile,
            ..Store::whole()
        },
        Store {
            lists,
            ..Store::whole()
        },
        Store {
            removes: false,
            ..Store::whole()
        },
    ] {
        play(async {
            twenty_minutes(&store, &Log::default()).await;
            assert!(has(&store, "old").await, "{store:?}");
        });
    }
}

/// A question alone is seldom written: the record of a schedule that is seldom due says the day.
#[test]
fn a_leader_notes_in_the_record_that_it_asks() {
    play(async {
        let store = Store::whole();
        twenty_minutes(&store, &Log::default()).await;
        let record = store.inner.read(&key("x")).await.unwrap().unwrap();
        let text = String::from_utf8(record.value).unwrap();
        let asked = format!("\"asked\":{}", DAWN.as_millis() / 1_000_000);
        assert!(text.contains(&asked), "{text}");
    });
}
