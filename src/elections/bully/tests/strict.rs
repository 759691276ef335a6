//! The strict profile: B1 to B8 as they stand, repaired.

use super::*;

/// The preset `astra`.
pub(super) const DEADLINE: u64 = 2_000;
pub(super) const COORDINATOR: u64 = 5_000;
pub(super) const STEP: u64 = 900;

pub(super) fn ask(counter: u64, score: i32, term: u64) -> Elect {
    Elect {
        round: round(counter),
        seen: Term(term),
        ..elect(score)
    }
}

/// Nobody has started anything.
pub(super) fn idle() -> Kit {
    Kit::voter(BullyConfig::strict()).started()
}

pub(super) fn following() -> Kit {
    idle().after(HIGH, elected(OLD, 9))
}

pub(super) fn holding() -> Kit {
    let mut me = idle();
    me.step(Input::Campaign).whatever();
    assert_eq!(me.role(), Role::Candidate);
    me
}

pub(super) fn deferring() -> Kit {
    let me = holding().after(HIGH, ok(1));
    assert_eq!(me.role(), Role::Waiting);
    me
}

pub(super) fn leading() -> Kit {
    let seen = Term(MINE - 1);
    let mut me = holding().after(LOW, Ok { seen, ..ok(0) });
    me.later(DEADLINE).fire(Timer::Deadline).whatever();
    assert_eq!(me.view().leading, Some(Term(MINE)));
    me
}

// ---- B1: start ----

#[test]
fn somebody_must_start() {
    let mut me = Kit::voter(BullyConfig::strict());
    me.members.note_leader(leader(LOW, OLD));
    let members = Arc::new(me.members.clone());
    me.step(Input::Start(members)).nothing_else_happened();
}

#[test]
fn a_recovery_starts() {
    let mut me = Kit::voter(BullyConfig::strict());
    me.bully.me.birth = Birth::Restarted;
    let members = Arc::new(me.members.clone());
    me.step(Input::Start(members))
        .asked(&[HIGH, LOW], ask(1, 5, 0))
        .set(Timer::Deadline, DEADLINE)
        .nothing_else_happened();
}

#[test]
fn who_starts_forgets_its_leader_and_asks_everybody() {
    idle()
        .step(Input::Campaign)
        .asked(&[HIGH, LOW], ask(1, 5, 0))
        .set(Timer::Deadline, DEADLINE)
        .nothing_else_happened();
    following()
        .step(Input::Campaign)
        .has_no_leader(OLD)
        .asked(&[HIGH, LOW], ask(1, 5, OLD))
        .set(Timer::Deadline, DEADLINE)
        .nothing_else_happened();
}

// ---- B2: win ----

#[test]
fn the_deadline_wins_even_when_it_is_late() {
    for late in [0, COORDINATOR] {
        holding()
            .later(DEADLINE + late)
            .fire(Timer::Deadline)
            .sent_all(elected(1, 5))
            .notified(Event::Acquired { term: Term(1) })
            .nothing_else_happened();
    }
}

#[test]
fn the_deadline_is_sat_out_even_when_all_others_rank_below_or_are_gone() {
    let mut me = holding();
    me.told(|m| m.down(&id(HIGH), Incarnation(1)))
        .nothing_else_happened();
    me.hear(LOW, elect(1))
        .sent(LOW, ok(1))
        .nothing_else_happened();
    assert_eq!(me.role(), Role::Candidate);
}

#[test]
fn nobody_asks_those_known_to_rank_below_and_still_sits_out_the_deadline() {
    let mut me = idle();
    me.told(|m| m.down(&id(HIGH), Incarnation(1)))
        .nothing_else_happened();
    me.hear(LOW, elect(1))
        .sent(LOW, ok(1))
        .set(Timer::Deadline, DEADLINE)
        .nothing_else_happened();
    assert_eq!(me.role(), Role::Candidate);
}

#[test]
fn who_is_alone_leads_at_once() {
    let mut me = idle();
    for name in [LOW, HIGH] {
        me.told(|m| m.down(&id(name), Incarnation(1)))
            .nothing_else_happened();
    }
    me.step(Input::Campaign)
        .sent_all(elected(1, 5))
        .notified(Event::Acquired { term: Term(1) })
        .nothing_else_happened();
}

// ---- B3: Elect ----

