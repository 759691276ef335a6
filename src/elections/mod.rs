//! The elections: which there are, what each promises, and which one is for whom.
//!
//! Each is a pure machine of a crate below this one: the bully, ASTRA, the quorum and the lease of `bully-core`; with the
//! feature `classics` the ballot, the ring, the reorganization and the invitation of `bully-classics`.
//!
//! | machine | promise | needs |
//! |---|---|---|
//! | [`bully`] | the highest-ranked agent that can be reached leads | deadline > 2 × the longest delay |
//! | [`astra`] | the same by the rules of the ASTRA agent, which wait for no heartbeats: an agent has to start | deadline > 2 × the longest delay |
//! | [`quorum`] | at most one leader per term, and at most one that considers itself leader | a majority of voters, a durable record, a clock that counts suspend |
//! | [`lease`] | the same, as far as the store's compare-and-swap is linearizable | a store that the application runs, a clock that counts suspend |
//! | `ballot` | in the end one leader, of ever higher ballots | a majority of voters, a durable record |
//! | `ring` | the highest-ranked agent leads those whom a token can visit | a hop > 2 × the longest delay |
//! | `reorganization` | the paper's: two at work have the same coordinator and task, at every instant | deadline > 2 × the longest delay, no loss, no pause, a durable record |
//! | `invitation` | agreement in each group; one group, under the highest-ranked, once messages are on time | a durable record |
//!
//! The bully, ASTRA, the quorum and the lease are behind one type of agent, [`BullyAgent`](crate::agent::BullyAgent). The lease promises what its
//! [page](lease) says, and who leads is the highest in rank that reaches the store. What each of the other three
//! promises, cell by cell with a test that proves it (`tests/simulation/promises`), and with the default timings:
//!
#![doc = include_str!("promises.md")]
//!
//! A quorum is two more lines of configuration, or `.quorum(["api-1", "api-2", "api-3"]).store(..)`.
//!
//! # Which one is for whom
//!
//! | you want | take | and know that |
//! |---|---|---|
//! | one of several actors of one process to do the work | [`bully`], the default | nothing is lost in between, so its promise is simple |
//! | a leader on each side rather than none: a cache warmer, a display | [`bully`] across hosts | during a partition there are two, and nothing tells you |
//! | never two: a scheduler, a writer, whatever costs money | [`quorum`], and its fence in each write | without a majority no agent leads; the fence protects what checks it, and only that |
//! | leader election under a protocol that checks ballots itself, such as Paxos | `ballot` | it gossips all the time, and two may lead for a while |
//! | to learn, to teach, to compare | `reorganization`, `invitation`, `ring`, and [`astra`] | each page says under which conditions the promise holds, and how it falls |
//! | members that agree on values, a log, a configuration | none of these: a consensus system (Raft, Paxos) | an election agrees on a name, and on nothing that its holder then says |
//! | more than some thirty hosts | [`lease`], in a store that you run anyway | every agent here talks to every other one |
//! | protection from members that lie | none of these | a member may always say that it ranks highest |
//!
//! `reorganization` promises more than `invitation`, and on a network that loses or delays messages it
//! promises nothing: no reason to run it in production. A ring sends less than the others where each
//! hop is cheap and few things happen; it is slower to notice an end. The example `compare` has the
//! figures, all over the same faults.

#![doc = include_str!("moving.md")]

#[doc(inline)]
pub use bully_core::elections::{astra, bully, lease, quorum};

#[cfg(feature = "classics")]
#[cfg_attr(docsrs, doc(cfg(feature = "classics")))]
#[doc(inline)]
pub use bully_classics::{ballot, invitation, reorganization, ring};

for_tests! {
    use crate::agent::any::{AnyBully, AnyConfig, AnyMessage};
}
