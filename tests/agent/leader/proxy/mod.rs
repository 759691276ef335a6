//! Messages that follow the leader, in one process and in virtual time.
//!
//! `kit.rs` sets a scene. Each other file has the tests of one question. Tests between hosts are in
//! `tests/remote/proxy.rs`. The pure parts are tested under every fault in `src/leader/proxy/tests/`.

mod follow;
mod kit;
mod refused;
