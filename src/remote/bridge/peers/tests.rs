//! The effects of a peer's machine for each sequence of events, without a runtime.

use std::time::Duration;

use crate::remote::{Limits, LinkId, LinkStatus, NodeIncarnation};

use super::{
    Backoff, ConnId, DialError, LinkLoss, Origin, PeerEffect, PeerInput, PeerMachine, ReadyLink,
    machine::{DROPS, FLAPS},
};

const LONG: Duration = Duration::from_secs(60);
const OVER: PeerInput = PeerInput::WaitOver;
const REFUSED: PeerInput = PeerInput::DialFailed(DialError::Refused);
const UNANSWERED: PeerInput = PeerInput::DialFailed(DialError::NoAnswer);
const DROPPED: PeerInput = PeerInput::DialFailed(DialError::Dropped);

/// Returns the input for a link that this side dialled, with this incarnation of the peer and this link id.
fn ready(conn: u64, incarnation: u64, id: u8) -> PeerInput {
    PeerInput::Ready(ReadyLink {
        conn: ConnId(conn),
        incarnation: NodeIncarnation(incarnation),
        id: LinkId([id; 16]),
        origin: Origin::Dialled,
    })
}

/// Returns the input for a link that the peer dialled, with this incarnation of the peer and this link id.
fn comes(conn: u64, incarnation: u64, id: u8) -> PeerInput {
    let PeerInput::Ready(link) = ready(conn, incarnation, id) else {
        unreachable!("it is ready");
    };
    let origin = Origin::Accepted;
    PeerInput::Ready(ReadyLink { origin, ..link })
}

fn closed(conn: u64, how: LinkLoss, lasted: Duration) -> PeerInput {
    let conn = ConnId(conn);
    PeerInput::Closed { conn, how, lasted }
}

/// Returns the input for a link that breaks after a long time.
fn lost(conn: u64) -> PeerInput {
    closed(conn, LinkLoss::Broken, LONG)
}

fn shown(effect: &PeerEffect) -> String {
    match effect {
        PeerEffect::Dial => "dial".to_owned(),
        PeerEffect::Wait { min, max } => {
            format!("wait {}..{}", min.as_millis(), max.as_millis())
        }
        PeerEffect::Replace(conn) => format!("replace {}", conn.0),
        PeerEffect::CloseStale(conn) => format!("stale {}", conn.0),
        PeerEffect::Dismiss(conn) => format!("dismiss {}", conn.0),
        PeerEffect::Report(change) => format!("{change:?}"),
    }
}

fn with_address() -> PeerMachine {
    PeerMachine::new(Backoff::of(&Limits::default()), true, None)
}

/// Returns a peer with an address that is linked by connection 1, in incarnation 5 of its process.
fn linked() -> PeerMachine {
    let mut peer = with_address();
    peer.plays([(PeerInput::Start, "dial"), (ready(1, 5, 1), "Up")]);
    peer
}

impl PeerMachine {
    fn effects(&mut self, input: PeerInput) -> String {
        let effects: Vec<_> = self.handle(input).iter().map(shown).collect();
        effects.join(", ")
    }

    /// Checks the effects of each input in turn.
    #[track_caller]
    fn plays<const N: usize>(&mut self, scene: [(PeerInput, &str); N]) {
        for (step, (input, effects)) in scene.into_iter().enumerate() {
            assert_eq!(self.effects(input), effects, "step {step}");
        }
    }

    /// Whether readers see the link with this id and this incarnation.
    fn is_linked_by(&self, incarnation: u64, id: u8) -> bool {
        let id = LinkId([id; 16]);
        let link = (self.stage(), self.known());
        link == (
            LinkStatus::Linked { id },
            Some(NodeIncarnation(incarnation)),
        )
    }
}

#[test]
fn a_lost_link_is_redialled_at_once_and_the_same_incarnation_changes_nothing() {
    let mut peer = linked();
    peer.plays([(lost(1), "dial")]);
    assert_eq!(peer.stage(), LinkStatus::Dialing);
    peer.plays([(ready(2, 5, 2), "Relinked")]);
    assert!(peer.is_linked_by(5, 2));
}

