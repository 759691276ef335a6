//! `answer-the-asker`, `votes-expire`, `bound-to-one-life`: one name, several incarnations.

use super::*;

/// Returns a candidate that has claimed a term by the clock, and this term.
pub(super) fn claiming(config: QuorumConfig) -> (Kit, u64) {
    let mut me = recovered(config, OLD);
    me.later(2 * S + 10).fire(BullyTimer::Election).whatever();
    let rounds = me.machine.core.rounds;
    let effects = me.hear(LOW, yields_at(rounds, OLD));
    drop(effects);
    let effects = me.hear(HIGH, yields_at(rounds, OLD));
    let messages = effects.messages();
    let [QuorumMessage::Claim(claim)] = messages[..] else {
        panic!("{messages:?}");
    };
    let term = claim.term.0;
    (me, term)
}

/// Returns a vote for this incarnation of the candidate.
pub(super) fn vote_for(incarnation: u64, term: u64) -> ClaimReply {
    grants(term).addressed_to(incarnation)
}

pub(super) fn ack_of(incarnation: u64, term: u64, echo: Time) -> Ack {
    Ack {
        incarnation: Incarnation(incarnation),
        ..ack(term, echo, 1)
    }
}

fn is_elected(me: &Kit) -> bool {
    matches!(me.machine.state, State::Leading(_))
}

pub(super) fn a_vote_for_another_incarnation_does_not_count(config: QuorumConfig) -> bool {
    let (mut me, term) = claiming(config);
    me.hear(LOW, vote_for(0, term)).whatever();
    let by_another = is_elected(&me);
    me.hear(LOW, vote_for(1, term)).whatever();
    !by_another && is_elected(&me)
}

/// The voter may have restarted since, and have abstained for as long as votes count.
pub(super) fn a_vote_that_comes_too_late_does_not_count(config: QuorumConfig) -> bool {
    let (mut me, term) = claiming(config);
    me.later(E).hear(LOW, vote_for(1, term)).whatever(); // its timer is late
    !is_elected(&me)
}

/// The acknowledgement has a time of another boot's clock, which might extend a lease by hours.
pub(super) fn an_acknowledgement_of_another_incarnation_does_not_count(
    config: QuorumConfig,
) -> bool {
    let (mut me, term) = claiming(config);
    me.hear(LOW, vote_for(1, term)).whatever();
    me.hear(LOW, ack_of(0, term, me.now)).whatever();
    let by_another = me.view().leading.is_some();
    me.hear(LOW, ack_of(1, term, me.now)).whatever();
    !by_another && me.view().leading.is_some()
}

/// A former incarnation of HIGH resigns in a higher term. The resignation arrives late, while the next incarnation of
/// HIGH leads.
pub(super) fn a_resignation_of_another_incarnation_voids_nothing(config: QuorumConfig) -> bool {
    let mut me = recovered(config, OLD);
    me.hear_incarnation(HIGH, 2, heartbeat(OLD, 9)).whatever();
    me.hear_incarnation(HIGH, 1, resign(BEGINS, None))
        .whatever();
    let votes = granted(&me.hear(LOW, claim(BEGINS + 1, 1)));
    !votes && acknowledged(&me.hear_incarnation(HIGH, 2, heartbeat(OLD, 9)))
}

/// A voter receives a late announcement of a forgotten election, from LOW or from the former incarnation of its leader.
/// Its term is higher than the term of the leader.
pub(super) fn a_higher_term_does_not_free_a_voter_from_its_promise(config: QuorumConfig) -> bool {
    let mut me = recovered(config, OLD);
    me.hear_incarnation(HIGH, 2, heartbeat(OLD, 9)).whatever();
    let follows = |name: &str| acknowledged(&me.clone().hear(name, elected(BEGINS, 1)));
    let is_bound = !follows(LOW) && !follows(HIGH);
    is_bound && acknowledged(&me.later(P).hear(LOW, elected(BEGINS, 1)))
}

/// A vote for a leader's claim of a higher term expires too. The leader then claims again.
#[test]
fn a_vote_for_a_raised_term_expires() {
    let (mut me, term) = claiming(forgetful());
    me.hear(LOW, vote_for(1, term)).whatever();
    me.hear(LOW, ack_of(1, term, me.now)).whatever();
    let raised = |effects: &StepEffects| claimed(effects).map(|claim| claim.term.0);
    let first = raised(&me.hear(HIGH, nack(term + 5))).unwrap();
    assert_eq!(first, term + 6);
    me.later(E).hear(LOW, vote_for(1, first)).whatever();
    assert_eq!(me.view().leading, Some(Term(term)), "too late");
    me.later(H - E);
    let again = raised(&me.fire(BullyTimer::Heartbeat)).unwrap();
    assert!(again > first);
    me.hear(LOW, vote_for(1, again)).whatever();
    assert_eq!(me.view().leading, Some(Term(again)));
}
