//! `Elect`: always answered by a voter.

use super::*;

/// An Elect by an agent that has seen that term.
fn elect_after(term: u64, score: i32) -> Elect {
    Elect {
        seen: Term(term),
        ..elect(score)
    }
}

fn ok_after(term: u64) -> Ok {
    Ok {
        seen: Term(term),
        ..ok(1)
    }
}

fn yields_after(term: u64) -> Yield {
    Yield {
        seen: Term(term),
        ..yields(1)
    }
}

#[test]
fn a_repeated_question_is_answered_and_changes_no_more_than_the_first() {
    for (name, kit) in Kit::roles() {
        for (from, score) in [(LOW, 1), (HIGH, 9)] {
            for seen in [0, OLD, MINE] {
                let mut me = kit.clone();
                me.hear(from, elect_after(seen, score)).whatever();
                let first = me.machine.clone();
                let again = me.hear(from, elect_after(seen, score));
                assert_eq!(me.machine, first, "{name}, {from}");
                assert!(again.events().is_empty(), "{name}, {from}");
                assert!(again.messages().len() <= 1, "{name}, {from}");
            }
        }
    }
}

// ---- followers ----

#[test]
fn a_follower_of_a_live_leader_answers_ok_and_begins_nothing() {
    Kit::following()
        .hear(LOW, elect(1))
        .sent(LOW, ok_after(OLD))
        .nothing_else_happened();
    Kit::following_low()
        .hear(HIGH, elect(9))
        .sent(HIGH, ok_after(OLD))
        .nothing_else_happened();
}

#[test]
fn a_leader_that_asks_leads_no_longer() {
    Kit::following()
        .hear(HIGH, elect_after(OLD, 9))
        .has_no_leader(OLD)
        .sent(HIGH, yields_after(OLD))
        .set(BullyTimer::Victory, VICTORY)
        .nothing_else_happened();
}

#[test]
fn a_leader_below_that_asks_is_told_so_and_the_slot_is_taken() {
    Kit::following_low()
        .hear(LOW, elect_after(OLD, 1))
        .has_no_leader(OLD)
        .sent(LOW, ok_after(OLD))
        .set(BullyTimer::Campaign, S)
        .nothing_else_happened();
}

#[test]
fn the_first_asks_those_above_when_a_leader_below_asks() {
    let mut me = Kit::following_low();
    me.is_suspected(HIGH).nothing_else_happened();
    me.hear(LOW, elect_after(OLD, 1))
        .has_no_leader(OLD)
        .sent(LOW, ok_after(OLD))
        .sent_to(&[HIGH], elect_after(OLD, 5))
        .set(BullyTimer::Deadline, T)
        .nothing_else_happened();
}

#[test]
fn an_answer_to_a_question_from_before_the_leadership_is_late() {
    Kit::following()
        .hear(HIGH, elect_after(OLD - 1, 9))
        .sent(HIGH, ok_after(OLD))
        .nothing_else_happened();
}

#[test]
fn a_later_incarnation_of_the_leader_that_asks_does_not_lead() {
    Kit::following()
        .hear_incarnation(HIGH, 2, elect(9))
        .has_no_leader(OLD)
        .sent(HIGH, yields_after(OLD))
        .set(BullyTimer::Victory, VICTORY)
        .nothing_else_happened();
}

#[test]
fn a_follower_without_a_leader_answers_ok_below_and_keeps_its_slot() {
    Kit::with_slot()
        .hear(LOW, elect(1))
        .sent(LOW, ok(1))
        .nothing_else_happened();
}

#[test]
fn a_follower_without_a_leader_yields_above_and_waits() {
    let mut me = Kit::with_slot();
    me.hear(HIGH, elect(9))
        .sent(HIGH, yields(1))
        .set(BullyTimer::Victory, VICTORY)
        .nothing_else_happened();
    assert_eq!(me.role(), Role::Waiting);
}

#[test]
fn an_observer_answers_nothing() {
    let mut me = Kit::observer();
    me.hear(LOW, elect(1)).nothing_else_happened();
    me.hear(HIGH, elect(9)).nothing_else_happened();
}

