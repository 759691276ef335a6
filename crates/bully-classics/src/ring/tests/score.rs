//! `SetScore`.

use super::*;

#[test]
fn a_challenger_that_falls_back_gives_up() {
    let slow = RingConfig {
        challenge_after: Duration::from_secs(1),
        ..lan()
    };
    let mut kit = Kit::unborn(slow, MemberKind::Voter, Some(5))
        .started()
        .after(B, coordinator(B, OLD, 9));
    kit.set_score(50)
        .set(RingTimer::Slot, 1_000)
        .nothing_else_happened();
    kit.later(900).set_score(5).nothing_else_happened();
    assert_eq!(kit.machine.campaign, Campaign::Idle);
    kit.set_score(50)
        .set(RingTimer::Slot, 1_000)
        .nothing_else_happened();
    kit.later(1_000).fire(RingTimer::Slot).whatever();
    assert_eq!(kit.role(), Role::Candidate);
}

#[test]
fn a_winner_that_cannot_be_elected_any_more_hands_over_at_once() {
    let mut kit = Kit::announced();
    kit.set_score(None).nothing_else_happened();
    kit.hear(B, coordinator(ME, MINE, 5)).whatever();
    assert!(kit.contract.is_armed(RingTimer::Drain));
}

#[test]
fn a_vacant_leadership_is_open_to_an_agent_that_becomes_eligible() {
    let mut kit = Kit::witness();
    kit.told(|m| m.set_score(&id(ME), Some(50.into())))
        .nothing_else_happened();
    kit.set_score(50).whatever();
    assert_eq!(kit.role(), Role::Candidate);
    let mut kit = Kit::scheduled();
    kit.set_score(None).nothing_else_happened();
    assert_eq!(kit.machine.campaign, Campaign::Idle);
    let mut kit = Kit::observer();
    kit.set_score(50).nothing_else_happened();
}
