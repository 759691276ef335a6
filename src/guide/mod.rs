//! A guide in six pages, to be read in order. Each page has a program that runs.
//!
//! | page | question | program |
//! |---|---|---|
//! | 1. [The first leader](first_leader) | How does a job run at one agent only? | on the page |
//! | 2. [Three hosts](three_hosts) | How do three processes elect a leader by a file? | `cargo run --example configured` |
//! | 3. [The promise](promise) | Which faults does a group have, and which promise holds in spite of them? | on the page |
//! | 4. [After a refusal](after_refusal) | A fence refused a write. How does the application go on? | on the page |
//! | 5. [Testing your own wiring](testing) | Does your program keep the promise? | on the page |
//! | 6. [Running it](running) | There is no leader, or an unexpected one. How does the operator find the cause? | on the page |
//!
//! Pages 1 and 3 to 6 have their program as a documentation test: `cargo test --doc guide` runs all of them. Page 2
//! needs three processes: its program is an example of the repository.
//!
//! The guide is text only: this module has no items. The words are those of the [front page](crate#words).

#[doc = include_str!("first_leader.md")]
pub mod first_leader {}

#[doc = include_str!("three_hosts.md")]
pub mod three_hosts {}

#[doc = include_str!("promise.md")]
pub mod promise {}

#[doc = include_str!("after_refusal.md")]
pub mod after_refusal {}

#[doc = include_str!("testing.md")]
pub mod testing {}

#[doc = include_str!("running.md")]
pub mod running {}
