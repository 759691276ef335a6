//! Seals: what ends an epoch, and who may still be supported in it.

use super::{epochs::*, *};
use crate::elections::{
    message::Seal,
    vote::{SealRecord, VotersRecord},
};
use crate::protocol::Decree;

#[test]
fn a_leader_ends_its_work_and_its_leadership_before_it_seals() {
    let mut me = Kit::heard();
    me.change(remove(LOW)).whatever();
    assert_eq!(me.view().leading, Some(Term(MINE)), "the work goes on");
    let voters = VotersRecord {
        installed: None,
        seal: Some(SealRecord {
            term: Term(MINE),
            next: decree(1, &[ME, HIGH]),
        }),
        tells: false,
    };
    me.step(Input::Drained)
        .lost(MINE, LostReason::VotersChange)
        .whatever();
    assert_eq!(record(&me).voters, Some(Box::new(voters)));
    assert_eq!(me.view().leading, None);
}

#[test]
fn a_change_is_told_of_by_its_leader_and_by_who_has_sealed_until_it_is_made() {
    let mut me = Kit::heard();
    let told = |me: &Kit| me.machine.prospects().next_epoch;
    assert_eq!(told(&me), None);
    me.change(remove(LOW)).whatever();
    assert_eq!(told(&me), Some(1), "the work goes on");
    me.step(Input::Drained).whatever();
    assert_eq!(told(&me), Some(1), "it asks for seals");
    me.hear(LOW, sealed(MINE)).whatever();
    assert_eq!(told(&me), None, "the list is decided");
    let mut other = Kit::following();
    other.hear(HIGH, seal(OLD, &[ME, HIGH])).whatever();
    assert_eq!(told(&other), Some(1));
    other.hear(LOW, elected(OLD + 1, 1)).whatever();
    assert_eq!(told(&other), None, "the seal is void");
}

#[test]
fn a_quorum_of_seals_decides_and_the_former_leader_claims_at_once() {
    let mut me = Kit::heard();
    me.change(remove(LOW)).whatever();
    me.step(Input::Drained).whatever();
    me.hear(LOW, sealed(MINE)).whatever();
    assert_eq!(record(&me).installed(), Some(&decree(1, &[ME, HIGH])));
    assert_eq!(
        (record(&me).term, record(&me).seal()),
        (Term(NEXT + 1), None)
    );
    me.hear(HIGH, grants(NEXT + 1)).whatever();
    let echo = me.now;
    me.hear(HIGH, ack(NEXT + 1, echo, 9)).whatever();
    assert_eq!(me.view().leading, Some(Term(NEXT + 1)));
}

#[test]
fn a_sealed_voter_supports_its_leader_no_more_and_reports_the_seal_with_its_vote() {
    let mut me = Kit::following();
    me.hear(HIGH, seal(OLD, &[ME, HIGH])).whatever();
    let before = record(&me).clone();
    assert_eq!(before.seal().map(|seal| seal.term), Some(Term(OLD)));
    me.hear(HIGH, heartbeat(OLD, 9)).nothing_else_happened();
    me.later(P);
    let reply = ClaimReply {
        seal: before.seal().cloned().map(Box::new),
        ..grants(OLD + 1).of(LOW)
    };
    me.step(Input::Received {
        from: id(LOW),
        incarnation: Incarnation(1),
        message: claim(OLD + 1, 1).into(),
    })
    .whatever();
    assert_eq!(record(&me).seal(), before.seal());
    me.hear(LOW, claim(OLD + 1, 1))
        .set(BullyTimer::Election, W)
        .sent(LOW, reply)
        .nothing_else_happened();
}

#[test]
fn a_seal_is_void_for_who_follows_a_leader_of_a_higher_term() {
    let mut me = Kit::following();
    me.hear(HIGH, seal(OLD, &[ME, HIGH])).whatever();
    me.hear(LOW, elected(OLD + 1, 1)).whatever();
    assert_eq!(record(&me).voters, None);
    assert!(me.machine.state.following().is_some());
}

/// Otherwise it could be asked for the same term once more, and vote for another agent.
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

#[test]
fn a_candidate_whose_votes_report_a_seal_seals_and_never_leads() {
    let mut me = Kit::claiming();
    let report = SealRecord {
        term: Term(MINE - 1),
        next: decree(1, &[ME, LOW]),
    };
    let reply = ClaimReply {
        seal: Some(Box::new(report)),
        ..grants(MINE)
    };
    me.hear(LOW, reply).whatever();
    assert!(matches!(me.machine.state, State::Sealing(_)));
    assert_eq!(
        record(&me).seal(),
        Some(&SealRecord {
            term: Term(MINE),
            next: decree(1, &[ME, LOW])
        })
    );
    me.hear(HIGH, sealed(MINE)).whatever();
    assert_eq!(record(&me).installed(), Some(&decree(1, &[ME, LOW])));
}

