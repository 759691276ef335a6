//! Forged messages: scenarios 23, 24 and 27, on agents.

use std::sync::Arc;

use actix_bully::{
    elections::reorganization::{
        Ack, AreYouNormal, Call, ElectionId, Halt, Nack, NewCoordinator, Normal, NotNormal, Ready,
        Reorganization, ReorganizationMessage, Resign, Task, There,
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
async fn led_twice(seed: u64) -> Cluster<Reorganization> {
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

fn term(cluster: &Cluster<Reorganization>) -> Term {
    cluster.leader_of("5").unwrap().unwrap().term
}

/// The counts up to this one.
fn up_to(term: Term) -> impl Iterator<Item = Term> {
    (1..=term.0).map(Term)
}

/// All that an earlier election can have made an agent answer; of the present one what was called
/// is done.
fn answers(count: Term, is_over: bool) -> Vec<ReorganizationMessage> {
    let election = || ElectionId { count, id: id(5) };
    let mut all: Vec<ReorganizationMessage> = vec![
        There {
            election: election(),
            score: Some(9.into()),
            coordinates: true,
            seen: count,
        }
        .into(),
        Normal {
            election: election(),
        }
        .into(),
    ];
    for call in [Call::Halt, Call::NewCoordinator, Call::Ready] {
        let (seen, score) = (count, Some(9.into()));
        all.push(
            Ack {
                call,
                election: election(),
            }
            .into(),
        );
        all.push(
            Nack {
                call,
                election: election(),
                seen,
                score,
            }
            .into(),
        );
    }
    if is_over {
        let (election, seen) = (election(), count);
        all.push(NotNormal { election, seen }.into());
    }
    all
}

#[test]
fn s23_a_stale_answer_has_no_effect_on_a_standing_coordinator() {
    for seed in 1..=5 {
        once(|| async move {
            let cluster = led_twice(seed).await;
            let (before, now) = (cluster.status(), term(&cluster));
            let moment = cluster.now();
            let heard_before = heard(&cluster, "halt_ack");
            for count in up_to(now) {
                for answer in answers(count, count < now) {
                    forge(&cluster, 4, 5, answer);
                }
            }
            wait(MS(2_000)).await;
            let stale = heard(&cluster, "halt_ack") - heard_before;
            assert_eq!(stale, now.0);
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
            let heard_before = heard(&cluster, "new_coordinator");
            for (count, to) in up_to(now).flat_map(|count| (2..=5).map(move |to| (count, to))) {
                let election = || ElectionId { count, id: id(1) };
                let score = 1.into();
                let halt = Halt {
                    election: election(),
                    score,
                };
                forge(&cluster, 1, to, halt);
                let coordinates = NewCoordinator {
                    election: election(),
                };
                forge(&cluster, 1, to, coordinates);
                let ready = Ready {
                    election: election(),
                    score,
                    task: Task(7),
                };
                forge(&cluster, 1, to, ready);
                let check = AreYouNormal {
                    election: election(),
                    score,
                };
                forge(&cluster, 1, to, check);
                let (election, successor) = (election(), Some(id(to)));
                let resign = Resign {
                    election,
                    successor,
                };
                forge(&cluster, 1, to, resign);
            }
            wait(MS(2_000)).await;
            let stale = heard(&cluster, "new_coordinator") - heard_before;
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
            let election = ElectionId { count, id: id(4) };
            Halt { election, score }.into()
        };
        are_dropped(&mut cluster, message).await;
    });
}
