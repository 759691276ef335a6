//! The messages that pass, that are dropped, and that end the link.

use super::*;

/// The breach "`from` not allowed", for messages.
#[test]
fn a_message_of_an_agent_that_was_not_announced_ends_the_link() {
    let mut link = InboundLink::opened(&[voter("a")]);
    assert_eq!(link.message(5, 1, 9), Err(Closed::FromNotAllowed));
    assert_eq!(link.message(5, u32::MAX, 9), Err(Closed::FromNotAllowed));
    let left = RosterContent {
        left: vec![0],
        ..RosterContent::default()
    };
    assert!(link.roster(None, &left).is_ok());
    assert_eq!(link.message(5, 0, 9), Err(Closed::FromNotAllowed));
}

/// A message of an older incarnation is ignored and counted.
#[test]
fn a_message_of_a_former_incarnation_is_dropped() {
    let mut link = InboundLink::new(Rights::all());
    let mut ended = voter("b");
    ended.ends = [Incarnation(9)].into_iter().collect();
    link.open(&[voter("a"), ended]).unwrap();
    let former = || Ok(Err(DropReason::FormerIncarnation));
    assert_eq!(link.message(5, 0, 8), former());
    assert_eq!(link.message(5, 1, 9), former(), "it has ended for certain");
    assert!(is_passed(&link.message(5, 1, 10)));
    assert!(
        is_passed(&link.message(5, 0, 12)),
        "the roster may come later"
    );
    assert_eq!(link.message(5, 0, 11), former());
}

/// The breach "`to` or group unknown".
#[test]
fn messages_to_unknown_agents_are_dropped_and_too_many_end_the_link() {
    let mut link = InboundLink::new(Rights::all());
    let at = Time::from_millis;
    for n in 0..50 {
        let dropped = link.message_at(at(n), 7, 0, 9);
        assert_eq!(dropped, Ok(Err(DropReason::UnknownGroup)));
        let dropped = link.inbound.unknown_agent(at(n));
        assert_eq!(dropped, Ok(DropReason::UnknownAgent));
    }
    let too_many = link.message_at(at(9_999), 7, 0, 9);
    assert_eq!(too_many, Err(Closed::UnknownTargets));
    let too_many = link.inbound.unknown_agent(at(9_999));
    assert_eq!(too_many, Err(Closed::UnknownTargets));
    assert!(
        link.message_at(at(10_000), 7, 0, 9).is_ok(),
        "the first are forgotten"
    );
}

#[test]
fn nothing_crosses_for_a_group_with_other_rules() {
    let mut link = InboundLink::new(Rights::all());
    link.standing.set(GroupStanding::Mismatch);
    let mismatch = link.roster(Some(SHOP), &announce(&[voter("a")]));
    assert_eq!(mismatch, Ok(FrameVerdict::Drop(DropReason::Mismatch)));
    for _ in 0..1_000 {
        assert_eq!(link.message(5, 0, 9), Ok(Err(DropReason::Mismatch)));
    }
}
