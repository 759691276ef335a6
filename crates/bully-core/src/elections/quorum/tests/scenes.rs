//! One scene for each rule of a change of the voters, of a voter's memory, of slow voters, and of a takeover.

use super::{epochs::*, late::*, memory::*, pace::*, slow::*, takeover::*, *};

/// A test of one rule. It returns whether the rule holds with this configuration.
pub(super) type Scene = fn(QuorumConfig) -> bool;

macro_rules! scenes {
    ($($name:ident),+ $(,)?) => { [$((stringify!($name), $name as Scene)),+] };
}

pub(super) use scenes;

#[test]
fn each_rule_holds_in_its_scene() {
    let scenes = scenes![
        a_seal_is_written,
        a_sealed_voter_acknowledges_no_leader,
        a_vote_reports_the_seal,
        a_reported_seal_is_heeded,
        the_highest_seal_is_adopted,
        one_seal_of_three_decides_nothing,
        an_epoch_is_written,
        a_higher_leader_voids_a_seal,
        the_leader_of_its_term_voids_no_seal,
        the_leadership_is_lost_before_the_seal,
        no_change_begins_that_leaves_no_quorum,
        an_agent_that_knows_a_list_tells_it_after_its_restart,
        another_incarnation_is_refused,
        a_late_voter_abstains,
        an_incarnation_that_was_denied_is_not_heard,
        another_store_is_not_heard,
        the_incarnation_is_written_before_the_first_ack,
        an_old_copy_ends,
        an_announcement_is_remembered,
        a_late_vote_elects,
        a_late_answer_doubles_the_next_round,
        a_slow_voter_asks_no_leader_to_give_way,
        a_leader_hands_over_to_the_best_voter_for_any_asker,
    ];
    for (name, holds) in scenes {
        assert!(holds(config()), "{name}");
    }
}

/// Returns a follower of HIGH that has sealed HIGH's term.
fn sealed_by(config: QuorumConfig) -> Kit {
    Kit::following_by(config).after(HIGH, seal(OLD, &[ME, HIGH]))
}

pub(super) fn a_seal_is_written(config: QuorumConfig) -> bool {
    Kit::following_by(config)
        .hear(HIGH, seal(OLD, &[ME, HIGH]))
        .writes()
}

pub(super) fn a_sealed_voter_acknowledges_no_leader(config: QuorumConfig) -> bool {
    let mut me = sealed_by(config);
    me.hear(HIGH, heartbeat(OLD, 9)).messages().is_empty()
}

pub(super) fn a_vote_reports_the_seal(config: QuorumConfig) -> bool {
    let mut me = sealed_by(config);
    me.later(P);
    let effects = me.hear(LOW, claim(OLD + 1, 1));
    let said = effects.messages();
    let reports = |said: &&QuorumMessage| matches!(said, QuorumMessage::ClaimReply(reply) if reply.seal.is_some());
    said.iter().any(reports)
}

pub(super) fn a_reported_seal_is_heeded(config: QuorumConfig) -> bool {
    let mut me = Kit::claiming_by(config);
    me.hear(LOW, reports(&grants(MINE), 1, &[ME, LOW]))
        .whatever();
    matches!(me.machine.state, State::Sealing(_))
}

pub(super) fn the_highest_seal_is_adopted(config: QuorumConfig) -> bool {
    let mut me = Kit::asking_by(config);
    me.machine.core.voter.record.voters = Some(Box::new(seals(1, &[ME, HIGH])));
    let mut me = me.after(LOW, yields(1)).after(HIGH, yields(1));
    me.hear(LOW, reports(&grants(MINE), 2, &[ME, LOW]))
        .whatever();
    record(&me).seal().map(|seal| &seal.next) == Some(&decree(1, &[ME, LOW]))
}

pub(super) fn one_seal_of_three_decides_nothing(config: QuorumConfig) -> bool {
    let mut me = Kit::heard_by(config);
    me.change(remove(LOW)).whatever();
    me.step(Input::Drained).whatever();
    record(&me).installed().is_none()
}

pub(super) fn an_epoch_is_written(config: QuorumConfig) -> bool {
    Kit::following_by(config)
        .hear(HIGH, install(1, &[ME, HIGH]))
        .writes()
}

pub(super) fn a_higher_leader_voids_a_seal(config: QuorumConfig) -> bool {
    let me = sealed_by(config).after(LOW, elected(OLD + 1, 1));
    record(&me).seal().is_none() && me.machine.state.following().is_some()
}

pub(super) fn the_leader_of_its_term_voids_no_seal(config: QuorumConfig) -> bool {
    let me = sealed_by(config).after(HIGH, heartbeat(OLD, 9));
    record(&me).seal().is_some()
}

pub(super) fn the_leadership_is_lost_before_the_seal(config: QuorumConfig) -> bool {
    let mut me = Kit::heard_by(config);
    me.change(remove(LOW)).whatever();
    let effects = me.step(Input::Drained);
    let reason = LostReason::VotersChange;
    let term = Term(MINE);
    effects.events().first() == Some(&&Event::Lost { term, reason })
}

pub(super) fn no_change_begins_that_leaves_no_quorum(config: QuorumConfig) -> bool {
    let mut me = Kit::leading_by(config);
    // The leader has not heard HIGH, so HIGH counts as down.
    me.change(remove(LOW)).whatever();
    matches!(&me.machine.state, State::Leading(leading) if leading.leaving.is_none())
}

pub(super) fn an_agent_that_knows_a_list_tells_it_after_its_restart(config: QuorumConfig) -> bool {
    let record = record(&removed_by_itself(&config)).clone();
    let mut again = Kit::reborn(typed_without_me(config), MemberKind::Voter, Some(5), record);
    let start = again.start();
    start.messages() == [&QuorumMessage::from(install(1, &[LOW, HIGH]))]
}
