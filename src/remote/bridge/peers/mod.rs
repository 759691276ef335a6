//! One peer as a pure machine: when to dial, which link counts, and what the groups are told.
//!
//! ```text
//!             dial failed                    ready
//!   Waiting ◀───────────── Dialing ───────────────────▶ Linked
//!      │   backoff, full jitter  ▲                         │
//!      └─────────────────────────┘◀────────────────────────┘
//!            timer                   closed: one redial at once
//! ```
//!
//! | after a lost link | the groups hear |
//! |---|---|
//! | the redial is refused, or the peer said goodbye | its agents are suspected |
//! | the redial is taken and dropped, as by a process that is being killed | nothing yet: another one follows in a moment |
//! | a later incarnation of the peer's process answers | the former one's agents are suspected |
//! | the same incarnation answers | nothing |
//! | no answer comes | nothing: the elections' own deadlines decide |
//!
//! Decided here: all of that, and which of two links to one peer stays: the later incarnation of the peer's
//! process, of one incarnation the later [`LinkId`](crate::remote::LinkId). Both sides know the same ids, so
//! both keep the same link, whichever they saw first. Not here: sockets, clocks and chance. A wait is a range,
//! out of which the driver draws a point.

mod backoff;
mod machine;
#[cfg(test)]
mod tests;

pub(crate) use backoff::Backoff;
pub(crate) use machine::{
    ConnId, DialError, LinkLoss, Origin, PeerChange, PeerEffect, PeerInput, PeerMachine, PeerStage,
    ReadyLink,
};
