//! The double: the suite, each answer of the table, late and lost answers, Leases of other clients, lists, and the
//! ends of a watch.
#![expect(
    clippy::disallowed_methods,
    reason = "a deadline of real time, for another thread"
)]

mod account;
mod answers;
mod facts;
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
    // The suite also makes a thousand writes at once.
    assert!(
        server.connections() <= 8 * 17,
        "{} connections",
        server.connections()
    );
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

/// The kinds of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    Read,
    List,
    Create,
    Update,
    Remove,
}

const OPERATIONS: [Operation; 5] = [
    Operation::Read,
    Operation::List,
    Operation::Create,
    Operation::Update,
    Operation::Remove,
];

impl Operation {
    const fn verb(self) -> KubeVerb {
        match self {
            Self::Read => KubeVerb::Get,
            Self::List => KubeVerb::List,
            Self::Create => KubeVerb::Create,
            Self::Update => KubeVerb::Update,
            Self::Remove => KubeVerb::Delete,
        }
    }

    fn writes(self) -> bool {
        KubeVerb::WRITES.contains(&self.verb())
    }

    /// Returns the key of the operation.
    fn key(self) -> RegisterKey {
        key(if self == Self::Create {
            "group/new"
        } else {
            "group/holder"
        })
    }

    /// Carries the operation out. `entry` is the present entry of the key [`holder`].
    fn run(self, register: &dyn Register, entry: &Entry) -> Result<(), RegisterError> {
        let key = self.key();
        block_on(async {
            match self {
                Self::Read => register.read(&key).await.map(drop),
                Self::List => {
                    let listing = register.list(&"group".parse().expect("a key"));
                    listing.expect("it lists").await.map(drop)
                }
                Self::Create => register.swap(&key, None, b"next".to_vec()).await.map(drop),
                Self::Update => {
                    let swap = register.swap(&key, Some(entry), b"next".to_vec());
                    swap.await.map(drop)
                }
                Self::Remove => removed(register, &key, entry).await.map(drop),
            }
        })
    }

    /// Returns the value of the operation's key afterwards. `is_done` is whether the operation was carried out.
    const fn leaves(self, is_done: bool) -> Option<&'static [u8]> {
        match (self, is_done) {
            (Self::Read | Self::List, _) | (Self::Update | Self::Remove, false) => Some(b"one"),
            (Self::Create, false) | (Self::Remove, true) => None,
            (Self::Create | Self::Update, true) => Some(b"next"),
        }
    }
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
