//! The scenarios of the seeds by number, on real agents in virtual time: `s07_..` is scenario 7.
//!
//! Where nothing else is said, each runs with several seeds, with every delay that the timings
//! allow, under the default rules (*swift*) and the plain ASTRA rules (*astra*). Agents are
//! numbered from 1; the score of each is its number. The other elections have files of their own;
//! what both elections of 1982 are asked is in `scenarios` and `forgeries`.
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "in the helpers of tests"
)]

use crate::common;
mod crashes;
mod elections;
mod forgeries;
mod invitation;
use crate::losses;
mod networks;
mod reorganization;
mod scenarios;
mod scores;
mod simulated;
pub(crate) mod worlds;

use std::{future::Future, time::Duration};

use actix_bully::{
    protocol::{AgentId, Event, Time},
    testkit::{
        cluster::{Cluster, ClusterBuilder, Settled},
        faults::Conditions,
    },
};
use bully_core::protocol::Election;
use bully_sim::trace::What;

const MS: fn(u64) -> Duration = Duration::from_millis;

/// T and d of the default rules, and of the ASTRA ones.
const DEADLINE: Duration = Duration::from_secs(2);
const SWIFT_DELAY: Duration = Duration::from_millis(40);
const ASTRA_DELAY: Duration = Duration::from_millis(900);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rules {
    Swift,
    Astra,
}

impl Rules {
    /// d: the longest delay that these rules allow for.
    const fn delay(self) -> Duration {
        match self {
            Self::Swift => SWIFT_DELAY,
            Self::Astra => ASTRA_DELAY,
        }
    }

    fn builder(self, seed: u64) -> ClusterBuilder {
        let network = Conditions::builder().delay(MS(1)..=self.delay());
        let builder = Cluster::builder()
            .seed(seed)
            .network(network.build().unwrap());
        match self {
            Self::Swift => builder,
            Self::Astra => builder.astra(),
        }
    }

    /// A cluster in which one leads; under the ASTRA rules because the last one campaigned.
    async fn led(self, seed: u64, agents: u32) -> Cluster {
        self.led_by(self.builder(seed).agents(agents), &agents.to_string())
            .await
    }

    async fn led_by(self, builder: ClusterBuilder, starter: &str) -> Cluster {
        let mut cluster = builder.start().unwrap();
        self.begin(&mut cluster, [starter]);
        cluster.settle().await.unwrap();
        cluster
    }

    /// These hold an election, which under the default rules no agent has to be told.
    fn begin<'a>(self, cluster: &mut Cluster, starters: impl IntoIterator<Item = &'a str>) {
        if self == Self::Astra {
            for starter in starters {
                cluster.campaign(starter).unwrap();
            }
        }
    }
}

/// Several seeds, under both rules.
fn both<F: Future<Output = ()>>(scenario: impl Fn(Rules, u64) -> F) {
    for rules in [Rules::Swift, Rules::Astra] {
        under(rules, |seed| scenario(rules, seed));
    }
}

/// Several seeds, under the rules with heartbeats.
fn swift<F: Future<Output = ()>>(scenario: impl Fn(u64) -> F) {
    under(Rules::Swift, scenario);
}

fn under<F: Future<Output = ()>>(rules: Rules, scenario: impl Fn(u64) -> F) {
    for seed in 1..=5 {
        println!("{rules:?}, seed {seed}");
        once(|| scenario(seed));
    }
}

/// In virtual time, and never for long.
fn once<F: Future<Output = ()>>(scenario: impl FnOnce() -> F) {
    common::virtual_system().block_on(async {
        let ended = actix::clock::timeout(Duration::from_secs(3_600), scenario()).await;
        ended.expect("it ends within an hour");
    });
}

async fn wait(span: Duration) {
    actix::clock::sleep(span).await;
}

/// `L(x)`: this one alone considers itself leader, and all follow it.
async fn leads<E: Election>(cluster: &Cluster<E>, name: &str) -> Settled {
    let settled = cluster.settle().await.unwrap_or_else(|wrong| {
        let text = cluster.trace().to_text();
        let end = text.lines().rev().take(60).collect::<Vec<_>>();
        let end = end.into_iter().rev().collect::<Vec<_>>().join("\n");
        unreachable!("{wrong}\n{}\n{end}", cluster.status())
    });
    let leaders: Vec<_> = settled.leaders().map(AgentId::as_str).collect();
    assert_eq!(leaders, [name], "{}", cluster.trace().to_text());
    assert_eq!(cluster.believers(), [name]);
    settled
}

/// The agents that acquired a leadership since then, and when.
fn acquired<E: Election>(cluster: &Cluster<E>, since: Time) -> Vec<(String, Time)> {
    let trace = cluster.trace();
    let entries = trace.entries().filter(|entry| entry.at >= since);
    let mut acquired = Vec::new();
    for entry in entries {
        if let What::Event { agent, event } = &entry.what
            && let Event::Acquired { .. } = event
        {
            acquired.push((agent.to_string(), entry.at));
        }
    }
    acquired
}

/// How often an agent saw another leader since then.
fn changes<E: Election>(cluster: &Cluster<E>, since: Time) -> usize {
    let trace = cluster.trace();
    let entries = trace.entries().filter(|entry| entry.at >= since);
    entries
        .filter(|entry| matches!(entry.what, What::Event { .. }))
        .count()
}
