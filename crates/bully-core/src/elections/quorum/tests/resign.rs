//! `StepDown`, `Drained`, and `Resign`.

use super::*;

/// Scenario 68
#[test]
fn a_late_resignation_voids_no_newer_promise() {
    let mut me = Kit::following().after(HIGH, heartbeat(OLD + 1, 9));
    me.hear(HIGH, resign(OLD, Some(ME))).nothing_else_happened();
    assert_eq!(me.view().leader, Some(leader(HIGH, OLD + 1)));
    assert!(me.machine.core.voter.promise.is_some());
}

#[test]
fn a_resignation_of_another_agent_voids_no_promise() {
    Kit::following()
        .after(LOW, resign(50, Some(ME)))
        .hear(LOW, claim(51, 1))
        .refused(LOW, 51, OLD, P)
        .nothing_else_happened();
}

#[test]
fn a_successor_that_abstains_or_cannot_be_elected_does_not_claim() {
    let mut me = Kit::witness().after(HIGH, heartbeat(OLD, 9));
    let effects = me.hear(HIGH, resign(OLD, Some(ME)));
    assert!(!effects.writes());

    let vote = vote(OLD, None, P);
    let kit = Kit::reborn(config(), MemberKind::Voter, Some(5), vote).started();
    let mut me = kit.after(HIGH, heartbeat(OLD, 9));
    let effects = me.hear(HIGH, resign(OLD, Some(ME)));
    assert!(!effects.writes());
    assert_eq!(me.view().leader, None);
}

#[test]
fn an_agent_without_a_leader_claims_when_it_is_named_unless_it_knows_a_later_term() {
    let claims = |voted: Option<u64>| {
        let mut me = Kit::vacant();
        if let Some(term) = voted {
            me.hear(LOW, claim(term, 1)).whatever();
            assert_eq!(me.durable().0, term);
        }
        me.hear(HIGH, resign(OLD, Some(ME))).writes()
    };
    assert!(claims(None));
    assert!(claims(Some(OLD)));
    assert!(!claims(Some(OLD + 1)));
}
