//! Every interleaving of a few agents, by a model checker.
//!
//! | module | decides |
//! |---|---|
//! | [`rules`] | what a model needs of an election: its machine and its invariants |
//! | [`bully`], [`quorum`], [`ledger`] | elections with their invariants, and the history that these need |
//! | [`diskless`] | the quorum election of voters without a disk |
//! | [`voters`] | the quorum election whose voters change while it runs |
//! | [`lease`] | the election by a lease in a store, and the faults of a store |
//! | [`ballot`], [`reorganization`], [`ring`], [`invitation`] | the elections of other papers |
//! | [`timed`] | a model with clocks, delays and crashes; [`relative`] decides when two moments are the same |
//! | [`case`], [`limits`] | the searches, a row of `states.txt` each: their limits, and the expected outcome |
//!
//! Another election needs a module like [`bully`], and its searches a group in `states.txt`.
#![expect(
    clippy::missing_panics_doc,
    reason = "a model that cannot be built fails its test"
)]

pub mod ballot;
pub mod bully;
pub mod case;
pub mod diskless;
pub mod invitation;
pub mod lease;
pub mod ledger;
pub mod limits;
pub mod quorum;
pub mod relative;
pub mod reorganization;
pub mod ring;
pub mod rules;
pub mod timed;
pub mod voters;
