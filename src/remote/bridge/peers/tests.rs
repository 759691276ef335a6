//! What the machine of a peer does at each turn of events, without a runtime.

use std::time::Duration;

use crate::remote::{Limits, LinkId, LinkStatus, NodeIncarnation};

use super::{
    Backoff, ConnId, DialError, LinkLoss, Origin, PeerChange, PeerEffect, PeerInput, PeerMachine,
    ReadyLink,
    machine::{DROPS, FLAPS, MOMENT},
};

const MS: fn(u64) -> Duration = Duration::from_millis;
const PENALTY: Duration = Duration::from_secs(1);
const MOST_PENALTY: Duration = Duration::from_secs(60);
const LONG: Duration = Duration::from_secs(60);

fn link(conn: u64, incarnation: u64, id: u8) -> ReadyLink {
    ReadyLink {
        conn: ConnId(conn),
        incarnation: NodeIncarnation(incarnation),
        id: LinkId([id; 16]),
        origin: Origin::Dialled,
    }
}

/// What readers see of a link with this name, to this incarnation.
fn linked_by(incarnation: u64, id: u8) -> (LinkStatus, Option<NodeIncarnation>) {
    let id = LinkId([id; 16]);
    (
        LinkStatus::Linked { id },
        Some(NodeIncarnation(incarnation)),
    )
}

fn from_peer(link: ReadyLink) -> PeerInput {
    let origin = Origin::Accepted;
    PeerInput::Ready(ReadyLink { origin, ..link })
}

fn closed(conn: u64, how: LinkLoss, lasted: Duration) -> PeerInput {
    let conn = ConnId(conn);
    PeerInput::Closed { conn, how, lasted }
}

fn wait(max: u64) -> PeerEffect {
    let (min, max) = (Duration::ZERO, MS(max));
    PeerEffect::Wait { min, max }
}

fn with_address() -> PeerMachine {
    PeerMachine::new(Backoff::of(&Limits::default()), true, None)
}

/// A peer with an address that is linked by connection 1, in incarnation 5 of its process.
fn linked() -> PeerMachine {
    let mut peer = with_address();
    assert_eq!(peer.handle(PeerInput::Start), [PeerEffect::Dial]);
    let up = [PeerEffect::Report(PeerChange::Up)];
    assert_eq!(peer.handle(PeerInput::Ready(link(1, 5, 1))), up);
    peer
}

#[test]
fn a_lost_link_is_redialled_at_once_and_the_same_incarnation_changes_nothing() {
    let mut peer = linked();
    assert_eq!(
        peer.handle(closed(1, LinkLoss::Broken, LONG)),
        [PeerEffect::Dial],
        "nothing is told"
    );
    assert_eq!(peer.stage(), LinkStatus::Dialing);
    let relinked = [PeerEffect::Report(PeerChange::Relinked)];
    assert_eq!(peer.handle(PeerInput::Ready(link(2, 5, 2))), relinked);
    assert_eq!((peer.stage(), peer.known()), linked_by(5, 2));
}

#[test]
fn a_process_that_is_killed_again_and_again_is_redialled_at_once_each_time() {
    let mut peer = linked();
    for incarnation in 6..12 {
        let dials = peer.handle(closed(incarnation - 5, LinkLoss::Broken, MS(300)));
        assert_eq!(dials, [PeerEffect::Dial], "incarnation {incarnation}");
        peer.handle(PeerInput::DialFailed(DialError::Refused));
        peer.handle(PeerInput::WaitOver);
        peer.handle(PeerInput::Ready(link(incarnation - 4, incarnation, 1)));
    }
}

