//! The recording of a run: the messages between agents, the actions on the group, and the reactions of each agent.
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
//! A recording is lines of JSON: a [`Header`], one line for each [entry](TraceEntry), and [`What::Ended`] as the last
//! line, so that a file that was cut off is not mistaken for a complete one. Times are nanoseconds since the
//! beginning of the run.
//!
//! Decided here: the content of an entry ([`What`], [`RecordedCommand`]), the words of a command ([`CommandError`]),
//! the format and its limits ([`RecordingError`]), and the forms of a run: text, a [Mermaid](Recording::to_mermaid)
//! diagram, a [drawing of one moment](Recording::to_svg), commands of the example `cluster`
//! ([`to_script`](Recording::to_script)), and a [test in Rust](Recording::to_rust_test) that repeats the run. Each form
//! depends only on the recording. Not here: which entries are recorded, and when. The testkit records whole runs. An
//! agent in production records its own part, within a limit, if the application turns the record on
//! (`ElectionHandle::record`).
//!
//! No form is longer than 16 MiB. A longer text or diagram ends early with a remark; longer commands or a longer test
//! are refused ([`Untold::TooLong`]).
//!
//! Read next: `bounded.rs` limits every text of this module, `entry.rs` has the entries, `read.rs` reads a recording
//! from a file, `moment.rs` shows the state of a run at one moment.

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
