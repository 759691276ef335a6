//! Every interleaving of a few agents, under a model checker.
//!
//! | page | decides |
//! |---|---|
//! | [`rules`] | what a model asks of an election: its machine, and what may never be |
//! | [`bully`], [`quorum`], [`ledger`] | the elections, and what is held against them |
//! | [`diskless`] | the quorum election of voters without a disk |
//! | [`voters`] | the quorum election whose voters change while it runs |
//! | [`lease`] | the election by a lease in a store, and what a store does wrong |
//! | [`ballot`], [`reorganization`], [`ring`], [`invitation`] | the same, of other papers |
//! | [`timed`] | a model with clocks, delays and crashes; [`relative`] when two moments are the same |
//! | [`suite`], [`case`], [`states`] | which searches there are, and what each has to show |
//!
//! Another election takes a page like [`bully`], and its searches a list in [`suite`].
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
pub mod quorum;
pub mod relative;
pub mod reorganization;
pub mod ring;
pub mod rules;
pub mod states;
pub mod story;
pub mod suite;
pub mod timed;
pub mod voters;
