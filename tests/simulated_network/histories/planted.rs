//! Would these histories notice an agent or a bridge that breaks a rule? Those that take several
//! hosts to be noticed, or that histories notice as well as a test does.

use actix_bully::planted::{Defect, VARIABLE};

use simulated_network::{
    check::MOVES,
    kinds::{Fault, Kinds},
    many::{play, play_all, play_with_application},
};

#[path = "../../common/planted.rs"]
mod again;

/// One after the other, so that what is broken first is the same each time.
#[test]
fn sixty_histories_keep_every_promise() {
    let sum = play_all(&(0..60), &Fault::all(), 1, play);
    let broken = sum.broken.map(|(seed, tale)| (seed, tale.broken));
    assert_eq!(broken, None);
}

/// Where no agent moves, no name is ever another agent's.
#[test]
fn thirty_histories_in_which_no_agent_moves_keep_every_promise() {
    let mut kinds = Fault::all();
    kinds.retain(|fault| !MOVES.contains(fault));
    let sum = play_all(&(0..30), &kinds, 1, play);
    let broken = sum.broken.map(|(seed, tale)| (seed, tale.broken));
    assert_eq!(broken, None);
}

/// After a start with a clock that is ahead, numbers go on by counting, and agents count as well.
#[test]
fn sixty_histories_of_wrong_clocks_and_crashes_keep_every_promise() {
    let kinds = Kinds::from([Fault::WallAhead, Fault::CrashAgent, Fault::Kill]);
    let sum = play_all(&(0..60), &kinds, 1, play);
    let broken = sum.broken.map(|(seed, tale)| (seed, tale.broken));
    assert_eq!(broken, None);
}

/// Where a peer with another list in the same epoch is heard, its vote elects a leader whose list nobody else has.
#[test]
fn forty_histories_of_changing_voters_keep_every_promise() {
    let sum = play_all(&(190..230), &Fault::of_voters(), 1, play);
    let broken = sum.broken.map(|(seed, tale)| (seed, tale.broken));
    assert_eq!(broken, None);
}

#[test]
fn sixty_histories_with_an_application_keep_every_promise() {
    let sum = play_all(&(0..60), &Fault::all(), 1, play_with_application);
    let broken = sum.broken.map(|(seed, tale)| (seed, tale.broken));
    assert_eq!(broken, None);
}

/// Strangers say of leaders that they have ended.
#[test]
fn forty_histories_with_sentinels_keep_every_promise() {
    let sum = play_all(&(0..40), &Fault::of_sentinels(), 1, play);
    let broken = sum.broken.map(|(seed, tale)| (seed, tale.broken));
    assert_eq!(broken, None);
}

#[test]
fn defects_of_agents_and_bridges_are_found() {
    let test = "planted::sixty_histories_keep_every_promise";
    let clocks = "planted::sixty_histories_of_wrong_clocks_and_crashes_keep_every_promise";
    let voters = "planted::forty_histories_of_changing_voters_keep_every_promise";
    let messages = "planted::sixty_histories_with_an_application_keep_every_promise";
    let sentinels = "planted::forty_histories_with_sentinels_keep_every_promise";
    let cases = [
        (Defect::WorksAfterLease, test, "ran after its leadership"),
        (Defect::FirstDrainsAll, test, "before its work had ended"),
        (Defect::SendsBeforeRecord, test, "with a record of"),
        (Defect::ListNotPassed, voters, "was answered with"),
        (Defect::ReportOfAnyRoute, test, "b knows 2 members"),
        (Defect::AnyEpochJoined, voters, "no quorum has sealed"),
        (Defect::SilenceIsConfirmed, test, "counted refused_name"),
        (Defect::IncarnationsOverlap, clocks, "no agreement within"),
        (Defect::NoticeUnchecked, sentinels, "no agreement within"),
        (Defect::AnyNode, messages, "was handled twice"),
    ];
    again::are_found("simulated_network", VARIABLE, &cases);
}
