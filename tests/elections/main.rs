//! Do the elections keep their rules? The machines in simulated worlds, and agents in virtual time.
//!
//! | folder or file | question |
//! |---|---|
//! | `ballot/`, `quorum/`, `ring/` | the scenarios of one election, by number |
//! | `seeds/` | the scenarios of the documents that the crate comes from |
//! | `paper/`, `paper_agents.rs` | the elections of 1982, as written and in an agent |
//! | `programs/`, `traces/` | the programs and rules of those documents as written, beside their repair |
//! | `quorum_agents.rs` | a quorum whose voters are agents with stores |
//! | `changing_scores.rs`, `cooldowns.rs`, `slow_network.rs`, `slow_disk.rs`, `slow_register.rs`, `counts.rs` | scores that change often; the leader after a step-down; slow networks, disks and stores of a lease; how many messages |

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/losses.rs"]
mod losses;
#[path = "../common/forged.rs"]
mod strangers;
#[path = "../support/mod.rs"]
mod support;

mod ballot;
mod changing_scores;
mod cooldowns;
mod counts;
mod paper;
mod pictures;
mod programs;
mod quorum;
mod quorum_agents;
mod ring;
mod seeds;
mod slow_disk;
mod slow_network;
mod slow_register;
mod traces;
