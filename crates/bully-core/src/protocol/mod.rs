//! The interface that all elections share, and the types in its inputs and effects.
//!
//! ```text
//!                 ┌────────────────────────────────────────────┐
//!   Input ───────▶│ Election::handle(now, input, &mut effects) │───────▶ Effects, in order:
//!   Start         │                                            │         Persist
//!   Received      │  a pure machine: no clock, no randomness,  │         Send { to, message }, Ask(question)
//!   Told, TimedOut│  no actor, no thread, no hash order        │         SetTimer, CancelTimer
//!   Members       │                                            │         Notify(event)
//!   Campaign, …   └────────────────────┬───────────────────────┘
//!                                      ▼
//!                          Election::view(now): role, term, leader, and until when
//! ```
//!
//! Decided here: inputs and effects; how ids, scores, ranks, terms, incarnations and durations compare. Not here: any
//! election ([`elections`](crate::elections)), or anything that runs.
//!
//! Read next: [`Election`] is the contract; [`Requirements`] has the promises and the needs of an election; [`Members`]
//! is each member's knowledge of the other members; [`Timings`] has the durations, with their reasons.

mod about;
mod admission;
mod change;
mod disowned;
mod effect;
mod election;
mod electorate;
mod ends;
mod event;
#[cfg(any(test, feature = "testkit"))]
#[doc(hidden)]
pub mod fixture;
mod id;
mod input;
mod leader_end;
mod measurement;
mod member;
mod members;
mod minimum_role;
mod name_index;
mod prospects;
mod rank;
mod requirements;
mod roster;
mod setting_error;
mod time;
mod timings;
mod timings_builder;
mod view;

pub use about::{About, AboutError};
pub use admission::Unheard;
pub use change::{ChangeError, Changed, Contact, Decree, NewVoter, VoterChange, VotersEvent};
pub use effect::{After, Effect, EffectOf, Effects, EffectsOf, MessageOf, To};
pub use election::{Birth, Election, Identity, PeerMessage};
pub use electorate::Electorate;
pub use ends::Ends;
pub use event::{Event, Leader, LostReason};
pub use id::{AgentId, IdError, Incarnation, Round, StoreId, Term};
pub use input::{Input, InputOf};
pub use leader_end::LeaderEnd;
pub use measurement::Measurement;
pub use member::{Member, MemberKind, Presence};
pub use members::Members;
pub use minimum_role::MinimumRole;
pub use prospects::{ClockGap, Preemption, Prospects, Recovering};
pub use rank::{Rank, Score};
pub use requirements::{
    ClockKind, Epochs, Leaders, MembershipError, NotifyOrder, Requirements, Rules, Storage,
};
pub use setting_error::SettingError;
pub use time::Time;
pub use timings::{Detector, Timings};
pub use timings_builder::TimingsBuilder;
pub use view::{Role, View};
