//! Epochs of the voter list (scenario 81): each epoch has its own terms and records, and begins with a quarantine.

use super::*;
use crate::{elections::quorum::epoch::SpokenTerm, protocol::MembershipError};

/// First term of the epoch 1. The epochs count from 0.
const NEXT: u64 = 1 << 40;

#[test]
fn a_person_reads_the_epoch_and_its_term_from_the_first_change_on() {
    let spoken = |term| SpokenTerm(Term(term)).to_string();
    assert_eq!(spoken(0), "0");
    assert_eq!(spoken(61_000_000_000), "61000000000", "without disks");
    assert_eq!(spoken(2_199_023_255_553), "1 of epoch 2");
    assert_eq!(spoken(u64::MAX), u64::MAX.to_string(), "of no epoch");
}

#[test]
fn the_first_term_of_an_epoch_is_quarantined_even_where_a_lease_needs_one() {
    for (term, leads) in [(7, None), (NEXT + 3, Some(Term(NEXT + 4)))] {
        let alone = valid(QuorumConfig {
            epoch: 1,
            ..QuorumConfig::new([id(ME)])
        });
        let mut me = Kit::reborn(alone, MemberKind::Voter, Some(5), vote(term, LOW, P));
        me.begin().whatever();
        assert_eq!(me.view().leading, leads, "it led already, or it did not");
    }
}

#[test]
fn a_record_of_a_later_epoch_is_refused() {
    let config = Arc::new(QuorumConfig {
        epoch: 2,
        ..config()
    });
    let admits = |term| QuorumBully::admits(&config, &id(ME), Some(&vote(term, LOW, P)));
    assert_eq!(QuorumBully::admits(&config, &id(ME), None), Ok(()));
    for term in [0, 7, NEXT + 7, 2 * NEXT + 7] {
        assert_eq!(admits(term), Ok(()));
    }
    let (id, found, epoch) = (id(ME), 3, 2);
    let later = MembershipError::LaterEpoch { id, found, epoch };
    assert_eq!(admits(3 * NEXT), Err(later));
}
