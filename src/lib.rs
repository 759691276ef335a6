//! Leader election for applications built on [actix]: supervised actors elect the most important
//! one of them, in milliseconds.
//!
//! ```text
//!   your actix application
//!        │  BullyAgent::builder("api-3").score(30).join(&group).start()? ──▶ BullyHandle
//!        │  handle.is_leader() · handle.changes() · handle.lead(|guard| async …)
//! ┌──────▼──────────────────────────────────────────────────────────────────────────────┐
//! │ agent      one election inside one actor: typed messages in, effects out            │
//! │ remote     the bridge: agents of other hosts as if they were here                   │
//! │ group      who takes part in one election, and where the messages of each go        │
//! │ supervisor restarts an agent after a panic: same Addr, fresh state, next life       │
//! │ clock, store   clocks that a belief may trust; what must survive a crash            │
//! ├─────────────────────────────────────────────────────────────────────────────────────┤
//! │ elections  the machines, a folder each                                              │
//! │ protocol   the door they share: inputs, effects, view; ids, ranks, terms, timings   │
//! │            (everything below the line is pure: no actor, no clock, no randomness)   │
//! └─────────────────────────────────────────────────────────────────────────────────────┘
//!   feature testkit, for tests: many agents in one process, commanded (cluster); the machines
//!   alone in a seeded world (sim); faults on purpose; recorded runs (trace); virtual time
//! ```
//!
//! # Words
//! One word for one idea, everywhere in this crate.
//!
//! | word | meaning | elsewhere |
//! |---|---|---|
//! | *agent* | who takes part: an actor | node, process, participant |
//! | *peer* | another agent as seen from here | |
//! | *member* | an agent as the group knows it: *voter* (is asked, may lead) or *observer* (is told) | |
//! | *score*, *rank* | the application's measure of importance; score and name: who outranks whom | priority, id |
//! | *term* | the number of an election that was won | ballot, epoch |
//! | *incarnation*, *life* | which life of an agent it is, between two crashes | generation |
//! | *role* | follower, candidate (sent `Elect`), waiting (got `Ok`), leader | |
//! | `Elect`, `Ok`, `Elected` | the bully's three messages | ELECTION, ANSWER, COORDINATOR |
//! | *node*, *host* | a process whose bridge carries groups; a *peer* of a bridge is another node | |
//! | *link* | a connection that both bridges accept | |
//! | *letter* | a message with its sender and the life it was said in | envelope |
//! | *campaign*, *resign* | to hold an election; to give a leadership up | |
//! | *certain*, *suspect* | an end that a supervisor saw; an end that silence suggests | |
//! | *partition*, *cut*, *isolate*, *heal*, *crash*, *hang* | the faults of a test | |
//!
//! # Read on
//! [`protocol`] is the contract; [`elections::bully`] the rules and what they promise;
//! [`agent`] how an actor carries them; [`remote`] how it reaches other hosts; `testkit` how to
//! break it on purpose.
//!
//! [actix]: https://docs.rs/actix
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod agent;
pub mod clock;
pub mod elections;
pub mod group;
#[cfg(not(feature = "planted"))]
#[expect(unreachable_pub, reason = "the tests of the tests name it")]
mod planted;
#[cfg(feature = "planted")]
#[doc(hidden)]
pub mod planted;
pub mod prelude;
pub mod protocol;
pub mod remote;
pub mod store;
pub mod supervisor;
#[cfg(feature = "testkit")]
pub mod testkit;

/// The participants of one election; without a parameter, of a bully's.
pub type Group<M = elections::bully::BullyMessage> = group::Group<M>;

/// The README's programs compile, and run as far as they are meant to.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
