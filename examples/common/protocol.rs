//! The elections that agents can hold, for the examples in which the user chooses: `cluster` and `dashboard`. A new
//! election needs a name, and a line for the beginning of its cluster.

use std::{fmt, str::FromStr, sync::Arc};

use actix_bully::{
    elections::{
        ballot::{Ballot, BallotConfig},
        invitation::{InvitationConfig, InvitationElection},
        reorganization::{Reorganization, ReorganizationConfig},
        ring::{Ring, RingConfig},
    },
    protocol::{AgentId, IdError, MemberKind},
    testkit::cluster::{Cluster, ClusterBuilder},
};
use bully_core::{protocol::Election, record::RecordedAgent};
use clap::ValueEnum;

/// The election.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Protocol {
    /// The bully election: the highest that can be reached leads, on each side of a partition
    #[default]
    Bully,
    /// The bully election by the plain rules of the ASTRA agents: an agent has to be told to campaign
    Astra,
    /// The quorum election: votes and leases, so at most one leads, and a minority has no leader
    Quorum,
    /// A lease in a store, which is the member `register`: only agents that reach it elect and lead
    Lease,
    /// The ballot leader election: a majority that hears each other ends up with one leader
    Ballot,
    /// The ring election: the highest leads the agents that a token can visit
    Ring,
    /// Garcia-Molina 1982: halt all, reorganize, get ready
    Reorganization,
    /// Garcia-Molina's second algorithm: groups that invite each other
    Invitation,
}

impl Protocol {
    /// Returns whether an agent needs a command to campaign before the first election begins.
    pub(crate) const fn awaits_campaign(self) -> bool {
        matches!(self, Self::Astra)
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.to_possible_value();
        f.write_str(value.as_ref().map_or("", |value| value.get_name()))
    }
}

impl FromStr for Protocol {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let words = "play the run again in the program that recorded it";
        <Self as ValueEnum>::from_str(name, false)
            .map_err(|_| format!("the example `cluster` has no election `{name}`: {words}"))
    }
}

/// A program that uses a cluster, whichever election its agents hold.
pub(crate) trait Play {
    type Outcome;

    async fn play<E: Election>(self, cluster: ClusterBuilder<E>) -> Self::Outcome;
}

/// Runs a program with a cluster that holds this election, and begins with the agents `agents`.
pub(crate) async fn run<P: Play>(
    protocol: Protocol,
    agents: &[RecordedAgent],
    play: P,
) -> P::Outcome {
    let bully = || with_agents(agents, Cluster::builder());
    match protocol {
        Protocol::Bully => play.play(bully()).await,
        Protocol::Astra => play.play(bully().astra()).await,
        Protocol::Quorum => play.play(bully().quorum()).await,
        Protocol::Lease => {
            // In a recording the register is one of the agents.
            let is_agent = |agent: &&RecordedAgent| agent.name.as_str() != "register";
            let agents: Vec<_> = agents.iter().filter(is_agent).cloned().collect();
            let cluster = Cluster::around_register(|_| {});
            play.play(with_agents(&agents, cluster)).await
        }
        Protocol::Ballot => {
            let rules = BallotConfig::new(voters(agents));
            let majority = rules.majority();
            let cluster = by::<Ballot, _>(agents, rules);
            play.play(cluster.needs_voters(majority)).await
        }
        Protocol::Ring => {
            let cluster = by::<Ring, _>(agents, RingConfig::default());
            play.play(cluster).await
        }
        Protocol::Reorganization => {
            let cluster = by::<Reorganization, _>(agents, ReorganizationConfig::default());
            play.play(cluster).await
        }
        Protocol::Invitation => {
            let cluster = by::<InvitationElection, _>(agents, InvitationConfig::default());
            play.play(cluster).await
        }
    }
}

/// Returns a cluster whose agents share the configuration `rules`.
fn by<E: Election<Config = Arc<C>>, C>(agents: &[RecordedAgent], rules: C) -> ClusterBuilder<E> {
    with_agents(agents, Cluster::<E>::with_config(Arc::new(rules)))
}

/// Returns `agent-1` and so on; the score of each is its number.
pub(crate) fn numbered(agents: u32) -> Result<Vec<RecordedAgent>, IdError> {
    let agent = |number: u32| {
        Ok(RecordedAgent {
            name: format!("agent-{number}").parse()?,
            kind: MemberKind::Voter,
            score: Some(number.into()),
        })
    };
    (1..=agents).map(agent).collect()
}

fn with_agents<E: Election>(
    agents: &[RecordedAgent],
    mut cluster: ClusterBuilder<E>,
) -> ClusterBuilder<E> {
    for agent in agents {
        let name = agent.name.as_str();
        cluster = match (agent.kind, agent.score) {
            (MemberKind::Observer, _) => cluster.observer(name),
            (MemberKind::Voter, None) => cluster.witness(name),
            (MemberKind::Voter, Some(score)) => cluster.agent(name, score),
        };
    }
    cluster
}

/// Returns the names of the voters, for elections that list them.
fn voters(agents: &[RecordedAgent]) -> Vec<AgentId> {
    let voters = agents
        .iter()
        .filter(|agent| agent.kind == MemberKind::Voter);
    voters.map(|agent| agent.name.clone()).collect()
}
