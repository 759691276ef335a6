//! Voters that may have lost a part of their memory: the rules of the page `memory`.

use super::*;
use crate::driver::MembersReports as _;
use crate::elections::message::{QuorumMessage as Message, Recall};
use crate::protocol::{Presence, StoreId};

fn asks(effects: &StepEffects) -> bool {
    let is_recall = |message: &&Message| matches!(message, Message::Recall(_));
    effects.messages().iter().any(is_recall)
}

fn heard(incarnation: u64, term: u64) -> Heard {
    Heard {
        store: None,
        incarnation: Some(Incarnation(incarnation)),
        term: Term(term),
    }
}

/// Returns a record of this term that the incarnation before this one has written.
fn written(term: u64) -> Vote {
    Vote {
        incarnation: Some(Incarnation(0)),
        ..vote(term, HIGH, P)
    }
}

// ---- one incarnation -------------------------------------------------------------------------

/// `bound-to-one-incarnation`: a second process with a copy of the leader's store sends a question.
pub(super) fn another_incarnation_is_refused(config: QuorumConfig) -> bool {
    let mut me = Kit::following_by(config);
    let asked = me.hear_incarnation(HIGH, 2, elect(OLD, 9));
    let refused = asked.messages() == [&Message::from(alive(1, OLD, P))];
    let claimed = me.hear_incarnation(HIGH, 2, claim(OLD + 1, 9));
    refused && !claimed.writes()
}

#[test]
fn a_vote_is_for_one_incarnation() {
    let mut me = Kit::vacant().after(LOW, claim(4, 1));
    let claimed = me.hear_incarnation(LOW, 2, claim(4, 1));
    assert!(!claimed.writes());
    let said = claimed.messages();
    assert!(matches!(said[..], [Message::ClaimReply(reply)] if !reply.granted));
}

// ---- the others' stores ----------------------------------------------------------------------

pub(super) fn comes_with(me: &mut Kit, name: &str, incarnation: u64, store: u64) -> StepEffects {
    let mut member = me.members.get(&id(name)).cloned().unwrap();
    member.incarnation = Some(Incarnation(incarnation));
    member.store = Some(StoreId::new(store));
    me.told(|members| members.join([member]))
}

/// HIGH leads with the store 7, and returns with the store 8.
pub(super) fn another_store_is_not_heard(config: QuorumConfig) -> bool {
    let mut me = Kit::known(config, Some(5));
    comes_with(&mut me, HIGH, 1, 7).whatever();
    me.hear(HIGH, heartbeat(OLD, 9)).whatever();
    me.later(P);
    comes_with(&mut me, HIGH, 2, 8).whatever();
    let claimed = me.hear_incarnation(HIGH, 2, claim(OLD + 1, 9));
    let stores = [StoreId::new(7), StoreId::new(8)];
    let told = claimed.tells(
        |told| matches!(told, VotersEvent::OtherStore { kept, found, .. } if [*kept, *found] == stores),
    );
    let again = me.hear_incarnation(HIGH, 2, claim(OLD + 2, 9));
    told && !is_over(&claimed) && !claimed.writes() && again.events().is_empty()
}

#[test]
fn acknowledgements_and_votes_with_another_store_count_for_nothing() {
    let mut me = Kit::leading();
    comes_with(&mut me, LOW, 1, 7).whatever();
    me.acked(LOW, 1).whatever();
    comes_with(&mut me, LOW, 2, 8).whatever();
    me.later(D - 1);
    let now = me.now;
    me.hear_incarnation(LOW, 2, ack(MINE, now, 1)).whatever();
    me.later(1);
    assert_eq!(me.view().leading, None, "the lease was not renewed");
}

#[test]
fn a_later_epoch_forgets_the_stores() {
    let mut me = Kit::known(config(), Some(5));
    comes_with(&mut me, HIGH, 1, 7).whatever();
    me.hear(HIGH, heartbeat(OLD, 9)).whatever();
    assert!(!me.machine.core.voter.record.others.is_empty());
    me.hear(LOW, epochs::install(1, &[LOW, ME, HIGH]))
        .whatever();
    assert!(me.machine.core.voter.record.others.is_empty());
}

/// HIGH's store may have been lost before HIGH learned of the later epoch.
#[test]
fn messages_of_an_earlier_epoch_are_not_remembered() {
    let epoch = 1;
    let config = QuorumConfig { epoch, ..config() };
    let first = config.first_term().0 + 1;
    let mut me = Kit::began(config, MemberKind::Voter, Some(5)).started();
    comes_with(&mut me, HIGH, 1, 7).whatever();
    me.hear(HIGH, heartbeat(OLD, 9)).whatever();
    comes_with(&mut me, HIGH, 2, 8).whatever();
    me.later(P);
    assert!(me.hear_incarnation(HIGH, 2, claim(first, 9)).writes());
}

#[test]
fn memories_of_other_voters_are_written_within_a_minute() {
    let mut me = Kit::leading();
    me.later(59_999);
    assert!(!me.acked(LOW, 1).writes());
    me.later(1);
    assert!(!me.hear(LOW, elect(MINE, 1)).writes(), "a question");
    let effects = me.acked(LOW, 1);
    let Some(Effect::Persist(record)) = effects.0.back() else {
        panic!("nothing was written");
    };
    assert_eq!(record.others.get(&id(LOW)), Some(&heard(1, MINE)));
    me.later(60_000);
    assert!(!me.acked(LOW, 1).writes(), "nothing new");
}

