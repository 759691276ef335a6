//! Tests that the elections keep their rules: machines in simulated worlds, and agents in virtual time. The source
//! documents are the documents that the crate comes from.
//!
//! | folder or file | question |
//! |---|---|
//! | `scenarios/` | scenarios that every election plays, with the numbers of the source documents |
//! | `quorum/`, `ring.rs` | scenarios of a single election, by number |
//! | `paper/` | the elections of 1982, as written |
//! | `programs/`, `traces/` | programs and rules of the source documents as written, beside their repair; traces and drawings |
//! | `quorum_agents.rs` | a quorum whose voters are agents with stores |
//! | `changing_scores.rs`, `slow_disk.rs`, `slow_register.rs`, `counts.rs`, `ballot.rs` | scores that change often; slow disks and stores of a lease; how many messages |

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/losses.rs"]
mod losses;
#[path = "../support/mod.rs"]
mod support;

mod ballot;
mod changing_scores;
mod counts;
mod paper;
mod programs;
mod quorum;
mod quorum_agents;
mod ring;
mod scenarios;
mod slow_disk;
mod slow_register;
mod traces;
