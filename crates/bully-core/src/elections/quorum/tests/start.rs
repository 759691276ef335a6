//! `Start`: boot, recovery, quarantine.

use super::*;

fn recovered(term: u64) -> Kit {
    Kit::reborn(config(), MemberKind::Voter, Some(5), vote(term, LOW, P))
}

#[test]
fn the_only_voter_leads_at_once() {
    let config = valid(QuorumConfig::new([id(ME)]));
    let mut me = Kit::began(config, MemberKind::Voter, Some(5));
    let effects = me.begin();
    assert!(effects.writes());
    assert_eq!(me.view().leading, Some(Term(1)));
    assert_eq!(
        me.view().valid_until,
        me.now.after(Duration::from_millis(D))
    );
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
    effects
        .sent(LOW, refuses(9, OLD, 1).of(LOW))
        .nothing_else_happened();
    me.later(1)
        .hear(LOW, claim(9, 1))
        .wrote(9, LOW)
        .set(BullyTimer::Election, W)
        .sent(LOW, grants(9).of(LOW))
        .nothing_else_happened();
}

/// `one-vote-per-term`, scenario 58: all incarnations of a voter have one vote in a term.
#[test]
fn a_voter_that_comes_back_votes_for_no_other_in_that_term() {
    let mut me = recovered(OLD);
    me.begin().whatever();
    me.later(P);
    let effects = me.hear(HIGH, claim(OLD, 9));
    assert!(!effects.writes());
    effects
        .sent(HIGH, refuses(OLD, OLD, 0).of(HIGH))
        .nothing_else_happened();
    assert_eq!(me.durable(), (OLD, Some(LOW.into())));
    me.hear(LOW, claim(OLD, 1))
        .set(BullyTimer::Election, W)
        .sent(LOW, grants(OLD).of(LOW))
        .nothing_else_happened();
}
