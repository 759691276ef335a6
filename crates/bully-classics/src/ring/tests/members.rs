//! `Members`: incarnations end, begin and are suspected; members join and leave.

use super::*;

#[test]
fn a_leaders_confirmed_end_is_answered_in_order_of_rank() {
    let mut kit = Kit::following();
    kit.ends(B)
        .has_no_leader(OLD)
        .set(RingTimer::Token, 3 * 2 * HOP)
        .passed(Z, Lap::Collect, collect(OLD + 1, (ME, 5), &[(ME, 5)]))
        .nothing_else_happened();
    // Z ranks above this agent, so Z has the first slot.
    let mut kit = Kit::following();
    kit.told(|m| m.set_score(&id(Z), Some(8.into())))
        .nothing_else_happened();
    kit.ends(B)
        .has_no_leader(OLD)
        .set(RingTimer::Slot, S)
        .nothing_else_happened();
    // Z has ended too.
    kit.ends(Z)
        .set(RingTimer::Token, 2 * 2 * HOP)
        .passed(A, Lap::Collect, collect(OLD + 1, (ME, 5), &[(ME, 5)]))
        .nothing_else_happened();
}

#[test]
fn a_message_under_way_to_an_ended_member_goes_to_the_next_member() {
    let mut kit = Kit::candidate();
    let token = collect(1, (ME, 5), &[(ME, 5)]);
    kit.ends(Z)
        .passed(A, Lap::Collect, token.clone())
        .nothing_else_happened();
    kit.leaves(A)
        .passed(B, Lap::Collect, token)
        .nothing_else_happened();
    kit.is_suspected(B).whatever();
    assert_eq!(kit.role(), Role::Leader, "no other member is left");
}

#[test]
fn a_new_observer_is_told_with_the_next_heartbeat() {
    let mut kit = Kit::leading();
    let more = Member::up(id("ear"), MemberKind::Observer, None, Incarnation(1));
    kit.told(|m| m.join([more])).nothing_else_happened();
    kit.later(H)
        .fire(RingTimer::Heartbeat)
        .set(RingTimer::Heartbeat, H)
        .sent_to(&["ear", EYE], beat(ME, MINE, 5, 1))
        .passed(Z, Lap::Coordinator, beat(ME, MINE, 5, 1))
        .nothing_else_happened();
    kit.ends(EYE).nothing_else_happened();
    kit.ends("ear").nothing_else_happened();
    kit.later(H)
        .fire(RingTimer::Heartbeat)
        .set(RingTimer::Heartbeat, H)
        .sent(Z, beat(ME, MINE, 5, 2))
        .whatever();
}