#[test]
fn a_witness_yields_to_every_asker_and_waits_for_none() {
    let mut me = Kit::witness();
    me.hear(LOW, elect(1))
        .sent(LOW, yields(1))
        .nothing_else_happened();
    me.hear(HIGH, elect(9))
        .sent(HIGH, yields(1))
        .nothing_else_happened();
}

#[test]
fn a_witness_that_follows_a_leader_answers_ok() {
    Kit::witness()
        .after(LOW, elected(OLD, 1))
        .hear(HIGH, elect(9))
        .sent(HIGH, ok_after(OLD))
        .nothing_else_happened();
}

#[test]
fn an_agent_that_cools_down_yields_to_every_asker_and_waits() {
    for (name, score) in [(LOW, 1), (HIGH, 9)] {
        let mut me = Kit::cooling_down();
        me.hear(name, elect(score))
            .sent(name, yields_after(MINE))
            .set(BullyTimer::Victory, VICTORY)
            .nothing_else_happened();
        me.hear(LOW, elect(1))
            .sent(LOW, yields_after(MINE))
            .nothing_else_happened();
        me.later(VICTORY)
            .fire(BullyTimer::Victory)
            .set(
                BullyTimer::Campaign,
                if name == LOW { 9 * S } else { 8 * S },
            )
            .nothing_else_happened();
    }
}

// ---- candidates, and agents that wait ----

#[test]
fn a_candidate_that_asks_the_leader_answers_ok_below_and_goes_on() {
    Kit::asking_leader()
        .hear(LOW, elect(1))
        .sent(LOW, ok_after(OLD))
        .nothing_else_happened();
    Kit::asking_found()
        .hear(LOW, elect(1))
        .sent(LOW, ok_after(OLD))
        .nothing_else_happened();
}

#[test]
fn a_candidate_that_asks_the_leader_yields_above_and_waits() {
    Kit::asking_leader()
        .hear(HIGH, elect(9))
        .sent(HIGH, yields_after(OLD))
        .has_no_leader(OLD)
        .set(BullyTimer::Victory, VICTORY)
        .nothing_else_happened();
    Kit::asking_found()
        .hear(HIGH, elect(9))
        .sent(HIGH, yields_after(OLD))
        .set(BullyTimer::Victory, VICTORY)
        .nothing_else_happened();
}

#[test]
fn a_question_from_below_counts_as_an_answer() {
    let mut me = Kit::asking_voters();
    me.hear(LOW, elect(1))
        .sent(LOW, ok(1))
        .nothing_else_happened();
    me.hear(HIGH, yields(1)).led(1).nothing_else_happened();
}

#[test]
fn a_question_from_below_may_be_the_last_answer() {
    Kit::asking_voters()
        .after(HIGH, yields(1))
        .hear(LOW, elect(1))
        .sent(LOW, ok(1))
        .led(1)
        .nothing_else_happened();
}

#[test]
fn a_candidate_yields_above_and_waits() {
    let mut me = Kit::asking_voters();
    me.hear(HIGH, elect(9))
        .sent(HIGH, yields(1))
        .set(BullyTimer::Victory, VICTORY)
        .nothing_else_happened();
    assert_eq!(me.role(), Role::Waiting);
}

#[test]
fn a_waiting_agent_answers_and_goes_on_waiting() {
    let mut me = Kit::waiting();
    me.hear(LOW, elect(1))
        .sent(LOW, ok(1))
        .nothing_else_happened();
    me.hear(HIGH, elect(9))
        .sent(HIGH, yields(1))
        .nothing_else_happened();
    assert_eq!(me.role(), Role::Waiting);
}

#[test]
fn no_agent_waits_for_an_asker_from_below() {
    // LOW knew a leader, and said Ok; now it has none.
    Kit::asking_voters()
        .after(LOW, ok(1))
        .hear(LOW, elect(1))
        .sent(LOW, ok(1))
        .set(BullyTimer::Campaign, S)
        .nothing_else_happened();
}

// ---- leaders ----

