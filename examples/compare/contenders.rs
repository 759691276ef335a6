//! The elections that are compared, each configured as a user would configure it.

use std::sync::Arc;

use actix_bully::{
    elections::{
        ballot::{Ballot, BallotConfig},
        bully::Preemption,
        invitation::{InvitationConfig, InvitationElection},
        lease::LeaseConfig,
        quorum::QuorumConfig,
        reorganization::{Reorganization, ReorganizationConfig},
        ring::{Ring, RingConfig},
    },
    protocol::AgentId,
};
use bully_classics::{ballot::BallotMessage, ring::RingMessage};
use bully_core::{
    elections::{
        astra::{Astra, AstraConfig},
        bully::{Bully, BullyConfig, BullyMessage},
        lease::{
            Answer, Cell, LeaseRecord, RegisterConfig, RegisterMessage, RegisterQuestion,
            RegisterRecord, Simulated, SimulatedConfig, Swapped,
        },
        quorum::{QuorumBully, QuorumMessage},
    },
    protocol::{Election, PeerMessage},
};

use super::{
    cases::{Case, STORE},
    watch::{self, Measure},
};

/// An election that takes part in the comparison.
pub(crate) trait Contender {
    /// The machine.
    type Election: Election;

    /// Returns its configuration for `voters`. The seed is for an election that draws random numbers by itself.
    fn config(voters: &[AgentId], seed: u64) -> <Self::Election as Election>::Config;

    /// Returns the store that the agents need; `None` if they need none.
    fn store() -> Option<<Self::Election as Election>::Config> {
        None
    }

    fn size(message: &<Self::Election as Election>::Message) -> usize;

    /// Returns whether the election repeats such a message again and again.
    fn repeats(message: &<Self::Election as Election>::Message) -> bool {
        message.is_repeated()
    }

    /// Returns the content of a repeated message, without its number. A content that the same agent has not received
    /// before may cause other messages. `None`: the message never causes any.
    fn says(_message: &<Self::Election as Election>::Message) -> Option<String> {
        None
    }

    /// Whether an agent needs a command to begin an election, because it has no failure detector of its own.
    const ASKED: bool = false;
}

/// A contender by name.
#[derive(Clone, Copy)]
pub(crate) struct Entrant {
    pub(crate) name: &'static str,
    /// The source of its rules.
    pub(crate) source: &'static str,
    /// Its promise, in one or two words.
    pub(crate) promise: &'static str,
    pub(crate) run: fn(Case, u64) -> Measure,
}

impl Entrant {
    pub(crate) const fn of<C: Contender>(
        name: &'static str,
        source: &'static str,
        promise: &'static str,
    ) -> Self {
        Self {
            name,
            source,
            promise,
            run: watch::run::<C>,
        }
    }
}

/// All contenders, the plainest rules first.
pub(crate) const ALL: &[Entrant] = &[
    Entrant::of::<Plain>("astra", "ASTRA", "one, if no message is late"),
    Entrant::of::<Available>("bully", "Go", "always a leader"),
    Entrant::of::<Quorum>("quorum", "leases", "never two leaders"),
    Entrant::of::<Stored<false>>("lease", "client-go", "never two leaders"),
    Entrant::of::<Stored<true>>("lease-told", "client-go", "never two leaders"),
    Entrant::of::<Halting>(
        "reorganization",
        "1982, III",
        "one, if nothing is late or lost",
    ),
    Entrant::of::<Inviting>("invitation", "1982, IV", "a leader of each group"),
    Entrant::of::<Token>("ring", "Le Lann", "a leader of each ring"),
    Entrant::of::<Gossip>("ballot", "BLE", "in the end one leader"),
];

/// The plain ASTRA rules.
struct Plain;

impl Contender for Plain {
    type Election = Astra;
    const ASKED: bool = true;

    fn config(_: &[AgentId], _: u64) -> Arc<AstraConfig> {
        Arc::default()
    }

    fn size(message: &BullyMessage) -> usize {
        packed(message)
    }
}

/// The Go seed's rules, repaired: heartbeats, terms, crash and recovery.
struct Available;

impl Contender for Available {
    type Election = Bully;

    fn config(_: &[AgentId], _: u64) -> Arc<BullyConfig> {
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

    fn config(voters: &[AgentId], _: u64) -> Arc<QuorumConfig> {
        Arc::new(QuorumConfig {
            preemption: Preemption::After(std::time::Duration::from_secs(2)),
            ..QuorumConfig::new(voters.iter().cloned())
        })
    }

    fn size(message: &QuorumMessage) -> usize {
        packed(message)
    }
}

/// A lease in a store, which either reports each change or has to be asked for it.
struct Stored<const TELLS: bool>;

impl<const TELLS: bool> Contender for Stored<TELLS> {
    type Election = Simulated;