pub(super) fn an_announcement_is_remembered(config: QuorumConfig) -> bool {
    let mut me = Kit::following_by(config);
    me.hear(HIGH, heartbeat(OLD + 1, 9)).whatever();
    let effects = me.hear_incarnation(HIGH, 2, Recall { seen: Term(OLD) });
    matches!(
        effects.messages()[..],
        [Message::Recalled(Recalled { heard, .. })] if *heard == self::heard(1, OLD + 1)
    )
}

// ---- an old copy -----------------------------------------------------------------------------

fn is_over(effects: &StepEffects) -> bool {
    effects.events().iter().any(|event| event.ends_agent())
}

/// Returns whether an agent that starts with this record ends when a voter has this memory of it.
fn ends(config: QuorumConfig, record: Vote, remembered: Heard) -> bool {
    let mut me = Kit::reborn(config, MemberKind::Voter, Some(5), record);
    me.start().whatever();
    let over = is_over(&me.hear(LOW, recalled(remembered)));
    let speaks = me.later(P).hear(LOW, claim(40, 1)).speaks();
    assert_eq!(speaks, !over, "it is silent then");
    over
}

pub(super) fn an_old_copy_ends(config: QuorumConfig) -> bool {
    ends(config, written(OLD), heard(0, OLD + 1))
}

#[test]
fn a_record_below_what_another_voter_heard_ends_the_agent() {
    assert!(ends(config(), written(OLD), heard(0, OLD + 1)), "a vote");
    let later = Vote {
        incarnation: None,
        ..written(OLD)
    };
    assert!(ends(config(), later, heard(0, OLD)), "an incarnation");
    assert!(ends(config(), Vote::default(), heard(0, 1)), "empty");
}

/// The follower is killed three times after its first acknowledgement, and does not vote in between.
#[test]
fn a_follower_that_only_acknowledged_is_accepted_however_often_it_is_killed() {
    let mut leads = Kit::leading(); // LOW has acknowledged in its first incarnation
    for incarnation in [2, 3, 4] {
        let mut is_remembered_by_its_record = || {
            let seen = Term(MINE);
            let asked = leads.hear_incarnation(LOW, incarnation, Recall { seen });
            let [Message::Recalled(answer), Message::Heartbeat(_)] = asked.messages()[..] else {
                panic!("no answer: {asked:?}");
            };
            assert_eq!(answer.heard, heard(incarnation - 1, MINE));
            let now = leads.now;
            leads
                .hear_incarnation(LOW, incarnation, ack(MINE, now, 1))
                .whatever();
        };
        is_remembered_by_its_record();
        // Messages of the present incarnation do not show with which record it began.
        is_remembered_by_its_record();
    }
}

pub(super) fn the_incarnation_is_written_before_the_first_ack(config: QuorumConfig) -> bool {
    let mut me = Kit::reborn(config, MemberKind::Voter, Some(5), written(OLD));
    me.start().whatever();
    let effects = me.hear(HIGH, heartbeat(OLD, 9));
    let lines = effects.lines();
    let written = lines.iter().position(|line| line.starts_with("persist"));
    let said = lines.iter().position(|line| line.contains("ack term"));
    written.is_some() && written < said
}

// ---- the question ----------------------------------------------------------------------------

#[test]
fn a_voter_that_appears_after_the_start_is_asked_at_once() {
    let mut me = Kit::began(config(), MemberKind::Voter, Some(5));
    let up = me.members.get(&id(HIGH)).cloned().unwrap();
    let mut unseen = up.clone();
    (unseen.presence, unseen.incarnation) = (Presence::Unseen, None);
    me.members.leave(&id(HIGH));
    me.members.join([unseen]);
    assert!(asks(&me.start()));
    let linked = me.told(|members| members.join([up]));
    assert!(asks(&linked), "its link is there now");
    let again = me.told(|members| members.set_score(&id(HIGH), Some(8.into())));
    assert!(!asks(&again), "asked");
}

#[test]
fn a_voter_asks_all_voters_at_its_start_and_silent_voters_when_it_hears_them() {
    let mut me = Kit::reborn(config(), MemberKind::Voter, Some(5), written(OLD));
    assert!(asks(&me.start()));
    assert!(!asks(&me.hear(HIGH, heartbeat(OLD, 9))), "within the round");
    me.later(E);
    assert!(asks(&me.hear(HIGH, heartbeat(OLD, 9))));
    me.hear(HIGH, recalled(Heard::default())).whatever();
    me.later(E);
    assert!(!asks(&me.hear(HIGH, heartbeat(OLD, 9))), "answered");
    assert!(asks(&me.hear(LOW, elect(OLD, 1))), "the other one did not");
}

#[test]
fn a_voter_without_a_record_votes_when_the_first_has_answered_or_after_a_round() {
    let mut me = Kit::began(config(), MemberKind::Voter, Some(5));
    assert!(asks(&me.start()));
    assert!(!me.hear(HIGH, claim(1, 9)).writes());
    me.hear(LOW, recalled(Heard::default()))
        .nothing_else_happened();
    assert!(me.hear(HIGH, claim(1, 9)).writes());

    let mut me = Kit::began(config(), MemberKind::Voter, Some(5)).started();
    me.later(E);
    assert!(me.hear(HIGH, claim(1, 9)).writes(), "no voter answers");
}
