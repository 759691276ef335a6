//! Shared by the tests of registers, for every store.
//!
//! The suite itself is public: `actix_bully::register::conformance`. The tests in `tests/` are a file for each store; what
//! only one of them can do wrong is there too. Registers in memory and in a folder pass the suite in
//! `crates/bully-register/tests/conformance`.

pub mod counted;
pub mod disk;
pub mod etcd;
pub mod fenced;
pub mod fuse;
pub mod hosts;
pub mod judge;
pub mod kubernetes;
pub mod many;
pub mod moving;
pub mod namespace;
pub mod pooler;
pub mod processes;
#[path = "../../support/raise.rs"]
mod raise;
pub mod rounds;
pub mod rule;
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

/// No step of a test takes longer.
pub const DEADLINE: Duration = Duration::from_secs(30);

/// Runs a test's future to its end.
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

/// Reads until it works, or says something else than that the store is away.
///
/// # Errors
/// What else it says.
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

/// The register works again, however often it has said that it does not.
pub fn works(register: &dyn Register, key: &RegisterKey) -> Option<Entry> {
    settled(register, key).expect("it works again")
}

/// Why an operation is refused, if it is.
pub fn refusal<T>(result: &Result<T, RegisterError>) -> Option<RegisterRefusal> {
    match result {
        Err(RegisterError::Refused { refusal, .. }) => Some(*refusal),
        Ok(_) | Err(_) => None,
    }
}

/// It may have been done.
#[track_caller]
pub fn assert_unknown<T: Debug>(outcome: &Result<T, RegisterError>) {
    let is_unknown = outcome.as_ref().is_err_and(RegisterError::is_unknown);
    assert!(is_unknown, "{outcome:?}");
}

/// The store does not answer.
#[track_caller]
pub fn assert_away<T: Debug>(outcome: &Result<T, RegisterError>) {
    let is_away = matches!(outcome, Err(RegisterError::Unreachable(_)));
    assert!(is_away, "{outcome:?}");
}

/// The store has a record that no register wrote.
#[track_caller]
pub fn assert_foreign<T: Debug>(outcome: &Result<T, RegisterError>) {
    let is_foreign = matches!(outcome, Err(RegisterError::Foreign { .. }));
    assert!(is_foreign, "{outcome:?}");
}

/// A write to a server that stands still is told as unknown, and is not waited for.
#[expect(
    clippy::disallowed_methods,
    reason = "a deadline of real time, for another process"
)]
#[track_caller]
pub fn assert_soon_unknown(register: &dyn Register, key: &RegisterKey, expected: Option<&Entry>) {
    let begun = Instant::now();
    assert_unknown(&block_on(register.swap(key, expected, b"late".to_vec())));
    let waited = begun.elapsed();
    assert!(waited < Duration::from_secs(10), "{waited:?}");
}

/// A key by its text.
pub fn key(text: &str) -> RegisterKey {
    text.parse().expect("a valid key")
}

/// Holds a register to the contract: it has to offer every operation, and to tell of every change.
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

/// Reads, and fails the test where that fails.
pub async fn read(register: &dyn Register, key: &RegisterKey) -> Option<Entry> {
    register.read(key).await.expect("it can be read")
}

/// Swaps, and fails the test where that fails.
pub async fn swap(
    register: &dyn Register,
    key: &RegisterKey,
    expected: Option<&Entry>,
    value: &[u8],
) -> Swap {
    let swap = register.swap(key, expected, value.to_vec()).await;
    swap.expect("it can be written")
}

/// Lists, and fails the test where that fails.
pub async fn list(register: &dyn Register, prefix: &RegisterKey) -> Vec<(RegisterKey, Entry)> {
    let listing = register.list(prefix).expect("it can list");
    listing.await.expect("it can be read")
}

/// The version of a swap that has to be done.
pub fn done(swap: Swap) -> Version {
    match swap {
        Swap::Done(version) => version,
        Swap::Conflict(entry) => panic!("it was not replaced: {entry:?}"),
    }
}
