//! Forged messages: scenarios 23, 24 and 27, on agents.

use std::sync::Arc;

use actix_bully::{
    elections::invitation::{
        Accept, AreYouCoordinator, CoordinatorReply, Decline, ElectionId, GroupRole, Invitation,
        InvitationElection, InvitationMessage, Ready, Resign, Task, There,
    },
    protocol::Term,
    testkit::{cluster::Cluster, faults::Conditions},
};

use super::config;
use crate::seeds::{
    MS, changes,
    forged::{are_dropped, forge, heard, id},
    leads, once, wait,
};

/// Agent 5 has led, crashed, come back, and leads again; agent 4 has led in between.
async fn led_twice(seed: u64) -> Cluster<InvitationElection> {
    let network = Conditions::builder().delay(MS(1)..=MS(9)).build().unwrap();
    let builder = Cluster::with_config(Arc::new(config()));
    let builder = builder.agents(5).seed(seed).network(network);
    let mut cluster = builder.start().unwrap();
    leads(&cluster, "agent-5").await;
    cluster.crash("5").await.unwrap();
    leads(&cluster, "agent-4").await;
    cluster.restart("5").unwrap();
    leads(&cluster, "agent-5").await;
    cluster
}

fn term(cluster: &Cluster<InvitationElection>) -> Term {
    cluster.leader_of("5").unwrap().unwrap().term
}

/// The counts up to this one.
fn up_to(term: Term) -> impl Iterator<Item = Term> {
    (1..=term.0).map(Term)
}

/// What an earlier group's members can have answered.
fn answers(count: Term) -> [InvitationMessage; 4] {
    let group = || ElectionId { count, id: id(5) };
    let (score, seen) = (Some(9.into()), count);
    [
        Accept { group: group() }.into(),
        Decline {
            group: group(),
            seen,
            score,
        }
        .into(),
        CoordinatorReply {
            group: group(),
            score,
            standing: GroupRole::Coordinator { members: 3 },
            seen,
        }
        .into(),
        There {
            group: group(),
            belongs: false,
        }
        .into(),
    ]
}

#[test]
fn s23_a_stale_answer_has_no_effect_on_a_standing_coordinator() {
    for seed in 1..=5 {
        once(|| async move {
            let cluster = led_twice(seed).await;
            let (before, now) = (cluster.status(), term(&cluster));
            let moment = cluster.now();
            let heard_before = heard(&cluster, "accept");
            for count in up_to(now).filter(|count| *count < now) {
                for answer in answers(count) {
                    forge(&cluster, 4, 5, answer);
                }
            }
            wait(MS(2_000)).await;
            let stale = heard(&cluster, "accept") - heard_before;
            assert_eq!(stale, now.0 - 1);
            leads(&cluster, "agent-5").await;
            assert_eq!(changes(&cluster, moment), 0);
            assert_eq!(cluster.status(), before);
        });
    }
}

#[test]
fn s24_a_stale_call_from_below_has_no_effect() {
    for seed in 1..=5 {
        once(|| async move {
            let cluster = led_twice(seed).await;
            let (before, now) = (cluster.status(), term(&cluster));
            let moment = cluster.now();
            let heard_before = heard(&cluster, "resign");
            for (count, to) in up_to(now).flat_map(|count| (2..=5).map(move |to| (count, to))) {
                let group = || ElectionId { count, id: id(1) };
                let score = 1.into();
                let invitation = Invitation {
                    group: group(),
                    score,
                };
                forge(&cluster, 1, to, invitation);
                let ready = Ready {
                    group: group(),
                    score,
                    task: Task(7),
                };
                forge(&cluster, 1, to, ready);
                let check = AreYouCoordinator {
                    group: group(),
                    score,
                };
                forge(&cluster, 1, to, check);
                let (group, successor) = (group(), Some(id(to)));
                forge(&cluster, 1, to, Resign { group, successor });
            }
            wait(MS(2_000)).await;
            let stale = heard(&cluster, "resign") - heard_before;
            assert_eq!(stale, 4 * now.0);
            leads(&cluster, "agent-5").await;
            assert_eq!(changes(&cluster, moment), 0);
            assert_eq!(cluster.status(), before);
        });
    }
}

#[test]
fn s27_messages_from_strangers_and_former_incarnations_are_counted_and_dropped() {
    once(|| async {
        let mut cluster = led_twice(1).await;
        let message = || {
            let (count, score) = (Term(99), 99.into());
            let group = ElectionId { count, id: id(4) };
            Invitation { group, score }.into()
        };
        are_dropped(&mut cluster, message).await;
    });
}