#[test]
fn a_process_that_is_killed_again_and_again_is_redialled_at_once_each_time() {
    let mut peer = linked();
    for incarnation in 6..12 {
        let soon = Duration::from_millis(300);
        let dials = peer.effects(closed(incarnation - 5, LinkLoss::Broken, soon));
        assert_eq!(dials, "dial", "incarnation {incarnation}");
        for next in [REFUSED, OVER, ready(incarnation - 4, incarnation, 1)] {
            peer.handle(next);
        }
    }
}

/// The kernel of a process that is being killed still accepts connections for a moment.
#[test]
fn a_redial_that_is_dropped_is_tried_again_in_a_moment() {
    linked().plays([
        (lost(1), "dial"),
        (DROPPED, "wait 1..2"), // nothing is told
        (OVER, "dial"),
        (REFUSED, "Gone, wait 0..200"),
    ]);
    let mut drops_all = linked();
    drops_all.plays([(lost(1), "dial")]);
    for _ in 0..DROPS {
        drops_all.plays([(DROPPED, "wait 1..2"), (OVER, "dial")]);
    }
    assert!(drops_all.effects(DROPPED).starts_with("OutOfReach, wait"));
}

#[test]
fn a_refused_redial_is_an_end() {
    linked().plays([
        (lost(1), "dial"),
        (REFUSED, "Gone, wait 0..100"),
        (OVER, "dial"),
        (REFUSED, "wait 0..200"), // told once
        (OVER, "dial"),
        (ready(2, 5, 2), "Up"), // the suspicion was wrong
    ]);
}

#[test]
fn silence_leaves_the_decision_to_the_elections_until_a_dial_is_refused() {
    linked().plays([
        (lost(1), "dial"),
        (UNANSWERED, "OutOfReach, wait 0..100"),
        (OVER, "dial"),
        (REFUSED, "Gone, wait 0..200"),
    ]);
}

#[test]
fn a_later_incarnation_ends_the_former_one() {
    let mut peer = linked();
    peer.plays([(lost(1), "dial"), (ready(2, 6, 2), "Restarted, Up")]);
    assert_eq!(peer.known(), Some(NodeIncarnation(6)));
    // The end of the former incarnation was reported before.
    linked().plays([
        (closed(1, LinkLoss::Left, LONG), "Gone, wait 0..100"),
        (ready(2, 6, 2), "Up"),
    ]);
}

#[test]
fn a_later_incarnation_replaces_a_link_that_still_seems_to_be_up() {
    let mut peer = linked();
    peer.plays([
        (ready(2, 6, 0), "replace 1, Restarted, Up"),
        (lost(1), ""),
        (ready(3, 5, 9), "stale 3"),
    ]);
    assert!(peer.is_linked_by(6, 0));
}

/// The two sides see the two links in different orders, and must keep the same link.
#[test]
fn of_two_links_the_one_with_the_larger_id_stays_whichever_came_first() {
    for (first, second, effects) in [
        (ready(1, 5, 1), ready(2, 5, 2), "replace 1, Relinked"),
        (ready(2, 5, 2), ready(1, 5, 1), "replace 1"),
    ] {
        let mut peer = with_address();
        peer.plays([(PeerInput::Start, "dial"), (first, "Up"), (second, effects)]);
        assert!(peer.is_linked_by(5, 2));
        peer.plays([(closed(1, LinkLoss::Replaced, LONG), "")]);
    }
}

#[test]
fn a_link_that_the_peer_replaces_is_not_redialled_while_the_other_one_comes() {
    let mut peer = linked();
    peer.plays([
        (closed(1, LinkLoss::Replaced, LONG), "wait 100..100"),
        (ready(2, 5, 2), "Relinked"),
        (OVER, ""),
    ]);
    assert!(peer.is_linked_by(5, 2));
}

