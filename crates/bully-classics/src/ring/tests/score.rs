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
