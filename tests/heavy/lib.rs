//! Every interleaving of a few agents, under a model checker.
#![expect(
    clippy::missing_panics_doc,
    reason = "a model that cannot be built fails its test"
)]

pub mod actors;
pub mod books;
pub mod bully;
pub mod case;
pub mod quorum;
pub mod relative;
pub mod rules;
pub mod story;
pub mod suite;
pub mod timed;
