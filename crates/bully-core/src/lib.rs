//! Leader elections as pure state machines.
#![forbid(unsafe_code)]

pub mod driver;
pub mod elections;
pub mod parts;
pub mod protocol;
#[doc(hidden)]
pub mod random;
pub mod record;
