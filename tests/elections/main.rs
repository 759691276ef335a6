//! Do the elections keep their rules? The machines in simulated worlds, and agents in virtual time.
//!
//! | folder or file | question |
//! |---|---|
//! | `scenarios/` | what every election is asked, by the numbers of the documents that the crate comes from |
//! | `ballot/`, `quorum/`, `ring/` | what only one election is asked, by number |
//! | `paper/` | the elections of 1982, as written |
//! | `programs/`, `traces/` | the programs and rules of those documents as written, beside their repair |
//! | `quorum_agents.rs` | a quorum whose voters are agents with stores |
//! | `changing_scores.rs`, `slow_disk.rs`, `slow_register.rs`, `counts.rs` | scores that change often; slow disks and stores of a lease; how many messages |

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
mod counts;
mod paper;
mod pictures;
mod programs;
mod quorum;
mod quorum_agents;
mod ring;
mod scenarios;
mod slow_disk;
mod slow_register;
mod traces;
