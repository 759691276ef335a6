//! `Collect` and `Nominate`: `yield-to-stronger`, `close-on-own-name`, `nominate-the-highest`.

use super::*;

#[test]
fn the_origin_closes_the_circle_and_nominates_the_best() {
    let mut kit = Kit::candidate();
    let circle = [(ME, 5), (Z, 3), (A, 1), (B, 9)];
    let nomination = Nominate {
        election: election(1, ME, Some(5)),
        winner: id(B),
        incarnation: Incarnation(1),
        passed: Bounded::of(id(ME)),
    };
    kit.hear(B, collect(1, (ME, 5), &circle))
        .sent(B, ack(Lap::Collect, 1, ME, 0, 0))
        .passed(Z, Lap::Nominate, nomination)
        .nothing_else_happened();
    kit.hear(B, collect(1, (ME, 5), &circle)) // a copy
        .sent(B, ack(Lap::Collect, 1, ME, 0, 0))
        .nothing_else_happened();
}

#[test]
fn a_full_list_goes_on_without_this_member() {
    let mut full = collect(1, (B, 9), &[]);
    for number in 0..MOST {
        full.entrants.push(entrant(&format!("n{number}"), Some(0)));
    }
    let mut kit = Kit::scheduled();
    kit.hear(B, full.clone())
        .sent(B, ack(Lap::Collect, 1, B, 0, 0))
        .set(RingTimer::Token, TOKEN)
        .passed(Z, Lap::Collect, full)
        .nothing_else_happened();
}

#[test]
fn a_member_that_can_be_elected_needs_the_right_to_lead() {
    let needs = |message: Collect| RingMessage::from(message).needs(&id(B));
    assert_eq!(needs(collect(1, (B, 9), &[])), MinimumRole::Leader);
    assert_eq!(needs(collect(1, (A, 1), &[(B, 9)])), MinimumRole::Leader);
    assert_eq!(needs(collect(1, (A, 1), &[(A, 1)])), MinimumRole::Voter);
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
