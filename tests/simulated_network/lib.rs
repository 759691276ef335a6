//! Bridges and agents on the hosts of a simulated network, through histories drawn by seeds.
//!
//! Each host runs the parts of a real host: a group, a [`RemoteBridge`](actix_bully::remote::RemoteBridge) and
//! agents, on its own event loop. Only the sockets, the clock and the disk are simulated, so that a seed gives the
//! same history each time.
//!
//! | file | what it decides |
//! |---|---|
//! | `plan.rs` | what a history is made of, and how long agreement may take |
//! | `host.rs`, `begin.rs`, `member.rs`, `setting.rs` | what a process is, what an agent is, what survives them |
//! | `members.rs` | which agent starts where |
//! | `wire.rs`, `sentinels.rs`, `clock.rs`, `disk.rs`, `freeze.rs` | what is simulated |
//! | `kinds.rs`, `faults.rs`, `ways.rs`, `voters.rs` | what can happen |
//! | `check.rs`, `ledger.rs`, `lists.rs`, `work.rs`, `application.rs` | what must hold |
//! | `history.rs` | the order of all that |
//! | `many.rs`, `run.rs` | many seeds on all cores, and what they have to have met |

mod application;
mod begin;
pub mod check;
pub mod clock;
pub mod disk;
mod faults;
pub mod freeze;
pub mod history;
pub mod host;
pub mod kinds;
pub mod ledger;
pub mod lists;
pub mod many;
pub mod member;
mod members;
pub mod plan;
mod sentinels;
pub mod setting;
pub mod voters;
mod ways;
pub mod wire;
pub mod work;
