//! One peer as a pure state machine: the time to dial, the choice between two links, and the reports to the groups.
//!
//! ```text
//!             dial failed                    ready
//!   Waiting ◀───────────── Dialing ───────────────────▶ Linked
//!      │   backoff, full jitter  ▲                         │
//!      └─────────────────────────┘◀────────────────────────┘
//!            timer                   closed: one redial at once
//! ```
//!
//! | after a lost link | the groups receive |
//! |---|---|
//! | the redial is refused, or the peer said goodbye | its agents are suspected |
//! | the redial is accepted and dropped, as by a process that is being killed | nothing yet: another redial follows in a moment |
//! | a later incarnation of the peer's process answers | the agents of the earlier incarnation are suspected |
//! | the same incarnation answers | nothing |
//! | no answer comes | nothing: the elections' own deadlines decide |
//!
//! Decided here: all of the above, and which of two links to one peer stays: the link with the later incarnation of the
//! peer's process, and of one incarnation the link with the higher [`LinkId`](crate::remote::LinkId). Both sides know
//! the same ids, so both keep the same link, whichever link they saw first. Not here: sockets, clocks and random
//! numbers. A wait is a range, from which the driver chooses a random time.

mod backoff;
mod machine;
#[cfg(test)]
mod tests;

pub(crate) use backoff::Backoff;
pub(crate) use machine::{
    ConnId, DialError, LinkLoss, Origin, PeerChange, PeerEffect, PeerInput, PeerMachine, ReadyLink,
};
