//! The release of a lease, which is repeated until the store has confirmed it.

use super::*;

#[test]
fn it_resigns_before_it_asks_and_cools_down() {
    let mut me = Kit::draining();
    let over = me.machine.core.sight.as_ref().unwrap().record().cloned();
    let request = me.request() + 1;
    let wait = config().wait().into();
    let record = LeaseRecord {
        holder: None,
        next: Some(Successor { id: id(LOW), wait }),
        ..held(ME, MINE, request)
    };
    me.step(Input::Drained)
        .lost(MINE, LostReason::Resigned)
        .set(BullyTimer::Detect, POLL)
        .swapped(request, over.as_ref().map(|over| &over.nonce), record)
        .set(BullyTimer::Cooldown, COOLDOWN)
        .nothing_else_happened();
}

#[test]
fn an_applied_release_ends_the_lease_and_the_successor_goes_first() {
    let mut me = Kit::giving_back();
    let wait = u64::try_from(config().wait().as_millis()).unwrap();
    me.later(4).applied().next_slot(wait + 9 * SLOT); // it cools down: behind all others, and HIGH is one of them
}

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
fn another_record_ends_it() {
    let mut me = Kit::giving_back();
    me.later(1).sees(Some(held(LOW, MINE + 1, 1))).whatever();
    assert_eq!(me.machine.core.releasing, None);
    assert_eq!(me.leader().as_deref(), Some(LOW));
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
    assert_eq!(me.attempt().1.holder, None, "it releases what was renewed");
}
