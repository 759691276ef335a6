//! `Campaign`: the next ballot, and with it the leadership.

use super::*;

#[test]
fn a_follower_takes_the_next_ballot_and_asks() {
    let mut me = Kit::following();
    me.step(Input::Campaign)
        .wrote(8, Some(ballot(7, HIGH)))
        .asked(
            3,
            Some(ballot(7, HIGH)),
            Standing {
                hears: Some(ballot(7, HIGH)),
                ..standing(8, ME)
            },
        )
        .set(BallotTimer::Round, ROUND)
        .nothing_else_happened();
    me.answered(HIGH, leading(7, HIGH));
    let elected = me.over();
    assert_eq!(elected.events(), [&Event::Acquired { term: Term(8) }]);
    elected.whatever();
}

#[test]
fn a_leader_a_candidate_a_witness_and_a_cut_off_voter_do_not() {
    for (name, mut me) in Kit::states() {
        let effects = me.step(Input::Campaign);
        let takes = matches!(name, "following");
        assert_eq!(!effects.0.is_empty(), takes, "{name}: {effects:?}");
        effects.whatever();
    }
}
