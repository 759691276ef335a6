//! `Nominate`: `nominate-the-highest`.

use super::*;

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
