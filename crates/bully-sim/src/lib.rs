//! A seeded simulator for leader elections.
#![forbid(unsafe_code)]

pub mod faults;
pub mod sim;
pub mod trace;
