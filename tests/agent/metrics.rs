//! What an operator measures of agents: each series, by the life of a group in virtual time.
#![cfg(feature = "metrics")]

use std::collections::BTreeMap;

use actix::{Actor, Context, Handler, Message, clock};
use actix_bully::{
    Group,
    agent::{BullyAgent, BullyHandle},
    leader::LeaderProxy,
    metrics::{SeriesKind, series},
    protocol::Timings,
    store::MemoryStore,
    testkit::{Inject, VirtualClock},
};
use metrics_util::debugging::{DebugValue, DebuggingRecorder, Snapshotter};
use serde::{Deserialize, Serialize};

use crate::stage::{MS, play};

/// Plays a scene whose agents are measured by a recorder of this thread alone.
fn measured(scene: impl AsyncFnOnce(Snapshotter)) {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    metrics::with_local_recorder(&recorder, || play(scene(snapshotter)));
}

/// Every series of now by its name and labels. Histograms and counters begin anew with each look.
fn look(snapshotter: &Snapshotter) -> BTreeMap<String, DebugValue> {
    let seen = snapshotter.snapshot().into_vec();
    let named = seen.into_iter().map(|(key, _, _, value)| {
        let key = key.key();
        let labels: Vec<_> = key
            .labels()
            .map(|l| format!("{}={}", l.key(), l.value()))
            .collect();
        (format!("{}{{{}}}", key.name(), labels.join(",")), value)
    });
    named.collect()
}

fn gauge(value: f64) -> DebugValue {
    DebugValue::Gauge(value.into())
}

fn spans(value: &DebugValue) -> Vec<f64> {
    let DebugValue::Histogram(values) = value else {
        panic!("no histogram: {value:?}");
    };
    values.iter().map(|value| value.into_inner()).collect()
}

fn three(group: &Group) -> Vec<BullyHandle> {
    let start = |(name, score)| {
        let agent = BullyAgent::builder(name).score(score).join(group);
        agent.timings(Timings::lan()).start().unwrap()
    };
    [("a", 1), ("b", 2), ("c", 3)].map(start).into()
}

#[test]
fn who_leads_and_how_often_that_changed() {
    measured(async |snapshotter| {
        let group = Group::new("jobs").unwrap();
        let agents = three(&group);
        clock::sleep(MS(10_000)).await;
        let seen = look(&snapshotter);
        for (node, leads) in [("a", 0.0), ("b", 0.0), ("c", 1.0)] {
            let of = |name: &str| &seen[&format!("{name}{{group=jobs,node={node}}}")];
            assert_eq!(of("bully_is_leader"), &gauge(leads));
            assert_eq!(of("bully_has_leader"), &gauge(1.0));
            assert_eq!(of("bully_term"), &gauge(1.0));
            let led = u64::from(leads > 0.0);
            assert_eq!(
                of("bully_leadership_acquired_total"),
                &DebugValue::Counter(led)
            );
            assert_eq!(
                of("bully_leader_followed_total"),
                &DebugValue::Counter(1 - led)
            );
            assert_eq!(spans(of("bully_leaderless_seconds")).len(), 1);
        }
        let DebugValue::Counter(sent) = seen["bully_group_messages_total{group=jobs}"] else {
            panic!("no counter");
        };
        assert!(sent > 100, "the heartbeats of some seconds: {sent}");

        agents[2].addr().do_send(Inject::Crash);
        clock::sleep(MS(20)).await;
        let seen = look(&snapshotter);
        let lost = "bully_leadership_lost_total{group=jobs,node=c,reason=ended}";
        assert_eq!(seen[lost], DebugValue::Counter(1));
        assert_eq!(seen["bully_is_leader{group=jobs,node=c}"], gauge(0.0));
        assert_eq!(seen["bully_is_leader{group=jobs,node=b}"], gauge(1.0));
        assert_eq!(seen["bully_term{group=jobs,node=a}"], gauge(2.0));
    });
}

