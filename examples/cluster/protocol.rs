//! Which election the agents hold: a line each, and its rules.

use std::{error::Error, fmt, sync::Arc};

use actix_bully::{
    cluster::Cluster,
    elections::{
        invitation::{InvitationConfig, InvitationElection},
        reorganization::{Reorganization, ReorganizationConfig},
    },
    protocol::Election,
};
use clap::ValueEnum;

use crate::{args::Args, play};

/// Which election the agents hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Protocol {
    /// The most important agent that can be reached leads
    #[default]
    Bully,
    /// Garcia-Molina 1982: halt all, reorganize, get ready
    Reorganization,
    /// Garcia-Molina's second algorithm: groups that invite each other
    Invitation,
}

impl Protocol {
    /// Plays the run with a cluster of this election.
    pub(crate) async fn run(self, args: Args) -> Result<(), Box<dyn Error>> {
        match self {
            Self::Bully => play(args, Cluster::builder()).await,
            Self::Reorganization => {
                by::<Reorganization, _>(args, ReorganizationConfig::builder().build()?).await
            }
            Self::Invitation => {
                by::<InvitationElection, _>(args, InvitationConfig::builder().build()?).await
            }
        }
    }

    /// What its name is said with.
    pub(crate) const fn article(self) -> &'static str {
        match self {
            Self::Bully | Self::Reorganization => "A",
            Self::Invitation => "An",
        }
    }
}

/// With these rules, which all agents share.
async fn by<E: Election<Config = Arc<C>>, C>(args: Args, rules: C) -> Result<(), Box<dyn Error>> {
    play(args, Cluster::<E>::with_config(Arc::new(rules))).await
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.to_possible_value();
        f.write_str(value.as_ref().map_or("", |value| value.get_name()))
    }
}
