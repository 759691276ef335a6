//! Bridges of releases that speak other versions of the wire: which of them link, and the error where none do.

use actix_bully::remote::{Closed, Peer, internals::wire::Versions, transport::Pipes};

use super::kit::{Host, MS, address, builder, play, until};
use actix::clock::sleep;

fn host(pipes: &Pipes, name: &str, other: &str, (min, max): (u16, u16)) -> Host {
    Host::with(|group| {
        builder(pipes, name, &[])
            .versions(Versions { min, max })
            .peer(Peer::new(other, &address(other)))
            .carry(group)
    })
}

#[test]
fn two_releases_with_a_version_in_common_link_and_speak_the_newest() {
    play(async {
        let pipes = Pipes::new();
        let a = host(&pipes, "a", "b", (1, 1));
        let b = host(&pipes, "b", "a", (1, 2));
        until("they are linked", || a.is_linked("b") && b.is_linked("a")).await;
    });
}

#[test]
fn two_releases_without_a_version_in_common_say_so_at_both_ends_and_do_not_link() {
    play(async {
        let pipes = Pipes::new();
        let a = host(&pipes, "a", "b", (1, 1));
        let b = host(&pipes, "b", "a", (2, 3));
        sleep(MS(5_000)).await;
        for (host, other) in [(&a, "b"), (&b, "a")] {
            assert!(!host.is_linked(other));
            assert!(host.bridge.counters().closed(Closed::Version) > 0);
            let peer = host.bridge.peers().into_iter().next().unwrap();
            let said = peer.last_error.unwrap_or_default();
            assert!(said.contains("version"), "{said}");
        }
    });
}