#[test]
fn who_is_idle_and_outranks_the_asker_starts() {
    idle()
        .hear(LOW, elect(1))
        .sent(LOW, ok(1))
        .asked(&[HIGH], ask(1, 5, 0))
        .set(Timer::Deadline, DEADLINE)
        .nothing_else_happened();
    let seen = Term(OLD);
    following()
        .hear(LOW, elect(1))
        .sent(LOW, Ok { seen, ..ok(1) })
        .has_no_leader(OLD)
        .asked(&[HIGH], ask(1, 5, OLD))
        .set(Timer::Deadline, DEADLINE)
        .nothing_else_happened();
}

#[test]
fn an_election_is_suppressed_and_the_answer_is_not() {
    for mut me in [holding(), deferring()] {
        let role = me.role();
        me.hear(LOW, elect(1))
            .sent(LOW, ok(1))
            .nothing_else_happened();
        assert_eq!(me.role(), role);
    }
}

#[test]
fn who_ranks_below_is_silent() {
    for mut me in [idle(), following(), deferring()] {
        let before = me.bully.state.clone();
        me.hear(HIGH, elect(9)).nothing_else_happened();
        assert_eq!(me.bully.state, before);
    }
    let mut me = Kit::unborn(BullyConfig::strict(), MemberKind::Voter, None).started();
    me.hear(LOW, elect(1)).nothing_else_happened();
}

#[test]
fn an_outranked_candidate_stands_back() {
    holding()
        .hear(HIGH, elect(9))
        .set(Timer::Victory, COORDINATOR)
        .nothing_else_happened();
}

#[test]
fn a_leader_answers_and_announces_itself_to_who_asks_from_below() {
    let seen = Term(MINE);
    leading()
        .hear(LOW, elect(1))
        .sent(LOW, Ok { seen, ..ok(1) })
        .sent(LOW, answers(1, MINE, 5))
        .nothing_else_happened();
}

#[test]
fn an_outranked_leader_ends_its_belief_and_waits() {
    leading()
        .hear(HIGH, elect(9))
        .lost(LostReason::Outranked)
        .set(Timer::Victory, COORDINATOR)
        .nothing_else_happened();
}

// ---- B4, B5: Ok, and the announcement that does not come ----

#[test]
fn ok_to_this_round_defers_and_to_another_does_not() {
    let mut me = holding();
    me.hear(HIGH, ok(0)).nothing_else_happened();
    me.hear(HIGH, ok(2)).nothing_else_happened();
    me.hear(HIGH, ok(1))
        .set(Timer::Victory, COORDINATOR)
        .nothing_else_happened();
    for mut me in [idle(), following(), deferring(), leading()] {
        me.hear(HIGH, ok(1)).nothing_else_happened();
    }
}

#[test]
fn yields_count_for_nothing() {
    for mut me in [idle(), following(), holding(), deferring(), leading()] {
        let before = me.bully.state.clone();
        for name in [LOW, HIGH] {
            me.hear(name, yields(1)).nothing_else_happened();
            me.hear(name, releases(1, OLD)).nothing_else_happened();
        }
        assert_eq!(me.bully.state, before);
    }
}

#[test]
fn who_deferred_in_vain_starts_again_without_those_below() {
    deferring()
        .after(LOW, elect(1))
        .later(COORDINATOR)
        .fire(Timer::Victory)
        .asked(&[HIGH], ask(2, 5, 0))
        .set(Timer::Deadline, DEADLINE)
        .nothing_else_happened();
}

// ---- B6: Elected ----

#[test]
fn who_announces_itself_from_above_is_followed_whatever_the_term() {
    for mut me in [idle(), holding(), deferring()] {
        me.hear(HIGH, elected(1, 9))
            .notified(Event::NewLeader(leader(HIGH, 1)))
            .nothing_else_happened();
    }
    following()
        .hear(HIGH, elected(1, 9))
        .notified(Event::NewLeader(leader(HIGH, 1)))
        .nothing_else_happened();
    following()
        .hear(HIGH, elected(OLD, 9)) // doubled
        .nothing_else_happened();
    leading()
        .hear(HIGH, elected(1, 9))
        .lost(LostReason::Superseded)
        .notified(Event::NewLeader(leader(HIGH, 1)))
        .nothing_else_happened();
}

