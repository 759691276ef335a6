//! Faults of a network: it loses, delays, repeats, reorders and separates messages.
//!
//! ```text
//!   fate(now, from, to) ──▶ ignored kind? ─▶ isolated? ─▶ other side? ─▶ cut? ─▶ bad luck? ──▶ Lost(why)
//!                                                                             │
//!                                             delay, again for each copy  ◀───┘──────────▶ Arrives(times)
//! ```
//!
//! Decided here: the fate of one message. A seeded generator decides it, so that a run can be repeated. Not here: the
//! carrier of the message, and its effect on arrival; both belong to a world in virtual time, or to a cluster of real
//! actors.
//!
//! The fate is decided when the message is sent: a message that was on its way when a cut began still arrives.
//!
//! Read next: [`Network`] has the verbs (`partition`, `isolate`, `cut`, `heal`); [`Conditions`] has the faults of a
//! link that is not cut.

mod conditions;
mod fate;
mod network;

pub use bully_core::random::SplitMix64;
pub use conditions::{Conditions, ConditionsBuilder, ConditionsError};
pub use fate::{Arrivals, Fate, Loss, Tally};
pub use network::Network;
pub use network::Separations;

#[cfg(test)]
mod tests;