    #[expect(clippy::expect_used, reason = "valid names")]
    fn config(_: &[AgentId], _: u64) -> SimulatedConfig {
        let rules = LeaseConfig::new("compare", "elections").expect("valid");
        SimulatedConfig::Agent(Arc::new(rules), AgentId::new(STORE).expect("valid"))
    }

    fn store() -> Option<SimulatedConfig> {
        Some(SimulatedConfig::Register(RegisterConfig {
            tells: TELLS,
            ..RegisterConfig::default()
        }))
    }

    /// Returns the size of the question's number, of the texts of records and of their versions. The protocol of the
    /// store is not counted: each store has another protocol.
    fn size(message: &RegisterMessage) -> usize {
        let content = match message {
            RegisterMessage::Ask(RegisterQuestion::Read(_)) => 0,
            RegisterMessage::Ask(RegisterQuestion::Swap(swap)) => {
                let text = match &swap.record {
                    Swapped::Lease(record) => record.encode(),
                    Swapped::Claim(record) => record.encode(),
                };
                swap.expected.as_bytes().len() + text.len()
            }
            RegisterMessage::Told(shown) => match &shown.answer {
                Answer::Holds { lease, claim } => held(lease) + held(claim),
                Answer::Applied(version) => version.as_bytes().len(),
                Answer::Changed | Answer::Contender(_) | Answer::Failed => 0,
            },
        };
        size_of::<u64>() + content
    }

    /// Questions and answers are all repeated again and again.
    fn repeats(_: &RegisterMessage) -> bool {
        true
    }

    /// A renewal has no new content, and a read has no content at all.
    fn says(message: &RegisterMessage) -> Option<String> {
        match message {
            RegisterMessage::Ask(RegisterQuestion::Read(_)) => None,
            RegisterMessage::Ask(RegisterQuestion::Swap(swap)) => Some(match &swap.record {
                Swapped::Lease(lease) => named(lease),
                Swapped::Claim(claim) => format!("{} {:?}", claim.seen, claim.score),
            }),
            RegisterMessage::Told(shown) => Some(match &shown.answer {
                Answer::Holds { lease, .. } => match &lease.content {
                    Ok(Some(lease)) => named(lease),
                    Ok(None) | Err(_) => String::new(),
                },
                Answer::Applied(_) => String::from("applied"),
                Answer::Changed => String::from("changed"),
                Answer::Contender(_) => String::from("lists"),
                Answer::Failed => String::from("failed"),
            }),
        }
    }
}

/// Returns the content of a record, without the number of the attempt.
fn named(lease: &LeaseRecord) -> String {
    format!("{} {:?} {:?}", lease.term, lease.holder, lease.next)
}

fn held<R: RegisterRecord>(cell: &Cell<R>) -> usize {
    let record = cell.content.as_ref().ok().and_then(Option::as_ref);
    let text = record.map_or(0, |record| record.encode().len());
    cell.version.as_bytes().len() + text
}

/// Garcia-Molina's first election.
struct Halting;

impl Contender for Halting {
    type Election = Reorganization;

    fn config(_: &[AgentId], _: u64) -> Arc<ReorganizationConfig> {
        Arc::default()
    }

    fn size(message: &<Reorganization as Election>::Message) -> usize {
        packed(message)
    }
}

/// Garcia-Molina's second election.
struct Inviting;

impl Contender for Inviting {
    type Election = InvitationElection;

    fn config(_: &[AgentId], _: u64) -> Arc<InvitationConfig> {
        Arc::default()
    }

    fn size(message: &<InvitationElection as Election>::Message) -> usize {
        packed(message)
    }
}

/// The ring election, with a token.
struct Token;

impl Contender for Token {
    type Election = Ring;

    fn config(_: &[AgentId], _: u64) -> Arc<RingConfig> {
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

    fn config(voters: &[AgentId], _: u64) -> Arc<BallotConfig> {
        Arc::new(BallotConfig::new(voters.iter().cloned()))
    }

    fn size(message: &BallotMessage) -> usize {
        packed(message)
    }

    /// All its messages are gossip. An agent shows a change of its state in its next message.
    fn says(message: &BallotMessage) -> Option<String> {
        if let BallotMessage::HeartbeatRequest(asked) = message {
            Some(format!("{:?} {:?}", asked.max, asked.standing))
        } else if let BallotMessage::HeartbeatReply(reply) = message {
            Some(format!("{:?}", reply.standing))
        } else {
            None
        }
    }
}

/// Returns the size of a message to another host, without the envelope.
fn packed(message: &impl serde::Serialize) -> usize {
    rmp_serde::to_vec(message).map_or(0, |bytes| bytes.len())
}
