//! Tests of the quorum mode with real actors, in virtual time: refused starts, and two epochs.
#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

use std::{sync::Arc, time::Duration};

use actix::clock::sleep;
use actix_bully::{
    Group,
    agent::{BullyAgent, BullyHandle, StartError},
    clock::RuntimeClock,
    elections::quorum::QuorumConfig,
    protocol::{AgentId, Timings},
    store::MemoryStore,
    testkit::VirtualClock,
};
use bully_core::protocol::MembershipError;
use common::virtual_system;

use crate::common;

const MS: fn(u64) -> Duration = Duration::from_millis;
const VOTERS: [&str; 3] = ["a", "b", "c"];

fn group() -> Group {
    Group::new("voters").unwrap()
}

fn builder(name: &str) -> actix_bully::agent::AgentBuilder<actix_bully::elections::AnyBully> {
    let score = name.bytes().next().map_or(0, u32::from);
    BullyAgent::builder(name)
        .timings(Timings::lan())
        .quorum(VOTERS)
        .score(score)
        .clock(VirtualClock::new())
}

fn start_one(name: &str, group: &Group) -> BullyHandle {
    let agent = builder(name).store(MemoryStore::new());
    agent.join(group).start().unwrap()
}

#[test]
fn a_voter_that_is_not_listed_or_may_break_its_promise_is_refused() {
    virtual_system().block_on(async {
        let group = group();
        let stored = |name| builder(name).store(MemoryStore::new()).join(&group);
        let sleeps = stored("a").clock(RuntimeClock::new()).start();
        assert!(matches!(sleeps, Err(StartError::SleepyClock)));
        let unlisted = stored("x").start();
        let Err(StartError::Membership(MembershipError::NotListed { .. })) = unlisted else {
            panic!("{unlisted:?}");
        };
        // A process that loses its votes could vote twice in one term. In a closed group, all agents end with it.
        group.set_closed(false);
        assert!(matches!(
            stored("a").start(),
            Err(StartError::VolatileStore)
        ));
        assert!(group.members().is_empty(), "a refusal changes nothing");
    });
}

#[test]
fn all_members_of_a_group_follow_the_same_rules() {
    virtual_system().block_on(async {
        let group = group();
        let _first = start_one("a", &group);
        let other = BullyAgent::builder("b").join(&group).start().unwrap_err();
        let StartError::Join(refused) = other else {
            panic!("the group refuses it");
        };
        let text = "group voters elects by the quorum rules and b by the available rules: start all members of a group with the same rules";
        assert_eq!(refused.to_string(), text);
    });
}

/// Scenario 81 in one process. `quorum::epoch` explains the order of the steps.
#[test]
fn members_of_two_epochs_that_were_configured_do_not_vote_together() {
    virtual_system().block_on(async {
        let group = group();
        let of = |name: &str, epoch| {
            let voters = VOTERS.map(|name| AgentId::new(name).unwrap());
            let config = QuorumConfig {
                timings: Timings::lan(),
                epoch,
                ..QuorumConfig::new(voters)
            };
            let agent = BullyAgent::builder(name).quorum_config(Arc::new(config));
            let score = name.bytes().next().map_or(0, u32::from);
            agent.score(score).clock(VirtualClock::new())
        };
        let store = MemoryStore::new();
        let first = of("a", 1).store(store.clone()).join(&group).start();
        let first = first.unwrap();
        // The configuration names a later epoch, which no quorum decided. No agent votes in the epoch of the other
        // agent.
        let other = of("b", 2).store(MemoryStore::new()).join(&group).start();
        let other = other.unwrap();
        assert_eq!(
            (group.requirements().unwrap().epoch, group.members().len()),
            (2, 2)
        );
        sleep(MS(5_000)).await;
        assert_eq!((first.leader(), other.leader()), (None, None));
        other.leave(MS(100)).await.unwrap();
        first.leave(MS(100)).await.unwrap();
        let next = of("a", 2).store(store.clone()).join(&group).start();
        assert_eq!(group.requirements().unwrap().epoch, 2);
        next.unwrap().leave(MS(100)).await.unwrap();
        assert_eq!(group.requirements(), None, "all have left");
        let back = of("a", 1).store(store).join(&group).start().unwrap_err();
        assert!(matches!(
            back,
            StartError::Membership(MembershipError::LaterEpoch {
                found: 2,
                epoch: 1,
                ..
            })
        ));
    });
}
