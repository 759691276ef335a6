//! The parts that the tests of all stores share.
//!
//! The suite itself is public: `actix_bully::register::conformance`. Each store has a file in `tests/`, which also
//! has the tests of faults that only this store can have. Registers in memory and in a folder pass the suite in
//! `crates/bully-register/tests/conformance`.

pub mod counted;
pub mod disk;
pub mod etcd;
pub mod hosts;
pub mod judge;
pub mod kubernetes;
pub mod many;
pub mod namespace;
pub mod pooler;
pub mod processes;
pub mod rounds;
pub mod wire;

use std::{
    fmt::Debug,
    future::Future,
    thread,
    time::{Duration, Instant},
};

use actix_bully::register::{
    Entry, Register, RegisterError, RegisterKey, RegisterRefusal, Swap, Version,
    conformance::{Clause, check},
};

/// Longest time for one step of a test.
pub const DEADLINE: Duration = Duration::from_secs(30);

/// Runs a future of a test to its end.
pub fn block_on<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime can be built");
    runtime.block_on(async {
        tokio::time::timeout(DEADLINE, work)
            .await
            .expect("the store answers within the deadline")
    })
}

/// Reads until the answer is an entry, or an error other than "the store is away".
///
/// # Errors
/// Any other error than `RegisterError::Unreachable`.
#[expect(
    clippy::disallowed_methods,
    reason = "a deadline of real time, for another process"
)]
pub fn settled(register: &dyn Register, key: &RegisterKey) -> Result<Option<Entry>, RegisterError> {
    let begun = Instant::now();
    loop {
        match block_on(register.read(key)) {
            Err(RegisterError::Unreachable(reason)) => {
                assert!(begun.elapsed() < DEADLINE, "{reason}");
                thread::yield_now();
            }
            settled => return settled,
        }
    }
}

/// Reads until the store answers. Fails the test at the deadline, or at any other error.
pub fn works(register: &dyn Register, key: &RegisterKey) -> Option<Entry> {
    settled(register, key).expect("it works again")
}

/// Returns the reason of a refused operation; `None` for another result.
pub fn refusal<T>(result: &Result<T, RegisterError>) -> Option<RegisterRefusal> {
    match result {
        Err(RegisterError::Refused { refusal, .. }) => Some(*refusal),
        Ok(_) | Err(_) => None,
    }
}

/// Asserts that the operation was refused for this reason.
#[track_caller]
pub fn assert_refused<T: Debug>(outcome: &Result<T, RegisterError>, reason: RegisterRefusal) {
    assert_eq!(refusal(outcome), Some(reason), "{outcome:?}");
}

/// Asserts that the outcome is unknown: the operation may have been done.
#[track_caller]
pub fn assert_unknown<T: Debug>(outcome: &Result<T, RegisterError>) {
    let is_unknown = outcome.as_ref().is_err_and(RegisterError::is_unknown);
    assert!(is_unknown, "{outcome:?}");
}

/// Asserts that the store does not answer.
#[track_caller]
pub fn assert_away<T: Debug>(outcome: &Result<T, RegisterError>) {
    let is_away = matches!(outcome, Err(RegisterError::Unreachable(_)));
    assert!(is_away, "{outcome:?}");
}

/// Parses a key.
pub fn key(text: &str) -> RegisterKey {
    text.parse().expect("a valid key")
}

/// Holds a register to the contract. The register must offer every operation, and must report every change.
pub fn conforms<R: Register + 'static>(connect: impl Fn() -> R) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime can be built");
    let report = runtime.block_on(check(connect));
    let report = report.unwrap_or_else(|broken| panic!("{broken}"));
    for clause in Clause::ALL {
        assert!(report.holds(clause), "{clause}:\n{report}");
    }
    assert_eq!(report.missed_changes(), 0, "{report}");
}

/// Reads an entry, and fails the test if the read fails.
pub async fn read(register: &dyn Register, key: &RegisterKey) -> Option<Entry> {
    register.read(key).await.expect("it can be read")
}

/// Swaps an entry, and fails the test if the swap fails.
pub async fn swap(
    register: &dyn Register,
    key: &RegisterKey,
    expected: Option<&Entry>,
    value: &[u8],
) -> Swap {
    let swap = register.swap(key, expected, value.to_vec()).await;
    swap.expect("it can be written")
}

/// Lists the entries below a prefix, and fails the test if the listing fails.
pub async fn list(register: &dyn Register, prefix: &RegisterKey) -> Vec<(RegisterKey, Entry)> {
    let listing = register.list(prefix).expect("it can list");
    listing.await.expect("it can be read")
}

/// Returns the version of a swap, and fails the test if the swap was not done.
pub fn done(swap: Swap) -> Version {
    match swap {
        Swap::Done(version) => version,
        Swap::Conflict(entry) => panic!("it was not replaced: {entry:?}"),
    }
}
