//! Voters with another store than before: the reports that still apply.

use super::*;
use crate::{
    agent::vitals::RecordSigns,
    protocol::{StoreId, VotersEvent},
};

/// Returns the report that this voter has the store 2 instead of the store 1.
fn report(voter: &str, later: Option<u64>) -> VotersEvent {
    VotersEvent::OtherStore {
        id: id(voter),
        kept: StoreId::new(1),
        found: StoreId::new(2),
        later: later.map(Incarnation),
    }
}

/// Returns the voters with another store, after these reports, if the agents a and b have these stores now.
fn told(reports: &[VotersEvent], stores: [u64; 2]) -> Vec<(AgentId, StoreId, bool)> {
    told_in(quorum(), reports, stores)
}

fn told_in(
    mut facts: Facts,
    reports: &[VotersEvent],
    stores: [u64; 2],
) -> Vec<(AgentId, StoreId, bool)> {
    facts.signs.records = Some(Box::new(RecordSigns(reports.to_vec())));
    for (known, store) in facts.members.iter_mut().zip(stores) {
        known.member.store = Some(StoreId::new(store));
    }
    let findings = facts.judge().into_iter();
    let told = findings.filter_map(|finding| {
        if let Finding::OtherStore {
            voter,
            found,
            is_earlier,
            ..
        } = finding
        {
            return Some((voter, found, is_earlier));
        }
        None
    });
    told.collect()
}

#[test]
fn another_store_is_told_of_for_each_voter_while_the_voter_has_it() {
    let both = [report("a", None), report("b", None)];
    let of = |voter, store, is_earlier| (id(voter), StoreId::new(store), is_earlier);
    let [a, b] = ["a", "b"].map(|voter| of(voter, 2, false));
    assert_eq!(told(&both, [2, 2]), [a, b.clone()]);
    assert_eq!(told(&both, [3, 1]), [of("a", 3, false), b.clone()]);
    // The store of this agent itself does not change.
    assert_eq!(told(&both, [1, 1]), vec![b.clone()]);
    let mut unlinked = quorum();
    unlinked.members[0].is_reachable = false;
    assert_eq!(told_in(unlinked, &both, [2, 2]), [b]);
    // The incarnation that is heard began after the reported one.
    assert_eq!(told(&[report("a", Some(2))], [2, 2]), [of("a", 2, true)]);
    assert_eq!(told(&[report("a", Some(1))], [2, 2]), []);
}
