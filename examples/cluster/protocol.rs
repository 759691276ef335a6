//! The elections that agents can hold. One more is a name, and a line for how its cluster begins.

use std::{fmt, sync::Arc};

use actix_bully::{
    elections::{
        ballot::{Ballot, BallotConfig},
        invitation::{InvitationConfig, InvitationElection},
        reorganization::{Reorganization, ReorganizationConfig},
        ring::{Ring, RingConfig},
    },
    protocol::{AgentId, Election},
    testkit::cluster::{Cluster, ClusterBuilder},
};
use clap::ValueEnum;

use crate::{args::Args, play, session::Wrong};

/// Which election.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Protocol {
    /// The bully election: the highest that can be reached leads, on each side of a partition
    #[default]
    Bully,
    /// The bully election by the plain rules of the ASTRA agents: an agent has to be told to campaign
    Astra,
    /// The quorum election: votes and leases, so at most one leads, and a minority has no leader
    Quorum,
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
    /// The article before its name.
    pub(crate) const fn article(self) -> &'static str {
        match self {
            Self::Bully | Self::Quorum | Self::Ballot | Self::Ring | Self::Reorganization => "A",
            Self::Astra | Self::Invitation => "An",
        }
    }

    /// Whether an agent has to be told to campaign before any of them does.
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

/// Plays with the cluster of that election.
pub(crate) async fn run(args: &Args) -> Result<(), Wrong> {
    match args.protocol {
        Protocol::Bully => play(args, Cluster::builder().agents(args.agents)).await,
        Protocol::Astra => play(args, Cluster::builder().agents(args.agents).astra()).await,
        Protocol::Quorum => play(args, Cluster::builder().agents(args.agents).quorum()).await,
        Protocol::Ballot => {
            let rules = BallotConfig::new(names(args)?);
            let majority = rules.majority();
            let cluster = by::<Ballot, _>(args, rules);
            play(args, cluster.needs_voters(majority)).await
        }
        Protocol::Ring => play(args, by::<Ring, _>(args, RingConfig::default())).await,
        Protocol::Reorganization => {
            play(
                args,
                by::<Reorganization, _>(args, ReorganizationConfig::default()),
            )
            .await
        }
        Protocol::Invitation => {
            play(
                args,
                by::<InvitationElection, _>(args, InvitationConfig::default()),
            )
            .await
        }
    }
}

/// With these rules, which all agents share.
fn by<E: Election<Config = Arc<C>>, C>(args: &Args, rules: C) -> ClusterBuilder<E> {
    Cluster::<E>::with_config(Arc::new(rules)).agents(args.agents)
}

/// `agent-1` and so on, for elections that list their voters.
fn names(args: &Args) -> Result<Vec<AgentId>, Wrong> {
    let names = (1..=args.agents).map(|number| format!("agent-{number}").parse());
    Ok(names.collect::<Result<_, _>>()?)
}
