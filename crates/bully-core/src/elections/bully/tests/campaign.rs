//! `Campaign`: the user wants an election.

use super::*;

fn ask(counter: u64, term: u64) -> Elect {
    Elect {
        round: round(counter),
        seen: Term(term),
        ..elect(5)
    }
}

#[test]
fn a_follower_asks_its_leader_and_no_other_agent() {
    let mut me = Kit::following();
    me.step(Input::Campaign)
        .sent(HIGH, ask(1, OLD))
        .set(BullyTimer::Widen, 2 * D)
        .nothing_else_happened();
    assert_eq!(me.view().leader, Some(leader(HIGH, OLD)));
    Kit::following_low()
        .step(Input::Campaign)
        .sent(LOW, ask(1, OLD))
        .set(BullyTimer::Widen, 2 * D)
        .nothing_else_happened();
}

#[test]
fn an_agent_without_a_leader_asks_every_voter() {
    Kit::with_slot()
        .step(Input::Campaign)
        .sent_to(&[HIGH, LOW], ask(1, 0))
        .set(BullyTimer::Deadline, T)
        .nothing_else_happened();
}

#[test]
fn every_member_is_asked_when_all_are_voters() {
    let mut me = Kit::with_slot();
    me.leaves(EYE).nothing_else_happened();
    me.step(Input::Campaign)
        .sent_all(ask(1, 0))
        .set(BullyTimer::Deadline, T)
        .nothing_else_happened();
}

#[test]
fn an_ineligible_agent_holds_no_election() {
    for mut me in [Kit::observer(), Kit::witness()] {
        me.step(Input::Campaign).nothing_else_happened();
    }
}

#[test]
fn an_agent_that_cools_down_competes_again_when_it_is_told_to() {
    let mut me = Kit::cooling_down();
    me.step(Input::Campaign)
        .sent_to(&[HIGH, LOW], ask(2, MINE))
        .set(BullyTimer::Deadline, T)
        .nothing_else_happened();
    let mut me = Kit::cooling_down().after(LOW, elected(MINE + 1, 1));
    me.step(Input::Campaign)
        .sent(LOW, ask(2, MINE + 1))
        .set(BullyTimer::Widen, 2 * D)
        .nothing_else_happened();
}

#[test]
fn an_election_that_is_under_way_goes_on() {
    for mut me in [
        Kit::asking_leader(),
        Kit::asking_found(),
        Kit::asking_voters(),
        Kit::waiting(),
    ] {
        let before = me.machine.state.clone();
        me.step(Input::Campaign).nothing_else_happened();
        assert_eq!(me.machine.state, before);
    }
}

#[test]
fn a_leader_announces_itself_again() {
    for mut me in [Kit::leading(), Kit::draining()] {
        me.step(Input::Campaign)
            .sent_all(elected(MINE, 5))
            .nothing_else_happened();
    }
}