#[test]
fn who_announces_itself_from_below_is_never_adopted() {
    idle()
        .hear(LOW, elected(20, 1))
        .asked(&[HIGH, LOW], ask(1, 5, 20))
        .set(Timer::Deadline, DEADLINE)
        .nothing_else_happened();
    following()
        .hear(LOW, elected(20, 1))
        .has_no_leader(OLD)
        .asked(&[HIGH, LOW], ask(1, 5, 20))
        .set(Timer::Deadline, DEADLINE)
        .nothing_else_happened();
    for mut me in [holding(), deferring()] {
        me.hear(LOW, elected(20, 1)).nothing_else_happened();
    }
    leading()
        .hear(LOW, elected(20, 1))
        .sent(LOW, elected(MINE, 5))
        .nothing_else_happened();
}

#[test]
fn who_is_weaker_than_the_present_leader_is_not_just_believed() {
    let mut me = following();
    let middle = Member::up(id("middle"), MemberKind::Voter, None, Incarnation(1));
    me.told(|m| m.join([middle])).nothing_else_happened();
    me.hear("middle", elected(20, 7))
        .has_no_leader(OLD)
        .asked(&[HIGH, LOW, "middle"], ask(1, 5, 20))
        .set(Timer::Deadline, DEADLINE)
        .nothing_else_happened();
}

#[test]
fn who_cannot_ask_goes_by_the_term() {
    let mut me = Kit::unborn(BullyConfig::strict(), MemberKind::Voter, None)
        .started()
        .after(HIGH, elected(OLD, 9));
    me.hear(LOW, elected(OLD, 1)).nothing_else_happened();
    me.hear(LOW, elected(OLD + 1, 1))
        .notified(Event::NewLeader(leader(LOW, OLD + 1)))
        .nothing_else_happened();
}

// ---- B7: the leader's end ----

#[test]
fn the_leaders_end_starts_an_election() {
    following()
        .told(|m| m.down(&id(HIGH), Incarnation(1)))
        .has_no_leader(OLD)
        .asked(&[LOW], ask(1, 5, OLD))
        .set(Timer::Deadline, DEADLINE)
        .nothing_else_happened();
}

#[test]
fn the_end_of_the_awaited_one_starts_an_election() {
    deferring()
        .told(|m| m.down(&id(HIGH), Incarnation(1)))
        .asked(&[LOW], ask(2, 5, 0))
        .set(Timer::Deadline, DEADLINE)
        .nothing_else_happened();
}

#[test]
fn any_other_change_starts_nothing() {
    for mut me in [idle(), following(), holding(), deferring(), leading()] {
        me.told(|m| m.down(&id(LOW), Incarnation(1)))
            .nothing_else_happened();
    }
    let mut me = idle();
    me.told(|m| m.down(&id(HIGH), Incarnation(1)))
        .nothing_else_happened();
}

// ---- B8: the own score ----

#[test]
fn who_rises_above_its_leader_starts() {
    let mut me = following();
    me.set_score(8).nothing_else_happened();
    me.set_score(10)
        .has_no_leader(OLD)
        .asked(&[HIGH, LOW], ask(1, 10, OLD))
        .set(Timer::Deadline, DEADLINE)
        .nothing_else_happened();
}

#[test]
fn a_leader_that_falls_starts_and_one_that_rises_does_not() {
    let mut me = leading();
    me.set_score(6).nothing_else_happened();
    me.set_score(4)
        .lost(LostReason::Outranked)
        .asked(&[HIGH, LOW], ask(2, 4, MINE))
        .set(Timer::Deadline, DEADLINE)
        .nothing_else_happened();
}

#[test]
fn a_leader_answers_with_the_score_it_has() {
    let mut me = leading();
    me.set_score(10).nothing_else_happened();
    let seen = Term(MINE);
    me.hear(HIGH, elect(9))
        .sent(HIGH, Ok { seen, ..ok(1) })
        .sent(HIGH, answers(1, MINE, 10))
        .nothing_else_happened();
}

#[test]
fn a_round_belongs_to_one_score() {
    for mut me in [holding(), deferring().after(LOW, elect(1))] {
        me.set_score(10)
            .asked(&[HIGH, LOW], ask(2, 10, 0))
            .set(Timer::Deadline, DEADLINE)
            .nothing_else_happened();
    }
    idle().set_score(10).nothing_else_happened();
}
