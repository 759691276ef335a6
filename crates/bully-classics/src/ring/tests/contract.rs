//! The properties that hold after every step of a ring, beside those of every election: members to which it sends
//! nothing, the needed timers, and that a weaker election never replaces a stronger one.

use std::collections::BTreeSet;

use super::*;

/// Asserts the rule `yield-to-stronger`.
pub(super) fn is_suppressed(before: &Ring, ring: &Ring) {
    if let (Some(before), Some(now)) = (before.election(), ring.election()) {
        assert!(before <= now, "the weaker election {now} replaced {before}");
    }
}

/// Asserts that no message goes to a member that has ended, and that no message that goes round goes to a skipped
/// member.
pub(super) fn may_be_sent(ring: &Ring, to: &To, message: &RingMessage) {
    let check = |id: &AgentId| {
        let member = ring.core.me.members.get(id).expect("a member");
        let has_ended = member.presence == bully_core::protocol::Presence::Down;
        assert!(!has_ended, "{message} to {id}, which has ended");
        let is_skipped = ring.core.is_skipped(member);
        // Another message is a probe, or goes to the sender of a message, which the snapshot may suspect.
        let goes_round = matches!(
            message,
            RingMessage::Collect(_) | RingMessage::Nominate(_) | RingMessage::Coordinator(_)
        );
        assert!(
            !(goes_round && is_skipped),
            "{message} to {id}, which is skipped"
        );
    };
    match to {
        To::One(id) => check(id),
        To::Set(ids) => {
            ids.iter().for_each(check);
        }
        To::All => panic!("no member of a ring sends a message to all"),
    }
}

pub(super) fn needed(ring: &Ring) -> BTreeSet<RingTimer> {
    let mut needed: BTreeSet<RingTimer> = ring
        .core
        .hops
        .keys()
        .map(|lap| RingTimer::Hop(*lap))
        .collect();
    let mut if_so = |so: bool, timer| so.then(|| needed.insert(timer));
    if_so(ring.campaign.contest().is_some(), RingTimer::Token);
    if_so(is_scheduled(ring), RingTimer::Slot);
    if_so(ring.core.probe.is_some(), RingTimer::Probe);
    if_so(ring.core.cooldown.has_begun(), RingTimer::Cooldown);
    match &ring.state {
        State::Vacant => {}
        State::Follower(_) => drop(if_so(true, RingTimer::Silence)),
        State::Leader(leading) => {
            if_so(true, RingTimer::Silence);
            if_so(true, RingTimer::Heartbeat);
            if_so(leading.handover.is_some(), RingTimer::Drain);
        }
    }
    needed
}

/// Asserts that an agent that can be elected and has no leader begins an election, now or by a timer.
pub(super) fn moves_on(ring: &Ring) {
    let idle = ring.state == State::Vacant && ring.campaign == Campaign::Idle;
    assert!(
        !(idle && ring.stepped.is_some() && ring.core.may_lead()),
        "{ring:?}"
    );
    let skipped = |m: &Member| ring.core.is_skipped(m);
    if ring.core.me.members.iter().any(skipped) {
        assert!(ring.core.probe.is_some(), "a member is skipped for ever");
    }
    let is_open = |c: &Contest| c.id.term > ring.core.closed || c.is_announced();
    assert!(
        ring.campaign.contest().is_none_or(is_open),
        "the election has ended"
    );
    for to in ring.awaited() {
        let member = ring.core.me.members.get(to).expect("a member");
        assert!(
            member.presence != bully_core::protocol::Presence::Down
                && !ring.core.is_skipped(member)
        );
    }
}

fn is_scheduled(ring: &Ring) -> bool {
    matches!(ring.campaign, Campaign::Scheduled { .. })
}
