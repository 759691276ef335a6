//! Messages that follow the leader, in one process and in virtual time.
//!
//! `kit.rs` sets a scene; the others are tests, by question. Across hosts: `tests/remote/proxy.rs`. The pure parts, under
//! every fault: `src/leader/proxy/tests/`.

mod follow;
mod kit;
mod refused;
