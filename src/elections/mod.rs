//! The elections: the promise of each election, and how to choose one.
//!
//! Each election is a pure state machine of a crate below this one. `bully-core` has the bully, ASTRA, the quorum and
//! the lease. With the feature `classics`, `bully-classics` adds the ballot, the ring, the reorganization and the
//! invitation.
//!
//! | machine | promise | needs |
//! |---|---|---|
//! | [`bully`] | the highest-ranked agent that can be reached leads | deadline > 2 × the longest delay |
//! | [`astra`] | the same by the rules of the ASTRA agent, which has no heartbeats: an agent has to start an election | deadline > 2 × the longest delay |
//! | [`quorum`] | at most one leader per term, and at most one agent considers itself leader | a majority of voters, a durable record, a clock that counts suspend |
//! | [`lease`] | the same, if the store's compare-and-swap is linearizable | a store that you run, a clock that counts suspend |
//! | `ballot` | after some time one leader; ballots only grow | a majority of voters, a durable record |
//! | `ring` | the highest-ranked agent leads the agents that a token can visit | a hop > 2 × the longest delay |
//! | `reorganization` | the promise of the paper: two agents at work have the same coordinator and task, at every instant | deadline > 2 × the longest delay, no loss, no pause, a durable record |
//! | `invitation` | agreement in each group; one group, under the highest-ranked, once messages are on time | a durable record |
//!
//! One type of agent, [`BullyAgent`](crate::agent::BullyAgent), runs the bully, ASTRA, the quorum and the lease. The
//! [page of the lease](lease) has its promise: the leader is the highest in rank of the agents that reach the store.
//! The table below has the promises of the other three with the default timings. A test proves each cell
//! (`tests/simulation/promises`).
//!
#![doc = include_str!("promises.md")]
//!
//! In the quorum mode a leader that hangs says no when its lease ends. The next agent leads later, when the promises of
//! the voters to the former leader have ended: 0.72 to 0.95 s after the last step of that leader. The 10 s for which a
//! healthy leader is left in place double for an agent that loses the leadership again and again, up to 160 s (rule
//! `wait-longer-for-flapping` of [`quorum`]).
//!
//! A quorum needs two more lines of configuration, or `.quorum(["api-1", "api-2", "api-3"]).store(..)`.
//!
//! # How to choose an election
//!
//! | you want | take | and know that |
//! |---|---|---|
//! | one of several actors of one process to do the work | [`bully`], the default | nothing is lost in between, so its promise is simple |
//! | a leader on each side rather than none: a cache warmer, a display | [`bully`] across hosts | during a partition there are two leaders, without a warning |
//! | never two: a scheduler, a writer, any work that costs money | [`quorum`], and its fence in each write | without a majority no agent leads; the fence protects only resources that check it |
//! | leader election under a protocol that checks ballots itself, such as Paxos | `ballot` | it gossips all the time, and two may lead for a while |
//! | to learn, to teach, to compare | `reorganization`, `invitation`, `ring`, and [`astra`] | each page says under which conditions the promise holds, and how it fails |
//! | members that agree on values, a log, a configuration | none of these: a consensus system (Raft, Paxos) | an election agrees on a name, and not on the data of its holder |
//! | more than some thirty hosts | [`lease`], in a store that you run anyway | every agent here talks to every other one |
//! | protection from members that lie | none of these | a member may always say that it ranks highest |
//!
//! `reorganization` promises more than `invitation`, but only on a network that neither loses nor delays messages: do
//! not use it in production. A `ring` sends fewer messages than the others, which suits a network where each hop is
//! cheap and changes are rare. It detects an end later. The example `compare` measures all elections under the same
//! faults.

#![doc = include_str!("moving.md")]
//!
//! The pages of the machines in [`bully_core::elections`] have their rules, states and messages. The modules here have
//! what an application configures. A machine runs in an agent by [`Agent::with_config`](crate::agent::Agent::with_config).
//!
//! [`astra`]: bully_core::elections::astra
//! [`bully`]: bully_core::elections::bully
//! [`lease`]: bully_core::elections::lease
//! [`quorum`]: bully_core::elections::quorum

/// The bully: the highest-ranked agent that can be reached leads. Its [rules](bully_core::elections::bully).
pub mod bully {
    #[doc(inline)]
    pub use bully_core::elections::bully::{Elect, Elected, Ok, Preemption};
}

/// The quorum: at most one leader per term. Its [rules](bully_core::elections::quorum).
pub mod quorum {
    #[doc(inline)]
    pub use bully_core::elections::quorum::{QuorumConfig, Vote};

    pub(crate) use bully_core::elections::quorum::*;
}

/// The lease: agents that share only a store. Its [rules](bully_core::elections::lease).
pub mod lease {
    #[doc(inline)]
    pub use bully_core::elections::lease::LeaseConfig;

    pub(crate) use bully_core::elections::lease::*;
}

#[cfg(feature = "classics")]
#[cfg_attr(docsrs, doc(cfg(feature = "classics")))]
#[doc(inline)]
pub use bully_classics::{ballot, invitation, reorganization, ring};

for_tests! {
    use crate::agent::any::{AnyBully, AnyConfig, AnyMessage};
}
