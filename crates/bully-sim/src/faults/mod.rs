//! What a network does to messages: loses, delays, repeats, reorders and separates.
//!
//! ```text
//!   fate(now, from, to) ──▶ ignored kind? ─▶ isolated? ─▶ other side? ─▶ cut? ─▶ bad luck? ──▶ Lost(why)
//!                                                                             │
//!                                             delay, again for each copy  ◀───┘──────────▶ Arrives(times)
//! ```
//!
//! Decided here: the fate of one message, drawn from a seeded generator, so that a run can be
//! repeated. Not here: what carries the message and what becomes of it on arrival; that is
//! a world in virtual time, or a cluster of real actors.
//!
//! A fate is decided when the message is sent: what was under way when a cut began still arrives.
//!
//! Read on: [`Network`] has the verbs (`partition`, `isolate`, `cut`, `heal`);
//! [`Conditions`] says how bad a healthy link is.

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
