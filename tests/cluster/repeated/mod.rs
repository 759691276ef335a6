//! Tests that recordings wrote, one for each election whose rules a test has to import: `recordings.rs` compares them.

mod ballot;
mod bully;
mod invitation;
mod lease;
mod reorganization;
mod ring;
