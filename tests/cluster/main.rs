//! Tests of clusters: their commands, refused commands, and equal runs.
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "in the helpers of tests"
)]

#[path = "../../examples/cluster/board.rs"]
mod board;
mod boards;
#[path = "../../examples/cluster/command.rs"]
mod command;
mod commands;
#[path = "../common/mod.rs"]
mod common;
mod diskless;
mod failing_work;
#[path = "../support/golden.rs"]
mod golden;
mod messages;
mod moving;
#[path = "../support/raise.rs"]
mod raise;
mod recordings;
mod register;
mod repeated;
mod runs;
mod same_events;
mod scale;
mod stories;
mod voters;
mod wiring;

use std::{future::Future, time::Duration};

use actix_bully::{
    protocol::AgentId,
    testkit::{
        cluster::{Cluster, ClusterBuilder, ClusterError, Settled},
        faults::Conditions,
    },
};
use bully_core::protocol::Election;

const MS: fn(u64) -> Duration = Duration::from_millis;

/// Runs a test in virtual time, at most for an hour.
fn test<F: Future<Output = ()>>(body: impl FnOnce() -> F) {
    common::virtual_system().block_on(async {
        let body = body();
        let ended = actix::clock::timeout(Duration::from_secs(3_600), body).await;
        ended.expect("it ends within an hour");
    });
}

fn five() -> ClusterBuilder {
    Cluster::builder()
        .agents(5)
        .network(Conditions::delayed(MS(1)))
}

async fn settled(builder: ClusterBuilder) -> Cluster {
    let cluster = builder.start().unwrap();
    cluster.settle().await.unwrap();
    cluster
}

fn leaders(settled: &Settled) -> Vec<&str> {
    settled.leaders().map(AgentId::as_str).collect()
}

async fn leaders_after<E: Election>(cluster: &Cluster<E>) -> String {
    let settled = cluster.settle().await.unwrap();
    leaders(&settled).join(" ")
}

/// Runs the commands of each step and checks the leaders after it, one on each side of a partition. If a step has
/// `refused: ..` in place of leaders, the cluster must refuse its last command with this text.
async fn plays<E: Election>(cluster: &mut Cluster<E>, steps: &[(&str, &str)]) {
    for (script, leaders) in steps {
        let refused = leaders.strip_prefix("refused: ");
        let mut outcome = Ok(command::Answer::Done);
        for command in command::read(script).unwrap() {
            outcome.unwrap();
            outcome = command.run(cluster).await;
        }
        if let Some(text) = refused {
            assert_eq!(outcome.unwrap_err().to_string(), text, "`{script}`");
            continue;
        }
        outcome.unwrap();
        assert_eq!(leaders_after(cluster).await, *leaders, "after `{script}`");
    }
}

fn refusal<T: std::fmt::Debug>(outcome: Result<T, ClusterError>) -> String {
    outcome.expect_err("refused").to_string()
}
