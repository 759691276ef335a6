//! A change of the voters while the group runs: commands, seals, lists, and what crosses epochs.

use super::*;
use crate::elections::{
    message::{Install, Seal, Sealed},
    vote::{SealRecord, VotersRecord},
};
use crate::protocol::{ChangeError, Decree, NewVoter, VoterChange, VotersEvent};

/// The first term of the second epoch.
const NEXT: u64 = 1 << 40;

fn voter(name: &str) -> NewVoter {
    let (id, contact) = (id(name), None);
    NewVoter { id, contact }
}

fn decree(epoch: u64, names: &[&str]) -> Decree {
    let mut voters: Vec<_> = names.iter().map(|name| voter(name)).collect();
    voters.sort_by(|one, other| one.id.cmp(&other.id));
    Decree {
        epoch,
        voters,
        vote_quorum: None,
        lease_quorum: None,
    }
}

fn seal(term: u64, names: &[&str]) -> Seal {
    Seal {
        term: Term(term),
        next: Box::new(decree(1, names)),
    }
}

fn sealed(term: u64) -> Sealed {
    Sealed { term: Term(term) }
}

fn install(epoch: u64, names: &[&str]) -> Install {
    Install {
        term: Term(epoch << 40),
        decree: Box::new(decree(epoch, names)),
    }
}

fn change(change: VoterChange) -> Input<BullyMessage, BullyTimer> {
    Input::ChangeVoters(Box::new(change))
}

fn remove(name: &str) -> Input<BullyMessage, BullyTimer> {
    change(VoterChange::Remove(id(name)))
}

fn record(me: &Kit) -> &Vote {
    &me.machine.core.voter.record
}

#[test]
fn a_leader_ends_its_work_and_its_leadership_before_it_seals() {
    let mut me = Kit::leading();
    me.step(remove(LOW)).whatever();
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
    me.step(remove(LOW)).whatever();
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

#[test]
fn a_list_that_was_decided_is_entered_in_any_role() {
    for (role, mut me) in Kit::roles() {
        me.hear(HIGH, install(3, &[ME, HIGH, "new"])).whatever();
        let config = &me.machine.core.config;
        assert_eq!((config.epoch, config.voters.len()), (3, 3), "{role}");
        assert_eq!(me.view().leading, None, "{role}");
        assert_eq!(record(&me).term, Term(3 * NEXT), "{role}");
    }
}

#[test]
fn an_earlier_epoch_is_answered_with_the_list_and_a_later_one_with_what_is_known() {
    let mut me = Kit::following();
    me.hear(LOW, heartbeat(NEXT + 1, 1))
        .sent(LOW, yields_at_none(OLD))
        .nothing_else_happened();
    me.hear(HIGH, install(1, &[ME, HIGH])).whatever();
    me.hear(LOW, heartbeat(OLD, 1))
        .sent(LOW, install(1, &[ME, HIGH]))
        .nothing_else_happened();
}

fn yields_at_none(seen: u64) -> Yield {
    Yield {
        round: crate::protocol::Round::default(),
        ..yields_at(0, seen)
    }
}

#[test]
fn an_agent_that_starts_with_a_recorded_list_takes_part_by_it() {
    let list = decree(2, &[ME, "new"]);
    let vote = Vote {
        voters: Some(Box::new(VotersRecord {
            installed: Some(list),
            seal: None,
        })),
        ..vote(2 * NEXT + 7, LOW, P)
    };
    let agent = id(ME);
    assert_eq!(
        QuorumBully::admits(&Arc::new(config()), &agent, Some(&vote)),
        Ok(())
    );
    let me = Kit::reborn(config(), MemberKind::Voter, Some(5), vote.clone());
    assert_eq!(me.machine.core.config.voters, [ME, "new"].map(id));
    let later = QuorumConfig {
        epoch: 3,
        ..config()
    };
    let me = Kit::reborn(later, MemberKind::Voter, Some(5), vote);
    assert_eq!(
        me.machine.core.config.voters.len(),
        3,
        "what was typed later counts"
    );
}

#[test]
fn what_a_leader_refuses_is_said_with_its_reason() {
    let mut me = Kit::leading();
    let replace = |old: &str, new: &str| VoterChange::Replace {
        old: id(old),
        new: voter(new),
    };
    let cases = [
        (
            VoterChange::Add(voter("new")),
            ChangeError::NotSeen { id: id("new") },
        ),
        (
            replace("new", "newer"),
            ChangeError::NotAVoter { id: id("new") },
        ),
        (
            replace(LOW, HIGH),
            ChangeError::AlreadyAVoter { id: id(HIGH) },
        ),
    ];
    for (asked, reason) in cases {
        let event = VotersEvent::Answered {
            change: asked.clone(),
            outcome: Err(reason),
        };
        me.step(change(asked))
            .notified(Event::Voters(Box::new(event)))
            .nothing_else_happened();
    }
}
