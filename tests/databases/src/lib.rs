//! The parts that the tests of both databases share, and the PostgreSQL server.
//!
//! The tests are in `tests/`, in a file for each database. `postgres.rs` starts a server of its own.
#![expect(
    clippy::disallowed_methods,
    reason = "a deadline of real time, for other processes and threads"
)]

#[path = "../../support/ports.rs"]
mod ports;
mod server;
pub mod stopped;

pub use server::Server;

use std::{
    fmt::Debug,
    sync::mpsc::{Receiver, RecvTimeoutError},
    time::Duration,
};

use actix_bully::leader::fence::FenceNumber;

/// Longest time for one step of a test.
pub const DEADLINE: Duration = Duration::from_secs(30);

/// Returns a free port of loopback, and no port twice in a process. All packages of tests use this function: two
/// copies of it could return the same port.
pub fn free_port() -> u16 {
    ports::free_port()
}

/// Returns the fence of a leader with this term.
///
/// # Panics
/// If the number is negative.
pub fn fence(number: i64) -> FenceNumber {
    FenceNumber::try_from(number).expect("it is not negative")
}

/// Waits for the next message of another thread, and returns it.
///
/// # Panics
/// If no message comes within the deadline, or the other thread has ended.
pub fn next<T: Debug>(from: &Receiver<T>) -> T {
    match from.recv_timeout(DEADLINE) {
        Ok(said) => said,
        Err(RecvTimeoutError::Timeout) => panic!("the other thread hangs"),
        Err(RecvTimeoutError::Disconnected) => panic!("the other thread has failed"),
    }
}

/// Pseudo-random numbers from a seed (`SplitMix64`).
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// Returns a number of `0..below`.
    pub fn below(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % below
    }
}
