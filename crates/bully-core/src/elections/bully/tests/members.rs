//! `Members`: a new snapshot.

use super::*;

/// A change of the member of the given name.
type Change = fn(&mut Members, &str);

fn down(members: &mut Members, name: &str) {
    members.down(&id(name), Incarnation(1));
}

fn suspect(members: &mut Members, name: &str) {
    members.suspect(&id(name), Incarnation(1));
}

fn leave(members: &mut Members, name: &str) {
    members.leave(&id(name));
}

/// Adds a later incarnation, which is up.
fn restart(members: &mut Members, name: &str) {
    members.up(&id(name), Incarnation(2));
}

/// Changes after which the member certainly answers no more.
const SILENCES: [Change; 2] = [down, leave];
/// Changes after which a process of that name may still answer.
const DOUBTS: [Change; 2] = [suspect, restart];

/// Sets whether the hosts `by` know a later process with this agent's name.
fn disowned(by: &[&str], is_refused: bool) -> impl Fn(&mut Members) {
    let by: Vec<_> = by.iter().map(|name| id(name)).collect();
    move |members| {
        for name in &by {
            members.disown(name, is_refused);
        }
    }
}

// ---- two processes of one name ----

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
        let mut after = me;
        for _ in 0..20 {
            after.later(T).fire(BullyTimer::Campaign).whatever();
            assert_ne!(after.role(), Role::Leader, "{role}");
            assert_ne!(after.role(), Role::Candidate, "{role}");
        }
    }
}

/// `later-process-leads`
#[test]
fn a_better_follower_asks_when_no_later_process_has_its_name_any_more() {
    let mut fallen = Kit::following();
    fallen.told(disowned(&[LOW, HIGH], true)).whatever();
    fallen.hear(HIGH, heartbeat(OLD, 1)).whatever();
    let mut in_turn = Kit::in_turn();
    in_turn.told(disowned(&[LOW, HIGH], true)).whatever();
    in_turn.later(S).fire(BullyTimer::Campaign).whatever();
    for mut me in [fallen, in_turn] {
        assert_eq!(me.role(), Role::Follower, "it may not ask");
        me.told(disowned(&[LOW], false)).whatever();
        assert_eq!(me.role(), Role::Candidate);
    }
}

// ---- followers ----

#[test]
fn an_agent_that_cools_down_takes_the_last_slot_in_any_group() {
    let mut me = Kit::cooling_down(); // its slot is set
    me.told(|m| down(m, HIGH)).nothing_else_happened();
    me.told(|m| suspect(m, LOW)).nothing_else_happened();
    me.later(L + J + 9 * S - 1)
        .fire(BullyTimer::Campaign)
        .set(BullyTimer::Campaign, 1)
        .nothing_else_happened();
    let elect = Elect {
        round: round(2),
        seen: Term(MINE),
        ..elect(5)
    };
    me.later(1)
        .fire(BullyTimer::Campaign)
        .sent_to(&[LOW], elect)
        .set(BullyTimer::Deadline, T)
        .nothing_else_happened();
    assert!(
        !me.machine.core.cooldown.has_begun(),
        "all other agents had their slots"
    );
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

// ---- candidates, and agents that wait ----

#[test]
fn an_agent_whose_end_is_confirmed_counts_as_having_answered() {
    for end in SILENCES {
        let mut me = Kit::asking_voters();
        me.told(|m| end(m, HIGH)).nothing_else_happened();
        me.hear(LOW, yields(1)).led(1).nothing_else_happened();
        Kit::asking_voters()
            .after(LOW, yields(1))
            .told(|m| end(m, HIGH))
            .led(1)
            .nothing_else_happened();
    }
}

#[test]
fn an_agent_that_is_suspected_or_restarted_may_still_answer() {
    for end in DOUBTS {
        let mut me = Kit::asking_voters().after(LOW, yields(1));
        me.told(|m| end(m, HIGH)).nothing_else_happened();
        assert_eq!(me.role(), Role::Candidate);
    }
}

// ---- leaders ----

/// Returns a leader for whose leadership HIGH has waited for 400 ms.
fn challenged() -> Kit {
    let mut me = Kit::leading_by(&after_a_second()).after(HIGH, elect(9));
    me.later(400);
    me
}

#[test]
fn a_challenger_that_was_suspected_has_to_be_steady_from_its_return() {
    let mut me = challenged();
    me.told(|m| suspect(m, HIGH)).nothing_else_happened();
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
