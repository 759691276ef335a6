//! `Start`: an incarnation begins, and `begin-by-rank`.

use super::*;

fn begin(mut kit: Kit) -> (Kit, StepEffects) {
    let effects = kit.start();
    (kit, effects)
}

#[test]
fn the_highest_member_begins_at_once() {
    let kit = Kit::unborn(lan(), MemberKind::Voter, Some(50));
    let (kit, effects) = begin(kit);
    effects
        .set(RingTimer::Token, TOKEN)
        .passed(Z, Lap::Collect, collect(1, (ME, 50), &[(ME, 50)]))
        .nothing_else_happened();
    assert_eq!(kit.role(), Role::Candidate);
}

#[test]
fn the_others_wait_for_their_slots_in_order_of_rank() {
    let (mut kit, effects) = begin(Kit::unborn(lan(), MemberKind::Voter, Some(5)));
    effects.set(RingTimer::Slot, S).nothing_else_happened();
    kit.later(S)
        .fire(RingTimer::Slot)
        .set(RingTimer::Token, TOKEN)
        .passed(Z, Lap::Collect, collect(1, (ME, 5), &[(ME, 5)]))
        .nothing_else_happened();
    let (_, effects) = begin(Kit::unborn(lan(), MemberKind::Voter, Some(0)));
    effects.set(RingTimer::Slot, 3 * S).nothing_else_happened();
}

#[test]
fn an_agent_that_finds_a_leader_waits_for_its_heartbeat() {
    let mut kit = Kit::unborn(lan(), MemberKind::Voter, Some(50));
    kit.members.note_leader(leader(Z, OLD));
    let (mut kit, effects) = begin(kit);
    effects.set(RingTimer::Slot, LOST).nothing_else_happened();
    kit.later(LOST)
        .fire(RingTimer::Slot)
        .set(RingTimer::Token, TOKEN)
        .passed(Z, Lap::Collect, collect(OLD + 1, (ME, 50), &[(ME, 50)]))
        .nothing_else_happened();
}

#[test]
fn one_alone_leads_at_once() {
    let mut kit = Kit::unborn(lan(), MemberKind::Voter, Some(5));
    for name in [A, B, Z, EYE] {
        kit.members.leave(&id(name));
    }
    let (kit, effects) = begin(kit);
    effects
        .set(RingTimer::Token, 2 * HOP) // begun
        .set(RingTimer::Token, 2 * HOP) // and won
        .set(RingTimer::Heartbeat, H)
        .set(RingTimer::Silence, L + HOP)
        .acquired(1)
        .nothing_else_happened();
    assert_eq!(kit.role(), Role::Leader);
}
