//! What can be done to a cluster, what it refuses, and that two runs are the same.
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
mod crashes;
mod diskless;
mod elections;
mod failing_work;
#[path = "../support/golden.rs"]
mod golden;
mod links;
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
mod scores;
mod settling;
mod starting;
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

/// In virtual time, and never for long.
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

/// Gives the cluster the commands of each step; then these lead, one on each side.
async fn plays<E: Election>(cluster: &mut Cluster<E>, steps: &[(&str, &str)]) {
    for (script, leaders) in steps {
        for command in command::read(script).unwrap() {
            command.run(cluster).await.unwrap();
        }
        assert_eq!(leaders_after(cluster).await, *leaders, "after `{script}`");
    }
}

fn refusal<T: std::fmt::Debug>(outcome: Result<T, ClusterError>) -> String {
    outcome.expect_err("refused").to_string()
}