/// Sealing, as the former leader of the term [`MINE`]: LOW shall vote no longer.
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
        me.later(H);
        me.fire(BullyTimer::Round)
            .asked(seal(MINE, &[ME, HIGH]))
            .set(BullyTimer::Round, H)
            .nothing_else_happened();
    }
    me.later(H / 2);
    me.fire(BullyTimer::Round)
        .set(BullyTimer::Round, H - H / 2)
        .nothing_else_happened();
}

#[test]
fn no_command_and_no_score_moves_an_agent_that_seals() {
    let mut me = sealing();
    me.set_score(None).nothing_else_happened();
    me.set_score(7).nothing_else_happened();
    me.step(Input::Campaign).nothing_else_happened();
    me.step_down(Some(HIGH)).nothing_else_happened();
    me.step(Input::Drained).nothing_else_happened();
    me.change(remove(HIGH)).nothing_else_happened();
    me.ends(HIGH).nothing_else_happened();
    assert_eq!((me.view().leading, me.role()), (None, Role::Candidate));
}

/// What it asked for is decided, and another voter leads by it.
#[test]
fn one_that_lost_its_score_decides_and_does_not_claim() {
    let mut me = sealing();
    me.set_score(None).whatever();
    me.hear(LOW, sealed(MINE)).whatever();
    assert_eq!(record(&me).installed(), Some(&decree(1, &[ME, HIGH])));
    assert!(matches!(me.machine.state, State::Vacant(_)));
}

#[test]
fn seals_of_another_term_do_not_count() {
    let mut me = sealing();
    me.hear(LOW, sealed(MINE - 1)).nothing_else_happened();
    me.hear(HIGH, sealed(MINE + 1)).nothing_else_happened();
    me.hear(EYE, sealed(MINE)).nothing_else_happened();
    assert_eq!(record(&me).installed(), None);
}

/// It reaches too few, and others elect: it does not stand in their way.
#[test]
fn an_agent_that_seals_votes_in_a_higher_term_with_a_report_and_gives_way() {
    let mut me = sealing();
    let yields = Yield {
        round: round(1),
        ..yields_at(1, MINE)
    };
    me.hear(HIGH, elect(MINE, 9))
        .sent(HIGH, yields)
        .nothing_else_happened();
    let own = seals(MINE, &[ME, HIGH]);
    let vote = Vote {
        voters: Some(Box::new(own)),
        ..vote(MINE + 1, HIGH, P)
    };
    me.hear(HIGH, claim(MINE + 1, 9))
        .wrote_record(&vote)
        .set(BullyTimer::Election, W)
        .sent(HIGH, reports(&grants(MINE + 1).of(HIGH), MINE, &[ME, HIGH]))
        .nothing_else_happened();
    assert_eq!(me.role(), Role::Waiting);
}

#[test]
fn an_agent_that_seals_follows_who_was_elected_without_a_report() {
    let mut me = sealing();
    me.hear(HIGH, elected(MINE, 9)).nothing_else_happened();
    me.hear(HIGH, elected(MINE + 1, 9)).whatever();
    assert_eq!(me.view().leader, Some(leader(HIGH, MINE + 1)));
    assert_eq!(record(&me).seal(), None);
}

#[test]
fn a_voter_of_a_higher_term_makes_it_ask_again_for_the_same_list() {
    let mut me = sealing();
    me.hear(LOW, nack(MINE + 5)).whatever();
    assert!(matches!(me.machine.state, State::Vacant(_)));
    me.later(E + 2 * S).fire(BullyTimer::Election).whatever();
    let asked = me.machine.core.rounds;
    me.hear(LOW, yields_at(asked, MINE + 5)).whatever();
    me.hear(HIGH, yields_at(asked, MINE + 5)).whatever();
    me.hear(LOW, grants(MINE + 6)).whatever();
    assert!(matches!(me.machine.state, State::Sealing(_)));
    let voters = record(&me).voters.clone();
    assert_eq!(voters, Some(Box::new(seals(MINE + 6, &[ME, HIGH]))));
}

