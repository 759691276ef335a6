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
//! Decided here: how an agent drives its state machine, and in which order the decisions become known. Not here: any
//! election ([`elections`](crate::elections)), the members ([`group`](crate::group)), and restarts
//! ([`supervisor`](crate::supervisor)).
//!
//! # What you can rely on
//! - **A loss is reported first, and a gain last.** If a step ends a leadership, the handle reports that before any
//!   other effect of that step. If a step begins a leadership, the handle reports that after all other effects.
//! - **If a leader crashes, its leadership is revoked before the group learns of the crash.** The handle reports no
//!   leadership, lead futures end, and subscribers get `Lost`; then the group learns of the crash. The end is suspected
//!   first, and is confirmed once every lead future has been dropped.
//! - **A leadership that runs out is announced**, even if the agent hangs. The clock triggers the announcement to lead
//!   futures, `changes` and subscribers. At most one `Lost` follows each `Acquired`.
//! - **A hand-over waits for the work.** It waits for lead futures, and for each draining subscriber until it sends its
//!   message or stops. It waits no longer than the drain limit.
//! - **Each incarnation is new.** After a crash the same address reaches a new agent with the same settings and a
//!   larger incarnation. Messages of ended incarnations and of strangers are dropped.
//! - **The score that was set last counts.** It survives a crash.
//!
//! # What is logged
//! With `tracing`, in the span `bully.agent { node, group }`, which names the agent and the group of each line:
//!
//! | message | level | fields |
//! |---|---|---|
//! | `leadership acquired` | info | `term` |
//! | `leader drains` | info | `term` |
//! | `leadership lost` | info if it was handed over or the group was reorganized, else (a crash, a stall, a lease that ran out, isolation, another leader in a later term) warn | `term`, `reason` |
//! | `leader followed` | info if another agent leads than before, debug if the same agent leads in a later term | `leader`, `term` |
//! | `leader gone` | info, once until there is a leader again | `term` |
//! | `abstains for .. s, since it has no record` | info, once for each incarnation of a voter without a disk | |
//! | `leadership renewed` | debug | `term` |
//! | `voters changed` | info, once for each agent and list | `epoch`, `voters` |
//! | `record not durable: the agent tries again, ..` | warn, once until that record is durable | `reason` |
//! | `record durable` | info, if the record had to be tried again | `failures` |
//! | `record not durable: the agent stops` | error | `reason` |
//! | `no messages are received or sent: ..` | warn, if the agent knows a leader and waits for its store, after the longest time that an election may take, then every 10 s | `since_ms` |
//! | `no leader for ..: ..`, with the first findings of the [diagnosis](Diagnosis) | warn, after the longest time that an election may take, then every 10 s until there is a leader | `since_ms`, `findings` (their number) |
//!
//! At level info, each agent logs each change of the leader once. The [supervisor](crate::supervisor) logs crashes and
//! restarts, the [bridge](crate::remote) logs links.
//!
//! # Where to go next
//! `drive.rs` carries out a step; `actor.rs` is the mailbox, `leadership.rs` the state machine that all threads see,
//! `shared.rs` the state that handles read, `lead.rs` the work of a leader, `subscribers.rs` the subscribers of events,
//! `diagnosis/` and `vitals.rs` the reasons for a missing leader, `offers/` the properties on which features can rely
//! in each mode, `voters.rs` changes of the voters, `vacancy.rs` the warning of a missing leader, `saving.rs` the wait
//! for a record, `progress.rs` the probe of work, `eligibility.rs` the score that counts, `builder.rs` the settings.

mod about;
mod actor;
pub(crate) mod any;
mod arbiter;
mod assumptions;
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
mod kept_prospects;
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
mod renewal;
mod saving;
pub(crate) mod schedules;
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

pub(crate) use crate::elections::quorum::epoch::SpokenTerm;
pub(crate) use crate::register::keeper::{MarkReset, StoreContender, StoreContenders};
pub use actor::Agent;
pub use arbiter::ElectionArbiter;
pub use builder::AgentBuilder;
#[cfg(feature = "serde")]
pub(crate) use bully::settings;
pub use bully::{BullyAgent, BullyBuilder, BullyHandle};
#[cfg(any(feature = "serde", feature = "testkit"))]
pub(crate) use choices::Choices;
#[cfg(feature = "testkit")]
pub(crate) use choices::{Basis, Mode};
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
#[cfg(feature = "testkit")]
pub use offers::Lack;
pub(crate) use offers::{Carrier, Keeps};
pub use offers::{Feature, NotOffered, Offers, Tokens};
pub use progress::Progress;
pub(crate) use progress::check_span;
pub use status::{Lifecycle, Status};
#[cfg(feature = "testkit")]
pub(crate) use voters::member_kind;
pub use voters::{Voters, VotersError};

pub(crate) use reader::{AgentReader, WeakAgentReader};
pub(crate) use wait::{can_spawn_here, has_timers};
