//! `Start`: boot, recovery, quarantine.

use super::*;

fn recovered(term: u64) -> Kit {
    Kit::reborn(config(), MemberKind::Voter, Some(5), vote(term, LOW, P))
}

/// `abstain-after-restart`, scenario 59
#[test]
fn a_voter_that_may_have_promised_something_abstains() {
    let mut me = recovered(OLD);
    me.begin()
        .set(BullyTimer::Election, P + S)
        .nothing_else_happened();
    me.later(P - 1)
        .hear(LOW, elect(9, 1))
        .sent(LOW, alive(1, 9, 1))
        .whatever();
    let effects = me.hear(LOW, claim(9, 1));
    assert!(!effects.writes());
    effects.refused(LOW, 9, OLD, 1).nothing_else_happened();
    me.later(1)
        .hear(LOW, claim(9, 1))
        .wrote(9, LOW)
        .set(BullyTimer::Election, W)
        .sent(LOW, grants(9).of(LOW))
        .nothing_else_happened();
}
