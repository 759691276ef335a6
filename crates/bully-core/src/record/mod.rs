//! A run on record: the messages between agents, the actions on the group, and the reactions of each agent.
//!
//! ```text
//! {"format":"actix-bully recording","version":1,"protocol":"bully","clock":"virtual","seed":1,"agents":[..],..}
//! {"at_ns":0,"what":{"happened":{"agent":"agent-1","what":"started"}}}
//! {"at_ns":0,"what":{"sent":{"message":{"from":"agent-3","to":"agent-1","kind":"elect","text":".."},"arrives":[1000000]}}}
//! {"at_ns":1000000,"what":{"delivered":{"from":"agent-3","to":"agent-1","kind":"elect","text":".."}}}
//! {"at_ns":5000000,"what":{"event":{"agent":"agent-3","event":{"acquired":{"term":1}}}}}
//! {"at_ns":5000000,"what":{"command":{"crash":["agent-3"]}}}
//! {"at_ns":9000000,"what":"ended"}
//! ```
//!
//! A recording is lines of JSON: a [`Header`], an [entry](TraceEntry) a line, and [`What::Ended`] as the last, so that
//! a file that was cut off is not taken for a whole one. Times are nanoseconds since the beginning of the run.
//!
//! Decided here: the content of an entry ([`What`], [`RecordedCommand`]), the words of a command ([`CommandError`]),
//! the format and its limits ([`RecordingError`]), and the forms of a run: text, a [Mermaid](Recording::to_mermaid)
//! diagram, a [drawing of one moment](Recording::to_svg), commands of the example `cluster`
//! ([`to_script`](Recording::to_script)), and a [test in Rust](Recording::to_rust_test) that repeats it. All of these
//! are functions of a recording alone. Not here: which entries are recorded, and when. The testkit records whole runs.
//! An agent in production records its own part, bounded, if it is told to (`ElectionHandle::record`).
//!
//! None of these, a drawing and a diagram among them, is longer than 16 MiB: a text and a diagram end in words there,
//! commands and a test are refused ([`Untold::TooLong`]).
//!
//! Read on: `bounded.rs` bounds every text here, `entry.rs` has the entries, `read.rs` reads recordings of others,
//! `moment.rs` reads one moment from a recording.

mod bounded;
mod command;
mod difference;
mod entry;
mod error;
mod header;
pub(crate) mod lines;
pub(crate) mod mermaid;
pub(crate) mod moment;
mod read;
mod recording;
pub(crate) mod ring;
mod rust_test;
mod script;
mod svg;
mod words;
mod words_read;

pub use bounded::{BoundedText, TooLong};
pub use command::{NetworkRecord, RecordedCommand};
pub use difference::Difference;
pub use entry::{Happening, MessageText, RecordedSide, TraceEntry, What};
pub use error::{RecordingError, Untold};
pub use header::{Header, RecordedAgent, RecordedClock};
pub use recording::Recording;
pub use ring::RecordLimits;
pub use words::CommandError;
pub use words_read::read_span;

#[cfg(test)]
mod tests;
