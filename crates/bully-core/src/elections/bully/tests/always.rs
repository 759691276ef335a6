//! What holds for every input in every role.

use super::*;

/// Each input that a driver hands on, in each role.
fn every_cell(mut check: impl FnMut(&str, &Kit, &Input<BullyMessage, BullyTimer, Infallible>)) {
    for (role, me) in Bully::roles() {
        for input in inputs(&me) {
            if admits(&me.machine.core.me.members, &id(ME), &input) {
                check(role, &me, &input);
            }
        }
    }
}

/// The term that a message tells of.
const fn term_of(message: &BullyMessage) -> Term {
    match message {
        BullyMessage::Elect(Elect { seen, .. })
        | BullyMessage::Ok(Ok { seen, .. })
        | BullyMessage::Yield(Yield { seen, .. })
        | BullyMessage::Behind(Behind { seen }) => *seen,
        BullyMessage::Elected(Elected { term, .. })
        | BullyMessage::Heartbeat(Heartbeat { term, .. })
        | BullyMessage::Resign(Resign { term, .. }) => *term,
    }
}

/// `always-answer`
#[test]
fn a_voter_answers_each_question_once_and_names_its_round() {
    every_cell(|cell, me, input| {
        let Input::Received {
            from,
            message: BullyMessage::Elect(elect),
            ..
        } = input
        else {
            return;
        };
        let mut then = me.clone();
        let effects = then.step(input.clone());
        let is_answer = |effect: &&_| {
            matches!(effect, Effect::Send { to: To::One(to), message }
                if to == from && !matches!(message, BullyMessage::Elect(_)))
        };
        let answers: Vec<_> = effects.0.iter().filter(is_answer).collect();
        if *from == id(EYE) || !me.machine.core.me.is_voter() {
            assert!(answers.is_empty(), "{cell}, {input:?}: {answers:?}");
            return;
        }
        let [Effect::Send { message, .. }] = answers.as_slice() else {
            panic!("{cell}, {input:?}: {answers:?}");
        };
        if me.role() == Role::Leader {
            answers_as_a_leader(me, &then, elect, message);
        } else {
            let expected = answer(me, &then, from, elect);
            assert_eq!(*message, expected, "{cell}, {input:?}");
        }
    });
}

/// The answer of an agent that does not lead: `Ok` if it ranks above the asker and competes, or if it still follows a
/// leader, and otherwise `Yield`.
fn answer(me: &Kit, then: &Kit, from: &AgentId, elect: &Elect) -> BullyMessage {
    let core = &me.machine.core;
    let competes = core.may_lead() && !core.cooldown.has_begun() && elect.seen < Term(u64::MAX);
    let is_below = (core.me.score, &core.me.id) > (Some(elect.score), from);
    let follows = me.role() == Role::Follower && then.view().leader.is_some();
    let (round, seen) = (elect.round, core.highest_term.max(elect.seen));
    if follows || competes && is_below {
        let refusal = None;
        return Ok {
            round,
            seen,
            refusal,
        }
        .into();
    }
    let (released, clock) = (None, None);
    Yield {
        round,
        seen,
        released,
        clock,
    }
    .into()
}

fn answers_as_a_leader(me: &Kit, then: &Kit, elect: &Elect, answer: &BullyMessage) {
    if let BullyMessage::Elected(said) = answer {
        assert_eq!(said.answer, Some(elect.round));
        assert_eq!(then.view().leading, Some(said.term));
        return;
    }
    let (round, seen) = (elect.round, me.machine.core.highest_term.max(elect.seen));
    let (released, clock) = (me.view().leading, None);
    assert_eq!(
        *answer,
        Yield {
            round,
            seen,
            released,
            clock
        }
        .into()
    );
    assert_eq!(then.view().leading, None);
    assert!(elect.score > Score::from(5), "it ranks above");
}

#[test]
fn the_term_of_each_message_is_known_from_then_on() {
    every_cell(|cell, me, input| {
        let Input::Received { from, message, .. } = input else {
            return;
        };
        let is_foreign = Bully::is_for_voters(message)
            && (*from == id(EYE)
                || matches!(message, BullyMessage::Elect(_)) && !me.machine.core.me.is_voter());
        if !is_foreign {
            let mut then = me.clone();
            then.step(input.clone()).whatever();
            let known = then.machine.core.highest_term;
            assert!(known >= term_of(message), "{cell}, {input:?}: {known}");
        }
    });
}

/// `renew-above`: its followers would take it for an older leader.
#[test]
fn a_leader_that_hears_of_a_higher_term_leads_above_it_or_no_more() {
    let mut renewed = BTreeSet::new();
    every_cell(|cell, me, input| {
        let (Some(term), Input::Received { from, message, .. }) = (me.view().leading, input) else {
            return;
        };
        let is_foreign = Bully::is_for_voters(message) && *from == id(EYE);
        let heard = term_of(message);
        if is_foreign || matches!(message, BullyMessage::Resign(_)) || heard == Term(u64::MAX) {
            return;
        }
        let mut then = me.clone();
        let effects = then.step(input.clone());
        let Some(now) = then.view().leading else {
            return;
        };
        if heard <= term {
            assert_eq!(now, term, "{cell}, {input:?}");
            return;
        }
        assert!(now > heard, "{cell}, {input:?}: leads in {now}");
        assert_eq!(
            effects.events(),
            [&Event::Renewed { term: now }],
            "{cell}, {input:?}"
        );
        let said = |effect: &_| matches!(effect, Effect::Send { to: To::All, message: BullyMessage::Elected(said) } if said.term == now);
        assert!(effects.0.iter().any(said), "{cell}, {input:?}");
        renewed.insert(message.kind());
    });
    let all = ["behind", "elect", "elected", "heartbeat", "ok", "yield"];
    assert_eq!(renewed, BTreeSet::from(all));
}
