//! One election inside one actor.
//!
//! ```text
//!   BullyAgent::builder("agent-3").score(30).join(&group).start()? ──▶ BullyHandle
//!                                                                        │ is_leader, leader,
//!   ┌─ Guardian ────────────────────────────────────────────┐            │ current, changes
//!   │  Agent<E>                                             │SharedState │ lead(|guard| ..)
//!   │   Envelope, MembersChanged, ──▶ step() ──▶ effects ───┼──────────▶ │
//!   │   commands, timers                                    │  (shared)  │ set_score, step_down,
//!   └───────────────────────────────────────────────────────┘ ◀──────────┘ leave
//! ```
//!
//! Decided here: how a machine is driven, and in which order its decisions become known.
//! Not here: any election ([`elections`](crate::elections)), the members
//! ([`group`](crate::group)), and restarts ([`supervisor`](crate::supervisor)).
//!
//! # What you can rely on
//! - **A leadership shrinks before, and grows after.** A handle says "leads no longer" before any
//!   other effect of that step, and "leads" only after all of them.
//! - **A leadership that crashes is revoked before the group hears of the crash.** The handle says
//!   no, lead futures are told, subscribers get `Lost`; then the group is told. The end is suspected,
//!   and confirmed once every lead future has been dropped.
//! - **A leadership that runs out is told**, even if the agent hangs: by the clock, to lead futures,
//!   `changes` and subscribers. At most one `Lost` follows each `Acquired`.
//! - **A hand-over waits for the work**: for lead futures, and for the message of each draining
//!   subscriber that has not stopped; up to the limit set.
//! - **Each incarnation is new.** After a crash the same address leads to an agent with a larger
//!   incarnation, made from its settings; messages of ended incarnations and of strangers are
//!   dropped.
//! - **The score that was set last counts.** It outlasts a crash.
//!
//! # What is logged
//! By `tracing`, within the span `bully.agent { node, group }`, so that each line says of which agent and
//! group it is:
//!
//! | message | level | fields |
//! |---|---|---|
//! | `leadership acquired` | info | `term` |
//! | `leader drains` | info | `term` |
//! | `leadership lost` | info if it was handed over or the group was reorganized, else (a crash, a stall, a lease that ran out, isolation, another leader in a later term) warn | `term`, `reason` |
//! | `leader followed` | info where another agent leads than before, debug where the same one leads in a later term | `leader`, `term` |
//! | `leader gone` | info, once until there is a leader again | `term` |
//! | `abstains for .. s, since it has no record` | info, once for each incarnation of a voter without a disk | |
//! | `leadership renewed` | debug | `term` |
//! | `voters changed` | info, once for each agent and list | `epoch`, `voters` |
//! | `record not durable: it is tried again, ..` | warn, once until that record is durable | `reason` |
//! | `record durable` | info, of a record that was tried again | `failures` |
//! | `record not durable: the agent stops` | error | `reason` |
//! | `hears and says nothing: ..` | warn, of an agent that knows a leader and waits for its store, after the same time and every 10 s | `since_ms` |
//! | `no leader for ..: ..`, with the first findings of the [diagnosis](Diagnosis) | warn, after the longest time that an election may take, then every 10 s until there is a leader | `since_ms`, `findings`: how many there are |
//!
//! So at info each agent says once per change which agent leads. A crash and its restart are logged by
//! the [supervisor](crate::supervisor), links by the [bridge](crate::remote).
//!
//! # Where to go next
//! `drive.rs` carries out a step; `actor.rs` is the mailbox, `leadership.rs` the state machine that
//! all threads see, `shared.rs` what handles read, `lead.rs` the work of a leader, `subscribers.rs`
//! the subscribers of events, `diagnosis/` and `vitals.rs` the reasons for a missing leader, `offers/` the offers
//! of each mode to the features built on it, `voters.rs` changes of the voters, `vacancy.rs` the warning of a
//! missing leader, `saving.rs` the wait for a record, `progress.rs` the probe of work, `eligibility.rs` the score
//! that counts, `builder.rs` the start.

mod about;
mod actor;
pub(crate) mod any;
mod arbiter;
mod builder;
mod bully;
mod choices;
mod diagnosis;
mod drive;
mod eligibility;
#[cfg(feature = "actix-web")]
mod entry;
mod error;
mod expiry;
mod failing;
mod guard;
mod handle;
mod lead;
mod lead_futures;
mod leadership;
mod lease;
mod log;
mod member;
mod membership;
mod message;
mod offers;
mod phase;
mod pool;
mod probe;
mod progress;
mod reader;
mod record;
mod remains;
mod saving;
mod shared;
mod spec;
mod start;
mod status;
mod status_json;
mod strain;
mod subscribers;
mod successor;
mod sync;
#[cfg(test)]
mod tests;
mod timers;
mod vacancy;
mod vitals;
mod voters;
mod wait;
mod work;

pub(crate) use crate::register::keeper::{MarkReset, StoreContenders};
pub use actor::Agent;
pub use arbiter::ElectionArbiter;
pub use builder::AgentBuilder;
pub use bully::{BullyAgent, BullyBuilder, BullyHandle};
#[cfg(feature = "testkit")]
pub(crate) use choices::{Basis, Choices, Mode};
pub use diagnosis::{Diagnosis, Finding, NotLeading, ScheduleFinding, VoterCount};
#[cfg(feature = "actix-web")]
pub(crate) use entry::LeaderEntry;
pub use error::{CommandError, LeadError, LeaveError, ProgressError, StartError, WaitError};
pub use guard::{ConditionalFence, Epoch, Fence, LeaderGuard};
pub use handle::ElectionHandle;
pub use lead::OnPanic;
pub use member::BullyMember;
pub use message::{BullyElection, Drained, DrainingToken, Notice, Subscribe, SubscribeDraining};
#[cfg(test)]
pub(crate) use offers::ElectionMode;
pub use offers::{
    Carrier, Contenders, Feature, Keeps, Lack, NotOffered, Offers, Tokens, VoterList,
};
pub use progress::Progress;
pub(crate) use progress::check_span;
pub use status::{Lifecycle, Status};
#[cfg(feature = "testkit")]
pub(crate) use voters::member_kind;
pub use voters::{Voters, VotersError};

pub(crate) use reader::{AgentReader, WeakAgentReader};
pub(crate) use wait::{can_spawn_here, has_timers};
