//! The use of a leadership by applications: `src/leader/`, with a file or a folder for each part.

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
