//! Who is compared: an election each, as its users would set it up.

use std::sync::Arc;

use actix_bully::{
    elections::{
        ballot::{Ballot, BallotConfig, BallotMessage},
        bully::{Bully, BullyConfig, BullyMessage},
        invitation::{InvitationConfig, InvitationElection},
        policy::Preemption,
        quorum::{QuorumBully, QuorumConfig},
        reorganization::{Reorganization, ReorganizationConfig},
        ring::{Ring, RingConfig, RingMessage},
    },
    protocol::{AgentId, Election},
};

use crate::{
    cases::Case,
    watch::{self, Measure},
};

/// An election that takes part in the comparison.
pub(crate) trait Contender {
    /// The machine.
    type Election: Election;

    /// Its parameters for these voters.
    fn config(voters: &[AgentId]) -> <Self::Election as Election>::Config;

    /// How many bytes a message takes on the wire.
    fn size(message: &<Self::Election as Election>::Message) -> usize;

    /// Whether somebody must start it, because it has no failure detector of its own.
    const ASKED: bool = false;
}

/// A contender by name.
#[derive(Clone, Copy)]
pub(crate) struct Entrant {
    pub(crate) name: &'static str,
    /// What it promises, in a word or two.
    pub(crate) promise: &'static str,
    pub(crate) run: fn(Case, u64) -> Measure,
}

impl Entrant {
    pub(crate) const fn of<C: Contender>(name: &'static str, promise: &'static str) -> Self {
        Self {
            name,
            promise,
            run: watch::run::<C>,
        }
    }
}

/// All of them, the oldest rules first.
pub(crate) const ALL: &[Entrant] = &[
    Entrant::of::<Strict>("strict", "ASTRA's rules"),
    Entrant::of::<Available>("bully", "always a leader"),
    Entrant::of::<Quorum>("quorum", "never two leaders"),
    Entrant::of::<Halting>("reorganization", "1982, no network faults"),
    Entrant::of::<Inviting>("invitation", "a leader of each group"),
    Entrant::of::<Token>("ring", "a leader of each ring"),
    Entrant::of::<Gossip>("ballot", "in the end one leader"),
];

/// The plain ASTRA rules.
struct Strict;

impl Contender for Strict {
    type Election = Bully;
    const ASKED: bool = true;

    fn config(_: &[AgentId]) -> Arc<BullyConfig> {
        Arc::new(BullyConfig::strict())
    }

    fn size(message: &BullyMessage) -> usize {
        packed(message)
    }
}

/// The Go seed's rules, repaired: heartbeats, terms, crash and recovery.
struct Available;

impl Contender for Available {
    type Election = Bully;

    fn config(_: &[AgentId]) -> Arc<BullyConfig> {
        Arc::default()
    }

    fn size(message: &BullyMessage) -> usize {
        packed(message)
    }
}

/// At most one leader, with a lease.
struct Quorum;

impl Contender for Quorum {
    type Election = QuorumBully;

    fn config(voters: &[AgentId]) -> Arc<QuorumConfig> {
        let config = QuorumConfig::builder(voters.iter().cloned())
            .preemption(Preemption::After(std::time::Duration::from_secs(2)))
            .build();
        #[expect(
            clippy::expect_used,
            reason = "five voters with names are a valid list"
        )]
        Arc::new(config.expect("valid"))
    }

    fn size(message: &BullyMessage) -> usize {
        packed(message)
    }
}

/// Garcia-Molina's first election.
struct Halting;

impl Contender for Halting {
    type Election = Reorganization;

    fn config(_: &[AgentId]) -> Arc<ReorganizationConfig> {
        let config = ReorganizationConfig::builder().build();
        #[expect(clippy::expect_used, reason = "the defaults are valid")]
        Arc::new(config.expect("valid"))
    }

    fn size(message: &<Reorganization as Election>::Message) -> usize {
        packed(message)
    }
}

/// Garcia-Molina's second election.
struct Inviting;

impl Contender for Inviting {
    type Election = InvitationElection;

    fn config(_: &[AgentId]) -> Arc<InvitationConfig> {
        let config = InvitationConfig::builder().build();
        #[expect(clippy::expect_used, reason = "the defaults are valid")]
        Arc::new(config.expect("valid"))
    }

    fn size(message: &<InvitationElection as Election>::Message) -> usize {
        packed(message)
    }
}

/// A token goes round.
struct Token;

impl Contender for Token {
    type Election = Ring;

    fn config(_: &[AgentId]) -> Arc<RingConfig> {
        Arc::default()
    }

    fn size(message: &RingMessage) -> usize {
        packed(message)
    }
}

/// Ballots by gossip.
struct Gossip;

impl Contender for Gossip {
    type Election = Ballot;

    fn config(voters: &[AgentId]) -> Arc<BallotConfig> {
        let config = BallotConfig::builder(voters.iter().cloned()).build();
        #[expect(
            clippy::expect_used,
            reason = "five voters with names are a valid list"
        )]
        Arc::new(config.expect("valid"))
    }

    fn size(message: &BallotMessage) -> usize {
        packed(message)
    }
}

/// As it would cross to another host, without the envelope.
fn packed(message: &impl serde::Serialize) -> usize {
    rmp_serde::to_vec(message).map_or(0, |bytes| bytes.len())
}
