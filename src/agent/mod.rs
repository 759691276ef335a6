//! One election inside one actor.
//!
//! ```text
//!   BullyAgent::builder("agent-3").score(30).join(&group).start()? ──▶ BullyHandle
//!                                                                        │ is_leader, leader,
//!   ┌─ Guardian ────────────────────────────────────────────┐            │ current, changes
//!   │  Agent<E>                                             │  Belief    │ lead(|guard| ..)
//!   │   Envelope, MembersChanged, ──▶ step() ──▶ effects ───┼──────────▶ │
//!   │   commands, timers                                    │  (shared)  │ set_score, step_down,
//!   └───────────────────────────────────────────────────────┘ ◀──────────┘ leave
//! ```
//!
//! Decided here: how a machine is driven, and in which order the world hears of what it decided.
//! Not here: any election ([`elections`](crate::elections)), who takes part
//! ([`group`](crate::group)), and restarts ([`supervisor`](crate::supervisor)).
//!
//! # What you can rely on
//! - **Belief shrinks before, and grows after.** A handle says "leads no longer" before anything
//!   else of that step leaves, and "leads" only after all of it has.
//! - **A crash is revoked before anybody hears of it.** The handle says no, lead futures are told,
//!   subscribers get `Lost`; then the group is told, for certain only once every lead future
//!   has been dropped.
//! - **A leadership that runs out is told**, even if the agent hangs: by the clock, to lead futures,
//!   `changes` and subscribers. At most one `Lost` follows each `Acquired`.
//! - **A hand-over waits for the work**: for lead futures, and for the word of each draining
//!   subscriber that has not stopped; up to the limit set.
//! - **Each life is new.** After a crash the same address leads to an agent with a larger
//!   incarnation, made from its settings; mail from ended lives and from strangers is dropped.
//! - **Your last word counts.** A score that was set outlasts a crash.
//!
//! # Where to go next
//! `drive.rs` is the heart; `actor.rs` is the mailbox, `belief.rs` what others may read,
//! `lead.rs` the work of a leader, `audience.rs` who is told, `builder.rs` the start.

mod actor;
mod arbiter;
mod audience;
mod belief;
mod builder;
mod bully;
mod drive;
mod error;
mod guard;
mod handle;
mod lead;
mod leads;
mod member;
mod message;
mod news;
mod room;
mod status;
mod sync;
mod tenure;
#[cfg(test)]
mod tests;
mod timers;
mod wait;
mod watch;

pub use actor::Agent;
pub use arbiter::ElectionArbiter;
pub use builder::AgentBuilder;
pub use bully::{BullyAgent, BullyHandle};
pub use error::{CommandError, LeadError, LeaveError, StartError, WaitError};
pub use guard::{Epoch, Fence, LeaderGuard};
pub use handle::ElectionHandle;
pub use lead::OnPanic;
pub use member::BullyMember;
pub use message::{BullyElection, Drained, DrainingToken, Notice, Subscribe, SubscribeDraining};
pub use status::{Life, Status};
