//! The promises of the guardian, and the events of a child that fails. Virtual time.
//!
//! Two tables have a row for each cause, moment and policy: `children.rs` of any actor, `agents.rs` of an agent in a
//! quorum; their golden texts are `children.txt` and `agents.txt`. `probe.rs` is the actor that fails on demand, `stage.rs`
//! writes down what happens. Beside the tables: much mail and many failures (`storms.rs`), where a guardian can live
//! (`ends.rs`), which policies are valid (`policy.rs`).

mod agents;
mod children;
mod ends;
mod policy;
mod probe;
mod stage;
mod storms;
