//! `Collect`: `yield-to-stronger`, `close-on-own-name`.

use super::*;

#[test]
fn the_weaker_of_two_elections_is_suppressed() {
    let mut kit = Kit::candidate(); // an election with the score 5 in the term 1
    kit.hear(B, collect(1, (A, 1), &[(A, 1), (B, 9)]))
        .sent(B, ack(Lap::Collect, 1, A, 0, 0))
        .nothing_else_happened();
    kit.hear(B, collect(1, (B, 9), &[(B, 9)]))
        .sent(B, ack(Lap::Collect, 1, B, 0, 0))
        .set(RingTimer::Token, TOKEN)
        .passed(Z, Lap::Collect, collect(1, (B, 9), &[(B, 9), (ME, 5)]))
        .nothing_else_happened();
    assert_eq!(kit.role(), Role::Waiting);
    // A later term is stronger, whichever member began its election.
    kit.hear(B, collect(2, (A, 1), &[(A, 1), (B, 9)]))
        .sent(B, ack(Lap::Collect, 2, A, 0, 0))
        .set(RingTimer::Token, TOKEN)
        .passed(
            Z,
            Lap::Collect,
            collect(2, (A, 1), &[(A, 1), (B, 9), (ME, 5)]),
        )
        .nothing_else_happened();
}

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
fn an_agent_that_is_on_the_list_is_suspected_no_more() {
    let mut kit = Kit::candidate();
    kit.later(RESEND + 1)
        .fire(RingTimer::Hop(Lap::Collect))
        .whatever();
    kit.later(RESEND + 1)
        .fire(RingTimer::Hop(Lap::Collect))
        .whatever();
    assert_eq!(kit.suspects(), [Z]);
    kit.hear(B, collect(2, (Z, 3), &[(Z, 3), (A, 1), (B, 9)]))
        .whatever();
    assert_eq!(kit.suspects(), [""; 0]);
    assert_eq!(kit.machine.core.hops.get(&Lap::Collect).unwrap().to, id(Z));
}

#[test]
fn an_election_that_was_given_up_is_not_closed() {
    let mut kit = Kit::candidate();
    kit.later(TOKEN).fire(RingTimer::Token).whatever();
    let old = collect(1, (ME, 5), &[(ME, 5), (Z, 3), (A, 1), (B, 9)]);
    kit.hear(B, old)
        .sent(B, ack(Lap::Collect, 1, ME, 0, 0))
        .nothing_else_happened();
}

#[test]
fn a_member_that_can_be_elected_needs_the_right_to_lead() {
    let needs = |message: Collect| RingMessage::from(message).needs(&id(B));
    assert_eq!(needs(collect(1, (B, 9), &[])), MinimumRole::Leader);
    assert_eq!(needs(collect(1, (A, 1), &[(B, 9)])), MinimumRole::Leader);
    assert_eq!(needs(collect(1, (A, 1), &[(A, 1)])), MinimumRole::Voter);
}
