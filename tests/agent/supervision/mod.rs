//! The promises of the guardian, and the events of a child that fails, in virtual time.
//!
//! Two tables have a row for each cause, moment and policy: `children.rs` for any actor, and `agents.rs` for an agent
//! of a quorum. Their golden texts are `children.txt` and `agents.txt`. `probe.rs` has the actor that fails on
//! demand, and `stage.rs` writes the events down. Beside the tables, `storms.rs` tests many messages and failures,
//! `ends.rs` tests the places where a guardian can live, and `policy.rs` tests which policies are valid.

mod agents;
mod children;
mod ends;
mod policy;
mod probe;
mod stage;
mod storms;
