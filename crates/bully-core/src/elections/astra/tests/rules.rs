//! The rules, one after another.

use super::*;

// ---- hold-election ----

#[test]
fn an_agent_that_comes_back_holds_an_election() {
    let mut me = Kit::voter(&Arc::default());
    me.machine.core.me.birth = Birth::Restarted;
    me.start()
        .sent_to(&[HIGH, LOW], ask(1, 5, 0))
        .set(BullyTimer::Deadline, DEADLINE)
        .nothing_else_happened();
}

#[test]
fn holding_an_election_forgets_the_leader_and_asks_every_voter() {
    Kit::idle()
        .step(Input::Campaign)
        .sent_to(&[HIGH, LOW], ask(1, 5, 0))
        .set(BullyTimer::Deadline, DEADLINE)
        .nothing_else_happened();
    Kit::following()
        .step(Input::Campaign)
        .has_no_leader(OLD)
        .sent_to(&[HIGH, LOW], ask(1, 5, OLD))
        .set(BullyTimer::Deadline, DEADLINE)
        .nothing_else_happened();
}

// ---- win-at-deadline ----

#[test]
fn the_deadline_is_that_of_the_timings() {
    let config = AstraConfig {
        timings: Timings::lan(),
        ..AstraConfig::default()
    };
    Kit::voter(&Arc::new(config))
        .started()
        .step(Input::Campaign)
        .sent_to(&[HIGH, LOW], ask(1, 5, 0))
        .set(BullyTimer::Deadline, T)
        .nothing_else_happened();
}

#[test]
fn the_deadline_wins_even_when_it_is_late() {
    for late in [0, VICTORY] {
        Kit::holding()
            .later(DEADLINE + late)
            .fire(BullyTimer::Deadline)
            .sent_all(elected(1, 5))
            .acquired(1)
            .nothing_else_happened();
    }
}

#[test]
fn those_of_failed_election_are_not_asked_and_the_deadline_is_sat_out() {
    let mut me = Kit::idle();
    me.ends(HIGH).nothing_else_happened();
    me.hear(LOW, elect(1))
        .sent(LOW, ok(1))
        .set(BullyTimer::Deadline, DEADLINE)
        .nothing_else_happened();
    assert_eq!(me.role(), Role::Candidate);
}

#[test]
fn an_agent_that_is_alone_leads_at_once() {
    let mut me = Kit::idle();
    for name in [LOW, HIGH] {
        me.ends(name).nothing_else_happened();
    }
    me.step(Input::Campaign)
        .sent_all(elected(1, 5))
        .acquired(1)
        .nothing_else_happened();
}

// ---- answer-from-above, give-way-from-below ----

#[test]
fn an_agent_asked_from_below_answers_and_holds_an_election() {
    Kit::idle()
        .hear(LOW, elect(1))
        .sent(LOW, ok(1))
        .sent_to(&[HIGH], ask(1, 5, 0))
        .set(BullyTimer::Deadline, DEADLINE)
        .nothing_else_happened();
    let seen = Term(OLD);
    Kit::following()
        .hear(LOW, elect(1))
        .sent(LOW, Ok { seen, ..ok(1) })
        .has_no_leader(OLD)
        .sent_to(&[HIGH], ask(1, 5, OLD))
        .set(BullyTimer::Deadline, DEADLINE)
        .nothing_else_happened();
}

#[test]
fn a_second_election_is_suppressed_and_the_answer_is_not() {
    for mut me in [Kit::holding(), Kit::deferring()] {
        let role = me.role();
        me.hear(LOW, elect(1))
            .sent(LOW, ok(1))
            .nothing_else_happened();
        assert_eq!(me.role(), role);
    }
}

// ---- defer-on-ok ----

#[test]
fn ok_to_this_election_defers_and_to_another_does_not() {
    let mut me = Kit::holding();
    me.hear(HIGH, ok(0)).nothing_else_happened();
    me.hear(HIGH, ok(2)).nothing_else_happened();
    me.hear(HIGH, ok(1))
        .set(BullyTimer::Victory, VICTORY)
        .nothing_else_happened();
    for mut me in [
        Kit::idle(),
        Kit::following(),
        Kit::deferring(),
        Kit::leading(),
    ] {
        me.hear(HIGH, ok(1)).nothing_else_happened();
    }
}

#[test]
fn deferring_in_vain_begins_anew_without_those_of_failed_election() {
    Kit::deferring()
        .after(LOW, elect(1))
        .later(VICTORY)
        .fire(BullyTimer::Victory)
        .sent_to(&[HIGH], ask(2, 5, 0))
        .set(BullyTimer::Deadline, DEADLINE)
        .nothing_else_happened();
}

