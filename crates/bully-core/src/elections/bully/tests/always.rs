//! Properties of every input in every role.

use super::*;

/// Calls `check` with each input that a driver passes on, in each role.
fn every_cell(mut check: impl FnMut(&str, &Kit, &Input<BullyMessage, BullyTimer, Infallible>)) {
    for (role, me) in Bully::roles() {
        for input in inputs(&me) {
            if admits(&me.machine.core.me.members, &id(ME), &input) {
                check(role, &me, &input);
            }
        }
    }
}

/// Returns the term in the message.
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

/// `renew-above`: the leader's followers would otherwise take it for an older leader.
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
