//! What both databases are asked, and the server that one of them needs.
//!
//! `postgres.rs` starts a PostgreSQL server of its own; the tests are in `tests/`: a file for each database.
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

/// No step of a test takes longer.
pub const DEADLINE: Duration = Duration::from_secs(30);

/// A port of loopback that nobody has, and that this process gives once: packages of tests share this one, since copies
/// would give the same ports.
pub fn free_port() -> u16 {
    ports::free_port()
}

/// The fence of a leader of that term.
///
/// # Panics
/// For a negative number.
pub fn fence(number: i64) -> FenceNumber {
    FenceNumber::try_from(number).expect("it is not negative")
}

/// What the other thread says next.
///
/// # Panics
/// When it says nothing within the deadline, or has ended.
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
    /// One of `0..below`.
    pub fn below(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % below
    }
}