#[test]
fn a_leader_announces_itself_to_an_asker_from_below() {
    for mut me in [Kit::leading(), Kit::draining()] {
        me.hear(LOW, elect(1))
            .sent(LOW, answers_mine(MINE))
            .nothing_else_happened();
    }
}

fn answers_mine(term: u64) -> Elected {
    answers(1, term, 5)
}

#[test]
fn a_leader_renews_above_the_term_that_the_asker_has_seen() {
    for mut me in [Kit::leading(), Kit::draining()] {
        let term = Term(MINE + 3);
        me.hear(LOW, elect_after(MINE + 2, 1))
            .sent_all(elected(MINE + 3, 5))
            .notified(Event::Renewed { term })
            .sent(LOW, answers_mine(MINE + 3))
            .nothing_else_happened();
    }
}

#[test]
fn a_leader_yields_to_an_asker_from_above_once_its_leadership_has_ended() {
    for mut me in [Kit::leading(), Kit::draining()] {
        me.hear(HIGH, elect(9))
            .lost(MINE, LostReason::Outranked)
            .sent(HIGH, releases(1, MINE))
            .set(BullyTimer::Victory, 2 * D + S)
            .nothing_else_happened();
        assert_eq!(me.role(), Role::Waiting);
    }
}

#[test]
fn a_leader_that_is_left_alone_stays() {
    Kit::leading_by(&never())
        .hear(HIGH, elect(9))
        .sent(HIGH, answers_mine(MINE))
        .nothing_else_happened();
}

#[test]
fn a_leader_with_a_grace_period_lets_the_challenger_wait() {
    let mut me = Kit::leading_by(&after_a_second());
    me.hear(HIGH, elect(9))
        .set(BullyTimer::Preempt, 1_000)
        .sent(HIGH, answers_mine(MINE))
        .nothing_else_happened();
    me.later(400)
        .hear(HIGH, elect(9))
        .sent(HIGH, answers_mine(MINE))
        .nothing_else_happened();
}

/// The timer is for the first of two.
#[test]
fn a_second_challenger_does_not_delay_the_first_one() {
    let mut me = Kit::leading_by(&after_a_second()).after(HIGH, elect(9));
    let best = Member::up(
        id("best"),
        MemberKind::Voter,
        Some(20.into()),
        Incarnation(1),
    );
    me.told(|m| m.join([best])).whatever();
    me.later(400)
        .hear("best", elect(20))
        .set(BullyTimer::Preempt, 600)
        .sent("best", answers_mine(MINE))
        .nothing_else_happened();
}

#[test]
fn the_term_that_an_asker_has_seen_counts() {
    let mut me = Kit::with_slot();
    let seen = Term(20);
    me.hear(LOW, Elect { seen, ..elect(1) }).whatever();
    assert_eq!(me.machine.core.highest_term, seen);
}

#[test]
fn a_leader_stays_when_the_challenger_is_not_enough_better() {
    Kit::leading_by(&with(|config| config.margin = Some(5.into())))
        .hear(HIGH, elect(9))
        .sent(HIGH, answers_mine(MINE))
        .nothing_else_happened();
    Kit::leading_by(&with(|config| config.margin = Some(4.into())))
        .hear(HIGH, elect(9))
        .lost(MINE, LostReason::Outranked)
        .sent(HIGH, releases(1, MINE))
        .set(BullyTimer::Victory, 2 * D + S)
        .nothing_else_happened();
}

#[test]
fn equal_scores_are_decided_by_the_name() {
    Kit::leading()
        .hear(LOW, elect(5)) // "low" < "me"
        .sent(LOW, answers_mine(MINE))
        .nothing_else_happened();
    let mut me = Kit::leading();
    me.told(|m| {
        m.join([Member::up(id("z"), MemberKind::Voter, None, Incarnation(1))]);
    })
    .nothing_else_happened();
    me.hear("z", elect(5))
        .lost(MINE, LostReason::Outranked)
        .sent("z", releases(1, MINE))
        .set(BullyTimer::Victory, 2 * D + S)
        .nothing_else_happened();
}
