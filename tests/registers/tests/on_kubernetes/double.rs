//! The double: the suite, each answer of the table, late and lost answers, Leases of other clients, lists, and the
//! ends of a watch.
#![expect(
    clippy::disallowed_methods,
    reason = "a deadline of real time, for another thread"
)]

mod account;
mod answers;
mod foreign;
mod late;
mod lists;
mod watches;

use std::time::{Duration, Instant};

use actix_bully::register::{
    Entry, Register, RegisterError, RegisterKey, RegisterRefusal, Removal,
};
use actix_bully_register_tests::{
    DEADLINE, block_on, conforms, done, key,
    kubernetes::double::{KubeDouble, KubeVerb},
    swap, works,
};
use tokio::time::sleep;

#[test]
fn it_conforms() {
    let server = KubeDouble::start();
    conforms(|| server.open());
}

/// Waits until the condition holds, and fails at half of the deadline.
async fn until(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < DEADLINE / 2, "{what}");
        sleep(Duration::from_millis(2)).await;
    }
}

/// Writes a key that is absent, and returns its entry.
fn written(register: &dyn Register, key: &RegisterKey, value: &[u8]) -> Entry {
    block_on(async { done(swap(register, key, None, value).await) });
    works(register, key).expect("it is there")
}

async fn removed(
    register: &dyn Register,
    key: &RegisterKey,
    entry: &Entry,
) -> Result<Removal, RegisterError> {
    register.remove(key, entry).expect("it removes").await
}

fn holder() -> RegisterKey {
    key("group/holder")
}

/// The failure of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Failure {
    Refused(RegisterRefusal),
    Unreachable,
    Unknown,
}

fn failure(error: &RegisterError) -> Failure {
    match error {
        RegisterError::Refused { refusal, .. } => Failure::Refused(*refusal),
        RegisterError::Unreachable(_) => Failure::Unreachable,
        RegisterError::Unknown(_) => Failure::Unknown,
        other => panic!("no failure of a server: {other}"),
    }
}
