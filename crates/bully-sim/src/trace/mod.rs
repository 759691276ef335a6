//! A recorded run: which agent said what to which, what became of it, and what each made of it.
//!
//! ```text
//!     0.000  a, b, c    starts
//!     0.000  c -> a, b  elect 1.1 score 3  +1.000
//!     1.000  a -> c     yield 1.1  +1.000
//!     1.000  b -x c     yield 1.1  lost: cut
//!   200.000  c          acquired the leadership in term 1
//! ```
//!
//! Decided here: what is kept. Not here: what happens, and how a run reads as text, as a diagram and as a file
//! ([`record`](bully_core::record)). A message becomes text when it is recorded, so a trace is of no particular election.
//!
//! Read on: [`Trace`] records; `digest` makes one number of a run; [`What`] is one entry;
//! [`to_recording`](Trace::to_recording) makes a [`Recording`](bully_core::record::Recording).

mod count;
mod digest;
mod recorder;

pub use bully_core::record::{Happening, MessageText, TraceEntry, What};
pub use count::MessageCount;
pub use recorder::{Checkpoint, Trace};

#[cfg(test)]
mod tests;
