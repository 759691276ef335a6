//! Commands to change the voters: the voters that may be added, the refusals, and the way of the answer.

use super::{epochs::*, *};
use crate::elections::message::{AskChange, ChangeAnswer};
use crate::protocol::{ChangeError, Changed, Contact, NewVoter, VoterChange, VotersEvent};

#[test]
fn a_leader_refuses_a_change_with_its_reason() {
    let mut me = Kit::heard();
    for (old, new, reason) in [
        ("new", "newer", ChangeError::NotAVoter { id: id("new") }),
        (LOW, HIGH, ChangeError::AlreadyAVoter { id: id(HIGH) }),
    ] {
        let (old, new) = (id(old), voter(new));
        let asked = VoterChange::Replace { old, new };
        let refused = answered(asked.clone(), Err(reason));
        me.change(asked).notified(refused).nothing_else_happened();
    }
}

#[test]
fn a_voter_that_is_not_listed_is_refused_unless_it_is_a_learner() {
    let voters = || valid(QuorumConfig::new([LOW, HIGH, "other"].map(id)));
    let asks = |config: QuorumConfig, kind| {
        QuorumBully::requirements(&Arc::new(config), &id(ME), kind).map(|asks| asks.storage)
    };
    let learner = || QuorumConfig {
        learner: true,
        ..voters()
    };
    assert!(asks(voters(), MemberKind::Voter).is_err());
    let kept = asks(learner(), MemberKind::Voter);
    assert_eq!(kept, Ok(crate::protocol::Storage::Record));
    let none = asks(learner(), MemberKind::Observer);
    assert_eq!(none, Ok(crate::protocol::Storage::Nothing));
    let diskless = QuorumConfig {
        diskless: Some(crate::elections::quorum::Diskless::default()),
        ..learner()
    };
    assert!(asks(diskless, MemberKind::Voter).is_err());
}

#[test]
fn only_a_learner_that_was_heard_of_late_is_made_a_voter() {
    let not_seen = || Err(ChangeError::NotSeen { id: id(EYE) });
    let mut me = Kit::heard();
    let refused = answered(add(EYE), not_seen());
    me.change(add(EYE))
        .notified(refused.clone())
        .nothing_else_happened();
    me.hear(EYE, enlist(MINE - 1)).nothing_else_happened();
    me.change(add(EYE))
        .notified(refused)
        .nothing_else_happened();
    me.hear(EYE, enlist(MINE)).nothing_else_happened();
    me.change(add(EYE)).drained(MINE, None).whatever();

    let mut me = Kit::heard().after(EYE, enlist(MINE));
    for _ in 0..6 {
        me.later(H).acked(LOW, 1).whatever();
    }
    me.change(add(EYE))
        .notified(answered(add(EYE), not_seen()))
        .nothing_else_happened();
}

#[test]
fn one_change_at_a_time_and_the_same_one_asked_for_again_does_no_harm() {
    let mut me = Kit::heard();
    me.change(remove(LOW)).drained(MINE, None).whatever();
    me.change(remove(LOW)).nothing_else_happened();
    me.change(remove(HIGH))
        .notified(answered(remove(HIGH), Err(ChangeError::UnderWay)))
        .nothing_else_happened();
    me.step_down(Some(HIGH)).nothing_else_happened();
    me.set_score(None).nothing_else_happened();
    me.step(Input::Drained)
        .lost(MINE, LostReason::VotersChange)
        .whatever();
}

#[test]
fn no_change_begins_while_the_leader_steps_down_or_raises_its_term() {
    let refused = || answered(remove(LOW), Err(ChangeError::UnderWay));
    let mut me = Kit::heard();
    me.step_down(None).whatever();
    me.change(remove(LOW))
        .notified(refused())
        .nothing_else_happened();
    let mut me = Kit::heard().after(HIGH, nack(MINE + 5));
    me.change(remove(LOW))
        .notified(refused())
        .nothing_else_happened();
}

/// A leader must not seal in a term that it has only claimed.
#[test]
fn a_leader_that_has_to_raise_its_term_meanwhile_resigns_and_seals_nothing() {
    let mut me = Kit::heard();
    me.change(remove(LOW)).whatever();
    me.hear(HIGH, nack(MINE + 5)).whatever();
    let effects = me.step(Input::Drained).lost(MINE, LostReason::Resigned);
    let said: Vec<_> = effects.messages().into_iter().cloned().collect();
    assert!(matches!(said.as_slice(), [QuorumMessage::Resign(_)]));
    effects.whatever();
    assert_eq!(record(&me).seal(), None);
}

