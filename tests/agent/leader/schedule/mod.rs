//! Work at certain times: the runs, the refusals, the clock that counts, and fail-overs, which neither repeat nor
//! lose a tick.
//!
//! `kit.rs` sets a scene. Each other file has the tests of one question. Tests between hosts are in
//! `tests/simulated_network`. The pure parts are tested under every fault in `src/leader/schedule/tests/`.

mod fail_over;
mod failing;
mod forget;
pub(super) mod kit;
mod marks;
mod refused;
mod runs;
mod silent;
mod streams;
mod walls;
