//! `TimedOut(Round)` and `TimedOut(Again)`: the result of a round, messages during the round, and the next round.

use super::*;

#[test]
fn the_highest_ballot_of_a_majority_is_trusted_and_that_is_said_once() {
    let mut me = Kit::fresh();
    me.answered(HIGH, standing(1, HIGH));
    me.over()
        .wrote(1, Some(ballot(1, HIGH)))
        .new_leader(HIGH, 1)
        .asked(2, Some(ballot(1, HIGH)), hearing(1, HIGH))
        .set(BallotTimer::Round, ROUND)
        .nothing_else_happened();
    me.answered(HIGH, leading(1, HIGH));
    me.over()
        .asked(3, Some(ballot(1, HIGH)), hearing(1, HIGH))
        .set(BallotTimer::Round, ROUND)
        .nothing_else_happened();
}

/// Scenario 43, with one machine. In the published protocol this leader leads for ever.
#[test]
fn an_isolated_leader_loses_its_leadership_and_its_ballot() {
    let mut me = Kit::leading();
    me.over()
        .lost(8, LostReason::Isolated)
        .asked(5, Some(ballot(8, ME)), alone(idle()))
        .set(BallotTimer::Round, ROUND)
        .nothing_else_happened();
    me.answered(LOW, idle());
    me.over().wrote(9, Some(ballot(8, ME))).whatever();
    me.answered(LOW, idle());
    let back = me.over();
    assert_eq!(
        back.events(),
        [&Event::Acquired { term: Term(9) }],
        "each leadership has another ballot"
    );
    back.whatever();
}

#[test]
fn a_follower_in_a_minority_that_hears_its_leader_goes_on_following() {
    let mut me = Kit::following();
    let five = ["a", "b", HIGH, LOW, ME].map(id);
    me.machine.core.config = Arc::new(valid(BallotConfig::new(five)));
    me.answered(HIGH, leading(7, HIGH));
    assert!(me.over().events().is_empty());
    assert!(!me.machine.is_connected());
    let mut given_up = me.clone();
    given_up.answered(HIGH, alone(idle()));
    given_up.over().has_no_leader(7).whatever();
    me.answered(LOW, idle());
    me.over().has_no_leader(7).whatever();
}

/// The network is a chain: the neighbour hears the leader, and this agent does not.
#[test]
fn no_ballot_is_taken_while_a_neighbour_hears_the_leader() {
    let mut me = Kit::following();
    for _ in 0..3 {
        me.answered(LOW, hearing(7, HIGH));
        assert!(me.over().events().is_empty());
        assert_eq!((me.says().ballot, me.says().hears), (None, None));
    }
    let next = me.round() + 1;
    let said = HeartbeatReply {
        round: round(3),
        standing: standing(8, ME),
    };
    me.hear(LOW, request(3, None, idle())) // LOW does not hear the leader either
        .has_no_leader(7)
        .wrote(8, Some(ballot(7, HIGH)))
        .asked(next, Some(ballot(7, HIGH)), standing(8, ME))
        .set(BallotTimer::Round, ROUND)
        .sent(LOW, said)
        .nothing_else_happened();
}

#[test]
fn a_leader_that_only_hears_of_a_higher_ballot_yields_to_a_voter_that_hears_its_holder() {
    let mut me = Kit::leading();
    me.hear(LOW, request(1, Some(ballot(9, HIGH)), hearing(9, HIGH)))
        .whatever();
    me.answered(LOW, hearing(9, HIGH));
    me.over().lost(8, LostReason::Superseded).whatever();
    assert_eq!(me.machine.own(), None, "it defers");
}

fn resign(successor: Option<&str>) -> Resign {
    Resign {
        ballot: ballot(7, HIGH),
        successor: successor.map(id),
    }
}

#[test]
fn a_successor_that_does_not_come_is_not_waited_for() {
    let mut me = Kit::following();
    me.hear(HIGH, resign(Some(LOW))).whatever();
    me.answered(LOW, hearing(7, HIGH)); // it missed the resignation
    me.over().wrote(8, Some(ballot(7, HIGH))).whatever();
}
