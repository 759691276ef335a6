//! Elections of the literature as pure state machines.
#![forbid(unsafe_code)]

pub mod ballot;
pub mod invitation;
mod numbered;
pub mod reorganization;
pub mod ring;
