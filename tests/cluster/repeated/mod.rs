//! Tests that recordings wrote, one for each election: `recordings.rs` compares them.

mod astra;
mod ballot;
mod bully;
mod invitation;
mod lease;
mod quorum;
mod reorganization;
mod ring;
