//! The words of an election that an application says and reads: names, scores, terms, events, durations, and how a list
//! of voters changes.
//!
//! [`Timings`] has the durations, with their reasons; [`Event`] has what an agent tells its subscribers.
//!
//! The author of a machine or of its driver needs the whole contract: inputs, effects, requirements and lists of
//! members. It is [`bully_core::protocol`], and [`Election`] is its page.

#[doc(inline)]
pub use bully_core::protocol::{
    About, AboutError, AgentId, ChangeError, Changed, Contact, Detector, Event, IdError,
    Incarnation, Leader, LostReason, Measurement, MemberKind, NewVoter, Presence, Role, Round,
    Score, SettingError, StoreId, Term, Time, Timings, TimingsBuilder, VoterChange, VotersEvent,
};

pub(crate) use bully_core::protocol::*;
