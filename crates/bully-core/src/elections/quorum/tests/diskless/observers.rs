//! `raise-above-observers`: an observer knows a higher term than every voter.

use super::{
    lives::{ack_of, claiming, vote_for},
    *,
};

/// Returns an observer whose leader of this term has become silent.
fn observer(config: QuorumConfig, followed: u64) -> Kit {
    let config = valid(QuorumConfig {
        voters: [LOW, HIGH, "other"].map(id).into(),
        ..config
    });
    let mut me = Kit::began(config, MemberKind::Observer, Some(5)).started();
    me.hear(HIGH, elected(followed, 9)).whatever();
    me.later(P).fire(BullyTimer::Election).whatever();
    assert_eq!(me.view().leader, None);
    me
}

fn followed(seen: u64) -> Behind {
    Behind { seen: Term(seen) }
}

#[test]
fn an_observer_says_which_term_it_has_followed_to_a_leader_of_a_lower_one() {
    let term = BEGINS + 500;
    let mut me = observer(forgetful(), term);
    for announced in [term - 1, term - 2] {
        me.hear(LOW, elected(announced, 1))
            .sent(LOW, followed(term))
            .nothing_else_happened();
    }
    me.hear(LOW, elected(term + 1, 1)).whatever();
    // An observer that follows a leader ignores late messages of other leaders.
    me.hear(HIGH, elected(term, 9)).nothing_else_happened();
    // With disks the terms never fall.
    let mut kept = observer(config(), OLD);
    kept.hear(LOW, elected(OLD - 1, 1)).nothing_else_happened();
}

#[test]
fn a_leader_claims_a_term_above_an_observers_and_still_leads() {
    let (mut me, term) = claiming(forgetful());
    me.hear(EYE, followed(term + 5)).nothing_else_happened();
    me.hear(LOW, vote_for(1, term)).whatever();
    me.hear(EYE, followed(term + 5)).nothing_else_happened();
    me.hear(LOW, ack_of(1, term, me.now)).whatever();
    assert_eq!(me.view().leading, Some(Term(term)));
    me.hear(EYE, followed(term)).nothing_else_happened();
    let far = BEGINS + 3_600_000;
    me.hear(EYE, followed(far)).nothing_else_happened();
    let raised = claimed(&me.hear(EYE, followed(term + 5))).map(|claim| claim.term.0);
    assert_eq!(raised, Some(term + 6));
    assert_eq!(me.view().leading, Some(Term(term)), "meanwhile");
    me.hear(EYE, followed(term + 5)).nothing_else_happened();
    me.hear(LOW, vote_for(1, term + 6)).whatever();
    assert_eq!(me.view().leading, Some(Term(term + 6)));
}
