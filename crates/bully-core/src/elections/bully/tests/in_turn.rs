//! The agents that rank above a leader ask it one after the other, in the order of their ranks (`ask-in-turn`).

use super::*;

/// Asserts that the agent asks LOW, whose score fell, in its first round.
fn asks(effects: StepEffects, score: i32) {
    effects
        .sent(LOW, ask(1, score, OLD))
        .set(BullyTimer::Widen, 2 * D)
        .nothing_else_happened();
}

/// Returns a follower of LOW. LOW has the score 7, and HIGH ranks above it.
fn following(config: &Arc<BullyConfig>) -> Kit {
    Kit::voter(config).started().after(LOW, elected(OLD, 7))
}

#[test]
fn the_next_in_rank_follows_until_its_slot_and_asks_then() {
    let mut me = following(&lan());
    me.hear(LOW, heartbeat(OLD, 1))
        .set(BullyTimer::Detect, L)
        .set(BullyTimer::Campaign, S)
        .nothing_else_happened();
    assert_eq!(me.leader().as_deref(), Some(LOW));
    let takeover_at = me.machine.prospects().takeover_at;
    assert_eq!(takeover_at, Some(me.now.after(Duration::from_millis(S))));
    me.later(S - 1)
        .hear(LOW, heartbeat(OLD, 1))
        .set(BullyTimer::Detect, L)
        .nothing_else_happened();
    me.fire(BullyTimer::Campaign)
        .set(BullyTimer::Campaign, 1)
        .nothing_else_happened();
    asks(me.later(1).fire(BullyTimer::Campaign), 5);
}

#[test]
fn a_second_fall_or_a_new_term_of_that_leader_puts_no_slot_off() {
    for (term, score) in [(OLD, 0), (OLD + 1, 1)] {
        let mut me = Kit::in_turn();
        me.later(S - 1).hear(LOW, elected(term, score)).whatever();
        let slot = me.now.after(Duration::from_millis(1));
        assert_eq!(me.machine.prospects().takeover_at, Some(slot));
    }
}

#[test]
fn an_agent_asks_at_once_when_no_other_is_left_above() {
    for gone in [
        |m: &mut Members| m.down(&id(HIGH), Incarnation(1)),
        |m: &mut Members| m.suspect(&id(HIGH), Incarnation(1)),
        |m: &mut Members| m.leave(&id(HIGH)),
        |m: &mut Members| m.set_score(&id(HIGH), Some(2.into())),
    ] {
        let mut me = Kit::in_turn();
        me.told(|m| m.set_score(&id(LOW), Some(1.into())))
            .nothing_else_happened();
        asks(me.told(gone), 5);
    }
}

/// The agent tells the asker that its leader counts no more, because it is about to ask this leader to yield.
#[test]
fn an_agent_with_a_slot_to_ask_yields_to_an_asker_above() {
    let mut me = Kit::in_turn();
    let answer = Yield {
        seen: Term(OLD),
        ..yields(1)
    };
    me.hear(HIGH, elect(9)).sent(HIGH, answer).whatever();
    assert_eq!((me.role(), me.leader()), (Role::Waiting, None));
    let mut me = Kit::in_turn();
    me.hear(EYE, elect(4)).nothing_else_happened();
    assert_eq!(me.leader().as_deref(), Some(LOW));
}

#[test]
fn a_successor_that_is_silent_or_dead_is_replaced_in_the_slot() {
    let silent = Kit::following().after(HIGH, resign(OLD, Some(LOW)));
    let mut dead = silent.clone();
    dead.ends(LOW).nothing_else_happened();
    for mut me in [silent, dead] {
        me.later(S)
            .fire(BullyTimer::Campaign)
            .led(OLD + 1)
            .nothing_else_happened();
    }
}

/// All scores rise at once, and each agent asks before it knows of the other askers.
#[test]
fn an_agent_that_asks_after_another_one_acts_in_its_slot() {
    let mut me = Kit::asking_found();
    me.hear(LOW, yields(1))
        .set(BullyTimer::Campaign, S)
        .stopped([BullyTimer::Widen])
        .nothing_else_happened();
    me.later(1).hear(LOW, elected(OLD + 1, 1)).whatever();
    me.hear(HIGH, elect(9)).whatever();
    assert_eq!(me.role(), Role::Waiting);
    me.hear(LOW, heartbeat(OLD + 1, 1))
        .followed(LOW, OLD + 1)
        .set(BullyTimer::Campaign, S)
        .stopped([BullyTimer::Victory])
        .nothing_else_happened();
}