/// The kernel of a process that is being killed goes on taking connections for a moment.
#[test]
fn a_redial_that_is_dropped_is_tried_again_in_a_moment() {
    let (min, max) = MOMENT;
    let moment = PeerEffect::Wait { min, max };
    let mut peer = linked();
    peer.handle(closed(1, LinkLoss::Broken, LONG));
    let dropped = PeerInput::DialFailed(DialError::Dropped);
    assert_eq!(peer.handle(dropped), [moment], "nothing is told");
    assert_eq!(peer.handle(PeerInput::WaitOver), [PeerEffect::Dial]);
    let gone = peer.handle(PeerInput::DialFailed(DialError::Refused));
    assert_eq!(gone.first(), Some(&PeerEffect::Report(PeerChange::Gone)));

    let mut peer = linked();
    peer.handle(closed(1, LinkLoss::Broken, LONG));
    for _ in 0..DROPS {
        assert_eq!(peer.handle(dropped), [moment]);
        assert_eq!(peer.handle(PeerInput::WaitOver), [PeerEffect::Dial]);
    }
    let away = peer.handle(dropped);
    let out_of_reach = PeerEffect::Report(PeerChange::OutOfReach);
    assert_eq!(
        away.first(),
        Some(&out_of_reach),
        "it drops every connection"
    );
}

#[test]
fn a_refused_redial_is_an_end() {
    let mut peer = linked();
    peer.handle(closed(1, LinkLoss::Broken, LONG));
    let gone = [PeerEffect::Report(PeerChange::Gone), wait(100)];
    assert_eq!(peer.handle(PeerInput::DialFailed(DialError::Refused)), gone);
    assert_eq!(peer.handle(PeerInput::WaitOver), [PeerEffect::Dial]);
    let again = peer.handle(PeerInput::DialFailed(DialError::Refused));
    assert_eq!(again, [wait(200)], "told once");
    assert_eq!(peer.handle(PeerInput::WaitOver), [PeerEffect::Dial]);
    let up = [PeerEffect::Report(PeerChange::Up)];
    assert_eq!(
        peer.handle(PeerInput::Ready(link(2, 5, 2))),
        up,
        "the suspicion was wrong"
    );
}

#[test]
fn silence_leaves_the_decision_to_the_elections_until_a_dial_is_refused() {
    let mut peer = linked();
    peer.handle(closed(1, LinkLoss::Broken, LONG));
    let away = [PeerEffect::Report(PeerChange::OutOfReach), wait(100)];
    assert_eq!(
        peer.handle(PeerInput::DialFailed(DialError::NoAnswer)),
        away
    );
    peer.handle(PeerInput::WaitOver);
    let gone = [PeerEffect::Report(PeerChange::Gone), wait(200)];
    assert_eq!(peer.handle(PeerInput::DialFailed(DialError::Refused)), gone);
}

#[test]
fn a_later_incarnation_ends_the_former_one() {
    let mut peer = linked();
    peer.handle(closed(1, LinkLoss::Broken, LONG));
    let restarted = [PeerChange::Restarted, PeerChange::Up].map(PeerEffect::Report);
    assert_eq!(peer.handle(PeerInput::Ready(link(2, 6, 2))), restarted);
    assert_eq!(peer.known(), Some(NodeIncarnation(6)));

    let mut gone = linked();
    gone.handle(closed(1, LinkLoss::Left, LONG));
    let up = [PeerEffect::Report(PeerChange::Up)];
    assert_eq!(
        gone.handle(PeerInput::Ready(link(2, 6, 2))),
        up,
        "its end was told before"
    );
}

#[test]
fn a_later_incarnation_replaces_a_link_that_still_seems_to_be_up() {
    let mut peer = linked();
    let expected = [
        PeerEffect::Replace(ConnId(1)),
        PeerEffect::Report(PeerChange::Restarted),
        PeerEffect::Report(PeerChange::Up),
    ];
    assert_eq!(peer.handle(PeerInput::Ready(link(2, 6, 0))), expected);
    assert!(peer.handle(closed(1, LinkLoss::Broken, LONG)).is_empty());
    let stale = [PeerEffect::CloseStale(ConnId(3))];
    assert_eq!(peer.handle(PeerInput::Ready(link(3, 5, 9))), stale);
    assert_eq!((peer.stage(), peer.known()), linked_by(6, 0));
}

