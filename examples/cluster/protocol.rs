//! Which election the agents hold. One more is a name, and a line for how its cluster begins.

use std::{fmt, sync::Arc};

use actix_bully::{
    elections::{
        ballot::{Ballot, BallotConfig},
        invitation::{InvitationConfig, InvitationElection},
        reorganization::{Reorganization, ReorganizationConfig},
        ring::{Ring, RingConfig},
    },
    protocol::{AgentId, Election},
    testkit::cluster::Cluster,
};
use clap::ValueEnum;

use crate::{args::Args, play, session::Wrong};

/// Which election.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Protocol {
    /// The bully election: the highest that can be reached leads, on each side of a partition
    #[default]
    Bully,
    /// The ballot leader election: a majority that hears each other ends up with one leader
    Ballot,
    /// The ring election: the highest leads those whom a token can visit
    Ring,
    /// Garcia-Molina 1982: halt all, reorganize, get ready
    Reorganization,
    /// Garcia-Molina's second algorithm: groups that invite each other
    Invitation,
}

impl Protocol {
    /// What its name is said with.
    pub(crate) const fn article(self) -> &'static str {
        match self {
            Self::Bully | Self::Ballot | Self::Ring | Self::Reorganization => "A",
            Self::Invitation => "An",
        }
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
        Protocol::Bully => play(args, Cluster::builder()).await,
        Protocol::Ballot => {
            let rules = BallotConfig::builder(names(args)?).build()?;
            let majority = rules.majority();
            let cluster = Cluster::<Ballot>::with_config(Arc::new(rules));
            play(args, cluster.needs_voters(majority)).await
        }
        Protocol::Ring => by::<Ring, _>(args, RingConfig::default()).await,
        Protocol::Reorganization => {
            by::<Reorganization, _>(args, ReorganizationConfig::default()).await
        }
        Protocol::Invitation => {
            by::<InvitationElection, _>(args, InvitationConfig::default()).await
        }
    }
}

/// With these rules, which all agents share.
async fn by<E: Election<Config = Arc<C>>, C>(args: &Args, rules: C) -> Result<(), Wrong> {
    play(args, Cluster::<E>::with_config(Arc::new(rules))).await
}

/// `agent-1` and so on, for elections that list their voters.
fn names(args: &Args) -> Result<Vec<AgentId>, Wrong> {
    let names = (1..=args.agents).map(|number| format!("agent-{number}").parse());
    Ok(names.collect::<Result<_, _>>()?)
}
