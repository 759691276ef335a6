//! The metrics of agents for an operator: each series during the life of a group, in virtual time.
#![cfg(feature = "metrics")]

use std::{collections::BTreeMap, future::ready};

use actix::{Actor, Context, Handler, Message, clock};
use actix_bully::{
    Group,
    agent::{BullyAgent, LeaderGuard},
    clock::WallTime,
    leader::LeaderProxy,
    metrics::{SeriesKind, describe, series},
    protocol::Timings,
    testkit::{Inject, VirtualWallClock},
};
use metrics::Unit;
use serde::{Deserialize, Serialize};

use crate::{
    measured::{Measured, Recording},
    stage::{MS, play, three, three_voters},
};

/// Plays a scene. A recorder of this thread alone measures the agents.
fn measured(scene: impl AsyncFnOnce(Recording)) {
    let recording = Recording::default();
    metrics::with_local_recorder(&recording, || play(scene(recording.clone())));
}

/// Returns the present value of every series by its name and labels.
fn look(recording: &Recording) -> BTreeMap<String, Measured> {
    let named = recording.series().into_iter().map(|(key, value)| {
        let labels: Vec<_> = key
            .labels()
            .map(|l| format!("{}={}", l.key(), l.value()))
            .collect();
        (format!("{}{{{}}}", key.name(), labels.join(",")), value)
    });
    named.collect()
}

const fn gauge(value: f64) -> Measured {
    Measured::Gauge(value)
}

fn spans(value: &Measured) -> &[f64] {
    let Measured::Histogram(values) = value else {
        panic!("no histogram: {value:?}");
    };
    values
}

#[test]
fn who_leads_and_how_often_that_changed() {
    measured(async |recording| {
        let group = Group::new("jobs").unwrap();
        let agents = three(&group);
        clock::sleep(MS(10_000)).await;
        let seen = look(&recording);
        for (node, leads) in [("a", 0.0), ("b", 0.0), ("c", 1.0)] {
            let of = |name: &str| &seen[&format!("{name}{{group=jobs,node={node}}}")];
            assert_eq!(of("bully_is_leader"), &gauge(leads));
            assert_eq!(of("bully_has_leader"), &gauge(1.0));
            assert_eq!(of("bully_term"), &gauge(1.0));
            let led = u64::from(leads > 0.0);
            assert_eq!(
                of("bully_leadership_acquired_total"),
                &Measured::Counter(led)
            );
            assert_eq!(
                of("bully_leader_followed_total"),
                &Measured::Counter(1 - led)
            );
            assert_eq!(spans(of("bully_leaderless_seconds")).len(), 1);
        }
        let Measured::Counter(sent) = seen["bully_group_messages_total{group=jobs}"] else {
            panic!("no counter");
        };
        assert!(sent > 100, "the heartbeats of some seconds: {sent}");

        agents[2].addr().do_send(Inject::Crash);
        clock::sleep(MS(20)).await;
        let seen = look(&recording);
        let lost = "bully_leadership_lost_total{group=jobs,node=c,reason=ended}";
        assert_eq!(seen[lost], Measured::Counter(1));
        assert_eq!(seen["bully_is_leader{group=jobs,node=c}"], gauge(0.0));
        assert_eq!(seen["bully_has_leader{group=jobs,node=c}"], gauge(0.0));
        assert_eq!(seen["bully_is_leader{group=jobs,node=b}"], gauge(1.0));
        assert_eq!(seen["bully_term{group=jobs,node=a}"], gauge(2.0));
    });
}

#[test]
fn the_epoch_of_the_voters_is_measured_with_its_change() {
    measured(async |recording| {
        let agents = three_voters();
        clock::sleep(MS(10_000)).await;
        let of = |name: &str| look(&recording)[&format!("{name}{{group=jobs}}")].clone();
        assert_eq!(of("bully_voters_epoch"), gauge(0.0));
        let old = agents[0].id().clone();
        agents[1].remove_voter(old, MS(5_000)).await.unwrap();
        assert_eq!(of("bully_voters_epoch"), gauge(1.0), "at once");
        assert_eq!(of("bully_voters"), gauge(2.0));
    });
}

#[test]
fn a_time_without_a_leader_is_measured_when_it_is_over() {
    measured(async |recording| {
        let group = Group::new("jobs").unwrap();
        let agent = BullyAgent::builder("a")
            .ineligible()
            .join(&group)
            .start()
            .unwrap();
        clock::sleep(MS(7_000)).await;
        let seen = look(&recording);
        assert_eq!(seen["bully_has_leader{group=jobs,node=a}"], gauge(0.0));
        assert!(spans(&seen["bully_leaderless_seconds{group=jobs,node=a}"]).is_empty());
        agent.set_score(1).unwrap();
        clock::sleep(MS(1_000)).await;
        let seen = look(&recording);
        assert_eq!(seen["bully_has_leader{group=jobs,node=a}"], gauge(1.0));
        let spans = spans(&seen["bully_leaderless_seconds{group=jobs,node=a}"]);
        assert!(
            spans.len() == 1 && (7.0..7.5).contains(&spans[0]),
            "{spans:?}"
        );
        agent.withdraw_score().unwrap();
        clock::sleep(MS(1_000)).await;
        let seen = look(&recording);
        assert_eq!(seen["bully_has_leader{group=jobs,node=a}"], gauge(0.0));
        assert_eq!(seen["bully_is_leader{group=jobs,node=a}"], gauge(0.0));
    });
}

