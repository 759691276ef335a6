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
fn the_ballot_of_the_asker_replaces_what_it_answered() {
    let mut me = Kit::following();
    me.answered(LOW, idle());
    me.hear(LOW, request(3, None, standing(8, LOW))).whatever();
    let elected = me.over();
    assert!(matches!(elected.events()[..], [Event::NewLeader(leader)] if leader.id == LOW));
}