/// Both sides see the two links in different orders, and keep the same one.
#[test]
fn of_two_links_the_one_with_the_larger_id_stays_whichever_came_first() {
    for [first, second] in [[(1, 1), (2, 2)], [(2, 2), (1, 1)]] {
        let mut peer = with_address();
        peer.handle(PeerInput::Start);
        peer.handle(PeerInput::Ready(link(first.0, 5, first.1)));
        let effects = peer.handle(PeerInput::Ready(link(second.0, 5, second.1)));
        assert!(
            effects.contains(&PeerEffect::Replace(ConnId(1))),
            "{effects:?}"
        );
        assert_eq!((peer.stage(), peer.known()), linked_by(5, 2));
        assert!(peer.handle(closed(1, LinkLoss::Replaced, LONG)).is_empty());
    }
}

#[test]
fn a_link_that_the_peer_replaces_is_not_redialled_while_the_other_one_comes() {
    let mut peer = linked();
    let waits = [PeerEffect::Wait {
        min: MS(100),
        max: MS(100),
    }];
    assert_eq!(peer.handle(closed(1, LinkLoss::Replaced, LONG)), waits);
    peer.handle(PeerInput::Ready(link(2, 5, 2)));
    assert!(peer.handle(PeerInput::WaitOver).is_empty());
    assert_eq!((peer.stage(), peer.known()), linked_by(5, 2));
}

#[test]
fn links_that_break_soon_are_redialled_a_few_times_and_then_less_and_less() {
    let mut peer = linked();
    let mut waits = Vec::new();
    for conn in 1..12 {
        match peer
            .handle(closed(conn, LinkLoss::Broken, MS(1)))
            .as_slice()
        {
            [PeerEffect::Dial] => waits.push(0),
            [PeerEffect::Wait { max, .. }] => {
                waits.push(max.as_millis());
                assert_eq!(peer.handle(PeerInput::WaitOver), [PeerEffect::Dial]);
            }
            other => panic!("{other:?}"),
        }
        peer.handle(PeerInput::Ready(link(conn + 1, 5, 2)));
    }
    assert_eq!(
        waits,
        [
            0, 0, 0, 800, 1_600, 3_200, 6_400, 10_000, 10_000, 10_000, 10_000
        ]
    );
    assert_eq!(
        waits.iter().filter(|wait| **wait == 0).count(),
        usize::try_from(FLAPS).unwrap()
    );
    assert_eq!(
        peer.handle(closed(12, LinkLoss::Broken, LONG)),
        [PeerEffect::Dial],
        "one that lasted is forgiven"
    );
}

#[test]
fn a_peer_that_breaks_a_rule_waits_for_a_second_and_more() {
    let mut peer = linked();
    for step in 0..9u32 {
        let effects = peer.handle(closed(u64::from(step) + 1, LinkLoss::Misbehaved, MS(1)));
        let [PeerEffect::Wait { min, max }] = effects.as_slice() else {
            panic!("{effects:?}");
        };
        assert_eq!(*min, PENALTY);
        assert!((PENALTY..=MOST_PENALTY).contains(max));
        assert_eq!(*max, (PENALTY * (1 << step.min(6))).min(MOST_PENALTY));
        peer.handle(PeerInput::WaitOver);
        peer.handle(PeerInput::Ready(link(u64::from(step) + 2, 5, 2)));
    }
}

#[test]
fn a_peer_that_wants_no_link_is_dialled_no_sooner_than_after_the_penalty() {
    let mut peer = with_address();
    peer.handle(PeerInput::Start);
    for step in 0..9u32 {
        let effects = peer.handle(PeerInput::DialFailed(DialError::Rejected));
        let [PeerEffect::Wait { min, max }] = effects.as_slice() else {
            panic!("{effects:?}");
        };
        assert_eq!(*min, PENALTY);
        assert_eq!(*max, (PENALTY * (1 << step.min(6))).min(MOST_PENALTY));
        assert_eq!(peer.handle(PeerInput::WaitOver), [PeerEffect::Dial]);
    }
}

#[test]
fn a_goodbye_is_an_end_and_is_not_redialled_at_once() {
    let mut peer = linked();
    let gone = [PeerEffect::Report(PeerChange::Gone), wait(100)];
    assert_eq!(peer.handle(closed(1, LinkLoss::Left, LONG)), gone);
}

