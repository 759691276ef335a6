//! Why is there no leader, and why does this one lead: as real agents tell it.
#![expect(
    clippy::unwrap_used,
    reason = "a scene that cannot be set fails the test"
)]

use actix::clock;
use actix_bully::{
    Group,
    agent::{BullyAgent, BullyHandle, Diagnosis, Finding, Lifecycle, NotLeading},
    elections::bully::Preemption,
    protocol::Timings,
    store::MemoryStore,
    testkit::{FaultyStore, Inject, VirtualClock},
};

use crate::stage::{MS, id, play};

fn agent(group: &Group, name: &str, score: i32) -> BullyHandle {
    let agent = BullyAgent::builder(name).score(score).join(group);
    agent.timings(Timings::lan()).start().unwrap()
}

fn three(group: &Group) -> [BullyHandle; 3] {
    [("a", 1), ("b", 2), ("c", 3)].map(|(name, score)| agent(group, name, score))
}

fn why_not(diagnosis: &Diagnosis, leader: &str, above: &str) -> Option<NotLeading> {
    let because = |finding: &Finding| {
        if let Finding::Outranked {
            leader: l,
            by,
            because,
        } = finding
        {
            (*l == id(leader) && *by == id(above)).then_some(*because)
        } else {
            None
        }
    };
    diagnosis.findings.iter().find_map(because)
}

#[test]
fn the_highest_leads_and_one_that_stepped_down_says_for_how_long_it_does_not() {
    play(async {
        let group = Group::new("jobs").unwrap();
        let agents = three(&group);
        clock::sleep(MS(1_000)).await;
        for agent in &agents {
            let found = agent.diagnosis();
            let highest = Finding::HighestLeads { leader: id("c") };
            assert_eq!(found.findings, [highest], "{found}");
            assert_eq!((found.group.as_str(), found.peers.len()), ("jobs", 0));
        }
        agents[2].step_down(None).unwrap();
        clock::sleep(MS(1_000)).await;
        let found = agents[2].diagnosis();
        let Some(NotLeading::CoolsDown { left }) = why_not(&found, "b", "c") else {
            panic!("{found}");
        };
        assert!(MS(58_000) < left && left < MS(60_000), "{left:?}");
        // No other agent knows that.
        let of_a = agents[0].diagnosis();
        assert_eq!(
            why_not(&of_a, "b", "c"),
            Some(NotLeading::Unknown),
            "{of_a}"
        );
        agents[2].set_score(3).unwrap();
        clock::sleep(MS(1_000)).await;
        let found = agents[2].diagnosis();
        assert_eq!(found.leader.unwrap().id, id("c"));
    });
}

#[test]
fn a_leader_that_is_patient_says_when_it_gives_way() {
    play(async {
        let group = Group::new("jobs").unwrap();
        let start = |name, score| {
            let agent = BullyAgent::builder(name).score(score).join(&group);
            let patient = Preemption::After(MS(30_000));
            agent.timings(Timings::lan()).preemption(patient).start()
        };
        let b = start("b", 2).unwrap();
        clock::sleep(MS(1_000)).await;
        let c = start("c", 3).unwrap();
        clock::sleep(MS(5_000)).await;
        let found = b.diagnosis();
        let Some(NotLeading::TakesOver { left }) = why_not(&found, "b", "c") else {
            panic!("{found}");
        };
        assert!(MS(24_000) < left && left < MS(26_000), "{left:?}");
        clock::sleep(left + MS(1_000)).await;
        assert!(c.is_leader(), "as it was said");
    });
}

#[test]
fn a_group_in_which_no_agent_may_lead_says_so() {
    play(async {
        let group = Group::new("jobs").unwrap();
        let agents = three(&group);
        clock::sleep(MS(1_000)).await;
        for agent in &agents {
            agent.withdraw_score().unwrap();
        }
        clock::sleep(MS(5_000)).await;
        let found = agents[1].diagnosis();
        assert_eq!(found.leader, None);
        assert_eq!(found.findings, [Finding::NoneEligible, Finding::NoScore]);
        assert!(found.leaderless_for.unwrap() > MS(4_000), "{found}");
        agents[1].set_score(2).unwrap();
        clock::sleep(MS(1_000)).await;
        assert_eq!(agents[1].diagnosis().leader.unwrap().id, id("b"));
    });
}

#[test]
fn an_agent_that_hangs_is_told_of_though_it_cannot_tell() {
    play(async {
        let group = Group::new("jobs").unwrap();
        let [_a, _b, c] = three(&group);
        clock::sleep(MS(1_000)).await;
        c.addr().do_send(Inject::hang(clock::sleep(MS(60_000))));
        clock::sleep(MS(30_000)).await;
        let found = c.diagnosis();
        let hangs =
            matches!(found.findings[0], Finding::Hangs { silent_for } if silent_for > MS(29_000));
        assert!(hangs, "{found}");
        clock::sleep(MS(31_000)).await;
        let found = c.diagnosis();
        let hangs = |finding: &Finding| matches!(finding, Finding::Hangs { .. });
        assert!(!found.findings.iter().any(hangs), "{found}");
    });
}

#[test]
fn a_store_that_failed_and_an_agent_that_ended_by_it_are_told() {
    play(async {
        let group = Group::new("jobs").unwrap();
        let store = FaultyStore::new(MemoryStore::new());
        store.fail_at(1);
        let agent = BullyAgent::builder("a").score(1).join(&group);
        let agent = agent.quorum(["a"]).clock(VirtualClock::new());
        let agent = agent.store(store).start().unwrap();
        clock::sleep(MS(90_000)).await;
        assert_eq!(agent.current().lifecycle, Lifecycle::Ended);
        let found = agent.diagnosis();
        assert_eq!(found.findings[0], Finding::Ended, "{found}");
        let fails = matches!(found.findings[1], Finding::StoreFails { .. });
        assert!(fails, "{found}");
    });
}
