//! The elections of 1982 on real actors, in virtual time: three agents, crashes, restarts, records.
#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

use std::{sync::Arc, time::Duration};

use actix::clock::{sleep, timeout};
use actix_bully::{
    agent::{Agent, AgentBuilder, ElectionHandle, StartError},
    elections::{
        invitation::{InvitationConfig, InvitationElection},
        reorganization::{Reorganization, ReorganizationConfig},
    },
    group::Group,
    protocol::{AgentId, Term, Timings},
    store::{FileStore, MemoryStore, StoreIdentity, TermStore},
    supervisor::RestartPolicy,
    testkit::Inject,
};
use bully_classics::reorganization::{CountRecord, ReorganizationMessage};
use bully_core::protocol::Election;
use common::virtual_system;

use crate::common;

const MS: fn(u64) -> Duration = Duration::from_millis;

fn play(test: impl Future<Output = ()>) {
    virtual_system().block_on(async {
        let ended = timeout(Duration::from_secs(3_600), test).await;
        assert!(ended.is_ok(), "the test hangs");
    });
}

fn reorganization() -> Arc<ReorganizationConfig> {
    Arc::new(ReorganizationConfig::new(Timings::lan()))
}

/// Waits until all follow this one, which alone considers itself leader.
async fn all_follow<E: Election>(agents: &[ElectionHandle<E>], name: &str) -> Term {
    let agreed = || {
        let follows =
            |agent: &&ElectionHandle<E>| agent.leader().is_some_and(|leader| leader.id == name);
        let leading: Vec<_> = agents.iter().filter(|agent| agent.is_leader()).collect();
        agents.iter().all(|agent| follows(&agent)) && matches!(leading[..], [l] if l.id() == name)
    };
    timeout(Duration::from_secs(10), async {
        while !agreed() {
            sleep(MS(1)).await;
        }
    })
    .await
    .unwrap();
    let first = agents.first().unwrap();
    first.leader().unwrap().term
}

fn agent(
    name: &str,
    record: &Arc<MemoryStore<CountRecord>>,
    group: &Group<ReorganizationMessage>,
) -> AgentBuilder<Reorganization> {
    let score = name.bytes().next().map_or(0, u32::from);
    let builder = Agent::with_config(name, reorganization()).score(score);
    builder.store(Arc::clone(record)).join(group)
}

#[test]
fn a_reorganization_survives_the_crash_of_its_leader() {
    play(async {
        let group = Group::new("g").unwrap();
        let stores = ["a", "b", "c"].map(|name| (name, Arc::new(MemoryStore::new())));
        let policy = RestartPolicy::temporary;
        let start = |(name, store): &(&str, Arc<MemoryStore<CountRecord>>)| {
            let builder = agent(name, store, &group).restart_policy(policy());
            builder.start().unwrap()
        };
        let mut agents: Vec<_> = stores.iter().map(start).collect();
        let first = all_follow(&agents, "c").await;

        agents[2].addr().do_send(Inject::Crash);
        let fallen = agents.pop().unwrap();
        let second = all_follow(&agents, "b").await;
        assert!(second > first);
        assert!(!fallen.is_leader());

        drop(fallen);
        sleep(MS(10)).await;
        agents.push(start(&stores[2]));
        let third = all_follow(&agents, "c").await;
        assert!(third > second);
        let record = stores[2].1.load().unwrap().unwrap();
        assert_eq!(
            record.count, third,
            "what the leader may have promised is stored"
        );
    });
}

#[test]
fn a_supervised_leader_returns_and_leads_again() {
    play(async {
        let group = Group::new("g").unwrap();
        let start = |name: &&str| {
            let store = Arc::new(MemoryStore::new());
            agent(name, &store, &group).start().unwrap()
        };
        let agents: Vec<_> = ["a", "b", "c"].iter().map(start).collect();
        let first = all_follow(&agents, "c").await;
        agents[2].addr().do_send(Inject::Crash);
        sleep(MS(5)).await;
        let second = all_follow(&agents, "c").await;
        assert!(second > first);
    });
}

#[test]
fn without_a_store_a_voter_does_not_start_and_an_observer_does() {
    play(async {
        let group = Group::new("g").unwrap();
        let builder = |name| Agent::<Reorganization>::with_config(name, reorganization());
        let refused = builder("a").join(&group).start();
        assert!(matches!(refused, Err(StartError::NoStore)));
        let eye = builder("eye").observer().join(&group).start().unwrap();
        let store = Arc::new(MemoryStore::new());
        let a = agent("a", &store, &group).start().unwrap();
        timeout(MS(500), async {
            while eye.leader().is_none() {
                sleep(MS(1)).await;
            }
        })
        .await
        .unwrap();
        assert_eq!(eye.leader(), a.leader());
    });
}

#[test]
fn the_record_is_kept_in_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("count");
    let owner = || {
        let name = |text: &str| AgentId::new(text).unwrap();
        StoreIdentity {
            cluster: name("test"),
            group: name("g"),
            node: name("a"),
        }
    };
    let mut counts = Vec::new();
    for _ in 0..2 {
        let store = if path.exists() {
            FileStore::<CountRecord>::open(&path, owner()).unwrap()
        } else {
            FileStore::create(&path, owner()).unwrap()
        };
        // A file is written by another thread, so time has to be real.
        actix::System::new().block_on(async {
            let group = Group::new("g").unwrap();
            let builder = Agent::<Reorganization>::with_config("a", reorganization());
            let a = builder.store(store).join(&group).start().unwrap();
            let leader = a.wait_for_leader(Duration::from_secs(30)).await.unwrap();
            counts.push(leader.term);
        });
    }
    assert!(counts[1] > counts[0], "{counts:?}");
}

#[test]
fn an_invited_group_survives_the_crash_of_its_leader() {
    play(async {
        let config = InvitationConfig::new(Timings::lan());
        let config = Arc::new(config);
        let group = Group::new("g").unwrap();
        let start = |(name, score): (&str, i32)| {
            let builder = Agent::<InvitationElection>::with_config(name, Arc::clone(&config));
            let builder = builder.score(score).store(MemoryStore::new());
            builder.join(&group).start().unwrap()
        };
        let agents: Vec<_> = [("a", 1), ("b", 2), ("c", 3)]
            .into_iter()
            .map(start)
            .collect();
        let first = all_follow(&agents, "c").await;
        agents[2].addr().do_send(Inject::Crash);
        sleep(MS(5)).await;
        let second = all_follow(&agents, "c").await;
        assert!(
            second > first,
            "it was restarted, and has invited all again"
        );
        agents[2].leave(Duration::from_secs(5)).await.unwrap();
        let third = all_follow(&agents[..2], "b").await;
        assert!(third > second);
    });
}
