//! `Start`: boot, recovery, quarantine.

use super::*;

/// `abstain-after-restart`, scenario 59
#[test]
fn a_voter_that_may_have_promised_something_abstains() {
    let mut me = Kit::reborn(config(), MemberKind::Voter, Some(5), vote(OLD, LOW, P));
    me.begin()
        .set(BullyTimer::Election, P + S)
        .nothing_else_happened();
    let effects = me.later(P - 1).hear(LOW, elect(9, 1));
    assert_eq!(effects.messages(), [&alive(1, 9, 1).into()]);
    me.hear(LOW, claim(9, 1))
        .refused(LOW, 9, OLD, 1)
        .nothing_else_happened();
    me.later(1).hear(LOW, claim(9, 1)).wrote(9, LOW).whatever();
}
