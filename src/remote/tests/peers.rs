//! What a configured peer may do before the application says otherwise, as its docs put it.

use crate::remote::{MayBe, Peer, Rights};

const PAGE: &str = include_str!("../mod.rs");
const DOCS: &str = include_str!("../bridge/peer.rs");

/// A text as one line, without the marks of comments.
fn flat(text: &str) -> String {
    let lines = text.lines().map(|line| {
        line.trim()
            .trim_start_matches("///")
            .trim_start_matches("//!")
    });
    let words: Vec<&str> = lines.flat_map(str::split_whitespace).collect();
    words.join(" ")
}

#[test]
fn a_peer_may_speak_for_every_agent_unless_it_is_said_for_which() {
    let page = "By default a peer may speak for every agent of the groups that are carried. `Peer::allow` limits the \
                agents of a peer and their roles: a peer that goes beyond its rights loses its link.";
    assert!(flat(PAGE).contains(page));
    let docs = "The peer may speak for any agent of the carried groups, as a leader, a voter or an observer, unless \
                [`allow`](Self::allow) limits its rights.";
    assert!(flat(DOCS).contains(docs));
    for peer in [Peer::new("b", "127.0.0.1:7600"), Peer::inbound("b")] {
        for (group, agent) in [("shop", "api-1"), ("stock", "a"), ("g", "b")] {
            assert_eq!(
                peer.rights.of(group, agent),
                Some(MayBe::Leader),
                "the most"
            );
        }
        let rights = Rights::none().grant("shop", "api-*", MayBe::Voter);
        let peer = peer.allow(rights);
        assert_eq!(peer.rights.of("shop", "api-1"), Some(MayBe::Voter));
        assert_eq!(
            peer.rights.of("shop", "a"),
            None,
            "nothing is left of the default"
        );
        assert_eq!(peer.rights.of("stock", "api-1"), None);
        let peer = peer.allow(Rights::none());
        assert_eq!(peer.rights.of("shop", "api-1"), None);
    }
}
