//! What a configured peer may do before the application says otherwise.

use crate::remote::{MayBe, Peer, Rights};

#[test]
fn a_peer_may_speak_for_every_agent_unless_it_is_said_for_which() {
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
