//! `StepDown` and `Drained`: polite leaving.

use super::*;

fn drains(to: &str) -> Event {
    Event::Draining {
        term: Term(MINE),
        to: Some(id(to)),
    }
}

/// The nomination by which this member hands over.
fn hand_over(to: &str) -> Nominate {
    Nominate {
        election: election(MINE + 1, ME, Some(5)),
        winner: id(to),
        incarnation: Incarnation(1),
        passed: Bounded::of(id(ME)),
    }
}

#[test]
fn the_work_ends_then_the_belief_then_the_successor_is_nominated() {
    let mut kit = Kit::leading();
    kit.step(Input::StepDown { to: Some(id(Z)) })
        .notified(drains(Z))
        .set(Timer::Drain, DRAIN)
        .nothing_else_happened();
    assert_eq!(kit.role(), Role::Leader, "until the work has ended");
    kit.step(Input::StepDown { to: None })
        .nothing_else_happened();
    kit.step(Input::Drained)
        .lost(LostReason::Resigned)
        .set(Timer::Rest, REST)
        .set(Timer::Token, TOKEN)
        .passed(Z, Lap::Nominate, hand_over(Z))
        .nothing_else_happened();
}

#[test]
fn without_a_wish_the_best_one_that_is_there_follows() {
    for (wish, best) in [
        (None, B),
        (Some(STRANGER), B),
        (Some(EYE), B),
        (Some(ME), B),
    ] {
        let mut kit = Kit::leading();
        kit.step(Input::StepDown { to: wish.map(id) })
            .notified(drains(best))
            .set(Timer::Drain, DRAIN)
            .nothing_else_happened();
    }
    let mut kit = Kit::draining();
    kit.told(|m| m.down(&id(Z), Incarnation(1))).whatever();
    kit.step(Input::Drained).whatever();
    let hop = kit.ring.hops.get(&Lap::Nominate).unwrap();
    assert_eq!((&hop.to, &hop.message), (&id(A), &hand_over(B).into()));
}

#[test]
fn work_that_takes_too_long_is_not_waited_for() {
    let mut kit = Kit::draining();
    kit.later(DRAIN - 1)
        .fire(Timer::Drain)
        .set(Timer::Drain, 1)
        .nothing_else_happened();
    kit.later(1)
        .fire(Timer::Drain)
        .lost(LostReason::Resigned)
        .whatever();
}

#[test]
fn a_successor_that_is_gone_is_found_out_by_the_nomination() {
    let mut kit = Kit::draining();
    kit.step(Input::Drained).whatever();
    let mut round = hand_over(Z);
    for name in [A, B] {
        round.passed.push(id(name));
    }
    let mut resting = collect(MINE + 2, (ME, 5), &[]);
    resting.entrants.push(Entrant {
        rests: true,
        ..entrant(ME, Some(5))
    });
    kit.hear(B, round)
        .sent(B, ack(Lap::Nominate, MINE + 1, ME, 0, MINE))
        .set(Timer::Token, TOKEN)
        .passed(Z, Lap::Collect, resting)
        .nothing_else_happened();
}

#[test]
fn where_nobody_else_is_it_comes_back() {
    let mut kit = Kit::draining();
    for name in [A, B, Z] {
        kit.told(|m| m.leave(&id(name))).whatever();
    }
    kit.step(Input::Drained).whatever();
    assert_eq!(kit.role(), Role::Leader, "in a higher term");
    assert_eq!(kit.ring.view(kit.now).term, Term(MINE + 1));
}

#[test]
fn who_rests_does_not_challenge_until_the_rest_is_over() {
    let mut kit = Kit::resting();
    assert_eq!(kit.leader().as_deref(), Some(Z));
    kit.later(REST - 1)
        .fire(Timer::Rest)
        .set(Timer::Rest, 1)
        .nothing_else_happened();
    kit.later(1)
        .fire(Timer::Rest)
        .set(Timer::Turn, S) // it outranks z, and b is ahead of it
        .nothing_else_happened();
}

#[test]
fn who_rests_takes_the_last_turn_and_is_still_chosen_last() {
    let mut kit = Kit::resting();
    kit.told(|m| m.down(&id(Z), Incarnation(1)))
        .notified(Event::NoLeader {
            term: Term(MINE + 1),
        })
        .set(Timer::Turn, 9 * S) // behind all who do not rest, and b if it does
        .nothing_else_happened();
    let mut resting = collect(MINE + 2, (ME, 5), &[]);
    resting.entrants.push(Entrant {
        rests: true,
        ..entrant(ME, Some(5))
    });
    kit.later(9 * S)
        .fire(Timer::Turn)
        .set(Timer::Token, 3 * 2 * HOP)
        .passed(A, Lap::Collect, resting)
        .nothing_else_happened();
}

#[test]
fn who_rests_lets_no_suspect_go_first() {
    let mut kit = Kit::resting();
    for name in [A, B] {
        kit.told(|m| m.down(&id(name), Incarnation(1))).whatever();
    }
    kit.later(LOST).fire(Timer::Lost).whatever();
    assert_eq!(kit.suspects(), [Z]);
    assert_eq!(kit.role(), Role::Leader, "nobody else is there");
    // Neither the leader that is gone, nor who is passed over for another reason.
    let mut kit = Kit::resting();
    kit.told(|m| m.down(&id(A), Incarnation(1))).whatever();
    kit.ring.suspects.insert(id(B), Some(Incarnation(1)));
    kit.told(|m| m.down(&id(Z), Incarnation(1))).whatever();
    assert_eq!(kit.role(), Role::Follower);
}

#[test]
fn only_a_leader_steps_down() {
    for mut kit in [
        Kit::with_turn(),
        Kit::following(),
        Kit::waiting(),
        Kit::observer(),
    ] {
        kit.step(Input::StepDown { to: None })
            .nothing_else_happened();
        kit.step(Input::Drained).nothing_else_happened();
    }
    Kit::leading().step(Input::Drained).nothing_else_happened();
}