/// It asked with a lower score, and has a higher one since. Two that believe that of each other would both lead.
#[test]
fn an_agent_that_answers_ok_or_asks_from_above_is_asked_again() {
    let all = [HIGH, LOW];
    for mut me in [
        Kit::holding()
            .after(HIGH, elect(1))
            .after(HIGH, ok(0))
            .after(HIGH, ok(1)),
        Kit::holding().after(HIGH, elect(1)).after(HIGH, elect(9)),
        Kit::deferring().after(HIGH, elect(1)).after(HIGH, ok(1)),
        Kit::deferring().after(HIGH, elect(1)).after(HIGH, elect(9)),
    ] {
        me.later(VICTORY)
            .fire(BullyTimer::Victory)
            .sent_to(&all, ask(2, 5, 0))
            .set(BullyTimer::Deadline, DEADLINE)
            .nothing_else_happened();
    }
}

// ---- follow-elected ----

#[test]
fn an_announcement_from_above_is_followed_whatever_its_term() {
    for mut me in [Kit::idle(), Kit::holding(), Kit::deferring()] {
        me.hear(HIGH, elected(1, 9))
            .new_leader(HIGH, 1)
            .nothing_else_happened();
    }
    Kit::following()
        .hear(HIGH, elected(1, 9))
        .new_leader(HIGH, 1)
        .nothing_else_happened();
    Kit::following()
        .hear(HIGH, elected(OLD, 9)) // doubled
        .nothing_else_happened();
    Kit::leading()
        .hear(HIGH, elected(1, 9))
        .lost(MINE, LostReason::Superseded)
        .sent(HIGH, resign(MINE, Some(HIGH)))
        .new_leader(HIGH, 1)
        .nothing_else_happened();
}

#[test]
fn an_announcement_from_below_is_never_adopted() {
    Kit::idle()
        .hear(LOW, elected(20, 1))
        .sent_to(&[HIGH, LOW], ask(1, 5, 20))
        .set(BullyTimer::Deadline, DEADLINE)
        .nothing_else_happened();
    Kit::following()
        .hear(LOW, elected(20, 1))
        .has_no_leader(OLD)
        .sent_to(&[HIGH, LOW], ask(1, 5, 20))
        .set(BullyTimer::Deadline, DEADLINE)
        .nothing_else_happened();
    for mut me in [Kit::holding(), Kit::deferring()] {
        me.hear(LOW, elected(20, 1)).nothing_else_happened();
    }
    // Others may follow that one by now.
    Kit::leading()
        .hear(LOW, elected(20, 1))
        .sent_all(elected(MINE, 5))
        .nothing_else_happened();
}

#[test]
fn an_agent_that_cannot_ask_goes_by_the_term() {
    let mut me = Kit::new(&Arc::default(), MemberKind::Voter, None)
        .started()
        .after(HIGH, elected(OLD, 9));
    me.hear(LOW, elected(OLD, 1)).nothing_else_happened();
    me.hear(LOW, elected(OLD + 1, 1))
        .new_leader(LOW, OLD + 1)
        .nothing_else_happened();
}

// ---- replace-ended ----

#[test]
fn the_leaders_end_begins_an_election() {
    Kit::following()
        .ends(HIGH)
        .has_no_leader(OLD)
        .sent_to(&[LOW], ask(1, 5, OLD))
        .set(BullyTimer::Deadline, DEADLINE)
        .nothing_else_happened();
}

#[test]
fn the_end_of_the_awaited_agent_begins_an_election() {
    Kit::deferring()
        .ends(HIGH)
        .sent_to(&[LOW], ask(2, 5, 0))
        .set(BullyTimer::Deadline, DEADLINE)
        .nothing_else_happened();
}

// ---- follow-score ----

#[test]
fn an_agent_that_rises_above_its_leader_holds_an_election() {
    let mut me = Kit::following();
    me.set_score(8).nothing_else_happened();
    me.set_score(10)
        .has_no_leader(OLD)
        .sent_to(&[HIGH, LOW], ask(1, 10, OLD))
        .set(BullyTimer::Deadline, DEADLINE)
        .nothing_else_happened();
}

#[test]
fn a_leader_that_falls_says_so_and_leads_on() {
    let mut me = Kit::leading();
    me.set_score(6).nothing_else_happened();
    me.set_score(4)
        .sent_all(elected(MINE, 4))
        .nothing_else_happened();
    assert_eq!(me.view().leading, Some(Term(MINE)));
}

#[test]
fn another_score_does_not_begin_the_deadline_anew() {
    for mut me in [Kit::holding(), Kit::deferring().after(LOW, elect(1))] {
        let role = me.role();
        me.set_score(10).nothing_else_happened();
        assert_eq!(me.role(), role);
    }
    Kit::idle().set_score(10).nothing_else_happened();
    // Those that asked may rank above it now.
    let mut me = Kit::deferring().after(LOW, elect(1));
    me.set_score(0).nothing_else_happened();
    me.later(VICTORY)
        .fire(BullyTimer::Victory)
        .sent_to(&[HIGH, LOW], ask(2, 0, 0))
        .set(BullyTimer::Deadline, DEADLINE)
        .nothing_else_happened();
    // The leader that it asked ranks above it again.
    Kit::holding()
        .after(LOW, answers(1, OLD, 1))
        .set_score(0)
        .new_leader(LOW, OLD)
        .nothing_else_happened();
}
