//! The warnings of a bridge in the log: about strangers at its start, and about two leaders when it reaches other
//! hosts, which `elections` tests for each election.

use std::future::Future;

use actix_bully::remote::{BridgeBuilder, transport::Pipes};

use super::{
    kit::{Host, MS, are_linked, builder, play, until},
    logging,
};

/// Plays a scene, and returns the warnings that contain these words.
pub(crate) fn warnings(words: &str, scene: impl Future<Output = ()>) -> Vec<String> {
    logging::logged(tracing::Level::WARN, |lines| {
        play(scene);
        lines.about(words)
    })
}

/// Returns the warnings about strangers at the start of a bridge.
fn of_strangers(set: impl FnOnce(BridgeBuilder) -> BridgeBuilder) -> Vec<String> {
    warnings("do not prove their names", async {
        let pipes = Pipes::new();
        drop(Host::with(|group| {
            set(builder(&pipes, "a", &["b"])).carry(group)
        }));
    })
}

/// The beginning of the warning about two leaders.
pub(crate) const TWO_LEADERS: &str = "group reaches other hosts";

/// Checks that each of the hosts warned once, whatever its number of links, and that each warning has the reason
/// `why`.
#[track_caller]
pub(crate) fn assert_warns(said: &[String], hosts: usize, why: &str) {
    assert_eq!(said.len(), hosts, "{said:#?}");
    for line in said {
        for words in ["WARN", "group=\"g\"", why, ".quorum(", "`quorum`"] {
            assert!(line.contains(words), "{words}: {line}");
        }
    }
}

pub(crate) const PER_SIDE: &str = "each side of a partition elects a leader";

#[test]
fn a_bridge_whose_peers_prove_nothing_says_so_in_one_line() {
    let said = of_strangers(|builder| builder);
    assert_eq!(said.len(), 1, "{said:?}");
    for word in [
        "WARN",
        "node=a",
        ".secret(",
        ".tls(",
        "`secret_file`",
        "`tls`",
    ] {
        assert!(said[0].contains(word), "{said:?}");
    }
    #[cfg(feature = "secret")]
    {
        let secret = actix_bully::remote::secret::Secret::new([1; 32]).unwrap();
        assert_eq!(of_strangers(|builder| builder.secret(secret)), [""; 0]);
    }
}

#[test]
fn an_ordinary_stop_and_a_link_that_replaces_another_are_no_warnings() {
    let told = warnings("link ", async {
        let pipes = Pipes::new();
        // Both hosts dial, so that one of two links replaces the other.
        let a = Host::start(&pipes, "a", &["b"]);
        let b = Host::start(&pipes, "b", &["a"]);
        are_linked(&a, &b).await;
        b.bridge.drain(MS(1_000)).await.unwrap();
        until("b has said goodbye", || !a.is_linked("b")).await;
    });
    assert_eq!(told, Vec::<String>::new());
}
