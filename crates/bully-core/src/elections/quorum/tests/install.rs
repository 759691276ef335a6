//! Lists that were decided: how agents enter their epoch, and messages between epochs.

use super::{epochs::*, *};
use crate::elections::{message::Install, vote::VotersRecord};

/// Returns a record of this term with a list of the epoch 1.
fn kept(term: u64) -> Vote {
    let voters = VotersRecord {
        installed: Some(decree(1, &[ME, HIGH])),
        ..VotersRecord::default()
    };
    Vote {
        voters: Some(Box::new(voters)),
        ..vote(term, HIGH, P)
    }
}

#[test]
fn an_earlier_epoch_is_answered_with_the_list_and_a_later_one_with_what_is_known() {
    let mut me = Kit::following();
    me.hear(LOW, heartbeat(NEXT + 1, 1))
        .sent(LOW, Behind { seen: Term(OLD) })
        .nothing_else_happened();
    me.hear(HIGH, install(1, &[ME, HIGH])).whatever();
    me.hear(LOW, heartbeat(OLD, 1))
        .sent(LOW, install(1, &[ME, HIGH]))
        .nothing_else_happened();
}

#[test]
fn an_agent_whose_record_knows_a_later_list_says_so_once() {
    let mut me = Kit::reborn(config(), MemberKind::Voter, Some(5), kept(NEXT + 3));
    let start = me.start();
    assert_eq!(start.events(), [&installed(1, &[ME, HIGH])]);
    me.hear(HIGH, heartbeat(NEXT + 3, 9))
        .new_leader(HIGH, NEXT + 3)
        .whatever();
    // The configuration names the new list too.
    let typed = valid(QuorumConfig {
        epoch: 1,
        ..QuorumConfig::new([ME, HIGH].map(id))
    });
    let mut me = Kit::reborn(typed, MemberKind::Voter, Some(5), kept(NEXT + 3));
    let start = me.start();
    assert!(start.events().is_empty());
}

#[test]
fn an_agent_that_tells_an_earlier_list_is_answered_with_the_later_one() {
    let mut me = Kit::following();
    me.hear(HIGH, install(2, &[ME, HIGH])).whatever();
    me.hear(LOW, install(1, &[ME, LOW]))
        .sent(LOW, install(2, &[ME, HIGH]))
        .nothing_else_happened();
    me.hear(HIGH, install(2, &[ME, HIGH]))
        .nothing_else_happened();
}

#[test]
fn an_agent_that_is_not_eligible_tells_the_list_while_it_knows_no_leader() {
    let list = install(1, &[ME, HIGH]);
    let mut me = Kit::reborn(config(), MemberKind::Voter, None, kept(NEXT));
    me.start().whatever();
    for _ in 0..3 {
        me.later(P);
        me.fire(BullyTimer::Election)
            .sent_all(list.clone())
            .set(BullyTimer::Election, P)
            .nothing_else_happened();
    }
    assert_eq!(me.machine.prospects().waits_until, None, "it has no slot");
    me.hear(HIGH, heartbeat(NEXT + 1, 9)).whatever();
    assert!(me.view().leader.is_some());
    me.later(H);
    let fired = me.fire(BullyTimer::Election);
    assert_eq!(fired.messages(), Vec::<&QuorumMessage>::new());
}

#[test]
fn a_list_whose_term_is_not_the_first_of_its_epoch_is_ignored() {
    let mut me = Kit::following();
    for term in [NEXT + 1, NEXT - 1, 2 * NEXT] {
        let odd = Install {
            term: Term(term),
            ..install(1, &[ME, HIGH])
        };
        me.hear(HIGH, odd).nothing_else_happened();
    }
}

#[test]
fn a_leader_that_is_removed_tells_the_list_until_it_hears_of_a_leader_by_it() {
    let mut me = removed_by_itself(&config());
    for _ in 0..3 {
        me.later(H)
            .fire(BullyTimer::Round)
            .sent_all(install(1, &[LOW, HIGH]))
            .set(BullyTimer::Round, H)
            .nothing_else_happened();
    }
    me.hear(LOW, nack(NEXT + 5)).nothing_else_happened();
    me.hear(LOW, claim(NEXT + 5, 1)).nothing_else_happened();
    me.hear(LOW, elected(NEXT + 5, 1)).whatever();
    me.later(H)
        .hear(LOW, heartbeat(NEXT + 5, 1))
        .set(BullyTimer::Election, P)
        .sent(LOW, enlist(NEXT + 5))
        .nothing_else_happened();
}

#[test]
fn a_list_that_an_agent_decided_without_itself_is_told_after_restarts_until_it_hears_of_a_leader() {
    let reborn = |me: &Kit| {
        let typed = typed_without_me(config());
        Kit::reborn(typed, MemberKind::Voter, Some(5), record(me).clone()).started()
    };
    let mut me = reborn(&removed_by_itself(&config()));
    me.hear(LOW, claim(OLD + 1, 1))
        .sent(LOW, install(1, &[LOW, HIGH]))
        .nothing_else_happened();
    let mut again = reborn(&me);
    again.hear(LOW, elected(NEXT + 5, 1)).whatever();
    let mut me = reborn(&again);
    me.hear(LOW, heartbeat(OLD, 1)).nothing_else_happened();
}

#[test]
fn a_learner_tells_no_list_before_a_list_names_it() {
    let config = QuorumConfig {
        learner: true,
        ..valid(QuorumConfig::new([LOW, HIGH].map(id)))
    };
    let mut me = Kit::known(config.clone(), Some(5));
    me.hear(HIGH, install(1, &[HIGH, "other"])).whatever();
    me.hear(LOW, heartbeat(OLD, 1)).nothing_else_happened();
    let mut again = Kit::reborn(config, MemberKind::Voter, Some(5), record(&me).clone());
    let start = again.start();
    assert!(start.messages().is_empty());
    again.hear(LOW, heartbeat(OLD, 1)).nothing_else_happened();
    again.hear(HIGH, install(2, &[HIGH, ME])).whatever();
    again
        .hear(LOW, heartbeat(OLD, 1))
        .sent(LOW, install(2, &[HIGH, ME]))
        .nothing_else_happened();
}

#[test]
fn a_list_comes_from_one_of_its_voters_or_of_those_before() {
    let mut me = Kit::following();
    me.hear(EYE, install(1, &[ME, HIGH]))
        .nothing_else_happened();
    me.hear(LOW, install(1, &[ME, HIGH])).whatever();
    assert_eq!(me.machine.core.config.epoch, 1);
    me.hear(EYE, install(2, &[ME, EYE])).whatever();
    assert_eq!(me.machine.core.config.epoch, 2);
    me.hear(EYE, install(1, &[ME, HIGH]))
        .sent(EYE, install(2, &[ME, EYE]))
        .nothing_else_happened();
}
