//! A leader whose schedules stop because too few voters acknowledge it: the leader and the voters report it.

use std::{collections::BTreeMap, io::ErrorKind, sync::Arc};

use actix::clock;
use actix_bully::{
    agent::ScheduleFinding,
    leader::schedule::{ScheduleRecord, Tick},
    operate::Operated,
    store::{MemoryStore, TermStore as _},
    testkit::{FaultyStore, VirtualWallClock, cluster::Cluster},
};
use futures::FutureExt as _;
use serde_json::{Map, json};
use tracing::Level;

use super::{
    kit::{DAWN, SECOND, found},
    refused::record,
};
use crate::{
    logs::logged,
    stage::{MS, id, play, settle},
};

type MarkStore = Arc<FaultyStore<MemoryStore<ScheduleRecord>>>;

const NAMES: [&str; 3] = ["agent-1", "agent-2", "agent-3"];

/// Starts three voters, each with a store of marks and a clock; `agent-3` leads. The store of the voter `full`
/// already has the largest number of marks.
async fn trio(
    full: &str,
) -> (
    Cluster,
    BTreeMap<&'static str, (MarkStore, VirtualWallClock)>,
) {
    let cluster = Cluster::builder().agents(3).quorum().start().unwrap();
    let wall = VirtualWallClock::new(DAWN);
    let parts = NAMES.map(|name| {
        let store = MemoryStore::new();
        if name == full {
            let mark = json!({"begun": DAWN, "done": DAWN});
            let marks = (0..256).map(|number| (format!("s{number}"), mark.clone()));
            let record = record(&marks.collect::<Map<_, _>>().into());
            let saving = store.save(store.begin().unwrap(), record);
            saving.now_or_never().unwrap().unwrap();
        }
        let store = Arc::new(FaultyStore::new(store));
        let own = wall.another();
        let schedules = cluster.handle(name).unwrap().schedules();
        let schedules = schedules.clock(own.clone()).store(Arc::clone(&store));
        schedules.start().unwrap();
        (name, (store, own))
    });
    cluster.settle().await.unwrap();
    assert!(cluster.handle("agent-3").unwrap().is_leader());
    (cluster, parts.into())
}

async fn nothing(_: Tick) {}

#[test]
fn voters_that_do_not_store_marks_are_reported_by_the_leader_and_by_themselves() {
    logged(Level::WARN, async |lines| {
        let (cluster, parts) = trio("").await;
        let handle = |name| cluster.handle(name).unwrap();
        let leader = handle("agent-3");
        let schedule = leader.every("second", SECOND).start(nothing).unwrap();
        clock::sleep(MS(2_500)).await;
        assert_eq!(found(leader), []);
        let begun = schedule.status().begun;
        assert!(begun > 0);
        let reported = Operated::new(leader).report().agents.remove(0).schedules;
        assert_eq!(
            reported,
            BTreeMap::from([(id("second"), schedule.status())])
        );

        for name in ["agent-1", "agent-2"] {
            parts[name].0.refuse(ErrorKind::PermissionDenied);
        }
        clock::sleep(MS(10_000)).await;
        assert_eq!(schedule.status().begun, begun);
        let [
            ScheduleFinding::NotAcknowledged {
                schedule: named,
                since,
                missing,
                early,
            },
        ] = &found(leader)[..]
        else {
            panic!("{}", leader.diagnosis());
        };
        assert_eq!(*named, id("second"));
        assert_eq!(
            (&missing[..], &early[..]),
            (&[id("agent-1"), id("agent-2")][..], &[][..])
        );
        assert!(*since > DAWN && *since < DAWN.after(6 * SECOND), "{since}");
        assert_eq!(lines.about("no tick of second has begun").len(), 1, "once");
        for name in ["agent-1", "agent-2"] {
            let its = found(handle(name));
            let is_store = matches!(its[..], [ScheduleFinding::MarksNotStored { .. }]);
            assert!(is_store, "{}", handle(name).diagnosis());
        }

        for name in ["agent-1", "agent-2"] {
            parts[name].0.make_room();
        }
        clock::sleep(MS(3_000)).await;
        assert!(schedule.status().begun > begun);
        for name in NAMES {
            assert_eq!(found(handle(name)), [], "{name}");
        }
    });
}

#[test]
fn voters_whose_clocks_are_behind_are_named_by_the_leader() {
    play(async {
        let (cluster, parts) = trio("").await;
        let leader = cluster.handle("agent-3").unwrap();
        leader.every("second", SECOND).start(nothing).unwrap();
        clock::sleep(MS(1_500)).await;
        parts["agent-3"].1.set_ahead(3_600_000);
        clock::sleep(MS(4_000)).await;
        let early = found(leader).into_iter().find_map(|found| match found {
            ScheduleFinding::NotAcknowledged { early, .. } => Some(early),
            _ => None,
        });
        assert_eq!(early, Some(vec![id("agent-1"), id("agent-2")]));
        let said = leader.diagnosis().to_string();
        assert!(said.contains("compare the clocks"), "{said}");
    });
}

#[test]
fn a_schedule_names_the_agents_that_have_no_room_for_its_mark() {
    play(async {
        let (cluster, _parts) = trio("agent-1").await;
        let leader = cluster.handle("agent-3").unwrap();
        let schedule = leader.every("x", SECOND).start(nothing).unwrap();
        clock::sleep(MS(3_000)).await;
        assert!(schedule.status().begun > 0, "a majority keeps the mark");
        let full = ScheduleFinding::MarksFull {
            schedule: id("x"),
            agents: vec![id("agent-1")],
        };
        assert_eq!(found(leader), [full]);
        schedule.stop().await;
        settle().await;
        assert_eq!(found(leader), []);
    });
}

/// A voter that is silent for a moment causes no finding. A single silent voter of three causes no finding either.
#[test]
fn a_short_silence_and_a_single_voter_are_not_reported() {
    play(async {
        let (cluster, parts) = trio("").await;
        let leader = cluster.handle("agent-3").unwrap();
        let schedule = leader.every("second", SECOND).start(nothing).unwrap();
        parts["agent-1"].0.refuse(ErrorKind::PermissionDenied);
        clock::sleep(MS(3_500)).await;
        assert_eq!(found(leader), []);
        parts["agent-2"].0.hold();
        clock::sleep(MS(900)).await;
        parts["agent-2"].0.release();
        for _ in 0..20 {
            clock::sleep(MS(50)).await;
            assert_eq!(found(leader), []);
        }
        assert!(schedule.status().begun > 3, "{:?}", schedule.status());
    });
}
