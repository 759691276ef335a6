//! Tests of voters without a disk: the effect of a restart, its cost, and the promises that still hold.

use std::time::Duration;

use actix::clock;
use actix_bully::{
    agent::{Finding, Lifecycle},
    elections::quorum::QuorumConfig,
    protocol::{AgentId, Term, Timings},
    supervisor::RestartPolicy,
    testkit::{
        cluster::{Cluster, ClusterBuilder},
        faults::Conditions,
    },
};
use bully_core::elections::quorum::Diskless;

use super::{MS, leaders_after, settled, test};

const ALL: [&str; 3] = ["agent-1", "agent-2", "agent-3"];

fn three() -> ClusterBuilder {
    Cluster::builder()
        .agents(3)
        .quorum()
        .diskless()
        .timings(Timings::lan())
        .network(Conditions::delayed(MS(1)))
}

fn config() -> QuorumConfig {
    let voters = ALL.map(|name| AgentId::new(name).unwrap());
    QuorumConfig {
        timings: Timings::lan(),
        diskless: Some(Diskless::default()),
        ..QuorumConfig::new(voters)
    }
}

/// Returns the time for which an incarnation abstains: (P + E) (1 + r) / (1 - r), in whole milliseconds.
fn abstention() -> Duration {
    let t = Timings::lan();
    let span = Timings::least_promise(t.promise() + t.round());
    MS(u64::try_from(span.as_millis()).unwrap())
}

/// Lets `span` pass, and asserts that at no instant two agents consider themselves leader. Returns the time for which
/// one agent did.
async fn watched(cluster: &Cluster, span: Duration) -> Duration {
    let (mut led, step) = (Duration::ZERO, MS(1));
    for _ in 0..span.as_millis() {
        clock::sleep(step).await;
        let believers = cluster.believers();
        assert!(believers.len() <= 1, "{believers:?}");
        led += step * u32::try_from(believers.len()).unwrap();
    }
    led
}

/// Returns the leader that the cluster settles on, and its term.
async fn settled_term(cluster: &Cluster) -> (String, Term) {
    let name = leaders_after(cluster).await;
    let leader = cluster.handle(&name).unwrap().leader().unwrap();
    (name, leader.term)
}

async fn restart_all(cluster: &mut Cluster, names: &[&str]) {
    cluster.crash_all(names.iter().copied()).await.unwrap();
    for name in names {
        cluster.restart(name).unwrap();
    }
}

/// Each voter restarts before the previous one has recovered. Too few voters acknowledge the leader, so its leadership
/// ends.
#[test]
fn a_rolling_restart_that_is_faster_than_the_wait_is_safe_and_leaves_no_leader_meanwhile() {
    test(|| async {
        let mut cluster = settled(three()).await;
        let (_, before) = settled_term(&cluster).await;
        let pause = abstention() / 3;
        for round in 0..4 {
            for name in ALL {
                restart_all(&mut cluster, &[name]).await;
                let led = watched(&cluster, pause).await;
                assert!(
                    round == 0 || led.is_zero(),
                    "{name} in round {round}: {led:?}"
                );
            }
        }
        watched(&cluster, config().worst_case_start(2) * 2).await;
        assert!(settled_term(&cluster).await.1 > before);
    });
}

/// This wait is the price of voters without disks: no voter can know the votes of a voter that is gone. If the third
/// voter restarts too, no voter remembers, and the clocks alone decide.
#[test]
fn with_one_voter_restarted_and_one_gone_no_agent_leads_until_the_advice_is_followed() {
    for starts in ["agent-3", "agent-2"] {
        test(|| stands_still_until(starts));
    }
}

/// Restarts one voter and crashes another, and checks that no agent leads. Then it starts or restarts the voter
/// `starts`, and checks that an agent leads.
async fn stands_still_until(starts: &'static str) {
    let mut cluster = settled(three()).await;
    cluster.crash("agent-3").await.unwrap();
    restart_all(&mut cluster, &["agent-1"]).await;
    watched(&cluster, abstention()).await;
    assert_eq!(watched(&cluster, abstention() * 4).await, Duration::ZERO);
    let diagnosis = cluster.handle("agent-1").unwrap().diagnosis();
    let is_said = |finding: &&Finding| {
        matches!(
            finding,
            Finding::Recovers {
                left: Duration::ZERO,
                answers: 1,
                recover: 0,
                needed: 2,
                restarts: Some(1),
                ..
            }
        )
    };
    let said = diagnosis.findings.iter().filter(is_said).count();
    assert_eq!(said, 1, "{diagnosis}");
    let text = diagnosis.to_string();
    let advice = "start agent-3, or mend the links; if that is impossible, restart agent-2: then the group continues by the clocks";
    assert!(text.contains(advice), "{text}");
    if starts == "agent-2" {
        cluster.crash(starts).await.unwrap();
    }
    cluster.restart(starts).unwrap();
    watched(&cluster, config().worst_case_start(2) * 2).await;
    assert_eq!(cluster.believers().len(), 1);
}

#[test]
fn a_clock_that_was_set_back_lowers_no_term_while_a_majority_remembers() {
    test(|| async {
        let mut cluster = settled(three()).await;
        let (_, mut before) = settled_term(&cluster).await;
        cluster.wall_clock().set_ahead(-3_600_000);
        for name in ["agent-3", "agent-2", "agent-3"] {
            restart_all(&mut cluster, &[name]).await;
            watched(&cluster, abstention() * 3).await;
            let (_, after) = settled_term(&cluster).await;
            assert!(after >= before, "{after} after {before}");
            before = after;
        }
    });
}

/// Tokens increase only under a condition, which this test breaks: all voters forget, and their clocks were set back.
#[test]
fn clocks_set_back_between_two_restarts_of_all_lower_the_term_and_still_one_leads() {
    test(|| async {
        let mut cluster = settled(three()).await;
        let (_, before) = settled_term(&cluster).await;
        cluster.wall_clock().set_ahead(-3_600_000);
        restart_all(&mut cluster, &ALL).await;
        watched(&cluster, config().worst_case_start(0)).await;
        let (_, after) = settled_term(&cluster).await;
        assert!(after < before, "which is why no gate takes it unasked");
        cluster.wall_clock().set_ahead(0);
        restart_all(&mut cluster, &ALL).await;
        watched(&cluster, config().worst_case_start(0)).await;
        assert!(settled_term(&cluster).await.1 > before);
    });
}

/// A restart within a living process is no exception: the supervisor keeps the name of the agent and no record.
#[test]
fn a_supervised_restart_forgets_and_abstains() {
    test(|| async {
        let policy = RestartPolicy::transient();
        let mut cluster = settled(three().supervised(policy)).await;
        cluster.crash("agent-1").await.unwrap();
        let handle = cluster.handle("agent-1").unwrap();
        while handle.current().lifecycle != Lifecycle::Running {
            clock::sleep(MS(1)).await;
        }
        clock::sleep(MS(1)).await;
        assert_eq!(handle.id(), &AgentId::new("agent-1").unwrap());
        let recovers = |finding: &Finding| matches!(finding, Finding::Recovers { .. });
        assert!(handle.diagnosis().findings.iter().any(recovers));
        // The restarted voter acknowledges nothing, so the leader has no quorum with it.
        cluster.crash("agent-2").await.unwrap();
        watched(&cluster, Timings::lan().lease() + MS(50)).await;
        assert_eq!(watched(&cluster, MS(50)).await, Duration::ZERO);
        watched(&cluster, config().worst_case_start(2) * 3).await;
        cluster.settle().await.unwrap();
    });
}
