//! `Nominate`: `nominate-the-highest`.

use super::*;

#[test]
fn a_winner_that_cannot_lead_any_more_begins_another_election() {
    let mut kit = Kit::waiting();
    kit.set_score(None).whatever();
    let mut without = Collect {
        election: election(2, ME, None),
        entrants: Bounded::default(),
    };
    without.entrants.push(entrant(ME, None));
    let chosen = Nominate {
        election: election(1, B, Some(9)),
        ..nominate(1, B, ME, &[B])
    };
    kit.hear(B, chosen)
        .sent(B, ack(Lap::Nominate, 1, B, 0, 0))
        .set(RingTimer::Token, TOKEN)
        .passed(Z, Lap::Collect, without)
        .nothing_else_happened();
}

#[test]
fn a_nomination_of_a_former_incarnation_is_not_for_this_one() {
    let mut kit = Kit::scheduled();
    let former = Nominate {
        incarnation: Incarnation(0),
        ..nominate(1, A, ME, &[A, B])
    };
    kit.hear(B, former.clone()).whatever();
    assert_eq!(kit.role(), Role::Waiting, "the nomination is passed on");
    let mut round = former;
    round.passed.push(id(ME));
    // The nomination comes back to the agent, so the winner has not received it.
    kit.hear(B, round)
        .sent(B, ack(Lap::Nominate, 1, A, 0, 0))
        .set(RingTimer::Token, TOKEN)
        .passed(Z, Lap::Collect, collect(2, (ME, 5), &[(ME, 5)]))
        .nothing_else_happened();
}