#[test]
fn what_was_left_of_a_lease_is_measured_when_it_is_renewed() {
    measured(async |recording| {
        let agents = three_voters();
        clock::sleep(MS(3_000)).await;
        let leader = agents.iter().find(|agent| agent.is_leader()).unwrap();
        let seen = look(&recording);
        let left = &seen[&format!(
            "bully_lease_left_seconds{{group=jobs,node={}}}",
            leader.id()
        )];
        let left = spans(left);
        // A lease has 240 ms, and a heartbeat comes every 60 ms.
        let usual = left.iter().filter(|left| (0.170..0.190).contains(*left));
        assert!(usual.count() > 30, "{left:?}");
        assert!(left.iter().all(|left| *left < 0.240), "{left:?}");
    });
}

/// A message to the leader.
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
fn messages_ticks_and_stuck_work_of_an_application_are_counted() {
    measured(async |recording| {
        let group = Group::new("jobs").unwrap();
        let agent = BullyAgent::builder("a").ineligible().join(&group);
        let agent = agent.timings(Timings::lan()).start().unwrap();
        let to = Worker.start().recipient();
        let proxy = LeaderProxy::<Job>::builder(&agent, "job").deliver_to(to);
        let proxy = proxy.start().unwrap();
        (0..3).for_each(|number| proxy.do_send(Job(number)));
        let wall = VirtualWallClock::new(WallTime::default());
        agent.schedules().clock(wall).start().unwrap();
        let mut ticks = 0;
        let work = move |_| {
            ticks += 1;
            ready(if ticks > 3 { Ok(()) } else { Err("no disk") })
        };
        agent.every("mail", MS(1_000)).start(work).unwrap();
        let of = |series: &str, labels: &str| {
            let series = format!("bully_{series}{{group=jobs,node=a{labels}}}");
            look(&recording)[&series].clone()
        };
        let ticks = |outcome: &str| of(&format!("schedule_{outcome}_total"), ",schedule=mail");
        assert_eq!(ticks("failed"), Measured::Counter(0));
        clock::sleep(MS(11_000)).await;
        assert_eq!(of("proxy_waiting", ",proxy=job"), gauge(3.0));
        agent.set_score(1).unwrap();
        clock::sleep(MS(21_000)).await;
        assert_eq!(of("proxy_waiting", ",proxy=job"), gauge(0.0));
        let delivered = of("proxy_messages_total", ",proxy=job,outcome=delivered");
        assert_eq!(delivered, Measured::Counter(3));
        assert_eq!(ticks("failed"), Measured::Counter(3));
        assert_eq!(ticks("skipped"), Measured::Counter(0));
        let begun = ticks("begun");
        assert!(matches!(begun, Measured::Counter(10..=21)), "{begun:?}");

        let leader = agent.clone();
        actix::spawn(async move {
            let work = async |guard: LeaderGuard| {
                let _held = guard.progress_within(MS(100)).unwrap();
                std::future::pending::<()>().await;
            };
            leader.lead(work).await
        });
        clock::sleep(MS(3_000)).await;
        assert_eq!(of("work_stalls_total", ""), Measured::Counter(1));
    });
}

/// If a label had a value for each message or term, each value would make a new series.
#[test]
fn the_labels_are_those_of_the_table() {
    measured(async |recording| {
        let group = Group::new("jobs").unwrap();
        let agents = three(&group);
        for _ in 0..5 {
            clock::sleep(MS(10_000)).await;
            let leader = agents.iter().find(|agent| agent.is_leader()).unwrap();
            leader.step_down(None).unwrap();
        }
        let snapshot = recording.series();
        assert!(snapshot.len() < 3 * (10 + 6) + 5 + 3, "{}", snapshot.len());
        for (key, value) in snapshot {
            let row = series().iter().find(|series| series.name == key.name());
            let row = row.unwrap_or_else(|| panic!("{} is not in the table", key.name()));
            let labels: Vec<_> = key.labels().map(metrics::Label::key).collect();
            assert_eq!(labels, row.labels);
            let kind = match value {
                Measured::Counter(_) => SeriesKind::Counter,
                Measured::Gauge(_) => SeriesKind::Gauge,
                Measured::Histogram(_) => SeriesKind::Histogram,
            };
            assert_eq!(kind, row.kind, "{}", row.name);
        }
    });
}

#[test]
fn every_series_is_described_with_its_unit() {
    let recording = Recording::default();
    metrics::with_local_recorder(&recording, describe);
    let described = recording.described.lock().unwrap();
    assert_eq!(described.len(), series().len());
    for ((name, unit, help), series) in described.iter().zip(series()) {
        assert_eq!((name.as_str(), help.as_str()), (series.name, series.help));
        let is_counted = *unit == Some(Unit::Count);
        assert_eq!(is_counted, series.unit.is_none(), "{name}: {unit:?}");
        let is_a_time = *unit == Some(Unit::Seconds);
        assert_eq!(name.ends_with("_seconds"), is_a_time, "{name}");
        assert_eq!(name.ends_with("_total"), series.kind == SeriesKind::Counter);
    }
}
