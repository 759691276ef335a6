//! The recording of a run: [`Recording`] reads and writes its file, and draws it.
//!
//! What stands in it, line by line, is in [`bully_core::record`], for programs that write or play such files.

#[doc(inline)]
pub use bully_core::record::{Difference, RecordLimits, Recording, RecordingError};

pub(crate) use bully_core::record::*;
