//! Timers: early, due, and foreign to the role. Late ones are in `stall.rs`.

use super::*;

fn ask(counter: u64, term: u64) -> Elect {
    Elect {
        round: round(counter),
        seen: Term(term),
        ..elect(5)
    }
}

#[test]
fn campaign_a_slot_after_a_leaders_end_announces() {
    let mut me = Kit::following_low();
    me.ends(LOW).whatever();
    me.later(S + J)
        .fire(BullyTimer::Campaign)
        .led(OLD + 1)
        .nothing_else_happened();
}

#[test]
fn widen_a_silent_leader_is_taken_for_gone_and_every_voter_is_asked() {
    Kit::asking_leader()
        .later(2 * D)
        .fire(BullyTimer::Widen)
        .has_no_leader(OLD)
        .sent_to(&[HIGH, LOW], ask(2, OLD))
        .set(BullyTimer::Deadline, T)
        .nothing_else_happened();
    Kit::asking_found()
        .later(2 * D)
        .fire(BullyTimer::Widen)
        .sent_to(&[HIGH, LOW], ask(2, OLD))
        .set(BullyTimer::Deadline, T)
        .nothing_else_happened();
}

#[test]
fn victory_the_awaited_one_is_not_there() {
    let mut me = Kit::waiting();
    me.later(VICTORY)
        .fire(BullyTimer::Victory)
        .sent_to(&[HIGH, LOW], ask(2, 0))
        .set(BullyTimer::Deadline, T)
        .nothing_else_happened();
}

#[test]
fn detect_a_silent_leader_is_gone_and_the_first_slot_announces() {
    Kit::following()
        .later(L + J)
        .fire(BullyTimer::Detect)
        .has_no_leader(OLD)
        .led(OLD + 1)
        .nothing_else_happened();
    Kit::following_low()
        .later(L)
        .fire(BullyTimer::Detect)
        .has_no_leader(OLD)
        .set(BullyTimer::Campaign, S)
        .nothing_else_happened();
}

#[test]
fn detect_the_only_other_agent_is_silent_and_the_cooldown_is_over() {
    let mut me = Kit::cooling_down();
    me.leaves(HIGH).nothing_else_happened();
    let mut me = me.after(LOW, elected(MINE + 1, 1));
    me.later(L)
        .fire(BullyTimer::Detect)
        .has_no_leader(MINE + 1)
        .set(BullyTimer::Campaign, 8 * S)
        .nothing_else_happened();
    me.later(8 * S)
        .fire(BullyTimer::Campaign)
        .sent_to(&[LOW], ask(2, MINE + 1))
        .set(BullyTimer::Deadline, T)
        .nothing_else_happened();
}

/// Leads, and HIGH has waited long enough for the leadership.
fn challenged() -> Kit {
    let mut me = Kit::leading_by(&after_a_second()).after(HIGH, elect(9));
    me.later(1_000);
    me
}

#[test]
fn preempt_a_steady_challenger_gets_the_leadership_by_a_clean_hand_over() {
    let mut me = challenged();
    me.fire(BullyTimer::Preempt)
        .drained(MINE, Some(HIGH))
        .set(BullyTimer::Drain, DRAIN)
        .nothing_else_happened();
    me.step(Input::Drained)
        .lost(MINE, LostReason::Resigned)
        .set(BullyTimer::Cooldown, COOLDOWN)
        .sent_all(resign(MINE, Some(HIGH)))
        .set(BullyTimer::Campaign, L + J + 9 * S)
        .nothing_else_happened();
}

#[test]
fn preempt_a_challenger_that_is_no_better_now_is_forgotten() {
    for score in [None, Some(2.into())] {
        let mut me = challenged();
        me.told(|m| m.set_score(&id(HIGH), score))
            .set(BullyTimer::Preempt, 0)
            .nothing_else_happened();
        me.fire(BullyTimer::Preempt).nothing_else_happened();
        assert_eq!(me.role(), Role::Leader);
    }
    let mut me = challenged();
    me.set_score(10)
        .sent_all(heartbeat(MINE, 10))
        .nothing_else_happened();
    me.fire(BullyTimer::Preempt).nothing_else_happened();
}
