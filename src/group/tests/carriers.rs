//! The carriers of a group, such as bridges: they learn the voters from the group, and report peers.

use std::sync::{Arc, Weak};

use super::*;
use crate::{
    group::{PeerReport, PeerReporter},
    protocol::{Decree, NewVoter},
};

/// A carrier with one peer. It writes down the epochs of the lists that it learns.
struct Carrier {
    peer: &'static str,
    told: Mutex<Vec<u64>>,
}

impl PeerReporter for Carrier {
    fn report_peers(&self, _: &str) -> Vec<PeerReport> {
        let node = self.peer.to_owned();
        vec![PeerReport {
            node,
            ..PeerReport::default()
        }]
    }

    fn note_voters(&self, _: &str, decree: &Decree) {
        self.told.lock().unwrap().push(decree.epoch);
    }

    fn want_voter(&self, _: &str, _: &NewVoter) {}
}

#[test]
fn a_carrier_is_told_the_latest_list_also_if_it_comes_later_and_peers_are_ordered_by_name() {
    let group = Group::<AnyMessage>::new("g").unwrap();
    let add = |peer| {
        let told = Mutex::default();
        let carrier = Arc::new(Carrier { peer, told });
        let weak: Weak<dyn PeerReporter> = Arc::<Carrier>::downgrade(&carrier);
        group.add_reporter(&weak);
        carrier
    };
    let first = add("y");
    for epoch in [2, 1, 2, 3] {
        group.note_voters(&Decree {
            epoch,
            voters: Vec::new(),
            vote_quorum: None,
            lease_quorum: None,
        });
    }
    let second = add("x");
    let told = [&first, &second].map(|carrier| carrier.told.lock().unwrap().clone());
    assert_eq!(told, [vec![2, 3], vec![3]]);
    let peers = group.peers();
    let nodes: Vec<_> = peers.iter().map(|peer| peer.node.as_str()).collect();
    assert_eq!(nodes, ["x", "y"]);
}
