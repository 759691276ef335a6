//! `HeartbeatRequest`: always answered; bmax is remembered, if its asker heard a majority.

use super::*;

#[test]
fn every_voter_answers_in_every_state() {
    for (name, mut me) in Kit::states() {
        let effects = me.hear(LOW, request(1, None, idle()));
        let answered = matches!(
            effects.0.back(),
            Some(Effect::Send { to: To::One(to), message: BallotMessage::HeartbeatReply(reply) })
                if *to == id(LOW) && reply.round == round(1)
        );
        assert_eq!(answered, name != "observer", "{name}: {effects:?}");
        effects.whatever();
    }
}

#[test]
fn a_higher_bmax_is_durable_before_the_answer() {
    let mut me = Kit::following();
    let reply = HeartbeatReply {
        round: round(3),
        standing: hearing(7, HIGH),
    };
    me.hear(LOW, request(3, Some(ballot(9, LOW)), idle()))
        .wrote(3, Some(ballot(9, LOW)))
        .sent(LOW, reply)
        .nothing_else_happened();
    assert_eq!(
        me.machine.trusted(),
        Some(&ballot(7, HIGH)),
        "until the round is over"
    );
}

#[test]
fn a_lower_bmax_changes_nothing() {
    let mut me = Kit::following();
    let before = me.machine.record().clone();
    me.hear(LOW, request(3, Some(ballot(6, LOW)), idle()))
        .whatever();
    me.hear(LOW, request(3, None, idle())).whatever();
    assert_eq!(me.machine.record(), &before);
}

/// The quorum-connected flag: the partly connected must not push a leader off.
#[test]
fn the_bmax_of_a_voter_without_a_majority_is_not_adopted() {
    let mut me = Kit::leading();
    me.hear(
        LOW,
        request(3, Some(ballot(99, LOW)), alone(standing(99, LOW))),
    )
    .whatever();
    assert_eq!(me.machine.record().max, Some(ballot(8, ME)));
    me.answered(LOW, alone(standing(99, LOW)));
    assert_eq!(me.over().events(), [&Event::NoLeader { term: Term(0) }; 0]);
    assert_eq!(me.view().leading, Some(Term(8)));
}

#[test]
fn a_bmax_that_no_voter_can_have_taken_is_nonsense() {
    let mut me = Kit::following();
    let before = me.machine.record().clone();
    for max in [
        ballot(u64::MAX, LOW),
        ballot(99, "stranger"),
        ballot(99, EYE),
    ] {
        me.hear(LOW, request(3, Some(max), idle())).whatever();
    }
    assert_eq!(me.machine.record(), &before);
}

#[test]
fn the_ballot_of_the_asker_replaces_what_it_answered() {
    let mut me = Kit::following();
    me.answered(LOW, idle());
    me.hear(LOW, request(3, None, standing(8, LOW))).whatever();
    let elected = me.over();
    assert!(matches!(elected.events()[..], [Event::NewLeader(leader)] if leader.id == LOW));
}

#[test]
fn a_request_is_no_answer() {
    let mut me = Kit::following();
    me.hear(LOW, request(3, None, standing(8, LOW))).whatever();
    me.over().has_no_leader(7).whatever();
    assert!(!me.machine.is_connected(), "the way there may be cut");
}

#[test]
fn strangers_and_observers_are_not_answered() {
    let mut me = Kit::following();
    for from in [EYE, "stranger", ME] {
        me.hear(from, request(1, Some(ballot(9, LOW)), idle()))
            .nothing_else_happened();
    }
}