#[test]
fn without_an_address_the_peer_is_waited_for() {
    let mut peer = PeerMachine::new(Backoff::of(&Limits::default()), false, None);
    let nothing: [PeerEffect; 0] = [];
    assert_eq!(peer.handle(PeerInput::Start), nothing);
    peer.handle(PeerInput::Ready(link(1, 5, 1)));
    let waits = [PeerEffect::Wait {
        min: MS(10_000),
        max: MS(10_000),
    }];
    assert_eq!(peer.handle(closed(1, LinkLoss::Broken, LONG)), waits);
    let away = [PeerEffect::Report(PeerChange::OutOfReach)];
    assert_eq!(peer.handle(PeerInput::WaitOver), away);
    let up = [PeerEffect::Report(PeerChange::Up)];
    assert_eq!(peer.handle(PeerInput::Ready(link(2, 5, 2))), up);
}

#[test]
fn a_link_from_the_peer_serves_while_an_own_attempt_is_under_way() {
    let mut peer = with_address();
    peer.handle(PeerInput::Start);
    peer.handle(from_peer(link(1, 5, 1))); // it dialled as well
    let nothing: [PeerEffect; 0] = [];
    assert_eq!(
        peer.handle(PeerInput::DialFailed(DialError::NoAnswer)),
        nothing
    );
    assert_eq!(
        peer.handle(closed(1, LinkLoss::Broken, LONG)),
        [PeerEffect::Dial]
    );

    let mut peer = linked();
    peer.handle(closed(1, LinkLoss::Broken, LONG));
    peer.handle(from_peer(link(2, 5, 2)));
    assert_eq!(
        peer.handle(closed(2, LinkLoss::Broken, LONG)),
        nothing,
        "the attempt that is under way is the redial"
    );
}

#[test]
fn a_removed_peer_is_left_alone() {
    let mut peer = linked();
    assert_eq!(
        peer.handle(PeerInput::Removed),
        [PeerEffect::Dismiss(ConnId(1))]
    );
    let nothing: [PeerEffect; 0] = [];
    for input in [
        closed(1, LinkLoss::Broken, LONG),
        PeerInput::WaitOver,
        PeerInput::Start,
    ] {
        assert_eq!(peer.handle(input), nothing);
    }
}

#[test]
fn an_earlier_incarnation_is_let_in_once_the_later_one_is_forgotten() {
    let mut peer = linked();
    peer.handle(closed(1, LinkLoss::Left, LONG));
    let stale = [PeerEffect::CloseStale(ConnId(2))];
    assert_eq!(peer.handle(from_peer(link(2, 3, 2))), stale);
    peer.forget_later_than(NodeIncarnation(3));
    assert_eq!(peer.known(), None);
    let up = [PeerEffect::Report(PeerChange::Up)];
    assert_eq!(peer.handle(from_peer(link(3, 3, 3))), up);
    assert_eq!(peer.known(), Some(NodeIncarnation(3)));
    peer.forget_later_than(NodeIncarnation(4));
    assert_eq!(peer.known(), Some(NodeIncarnation(3)), "it is no later one");
}

/// Nothing else would end the attempt: the connection is closed, and was never this peer's link.
#[test]
fn a_peer_whose_dialled_link_is_stale_is_dialled_again() {
    let mut peer = linked();
    peer.handle(closed(1, LinkLoss::Broken, LONG));
    let effects = peer.handle(PeerInput::Ready(link(2, 3, 2)));
    let wait = PeerEffect::Wait {
        min: PENALTY,
        max: PENALTY,
    };
    let expected = [
        PeerEffect::CloseStale(ConnId(2)),
        PeerEffect::Report(PeerChange::OutOfReach),
        wait,
    ];
    assert_eq!(effects, expected);
    assert!(
        peer.handle(closed(2, LinkLoss::Misbehaved, MS(0)))
            .is_empty()
    );
    assert_eq!(peer.handle(PeerInput::WaitOver), [PeerEffect::Dial]);
}
