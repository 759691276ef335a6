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
//! Decided here: what is kept, and how a run reads as text and as a diagram. Not here: what
//! happens. A message becomes text when it is recorded, so a trace is of no particular election.
//!
//! Read on: [`Trace`] records; `digest` makes one number of a run; `text` and `mermaid` write; [`What`] is one entry.

mod digest;
mod entry;
mod lines;
mod mermaid;
mod recorder;

pub use entry::{Happening, MessageCount, MessageText, TraceEntry, What};
pub use recorder::{Checkpoint, Trace};

#[cfg(test)]
mod tests;
