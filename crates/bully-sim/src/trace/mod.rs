//! A recorded run: the messages between agents, their fates, and the reactions of the receivers.
//!
//! ```text
//!     0.000  a, b, c    starts
//!     0.000  c -> a, b  elect 1.1 score 3  +1.000
//!     1.000  a -> c     yield 1.1  +1.000
//!     1.000  b -x c     yield 1.1  lost: cut
//!   200.000  c          acquired the leadership in term 1
//! ```
//!
//! Decided here: which entries are kept. Not here: the run itself, and its form as text, as a diagram and as a file
//! ([`record`](bully_core::record)). A message becomes text when it is recorded, so a trace does not depend on an
//! election.
//!
//! Read next: [`Trace`] records; `digest` makes one number from a run; [`What`] is one entry;
//! [`to_recording`](Trace::to_recording) makes a [`Recording`](bully_core::record::Recording).

mod count;
mod digest;
mod recorder;

pub use bully_core::record::{Happening, MessageText, TraceEntry, What};
pub use count::MessageCount;
pub use recorder::{Checkpoint, Trace};

#[cfg(test)]
mod tests;
