//! Which election the agents hold: one line each.

use std::{error::Error, fmt, sync::Arc};

use actix_bully::{
    cluster::Cluster,
    elections::reorganization::{Reorganization, ReorganizationConfig},
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
}

impl Protocol {
    /// Plays the run with a cluster of this election.
    pub(crate) async fn run(self, args: Args) -> Result<(), Box<dyn Error>> {
        match self {
            Self::Bully => play(args, Cluster::builder()).await,
            Self::Reorganization => {
                let config = ReorganizationConfig::builder().build()?;
                play(
                    args,
                    Cluster::<Reorganization>::with_config(Arc::new(config)),
                )
                .await
            }
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.to_possible_value();
        f.write_str(value.as_ref().map_or("", |value| value.get_name()))
    }
}
