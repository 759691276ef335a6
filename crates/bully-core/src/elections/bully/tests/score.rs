//! `SetScore`.

use super::*;

fn ask(counter: u64, score: i32, term: u64) -> Elect {
    Elect {
        round: round(counter),
        seen: Term(term),
        ..elect(score)
    }
}

#[test]
fn the_same_score_changes_nothing() {
    for (role, mut me) in Kit::roles() {
        if role == "cooling_down" || role == "witness" {
            continue;
        }
        let before = me.machine.state.clone();
        me.set_score(5).nothing_else_happened();
        assert_eq!(me.machine.state, before, "{role}");
    }
    Kit::witness().set_score(None).nothing_else_happened();
}

#[test]
fn an_observers_score_counts_for_nothing() {
    let mut me = Kit::observer();
    me.set_score(20).nothing_else_happened();
    me.set_score(None).nothing_else_happened();
}

// ---- followers ----

#[test]
fn an_agent_that_rises_above_its_leader_asks_it() {
    let mut me = Kit::following();
    me.set_score(8).nothing_else_happened();
    me.set_score(10)
        .sent(HIGH, ask(1, 10, OLD))
        .set(BullyTimer::Widen, 2 * D)
        .nothing_else_happened();
    assert_eq!(me.view().leader, Some(leader(HIGH, OLD)));
}

#[test]
fn an_agent_that_rises_leaves_its_leader_alone_where_that_is_the_policy() {
    Kit::following_low().set_score(10).nothing_else_happened();
}

#[test]
fn an_agent_that_falls_or_becomes_ineligible_follows_on() {
    for score in [Some(0), None] {
        let mut me = Kit::following();
        me.set_score(score).nothing_else_happened();
        assert_eq!(me.view().leader, Some(leader(HIGH, OLD)));
    }
}

#[test]
fn an_agent_that_becomes_ineligible_without_a_leader_has_no_slot() {
    let mut me = Kit::with_slot();
    me.set_score(None).nothing_else_happened();
    me.later(S)
        .fire(BullyTimer::Campaign)
        .nothing_else_happened();
}

#[test]
fn another_score_without_a_leader_is_another_slot() {
    Kit::with_slot()
        .set_score(10)
        .sent_to(&[HIGH, LOW], ask(1, 10, 0))
        .set(BullyTimer::Deadline, T)
        .nothing_else_happened();
    Kit::with_slot()
        .set_score(0)
        .set(BullyTimer::Campaign, 2 * S)
        .nothing_else_happened();
}

#[test]
fn a_witness_that_gets_a_score_competes() {
    Kit::witness()
        .set_score(5)
        .set(BullyTimer::Campaign, S)
        .nothing_else_happened();
    let mut me = Kit::witness().after(LOW, elected(OLD, 1));
    me.set_score(5)
        .sent(LOW, ask(1, 5, OLD))
        .set(BullyTimer::Widen, 2 * D)
        .nothing_else_happened();
}

#[test]
fn any_score_ends_the_cooldown() {
    for score in [4, 5] {
        let mut me = Kit::cooling_down();
        me.set_score(score)
            .set(BullyTimer::Campaign, S)
            .nothing_else_happened();
        let mut me = Kit::cooling_down().after(LOW, elected(MINE + 1, 1));
        me.set_score(score)
            .sent(LOW, ask(2, score, MINE + 1))
            .set(BullyTimer::Widen, 2 * D)
            .nothing_else_happened();
    }
}

#[test]
fn to_become_ineligible_does_not_end_the_cooldown() {
    let mut me = Kit::cooling_down();
    me.set_score(None).nothing_else_happened();
    me.later(COOLDOWN)
        .fire(BullyTimer::Cooldown)
        .nothing_else_happened();
}

// ---- candidates, and agents that wait ----

#[test]
fn a_round_belongs_to_one_score() {
    for score in [2, 10] {
        Kit::asking_leader()
            .set_score(score)
            .sent(HIGH, ask(2, score, OLD))
            .set(BullyTimer::Widen, 2 * D)
            .nothing_else_happened();
        Kit::asking_found()
            .set_score(score)
            .sent(LOW, ask(2, score, OLD))
            .set(BullyTimer::Widen, 2 * D)
            .nothing_else_happened();
        for mut me in [
            Kit::asking_voters(),
            Kit::asking_voters().after(LOW, elect(1)),
            Kit::waiting(),
            Kit::waiting().after(LOW, elect(1)),
        ] {
            me.set_score(score)
                .sent_to(&[HIGH, LOW], ask(2, score, 0)) // no agent is known to fail
                .set(BullyTimer::Deadline, T)
                .nothing_else_happened();
            me.hear(HIGH, yields(1)).nothing_else_happened(); // to the former score
        }
    }
}

#[test]
fn a_candidate_that_becomes_ineligible_competes_no_more() {
    for mut me in [Kit::asking_found(), Kit::asking_voters(), Kit::waiting()] {
        me.set_score(None).nothing_else_happened();
        assert_eq!(me.role(), Role::Follower);
    }
}

#[test]
fn a_candidate_that_becomes_ineligible_follows_on() {
    let mut me = Kit::asking_leader();
    me.set_score(None)
        .set(BullyTimer::Detect, L)
        .nothing_else_happened();
    assert_eq!(me.role(), Role::Follower);
    assert_eq!(me.view().leader, Some(leader(HIGH, OLD)));
}

// ---- leaders ----

#[test]
fn a_leader_tells_its_score() {
    for mut me in [Kit::leading(), Kit::draining()] {
        for score in [2, 20] {
            me.set_score(score)
                .sent_all(heartbeat(MINE, score))
                .nothing_else_happened();
        }
        me.later(H)
            .fire(BullyTimer::Heartbeat)
            .sent_all(heartbeat(MINE, 20))
            .set(BullyTimer::Heartbeat, H)
            .nothing_else_happened();
    }
}

#[test]
fn a_leader_that_becomes_ineligible_steps_down_and_leads_until_it_has() {
    let mut me = Kit::leading();
    me.set_score(None)
        .drained(MINE, Some(HIGH))
        .set(BullyTimer::Drain, DRAIN)
        .nothing_else_happened();
    me.later(H)
        .fire(BullyTimer::Heartbeat)
        .sent_all(heartbeat(MINE, 5))
        .set(BullyTimer::Heartbeat, H)
        .nothing_else_happened();
    Kit::draining().set_score(None).nothing_else_happened();
}
