//! Seals: what ends an epoch, and who may still be supported in it.

use super::{epochs::*, *};
use crate::elections::vote::{SealRecord, VotersRecord};

#[test]
fn a_leader_ends_its_work_and_its_leadership_before_it_seals() {
    let mut me = Kit::leading();
    me.change(remove(LOW)).whatever();
    assert_eq!(me.view().leading, Some(Term(MINE)), "the work goes on");
    let voters = VotersRecord {
        installed: None,
        seal: Some(SealRecord {
            term: Term(MINE),
            next: decree(1, &[ME, HIGH]),
        }),
    };
    me.step(Input::Drained)
        .lost(MINE, LostReason::VotersChange)
        .whatever();
    assert_eq!(record(&me).voters, Some(Box::new(voters)));
    assert_eq!(me.view().leading, None);
}

#[test]
fn a_quorum_of_seals_decides_and_the_former_leader_claims_at_once() {
    let mut me = Kit::leading();
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
        ..grants(OLD + 1)
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
