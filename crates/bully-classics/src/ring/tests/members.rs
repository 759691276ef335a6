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
fn a_suspicion_counts_once() {
    let mut kit = Kit::following();
    kit.is_suspected(B).whatever();
    // B's heartbeats still arrive, round the other way.
    let mut kit = kit.after(A, beat(B, OLD, 9, 1));
    assert_eq!(kit.leader().as_deref(), Some(B));
    kit.told(|m| m.set_score(&id(A), Some(2.into()))).whatever();
    assert_eq!(
        kit.leader().as_deref(),
        Some(B),
        "there is no new suspicion"
    );
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
fn a_new_incarnation_or_a_mended_link_is_tried_again() {
    let changes: [fn(&mut Members) -> bool; 2] = [
        |m| m.up(&id(Z), Incarnation(2)),
        |m| m.suspect(&id(Z), Incarnation(1)),
    ];
    for change in changes {
        let mut kit = Kit::candidate();
        for _ in 0..2 {
            kit.later(RESEND + 1)
                .fire(RingTimer::Hop(Lap::Collect))
                .whatever();
        }
        assert_eq!(kit.suspects(), [Z]);
        kit.told(change).whatever();
        kit.begins(Z, 1).whatever();
        assert_eq!(kit.suspects(), [""; 0]);
    }
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

#[test]
fn a_message_without_another_member_comes_back() {
    let mut kit = Kit::draining();
    for name in [A, B, Z] {
        kit.leaves(name).whatever();
    }
    kit.step(Input::Drained).whatever();
    assert_eq!(kit.role(), Role::Leader, "in a higher term");
    assert_eq!(kit.machine.view(kit.now).term, Term(MINE + 1));
}
