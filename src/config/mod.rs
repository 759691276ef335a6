//! The configuration that an operator writes. One call reads it from a file and the environment, and starts the agent.
//!
//! ```text
//!   jobs.toml ─────▶ from_toml ─┐                      ┌─▶ group, bridge, store
//!   environment ───▶ with_env ──┼─▶ Config ── start ──▶│
//!   serde, Rust ────────────────┘   (checked)          └─▶ agent ──▶ RunningNode: leave, leave_on_signals
//! ```
//!
//! ```no_run
//! use std::time::Duration;
//! use actix_bully::config::Config;
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     actix::System::new().block_on(async {
//!         let running = Config::load("/etc/jobs.toml", "JOBS")?.start()?;
//!         let agent = running.agent().clone(); // for the application: `lead`, `changes`, `is_leader`
//!         // SIGTERM and Ctrl-C: hand over, leave, say goodbye to the peers.
//!         Ok(running.leave_on_signals(Duration::from_secs(10)).await?)
//!     })
//! }
//! ```
//!
//! Decided here: the names of keys, which values fit together, the order of a start and of an end. Not here: the
//! meaning of the settings for an election ([`elections`](crate::elections)), for an agent ([`agent`](crate::agent)) or
//! for a bridge ([`remote`](crate::remote)). This module imports `elections`, `agent` and `remote`; none of these
//! modules imports it.
//!
//! Only [`Config::load`] reads a file (of at most 64 KiB) and the environment of the process; all other functions parse
//! the text that the program passes. Every error is typed, and contains the key: `peers[1].address`. Later events,
//! warnings included, go to `tracing`: install a subscriber, as the example `configured` does.
//!
//! # Every key
//! This is a whole configuration of one of three nodes. A line that begins with `# ` shows a default, or a key that
//! contradicts other keys of this example. All keys may be left out, except `node` and `group`.
//!
//! ```toml
#![doc = include_str!("every_key.toml")]
//! ```
//!
//! # Another network
//! The section `zenoh` makes zenoh the network, and needs the crate `actix-bully-zenoh`. The program starts by
//! `actix_bully_zenoh::starter(&config)?.start()`, with or without the section. Without the crate the start is refused
//! with [`ConfigError::NoZenoh`]. A [transport](crate::remote::transport) of your own has no section: give it to
//! [`Starter::bridge`], and write addresses of the form `host:port`.
//!
//! # From the environment
//! [`Config::with_env`] and [`Config::load`] take a prefix. With `JOBS`, the variable `JOBS_NODE` is the key `node`,
//! and `JOBS_QUORUM_STORE_FILE` is `quorum.store_file`. Commas divide lists (`JOBS_QUORUM_VOTERS=api-1,api-2,api-3`),
//! and peers are written `JOBS_PEERS=api-2=10.0.0.2:7400,..`. Rights have no such form. Choose a prefix that no other
//! program uses: a variable that begins with the prefix and names no key is an error. (Kubernetes sets `JOBS_PORT` and
//! other variables for a Service called `jobs`.)
//!
//! # A killed leader is known at once
//! With the feature `sentinel`, on Linux, the other nodes learn within milliseconds that the process of a node has
//! ended. A sentinel is a value of the program and has no key. Start it at the top of `main`, and give it to the
//! bridge: `config.starter()?.bridge(|bridge| bridge.sentinel(sentinel)).start()?`. The page of `remote::sentinel` has
//! the program.
//!
//! # Another list of voters
//! While a leader can be elected, change the voters by a command: `bullyctl voters`, or
//! [`add_voter`](crate::agent::ElectionHandle::add_voter) and similar methods. No node is stopped, and no file has to
//! be changed first. The rest of this section is for the other cases: no quorum of the voters is left, the voters have
//! no disk, or `vote_quorum` or `lease_quorum` change.
//!
//! Members of different epochs do not hear each other. So follow these steps to change voters or quorums, as
//! [`quorum`](bully_core::elections::quorum) explains (in Rust the epoch is
//! [`AgentBuilder::epoch`](crate::agent::AgentBuilder::epoch)):
//!
//! 1. Write the new `quorum.voters`, and a `quorum.epoch` that is higher by one, into every node's configuration.
//! 2. Stop the old voters. Best stop all of them; stop at least enough that the rest is not a quorum.
//! 3. Only then start the new voters. A node that was a voter before keeps its store; a new voter begins with
//!    `store = "open-or-create"`.
//!
//! A mistake in these steps is reported as follows:
//!
//! | mistake | report |
//! |---|---|
//! | a node has the old epoch, the others the new one | a [diagnosis](crate::agent::Diagnosis) of both sides, as [`ListOlder`](crate::agent::Finding::ListOlder) and [`OtherListOlder`](crate::agent::Finding::OtherListOlder), and the warning without a leader: the node takes no part. Without disks it is the event of the next row |
//! | the voters differ, the epoch is the same | the event [`Mismatch`](crate::remote::BridgeEvent::Mismatch) of both sides names rules, epoch and voters of both, and nothing crosses between them; the `list` of its voters differs |
//! | a node that took part in a later epoch is started with an earlier one | [`RunError::Agent`] because of `quorum.epoch`: it names the epoch of its record |
//! | the epoch is beyond 16,777,215 | [`ConfigError::Refused`] of the key `quorum.epoch` |
//!
//! # Where it runs
//! `examples/deploy` in the repository has pages for systemd, and for Kubernetes with and without a volume for each
//! vote. Tests read the files of these pages as a node would.
//!
//! # Where to go next
//! `settings.rs` and the file of each section explain the fields, `read.rs` and `value.rs` read them, `check.rs` checks
//! which values fit together, `start.rs` and `running.rs` are the two ends of a run, and [`preflight`] measures a place
//! before a run.

/// Calls the setter of each value that is set in the configuration.
macro_rules! set {
    ($builder:ident, $from:ident: $($name:ident)*) => {
        $( if let Some(value) = $from.$name { $builder = $builder.$name(value); } )*
    };
}

mod check;
mod credentials;
mod duration;
mod error;
mod lease;
mod limits;
mod load;
pub mod preflight;
mod quorum;
mod read;
mod run_error;
mod running;
mod settings;
mod start;
#[cfg(test)]
mod tests;
mod timings;
mod value;
mod zenoh;

pub use self::zenoh::ZenohSettings;
pub use error::ConfigError;
pub use lease::LeaseSettings;
pub use limits::LimitsSettings;
pub use preflight::Preflight;
pub use quorum::QuorumSettings;
pub use run_error::RunError;
pub use running::RunningNode;
pub use settings::{Config, GrantSettings, PeerSettings, TlsSettings};
pub use start::Starter;
pub use timings::TimingsSettings;
pub use value::TimingsPreset;
