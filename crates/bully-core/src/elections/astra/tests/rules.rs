//! The rules, one after another, where they need more than one step.

use super::*;
use crate::{
    driver::MembersReports as _,
    protocol::{Members, Timings},
};

#[test]
fn agents_of_failed_election_are_not_asked_and_the_deadline_passes() {
    let mut me = Kit::idle();
    me.ends(HIGH).nothing_else_happened();
    me.hear(LOW, elect(1))
        .sent(LOW, ok(1))
        .set(BullyTimer::Deadline, DEADLINE)
        .nothing_else_happened();
}

#[test]
fn deferring_in_vain_begins_anew_without_the_agents_of_failed_election() {
    Kit::deferring()
        .after(LOW, elect(1))
        .later(VICTORY)
        .fire(BullyTimer::Victory)
        .sent_to(&[HIGH], ask(2, 5, 0))
        .set(BullyTimer::Deadline, DEADLINE)
        .nothing_else_happened();
}

/// The other agent's score has changed since. If two agents took each other for the lower one, both would lead.
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

#[test]
fn another_score_does_not_begin_the_deadline_anew() {
    for mut me in [
        Kit::idle(),
        Kit::holding(),
        Kit::deferring().after(LOW, elect(1)),
    ] {
        let role = me.role();
        me.set_score(10).nothing_else_happened();
        assert_eq!(me.role(), role);
    }
    // LOW asked while it ranked below this agent, and may rank above it now.
    let mut me = Kit::deferring().after(LOW, elect(1));
    me.set_score(0).nothing_else_happened();
    me.later(VICTORY)
        .fire(BullyTimer::Victory)
        .sent_to(&[HIGH, LOW], ask(2, 0, 0))
        .whatever();
    // LOW, the leader that this agent asked, ranks above it again.
    Kit::holding()
        .after(LOW, answers(1, OLD, 1))
        .set_score(0)
        .new_leader(LOW, OLD)
        .nothing_else_happened();
}

#[test]
fn an_agent_stands_again_when_no_later_process_has_its_name_any_more() {
    let disown = |is_refused| {
        move |members: &mut Members| {
            for name in [LOW, HIGH] {
                members.disown(&id(name), is_refused);
            }
        }
    };
    let mut fallen = Kit::following();
    fallen.told(disown(true)).whatever();
    fallen.hear(HIGH, elected(2, 1)).whatever();
    let mut idle = Kit::idle();
    idle.told(disown(true)).whatever();
    idle.later(9 * STEP).fire(BullyTimer::Campaign).whatever();
    for mut me in [fallen, idle] {
        assert_eq!(me.role(), Role::Follower, "it may not hold an election");
        me.told(disown(false)).whatever();
        me.later(9 * STEP).fire(BullyTimer::Campaign).whatever();
        assert_eq!(me.role(), Role::Candidate);
    }
}

#[test]
fn the_deadline_is_that_of_the_timings() {
    let config = AstraConfig {
        timings: Timings::lan(),
        ..AstraConfig::default()
    };
    let mut me = Kit::voter(&Arc::new(config)).started();
    let asks = me.step(Input::Campaign).lines();
    assert_eq!(asks[1], format!("set Deadline {T}"));
}
