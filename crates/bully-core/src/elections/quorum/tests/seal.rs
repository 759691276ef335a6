//! Seals: the end of an epoch, and the leaders that a sealed voter may still support.

use super::{epochs::*, *};
use crate::elections::message::Seal;

/// Otherwise the voter could be asked for the same term again, and vote for another agent.
#[test]
fn a_voter_whose_seal_is_void_keeps_its_vote_of_that_term() {
    let voted = voted_after_a_void_seal(config());
    assert_eq!(voted, Some(candidate(LOW, 1)));
}

fn voted_after_a_void_seal(config: QuorumConfig) -> Option<super::super::Candidate> {
    let mut me = Kit::following_by(config);
    me.hear(HIGH, seal(OLD, &[ME, HIGH])).whatever();
    me.later(P).hear(LOW, claim(OLD + 1, 1)).whatever();
    me.hear(HIGH, elected(OLD + 1, 9)).whatever();
    let record = record(&me);
    assert_eq!((record.term, record.seal()), (Term(OLD + 1), None));
    record.voted_for.clone()
}

/// Returns a former leader of the term [`MINE`] that seals a list without LOW.
fn sealing() -> Kit {
    let mut me = Kit::heard();
    me.change(remove(LOW)).whatever();
    me.step(Input::Drained).whatever();
    assert!(matches!(me.machine.state, State::Sealing(_)));
    me
}

#[test]
fn a_seal_is_asked_for_again_after_a_heartbeat_and_nothing_else_is() {
    let mut me = sealing();
    for _ in 0..5 {
        me.later(H)
            .fire(BullyTimer::Round)
            .asked(seal(MINE, &[ME, HIGH]))
            .set(BullyTimer::Round, H)
            .nothing_else_happened();
    }
    me.later(H / 2)
        .fire(BullyTimer::Round)
        .set(BullyTimer::Round, H - H / 2)
        .nothing_else_happened();
}

#[test]
fn seals_of_another_term_do_not_count() {
    let mut me = sealing();
    me.hear(LOW, sealed(MINE - 1)).nothing_else_happened();
    me.hear(HIGH, sealed(MINE + 1)).nothing_else_happened();
    me.hear(EYE, sealed(MINE)).nothing_else_happened();
    assert_eq!(record(&me).installed(), None);
}

/// `incarnation-before-word`: the leader remembers the incarnation that answered. With a record that does not name this
/// incarnation, the next incarnation would count as an old copy.
#[test]
fn a_seal_that_an_earlier_incarnation_wrote_is_said_when_the_record_names_this_one() {
    let record = Vote {
        incarnation: Some(Incarnation(0)),
        voters: Some(Box::new(seals(OLD, &[ME, HIGH]))),
        ..vote(OLD, HIGH, P)
    };
    let mut me = Kit::reborn(config(), MemberKind::Voter, Some(5), record.clone()).started();
    let own = Some(me.machine.core.me.incarnation);
    me.hear(HIGH, seal(OLD, &[ME, HIGH]))
        .wrote_record(&Vote {
            incarnation: own,
            ..record
        })
        .sent(HIGH, sealed(OLD))
        .nothing_else_happened();
}

#[test]
fn a_list_that_cannot_follow_is_not_sealed() {
    let mut me = Kit::following();
    let mut many = decree(1, &[]);
    many.voters = (0..101).map(|n| voter(&format!("v{n:03}"))).collect();
    for next in [
        decree(0, &[ME, HIGH]),
        decree(2, &[ME, HIGH]),
        decree(1, &[]),
        many,
    ] {
        let (term, next) = (Term(OLD), Box::new(next));
        me.hear(HIGH, Seal { term, next }).nothing_else_happened();
    }
    me.hear(HIGH, seal(OLD - 1, &[ME, HIGH]))
        .sent(HIGH, nack_of(OLD - 1, OLD))
        .nothing_else_happened();
}

/// A leader raises its term above a voter's term, and a vote for it reports a seal.
#[test]
fn a_seal_above_its_term_that_a_bump_finds_ends_the_leadership_and_an_older_seal_is_void() {
    let after_a_seal = |term| {
        let me = Kit::heard().after(HIGH, nack(MINE + 5));
        me.after(LOW, reports(&grants(MINE + 6), term, &[ME, LOW]))
    };
    for term in [MINE - 1, MINE] {
        let leading = after_a_seal(term).view().leading;
        assert_eq!(leading, Some(Term(MINE + 6)), "{term}");
    }
    let mut me = after_a_seal(MINE + 3);
    assert_eq!(me.view().leading, None);
    let voters = record(&me).voters.clone();
    assert_eq!(voters, Some(Box::new(seals(MINE + 6, &[ME, LOW]))));
    me.hear(HIGH, sealed(MINE + 6)).whatever();
    assert_eq!(record(&me).installed(), Some(&decree(1, &[ME, LOW])));
}
