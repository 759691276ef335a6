//! Which election the agents hold. Another one is a name here, and a line in [`run`].

use std::fmt;

use actix_bully::{
    cluster::Cluster,
    elections::ring::{Ring, RingConfig},
};
use clap::ValueEnum;

use crate::{args::Args, play, session::Wrong};

/// The elections to choose from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Protocol {
    /// The most important one that can be reached leads
    #[default]
    Bully,
    /// A token goes round
    Ring,
}

/// Runs what the arguments say, with the election that they name.
pub(crate) async fn run(args: Args) -> Result<(), Wrong> {
    match args.protocol {
        Protocol::Bully => play(args, Cluster::builder()).await,
        Protocol::Ring => {
            play(
                args,
                Cluster::<Ring>::with_config(RingConfig::default().into()),
            )
            .await
        }
    }
}

/// As it is said on the command line.
impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.to_possible_value();
        f.write_str(value.as_ref().map_or("", |value| value.get_name()))
    }
}
