//! `Start`: boot, recovery, quarantine.

use super::*;
use crate::driver::MembersReports as _;

fn start(kit: &mut Kit) -> StepEffects {
    kit.begin()
}

fn recovered(term: u64) -> Kit {
    Kit::reborn(config(), MemberKind::Voter, Some(5), vote(term, LOW, P))
}

#[test]
fn a_slot_comes_after_a_step_for_each_higher_ranked_voter() {
    let mut me = Kit::began(config(), MemberKind::Voter, Some(5));
    start(&mut me)
        .set(BullyTimer::Election, S)
        .nothing_else_happened();
}

#[test]
fn a_voter_that_is_down_is_not_waited_for() {
    let mut me = Kit::began(config(), MemberKind::Voter, Some(5));
    me.members.down(&id(HIGH), Incarnation(1));
    start(&mut me).set(BullyTimer::Election, 0).whatever();
}

#[test]
fn a_leader_in_the_snapshot_is_given_time_to_be_heard() {
    let mut me = Kit::began(config(), MemberKind::Voter, Some(5));
    me.members.note_leader(leader(LOW, OLD));
    start(&mut me)
        .set(BullyTimer::Election, P + S)
        .nothing_else_happened();
}

#[test]
fn witnesses_and_observers_have_no_slot() {
    let mut me = Kit::began(config(), MemberKind::Voter, None);
    start(&mut me).nothing_else_happened();
    assert_eq!(me.view().role, Role::Follower);
    let mut me = Kit::began(config(), MemberKind::Observer, Some(5));
    start(&mut me).nothing_else_happened();
}

#[test]
fn a_voter_that_is_not_listed_observes() {
    let voters = [LOW, HIGH, "other"].map(id);
    let config = valid(QuorumConfig::new(voters));
    let mut me = Kit::began(config, MemberKind::Voter, Some(5));
    start(&mut me).nothing_else_happened();
    me.hear(LOW, claim(1, 1)).nothing_else_happened();
}

#[test]
fn the_only_voter_leads_at_once() {
    let config = valid(QuorumConfig::new([id(ME)]));
    let mut me = Kit::began(config, MemberKind::Voter, Some(5));
    let effects = start(&mut me);
    assert!(effects.writes());
    assert_eq!(me.view().leading, Some(Term(1)));
    assert_eq!(
        me.view().valid_until,
        me.now.after(Duration::from_millis(D))
    );
}

/// `abstain-after-restart`, 59
#[test]
fn a_voter_that_may_have_promised_something_abstains() {
    let mut me = recovered(OLD);
    start(&mut me)
        .set(BullyTimer::Election, P + S)
        .nothing_else_happened();
    me.later(P - 1)
        .hear(LOW, elect(9, 1))
        .sent(LOW, alive(1, 9, 1))
        .whatever();
    let effects = me.hear(LOW, claim(9, 1));
    assert!(!effects.writes());
    effects
        .sent(LOW, refuses(9, OLD, 1).of(LOW))
        .nothing_else_happened();
    me.later(1)
        .hear(LOW, claim(9, 1))
        .wrote(9, LOW)
        .set(BullyTimer::Election, W)
        .sent(LOW, grants(9).of(LOW))
        .nothing_else_happened();
}

/// `one-vote-per-term`, 58: over all its incarnations one vote a term.
#[test]
fn a_voter_that_comes_back_votes_for_no_other_in_that_term() {
    let mut me = recovered(OLD);
    start(&mut me).whatever();
    me.later(P);
    let effects = me.hear(HIGH, claim(OLD, 9));
    assert!(!effects.writes());
    effects
        .sent(HIGH, refuses(OLD, OLD, 0).of(HIGH))
        .nothing_else_happened();
    assert_eq!(me.durable(), (OLD, Some(LOW.into())));
    me.hear(LOW, claim(OLD, 1))
        .set(BullyTimer::Election, W)
        .sent(LOW, grants(OLD).of(LOW))
        .nothing_else_happened();
}

#[test]
fn a_voter_that_abstains_follows_all_the_same() {
    let mut me = recovered(OLD);
    start(&mut me).whatever();
    me.hear(HIGH, heartbeat(OLD, 9))
        .new_leader(HIGH, OLD)
        .set(BullyTimer::Election, P)
        .sent(HIGH, ack(OLD, SAID, 5))
        .nothing_else_happened();
}

#[test]
fn a_store_that_was_only_created_binds_no_voter() {
    let mut me = Kit::reborn(config(), MemberKind::Voter, Some(5), Vote::default());
    start(&mut me).set(BullyTimer::Election, S).whatever();
    me.hear(LOW, claim(1, 1)).wrote(1, LOW).whatever();
}

#[test]
fn with_a_lease_quorum_of_one_nothing_can_have_been_promised() {
    let config = valid(QuorumConfig {
        vote_quorum: Some(3),
        lease_quorum: Some(1),
        ..QuorumConfig::new([LOW, ME, HIGH].map(id))
    });
    let mut me = Kit::reborn(config, MemberKind::Voter, Some(5), vote(OLD, None, P));
    start(&mut me).set(BullyTimer::Election, S).whatever();
}