#[test]
fn a_time_without_a_leader_is_measured_when_it_is_over() {
    measured(async |snapshotter| {
        let group = Group::new("jobs").unwrap();
        let agent = BullyAgent::builder("a")
            .ineligible()
            .join(&group)
            .start()
            .unwrap();
        clock::sleep(MS(7_000)).await;
        let seen = look(&snapshotter);
        assert_eq!(seen["bully_has_leader{group=jobs,node=a}"], gauge(0.0));
        assert!(spans(&seen["bully_leaderless_seconds{group=jobs,node=a}"]).is_empty());
        agent.set_score(1).unwrap();
        clock::sleep(MS(1_000)).await;
        let seen = look(&snapshotter);
        assert_eq!(seen["bully_has_leader{group=jobs,node=a}"], gauge(1.0));
        let spans = spans(&seen["bully_leaderless_seconds{group=jobs,node=a}"]);
        assert!(
            spans.len() == 1 && (7.0..7.5).contains(&spans[0]),
            "{spans:?}"
        );
        agent.withdraw_score().unwrap();
        clock::sleep(MS(1_000)).await;
        let seen = look(&snapshotter);
        assert_eq!(seen["bully_has_leader{group=jobs,node=a}"], gauge(0.0));
        assert_eq!(seen["bully_is_leader{group=jobs,node=a}"], gauge(0.0));
    });
}

#[test]
fn what_was_left_of_a_lease_is_measured_when_it_is_renewed() {
    measured(async |snapshotter| {
        let group = Group::new("jobs").unwrap();
        let names = ["a", "b", "c"];
        let start = |name| {
            let agent = BullyAgent::builder(name)
                .timings(Timings::lan())
                .join(&group);
            let agent = agent.quorum(names).clock(VirtualClock::new());
            agent.store(MemoryStore::new()).start().unwrap()
        };
        let agents = names.map(start);
        clock::sleep(MS(3_000)).await;
        let leader = agents.iter().find(|agent| agent.is_leader()).unwrap();
        let seen = look(&snapshotter);
        let left = format!(
            "bully_lease_left_seconds{{group=jobs,node={}}}",
            leader.id()
        );
        let left = spans(&seen[&left]);
        // Of 240 ms, with a heartbeat every 60 ms.
        let usual = left.iter().filter(|left| (0.170..0.190).contains(*left));
        assert!(usual.count() > 30, "{left:?}");
        assert!(left.iter().all(|left| *left < 0.240), "{left:?}");
    });
}

/// Goes to the leader.
#[derive(Message, Serialize, Deserialize)]
#[rtype(result = "()")]
struct Job(u64);

struct Worker;

impl Actor for Worker {
    type Context = Context<Self>;
}

impl Handler<Job> for Worker {
    type Result = ();
    fn handle(&mut self, _: Job, _: &mut Context<Self>) {}
}

#[test]
fn what_waits_for_a_leader_and_what_became_of_it() {
    measured(async |snapshotter| {
        let group = Group::new("jobs").unwrap();
        let agent = BullyAgent::builder("a").ineligible().join(&group);
        let agent = agent.timings(Timings::lan()).start().unwrap();
        let proxy = LeaderProxy::<Job>::builder(&agent, "job")
            .deliver_to(Worker.start().recipient())
            .start()
            .unwrap();
        for number in 0..3 {
            proxy.do_send(Job(number));
        }
        clock::sleep(MS(11_000)).await;
        let waiting = "bully_proxy_waiting{group=jobs,node=a,proxy=job}";
        assert_eq!(look(&snapshotter)[waiting], gauge(3.0));
        agent.set_score(1).unwrap();
        clock::sleep(MS(11_000)).await;
        let seen = look(&snapshotter);
        assert_eq!(seen[waiting], gauge(0.0));
        let delivered = "bully_proxy_messages_total{group=jobs,node=a,proxy=job,outcome=delivered}";
        assert_eq!(seen[delivered], DebugValue::Counter(3));
    });
}

/// A label with a value for each message or term would be a series for each of them.
#[test]
fn the_labels_are_those_of_the_table() {
    measured(async |snapshotter| {
        let group = Group::new("jobs").unwrap();
        let agents = three(&group);
        for _ in 0..5 {
            clock::sleep(MS(10_000)).await;
            let leader = agents.iter().find(|agent| agent.is_leader()).unwrap();
            leader.step_down(None).unwrap();
        }
        let snapshot = snapshotter.snapshot().into_vec();
        assert!(snapshot.len() < 3 * (10 + 6) + 5 + 3, "{}", snapshot.len());
        for (key, _, _, value) in snapshot {
            let key = key.key();
            let row = series().iter().find(|series| series.name == key.name());
            let row = row.unwrap_or_else(|| panic!("{} is not in the table", key.name()));
            let labels: Vec<_> = key.labels().map(metrics::Label::key).collect();
            assert_eq!(labels, row.labels);
            let kind = match value {
                DebugValue::Counter(_) => SeriesKind::Counter,
                DebugValue::Gauge(_) => SeriesKind::Gauge,
                DebugValue::Histogram(_) => SeriesKind::Histogram,
            };
            assert_eq!(kind, row.kind, "{}", row.name);
        }
    });
}
