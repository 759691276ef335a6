//! Each defect of a change of the voters, of what a voter may have forgotten, and of slow voters, in one directed scene: the rule holds in it, and with the defect it
//! does not.

use super::{epochs::*, late::*, memory::*, slow::*, slow_disk::*, *};

/// A scene says whether the rule held.
type Scene = fn(QuorumConfig) -> bool;

const SCENES: &[(Defect, Scene)] = &[
    (Defect::SealUnwritten, a_seal_is_written),
    (Defect::AckAfterSeal, a_sealed_voter_acknowledges_nobody),
    (Defect::SealUnreported, a_vote_reports_the_seal),
    (Defect::ReportIgnored, a_reported_seal_is_heeded),
    (Defect::LowestSealAdopted, the_highest_seal_is_adopted),
    (Defect::InstalledEarly, one_seal_of_three_decides_nothing),
    (Defect::EpochUnwritten, an_epoch_is_written),
    (Defect::SealNeverVoid, a_higher_leader_voids_a_seal),
    (
        Defect::SealVoidAtItsTerm,
        the_leader_of_its_term_voids_no_seal,
    ),
    (
        Defect::SealBeforeLost,
        the_leadership_is_lost_before_the_seal,
    ),
    (
        Defect::QuorumNotLeft,
        no_change_begins_that_leaves_no_quorum,
    ),
    (
        Defect::ListUntold,
        a_list_is_told_by_the_one_that_knows_it_after_its_restart,
    ),
];

const OF_MEMORY: &[(Defect, Scene)] = &[
    (Defect::BoundToTheName, another_incarnation_is_refused),
    (Defect::LateVotesAtOnce, a_late_voter_abstains),
    (Defect::ExcusedByOne, it_is_excused_by_all_only),
    (Defect::DeniedHeard, what_was_denied_is_not_heard),
    (Defect::AnyStore, another_store_is_not_heard),
    (
        Defect::IncarnationUnrecorded,
        the_incarnation_is_written_before_the_first_ack,
    ),
    (Defect::OldCopyVotes, an_old_copy_ends),
    (Defect::AnnouncementForgotten, an_announcement_is_remembered),
];

const OF_SLOWNESS: &[(Defect, Scene)] = &[
    (Defect::TermPerRound, a_late_vote_elects),
    (
        Defect::RoundsUndoubled,
        a_late_answer_doubles_the_next_round,
    ),
    (
        Defect::SlowPreferred,
        a_slow_voter_asks_no_leader_to_give_way,
    ),
];

#[test]
fn each_defect_of_slowness_breaks_the_scene_of_its_rule() {
    let named: Vec<_> = OF_SLOWNESS.iter().map(|(defect, _)| *defect).collect();
    assert_eq!(named, Defect::OF_SLOWNESS);
    for (defect, holds) in OF_SLOWNESS {
        assert!(holds(config()), "without {defect:?}");
        assert!(!holds(planted(*defect)), "{defect:?}");
    }
}

#[test]
fn each_defect_of_memory_breaks_the_scene_of_its_rule() {
    let named: Vec<_> = OF_MEMORY.iter().map(|(defect, _)| *defect).collect();
    assert_eq!(named, Defect::OF_MEMORY);
    for (defect, holds) in OF_MEMORY {
        assert!(holds(config()), "without {defect:?}");
        assert!(!holds(planted(*defect)), "{defect:?}");
    }
}

#[test]
fn each_defect_of_a_change_breaks_the_scene_of_its_rule() {
    let named: Vec<_> = SCENES.iter().map(|(defect, _)| *defect).collect();
    assert_eq!(named, Defect::OF_A_CHANGE);
    for (defect, holds) in SCENES {
        assert!(holds(config()), "without {defect:?}");
        assert!(!holds(planted(*defect)), "{defect:?}");
    }
}

/// Follows HIGH, and has sealed the term that HIGH led in.
fn sealed_by(config: QuorumConfig) -> Kit {
    Kit::following_by(config).after(HIGH, seal(OLD, &[ME, HIGH]))
}

fn a_seal_is_written(config: QuorumConfig) -> bool {
    Kit::following_by(config)
        .hear(HIGH, seal(OLD, &[ME, HIGH]))
        .writes()
}

fn a_sealed_voter_acknowledges_nobody(config: QuorumConfig) -> bool {
    let mut me = sealed_by(config);
    me.hear(HIGH, heartbeat(OLD, 9)).messages().is_empty()
}

fn a_vote_reports_the_seal(config: QuorumConfig) -> bool {
    let mut me = sealed_by(config);
    me.later(P);
    let seen = me.hear(LOW, claim(OLD + 1, 1));
    let said = seen.messages();
    let reports = |said: &&QuorumMessage| matches!(said, QuorumMessage::ClaimReply(reply) if reply.seal.is_some());
    said.iter().any(reports)
}

fn a_reported_seal_is_heeded(config: QuorumConfig) -> bool {
    let mut me = Kit::claiming_by(config);
    me.hear(LOW, reports(&grants(MINE), 1, &[ME, LOW]))
        .whatever();
    matches!(me.machine.state, State::Sealing(_))
}

fn the_highest_seal_is_adopted(config: QuorumConfig) -> bool {
    let mut me = Kit::asking_by(config);
    me.machine.core.voter.record.voters = Some(Box::new(seals(1, &[ME, HIGH])));
    let mut me = me.after(LOW, yields(1)).after(HIGH, yields(1));
    me.hear(LOW, reports(&grants(MINE), 2, &[ME, LOW]))
        .whatever();
    record(&me).seal().map(|seal| &seal.next) == Some(&decree(1, &[ME, LOW]))
}

fn one_seal_of_three_decides_nothing(config: QuorumConfig) -> bool {
    let mut me = Kit::heard_by(config);
    me.change(remove(LOW)).whatever();
    me.step(Input::Drained).whatever();
    record(&me).installed().is_none()
}

fn an_epoch_is_written(config: QuorumConfig) -> bool {
    Kit::following_by(config)
        .hear(HIGH, install(1, &[ME, HIGH]))
        .writes()
}

fn a_higher_leader_voids_a_seal(config: QuorumConfig) -> bool {
    let me = sealed_by(config).after(LOW, elected(OLD + 1, 1));
    record(&me).seal().is_none() && me.machine.state.following().is_some()
}

fn the_leader_of_its_term_voids_no_seal(config: QuorumConfig) -> bool {
    let me = sealed_by(config).after(HIGH, heartbeat(OLD, 9));
    record(&me).seal().is_some()
}

fn the_leadership_is_lost_before_the_seal(config: QuorumConfig) -> bool {
    let mut me = Kit::heard_by(config);
    me.change(remove(LOW)).whatever();
    let seen = me.step(Input::Drained);
    let reason = LostReason::VotersChange;
    let term = Term(MINE);
    seen.events().first() == Some(&&Event::Lost { term, reason })
}

fn no_change_begins_that_leaves_no_quorum(config: QuorumConfig) -> bool {
    let mut me = Kit::leading_by(config);
    // HIGH is down.
    me.change(remove(LOW)).whatever();
    matches!(&me.machine.state, State::Leading(leading) if leading.leaving.is_none())
}

fn a_list_is_told_by_the_one_that_knows_it_after_its_restart(config: QuorumConfig) -> bool {
    let record = record(&removed_by_itself(&config)).clone();
    let mut again = Kit::reborn(typed_without_me(config), MemberKind::Voter, Some(5), record);
    let start = again.start();
    start.messages() == [&QuorumMessage::from(install(1, &[LOW, HIGH]))]
}