/// A sealer that is heard, and hears too few, must not put off for ever whoever could decide.
#[test]
fn a_seal_that_is_asked_for_again_is_said_again_and_puts_nothing_off() {
    let mut me = Kit::following();
    me.hear(HIGH, seal(OLD, &[ME, HIGH]))
        .has_no_leader(OLD)
        .next(&Effect::Persist(Vote {
            voters: Some(Box::new(seals(OLD, &[ME, HIGH]))),
            others: heard_of(HIGH, OLD),
            ..vote(OLD, HIGH, P)
        }))
        .sent(HIGH, sealed(OLD))
        .set(BullyTimer::Election, W)
        .nothing_else_happened();
    me.hear(HIGH, seal(OLD, &[ME, HIGH]))
        .sent(HIGH, sealed(OLD))
        .nothing_else_happened();
}

/// `incarnation-before-word`: the sealer remembers this incarnation. With a record that does not name it, the next one
/// would be taken for an old copy.
#[test]
fn a_seal_that_an_earlier_incarnation_wrote_is_said_when_the_record_names_this_one() {
    let record = Vote {
        incarnation: Some(Incarnation(0)),
        voters: Some(Box::new(seals(OLD, &[ME, HIGH]))),
        ..vote(OLD, HIGH, P)
    };
    let mut me = Kit::reborn(config(), MemberKind::Voter, Some(5), record.clone()).started();
    me.hear(HIGH, seal(OLD, &[ME, HIGH]))
        .next(&Effect::Persist(Vote {
            incarnation: Some(me.machine.core.me.incarnation),
            ..record
        }))
        .sent(HIGH, sealed(OLD))
        .nothing_else_happened();
}

#[test]
fn a_list_that_cannot_follow_is_not_sealed() {
    let mut me = Kit::following();
    let of = |next: Decree| Seal {
        term: Term(OLD),
        next: Box::new(next),
    };
    let many: Vec<String> = (0..101).map(|n| format!("v{n:03}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    for next in [
        decree(0, &[ME, HIGH]),
        decree(2, &[ME, HIGH]),
        decree(1, &[]),
        decree(1, &many),
    ] {
        me.hear(HIGH, of(next)).nothing_else_happened();
    }
    me.hear(HIGH, seal(OLD - 1, &[ME, HIGH]))
        .sent(HIGH, nack_of(OLD - 1, OLD))
        .nothing_else_happened();
}

/// A leader of MINE that raises its term above [`MINE`] + 5.
fn raising() -> Kit {
    Kit::heard().after(HIGH, nack(MINE + 5))
}

#[test]
fn a_seal_above_its_term_that_a_bump_finds_ends_the_leadership() {
    let mut me = raising();
    me.hear(LOW, reports(&grants(MINE + 6), MINE + 3, &[ME, LOW]))
        .lost(MINE, LostReason::VotersChange)
        .whatever();
    let voters = record(&me).voters.clone();
    assert_eq!(voters, Some(Box::new(seals(MINE + 6, &[ME, LOW]))));
    assert!(matches!(me.machine.state, State::Sealing(_)));
    me.hear(HIGH, sealed(MINE + 6)).whatever();
    assert_eq!(record(&me).installed(), Some(&decree(1, &[ME, LOW])));
}

#[test]
fn a_seal_up_to_its_term_that_a_bump_finds_is_void() {
    for term in [MINE - 1, MINE] {
        let mut me = raising();
        me.hear(LOW, reports(&grants(MINE + 6), term, &[ME, LOW]))
            .whatever();
        assert_eq!(me.view().leading, Some(Term(MINE + 6)), "{term}");
    }
}

#[test]
fn a_restart_forgets_no_seal_and_the_list_is_asked_for_again() {
    let record_ = Vote {
        voters: Some(Box::new(seals(OLD, &[ME, HIGH]))),
        ..vote(OLD, HIGH, P)
    };
    let mut me = Kit::reborn(config(), MemberKind::Voter, Some(5), record_).started();
    me.hear(HIGH, heartbeat(OLD, 9)).nothing_else_happened();
    me.later(P + S).fire(BullyTimer::Election).whatever();
    me.hear(LOW, yields_at(1, OLD)).whatever();
    me.hear(HIGH, yields_at(1, OLD)).whatever();
    me.hear(LOW, grants(OLD + 1)).whatever();
    assert!(matches!(me.machine.state, State::Sealing(_)));
    let voters = record(&me).voters.clone();
    assert_eq!(voters, Some(Box::new(seals(OLD + 1, &[ME, HIGH]))));
}
