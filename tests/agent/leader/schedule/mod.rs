//! Work that is due at certain times: when it runs, what is refused, whose clock counts, and that a fail-over
//! neither repeats nor loses it.
//!
//! `kit.rs` sets a scene; the others are tests, by question. Between hosts: `tests/simulated_network`. The pure
//! parts, under every fault: `src/leader/schedule/tests/`.

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
