//! `Members`: a new snapshot.

use super::*;

/// Sets whether the hosts `by` know a later process with this agent's name.
fn disowned(by: &[&str], is_refused: bool) -> impl Fn(&mut Members) {
    let by: Vec<_> = by.iter().map(|name| id(name)).collect();
    move |members| {
        for name in &by {
            members.disown(name, is_refused);
        }
    }
}

/// `later-process-leads`
#[test]
fn a_leader_that_most_call_stale_steps_down_and_stands_again_when_they_hear_it() {
    let mut me = Kit::leading();
    me.told(disowned(&[LOW], true)).nothing_else_happened();
    me.told(disowned(&[HIGH], true))
        .lost(MINE, LostReason::NameTwice)
        .nothing_else_happened();
    assert_eq!(
        (me.role(), me.machine.prospects().waits_until),
        (Role::Follower, None)
    );
    me.step(Input::Campaign).nothing_else_happened();
    me.told(|members| members.down(&id(HIGH), Incarnation(1)))
        .nothing_else_happened();
    me.told(disowned(&[LOW, HIGH], false)).whatever();
    assert!(me.role() == Role::Candidate || me.machine.prospects().waits_until.is_some());
}

#[test]
fn an_agent_that_most_peers_call_stale_does_not_stand_in_any_role() {
    for (role, mut me) in Kit::roles() {
        me.told(disowned(&[LOW, HIGH], true)).whatever();
        for _ in 0..20 {
            me.later(T).fire(BullyTimer::Campaign).whatever();
            let stands = matches!(me.role(), Role::Leader | Role::Candidate);
            assert!(!stands, "{role}");
        }
    }
}

#[test]
fn an_agent_that_steps_down_alone_comes_back_in_the_last_slot() {
    let mut me = Kit::draining();
    for name in [LOW, HIGH] {
        me.ends(name).nothing_else_happened();
    }
    me.step(Input::Drained)
        .lost(MINE, LostReason::Resigned)
        .set(BullyTimer::Cooldown, COOLDOWN)
        .sent_all(resign(MINE, None))
        .set(BullyTimer::Campaign, 8 * S)
        .nothing_else_happened();
    me.later(8 * S)
        .fire(BullyTimer::Campaign)
        .led(MINE + 1)
        .nothing_else_happened();
}

#[test]
fn a_challenger_that_was_suspected_has_to_be_steady_from_its_return() {
    let mut me = Kit::challenged();
    me.is_suspected(HIGH).nothing_else_happened();
    me.later(950)
        .begins(HIGH, 1)
        .set(BullyTimer::Preempt, 1_000)
        .nothing_else_happened();
    me.later(999)
        .fire(BullyTimer::Preempt)
        .set(BullyTimer::Preempt, 1)
        .nothing_else_happened();
    me.later(1)
        .fire(BullyTimer::Preempt)
        .drained(MINE, Some(HIGH))
        .set(BullyTimer::Drain, DRAIN)
        .nothing_else_happened();
}

#[test]
fn a_challenger_that_is_no_better_when_it_has_waited_long_enough_is_forgotten() {
    let mut worse = Kit::challenged();
    worse
        .later(1_000)
        .told(|m| m.set_score(&id(HIGH), Some(2.into())))
        .whatever();
    let mut better = Kit::challenged();
    better
        .later(1_000)
        .set_score(10)
        .sent_all(heartbeat(MINE, 10))
        .nothing_else_happened();
    for mut me in [worse, better] {
        me.fire(BullyTimer::Preempt).nothing_else_happened();
    }
}
