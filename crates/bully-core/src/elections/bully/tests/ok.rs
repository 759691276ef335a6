//! `Ok`: counts for the round it echoes, and never demotes a leader.

use super::*;

#[test]
fn a_candidate_that_is_told_ok_waits() {
    for mut me in [Kit::asking_voters(), Kit::asking_found()] {
        me.hear(HIGH, ok(1))
            .set(BullyTimer::Victory, VICTORY)
            .nothing_else_happened();
        assert_eq!(me.role(), Role::Waiting);
    }
}

#[test]
fn a_leader_that_says_ok_is_followed_no_longer() {
    Kit::asking_leader()
        .hear(HIGH, ok(1))
        .has_no_leader(OLD)
        .set(BullyTimer::Victory, VICTORY)
        .nothing_else_happened();
}

#[test]
fn an_answer_to_another_round_counts_for_nothing() {
    let former_life = Ok {
        round: Round {
            incarnation: Incarnation(0),
            counter: 1,
        },
        ..ok(1)
    };
    for mut me in [
        Kit::asking_voters(),
        Kit::asking_found(),
        Kit::asking_leader(),
    ] {
        me.hear(HIGH, ok(0)).nothing_else_happened();
        me.hear(HIGH, ok(2)).nothing_else_happened();
        me.hear(HIGH, former_life.clone()).nothing_else_happened();
        assert_eq!(me.role(), Role::Candidate);
    }
}

#[test]
fn an_agent_that_holds_no_election_takes_no_notice() {
    for (role, mut me) in Kit::roles() {
        if me.role() == Role::Candidate {
            continue;
        }
        let before = me.machine.state.clone();
        for counter in 0..3 {
            me.hear(HIGH, ok(counter)).nothing_else_happened();
            me.hear(LOW, ok(counter)).nothing_else_happened();
        }
        assert_eq!(me.machine.state, before, "{role}");
    }
}

#[test]
fn the_second_ok_changes_nothing() {
    let mut me = Kit::waiting();
    me.hear(LOW, ok(1)).nothing_else_happened();
    assert_eq!(me.role(), Role::Waiting);
}

#[test]
fn a_leader_renews_above_the_term_it_is_told_of() {
    for mut me in [Kit::leading(), Kit::draining()] {
        let (seen, term) = (Term(MINE + 2), Term(MINE + 3));
        me.hear(LOW, Ok { seen, ..ok(1) })
            .sent_all(elected(MINE + 3, 5))
            .notified(Event::Renewed { term })
            .nothing_else_happened();
    }
}

#[test]
fn the_term_it_tells_of_is_exceeded_by_the_next_leader() {
    let seen = Term(20);
    let mut me = Kit::asking_voters().after(LOW, Ok { seen, ..ok(0) });
    me.hear(LOW, yields(1)).nothing_else_happened();
    me.hear(HIGH, yields(1)).led(21).nothing_else_happened();
}