#[test]
fn a_change_that_leaves_no_list_is_refused() {
    let leading = |config: QuorumConfig| {
        let mut me = Kit::known(config, Some(5));
        me.fire(BullyTimer::Election).whatever();
        assert!(me.view().leading.is_some(), "the only voter leads");
        me
    };
    let alone = || valid(QuorumConfig::new([id(ME)]));
    let mut me = leading(alone());
    me.change(remove(ME))
        .notified(answered(remove(ME), Err(ChangeError::LastVoter)))
        .nothing_else_happened();
    let by_number = QuorumConfig {
        vote_quorum: Some(1),
        lease_quorum: Some(1),
        ..alone()
    };
    let mut me = leading(by_number);
    let led = me.view().term.0;
    me.hear(EYE, enlist(led)).nothing_else_happened();
    let reason = ChangeError::Quorums { voters: 2 };
    me.change(add(EYE))
        .notified(answered(add(EYE), Err(reason)))
        .nothing_else_happened();
    let forgetful = QuorumConfig {
        diskless: Some(crate::elections::quorum::Diskless::default()),
        ..config()
    };
    assert!(forgetful.check().is_ok());
}

/// The only voter of a group decides alone. Then it needs the vote of the second one.
#[test]
fn a_group_of_one_grows_to_two() {
    let config = valid(QuorumConfig::new([id(ME)]));
    let mut me = Kit::known(config, Some(5));
    me.fire(BullyTimer::Election).whatever();
    let led = me.view().term.0;
    me.hear(EYE, enlist(led)).nothing_else_happened();
    me.change(add(EYE)).whatever();
    me.step(Input::Drained)
        .lost(led, LostReason::VotersChange)
        .whatever();
    assert_eq!(record(&me).installed(), Some(&decree(1, &[ME, EYE])));
    assert_eq!(me.view().leading, None, "it has one vote of two");
    me.hear(EYE, grants(NEXT + 1)).whatever();
    let echo = me.now;
    me.hear(EYE, ack(NEXT + 1, echo, 9)).whatever();
    assert_eq!(me.view().leading, Some(Term(NEXT + 1)));
}

#[test]
fn a_follower_passes_a_change_on_and_gets_the_outcome() {
    let mut me = Kit::following();
    let (term, change) = (Term(OLD), Box::new(remove(LOW)));
    let ask = AskChange {
        term,
        change: change.clone(),
        is_unentitled: false,
    };
    me.change(remove(LOW))
        .sent(HIGH, ask)
        .nothing_else_happened();
    let answer = |change: &VoterChange| ChangeAnswer {
        term,
        change: Box::new(change.clone()),
        outcome: Err(ChangeError::UnderWay),
    };
    me.hear(HIGH, answer(&remove(HIGH))).nothing_else_happened();
    me.hear(HIGH, answer(&remove(LOW)))
        .notified(answered(remove(LOW), Err(ChangeError::UnderWay)))
        .nothing_else_happened();
    me.hear(HIGH, answer(&remove(LOW))).nothing_else_happened();

    me.change(remove(LOW)).whatever();
    let heard = me.hear(HIGH, install(1, &[ME, HIGH]));
    let done = Changed {
        epoch: 1,
        voters: decree(1, &[ME, HIGH]).names().cloned().collect(),
        already: false,
    };
    assert!(done.is_even());
    let events = heard.events().into_iter().cloned().collect::<Vec<_>>();
    assert!(events.contains(&answered(remove(LOW), Ok(done))));
    heard.whatever();
}

/// The limit counts the bytes in the record, which may be more than the bytes in memory.
#[test]
fn contacts_that_no_record_has_room_for_are_refused() {
    let mut me = Kit::heard().after(EYE, enlist(MINE));
    let with = |node: String| {
        let address = "10.0.0.9:7400".to_owned();
        VoterChange::Add(NewVoter {
            contact: Some(Contact { node, address }),
            ..voter(EYE)
        })
    };
    for (node, fits) in [("n".repeat(256), true), ("n".repeat(257), false)] {
        let change = with(node);
        let effects = me.change(change.clone());
        let is_refusal = |event: &VotersEvent| {
            matches!(
                event,
                VotersEvent::Answered {
                    outcome: Err(ChangeError::TooLong { .. }),
                    ..
                }
            )
        };
        let refused = effects
            .events()
            .into_iter()
            .any(|event| matches!(event, Event::Voters(event) if is_refusal(event)));
        effects.whatever();
        assert_eq!(refused, !fits);
        me = Kit::heard().after(EYE, enlist(MINE));
    }
}