#[test]
fn links_that_break_soon_are_redialled_a_few_times_and_then_less_and_less() {
    let mut peer = linked();
    let mut waits = Vec::new();
    for conn in 1..12 {
        let soon = Duration::from_millis(1);
        let effects = peer.effects(closed(conn, LinkLoss::Broken, soon));
        if effects != "dial" {
            peer.plays([(OVER, "dial")]);
            waits.push(effects);
        }
        peer.plays([(ready(conn + 1, 5, 2), "Relinked")]);
    }
    let longest = [800, 1_600, 3_200, 6_400, 10_000, 10_000, 10_000, 10_000];
    assert_eq!(waits, longest.map(|most| format!("wait 0..{most}")));
    assert_eq!(waits.len() + usize::try_from(FLAPS).unwrap(), 11);
    peer.plays([(lost(12), "dial")]); // one that lasted is forgiven
}

/// The peer breaks a rule, or it wants no link.
#[test]
fn a_peer_that_is_to_blame_waits_for_a_second_and_more() {
    let (mut misbehaves, mut rejects) = (linked(), with_address());
    rejects.plays([(PeerInput::Start, "dial")]);
    for step in 0..9u32 {
        let longest = (1_000 << step.min(6)).min(60_000);
        let penalty = format!("wait 1000..{longest}");
        let conn = u64::from(step) + 1;
        let soon = Duration::from_millis(1);
        misbehaves.plays([
            (closed(conn, LinkLoss::Misbehaved, soon), &penalty),
            (OVER, "dial"),
            (ready(conn + 1, 5, 2), "Relinked"),
        ]);
        let rejected = PeerInput::DialFailed(DialError::Rejected);
        rejects.plays([(rejected, &penalty), (OVER, "dial")]);
    }
}

/// This process has to take part again soon after the later process has ended.
#[test]
fn a_peer_that_knows_a_later_process_of_this_node_is_asked_once_a_second() {
    let mut peer = with_address();
    peer.plays([(PeerInput::Start, "dial")]);
    for longest in [100, 200, 400, 800, 1_000, 1_000] {
        let stale = PeerInput::DialFailed(DialError::Stale);
        let wait = format!("wait 0..{longest}");
        peer.plays([(stale, &wait), (OVER, "dial")]);
    }
}

#[test]
fn without_an_address_the_peer_is_waited_for() {
    let mut peer = PeerMachine::new(Backoff::of(&Limits::default()), false, None);
    peer.plays([
        (PeerInput::Start, ""),
        (ready(1, 5, 1), "Up"),
        (lost(1), "wait 10000..10000"),
        (OVER, "OutOfReach"),
        (ready(2, 5, 2), "Up"),
    ]);
}

#[test]
fn a_link_from_the_peer_serves_while_an_own_attempt_is_under_way() {
    with_address().plays([
        (PeerInput::Start, "dial"),
        (comes(1, 5, 1), "Up"), // it dialled as well
        (UNANSWERED, ""),
        (lost(1), "dial"),
    ]);
    linked().plays([
        (lost(1), "dial"),
        (comes(2, 5, 2), "Relinked"),
        (lost(2), ""), // the attempt that is under way is the redial
    ]);
}

#[test]
fn a_removed_peer_is_left_alone() {
    linked().plays([
        (PeerInput::Removed, "dismiss 1"),
        (lost(1), ""),
        (OVER, ""),
        (PeerInput::Start, ""),
    ]);
}

#[test]
fn an_earlier_incarnation_is_let_in_once_the_later_one_is_forgotten() {
    let mut peer = linked();
    peer.plays([
        (closed(1, LinkLoss::Left, LONG), "Gone, wait 0..100"),
        (comes(2, 3, 2), "stale 2"),
    ]);
    peer.forget_later_than(NodeIncarnation(3));
    assert_eq!(peer.known(), None);
    peer.plays([(comes(3, 3, 3), "Up")]);
    peer.forget_later_than(NodeIncarnation(4));
    assert_eq!(peer.known(), Some(NodeIncarnation(3)), "it is no later one");
}

/// Nothing else would end the attempt, because the closed connection never was the link of this peer.
#[test]
fn a_peer_whose_dialled_link_is_stale_is_dialled_again() {
    linked().plays([
        (lost(1), "dial"),
        (ready(2, 3, 2), "stale 2, OutOfReach, wait 1000..1000"),
        (closed(2, LinkLoss::Misbehaved, Duration::ZERO), ""),
        (OVER, "dial"),
    ]);
}
