//! The release of a lease, which is repeated until the store has confirmed it.

use super::*;

#[test]
fn a_release_that_was_lost_is_asked_for_again_and_an_earlier_read_asks_for_nothing() {
    let mut me = Kit::giving_back();
    let shown = me.machine.core.sight.as_ref().unwrap().record().cloned();
    let (first, _) = me.attempt();
    me.machine.core.reads.ask(first - 1, me.now);
    me.shown(Some(first - 1), holds(shown.clone(), None))
        .set(BullyTimer::Detect, POLL)
        .nothing_else_happened();
    me.later(POLL).sees(shown).whatever();
    let (second, record) = me.attempt();
    assert!(second > first && record.holder.is_none());
}

#[test]
fn a_late_word_of_its_lease_does_not_bring_it_back() {
    let mut me = Kit::leading();
    me.later(H).fire(BullyTimer::Heartbeat).whatever();
    let (request, record) = me.attempt();
    me.step_down(None).whatever();
    me.step(Input::Drained).whatever();
    let applied = Answer::Applied(version(Some(&record.nonce)));
    assert_eq!(me.shown(Some(request), applied), NOTHING);
    me.later(1).sees(Some(record)).whatever();
    assert_eq!(me.view().leading, None);
    assert_eq!(me.attempt().1.holder, None, "it releases the renewed lease");
}
