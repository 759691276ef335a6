//! Bridges and agents on the hosts of a simulated network, through histories drawn by seeds.
//!
//! Each host runs the parts of a real host: a group, a [`RemoteBridge`](actix_bully::remote::RemoteBridge) and
//! agents, on its own event loop. Only the sockets, the clock and the disk are simulated, so that a seed gives the
//! same history each time.
//!
//! | file | its decisions |
//! |---|---|
//! | `plan.rs` | the settings of a history, and the longest time to agreement |
//! | `host.rs`, `begin.rs`, `member.rs`, `setting.rs` | processes, agents, and the state that survives them |
//! | `members.rs` | the host on which each agent starts |
//! | `wire.rs`, `sentinels.rs`, `clock.rs`, `disk.rs`, `freeze.rs` | the simulated parts |
//! | `kinds.rs`, `faults.rs`, `ways.rs`, `voters.rs` | the faults |
//! | `check.rs`, `ledger.rs`, `lists.rs`, `work.rs`, `application.rs` | the invariants |
//! | `history.rs` | the order of events in a history |
//! | `many.rs`, `run.rs` | many seeds on all cores, and the events that they must have met |

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
