//! The diagnoses of real agents: the reasons why no agent leads, or why this agent leads.

use std::future::pending;

use actix::clock;
use actix_bully::{
    Group,
    agent::{BullyHandle, Diagnosis, Finding, NotLeading},
    leader::Singleton,
    testkit::Inject,
};

use tracing::Level;

use crate::{
    logs::logged,
    stage::{Idle, MS, bully, id, play, three},
};

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
            assert_eq!(found.group, "jobs");
            let shown = serde_json::to_value(&found).unwrap();
            assert_eq!(shown["peers"], serde_json::json!([]));
        }
        agents[2].step_down(None).unwrap();
        clock::sleep(MS(1_000)).await;
        let found = agents[2].diagnosis();
        let Some(NotLeading::CoolsDown { left }) = why_not(&found, "b", "c") else {
            panic!("{found}");
        };
        assert!(MS(58_000) < left && left < MS(60_000), "{left:?}");
        // Another agent does not know of the cool-down.
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

const NEVER_RAN: Finding = Finding::NothingRuns { has_run: false };
const STOPPED: Finding = Finding::NothingRuns { has_run: true };

fn finds(agent: &BullyHandle, finding: &Finding) -> bool {
    agent.diagnosis().findings.contains(finding)
}

#[test]
fn a_leader_whose_work_was_never_polled_or_was_stopped_says_that_nothing_runs() {
    logged(Level::WARN, async |lines| {
        let group = Group::new("jobs").unwrap();
        let leader = bully(&group, "a", 1);
        clock::sleep(MS(1_000)).await;
        assert!(leader.is_leader());
        assert!(!finds(&leader, &NEVER_RAN), "it was given no work");

        let forgotten = leader.lead(|_| pending());
        assert!(finds(&leader, &NEVER_RAN), "{}", leader.diagnosis());
        clock::sleep(MS(15_000)).await;
        let told = lines.about("nothing runs");
        assert!(
            told.len() == 1 && told[0].contains("was never polled"),
            "{told:?}"
        );
        drop(forgotten);
        assert!(!finds(&leader, &NEVER_RAN));

        let handle = leader.clone();
        let task = actix_rt::spawn(async move { handle.lead(|_| pending()).await });
        clock::sleep(MS(10)).await;
        assert!(!finds(&leader, &NEVER_RAN) && !finds(&leader, &STOPPED));
        task.abort();
        clock::sleep(MS(10)).await;
        assert!(finds(&leader, &STOPPED), "{}", leader.diagnosis());
        let told = lines.about("nothing runs");
        assert!(
            told.len() == 1 && told[0].contains("stopped or aborted"),
            "{told:?}"
        );

        let singleton = Singleton::builder(&leader, |_| Idle);
        let singleton = singleton.start_without_handler().unwrap();
        clock::sleep(MS(10)).await;
        assert!(singleton.addr().is_some() && !finds(&leader, &STOPPED));
        singleton.stop();
        clock::sleep(MS(10)).await;
        assert!(finds(&leader, &STOPPED), "{}", leader.diagnosis());
        assert_eq!(lines.about("nothing runs").len(), 1);

        // An agent that has left in good order has no such finding.
        leader.leave(MS(1_000)).await.unwrap();
        assert!(!finds(&leader, &STOPPED));
    });
}
