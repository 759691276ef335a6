//! What applications do with a leadership: `src/leader/`, a file or folder for each thing.

pub(crate) mod fence;
mod histories;
mod messages;
mod progress;
mod proxy;
mod room;
mod schedule;
#[cfg(unix)]
mod signals;
mod singleton;
mod tie;
