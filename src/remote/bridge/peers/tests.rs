//! What the machine of a peer does at each turn of events, without a runtime.

use std::time::Duration;

use crate::remote::{LinkId, NodeIncarnation};

use super::{
    Backoff, ConnId, DialError, Effect, Input, Link, Loss, Origin, Peer, Report, Stage,
    machine::{DROPS, FLAPS, MOMENT},
};

const MS: fn(u64) -> Duration = Duration::from_millis;
const PENANCE: Duration = Duration::from_secs(1);
const MOST_PENANCE: Duration = Duration::from_secs(60);
const LONG: Duration = Duration::from_secs(60);

fn link(conn: u64, life: u64, id: u8) -> Link {
    Link {
        conn: ConnId(conn),
        incarnation: NodeIncarnation(life),
        id: LinkId([id; 16]),
        origin: Origin::Dialled,
    }
}

fn from_peer(link: Link) -> Input {
    let origin = Origin::Accepted;
    Input::Ready(Link { origin, ..link })
}

fn closed(conn: u64, how: Loss, lasted: Duration) -> Input {
    let conn = ConnId(conn);
    Input::Closed { conn, how, lasted }
}

fn rest(max: u64) -> Effect {
    let (min, max) = (Duration::ZERO, MS(max));
    Effect::Rest { min, max }
}

fn with_address() -> Peer {
    Peer::new(Backoff::default(), true)
}

/// A peer with an address that is linked by connection 1, in life 5 of its process.
fn linked() -> Peer {
    let mut peer = with_address();
    assert_eq!(peer.handle(Input::Start), [Effect::Dial]);
    let up = [Effect::Report(Report::Up)];
    assert_eq!(peer.handle(Input::Ready(link(1, 5, 1))), up);
    peer
}

#[test]
fn a_lost_link_is_redialled_at_once_and_the_same_life_is_no_news() {
    let mut peer = linked();
    assert_eq!(
        peer.handle(closed(1, Loss::Broken, LONG)),
        [Effect::Dial],
        "nobody is told"
    );
    assert_eq!(peer.stage(), Stage::Dialing);
    let relinked = [Effect::Report(Report::Relinked)];
    assert_eq!(peer.handle(Input::Ready(link(2, 5, 2))), relinked);
    assert_eq!(peer.stage(), Stage::Linked(link(2, 5, 2)));
}

#[test]
fn a_process_that_is_killed_again_and_again_is_redialled_at_once_each_time() {
    let mut peer = linked();
    for life in 6..12 {
        let dials = peer.handle(closed(life - 5, Loss::Broken, MS(300)));
        assert_eq!(dials, [Effect::Dial], "life {life}");
        peer.handle(Input::DialFailed(DialError::Refused));
        peer.handle(Input::Rested);
        peer.handle(Input::Ready(link(life - 4, life, 1)));
    }
}

/// The kernel of a process that is being killed goes on taking connections for a moment.
#[test]
fn a_redial_that_is_dropped_is_tried_again_in_a_moment() {
    let (min, max) = MOMENT;
    let moment = Effect::Rest { min, max };
    let mut peer = linked();
    peer.handle(closed(1, Loss::Broken, LONG));
    let dropped = Input::DialFailed(DialError::Dropped);
    assert_eq!(peer.handle(dropped), [moment], "nobody is told");
    assert_eq!(peer.handle(Input::Rested), [Effect::Dial]);
    let gone = peer.handle(Input::DialFailed(DialError::Refused));
    assert_eq!(gone.first(), Some(&Effect::Report(Report::Gone)));

    let mut peer = linked();
    peer.handle(closed(1, Loss::Broken, LONG));
    for _ in 0..DROPS {
        assert_eq!(peer.handle(dropped), [moment]);
        assert_eq!(peer.handle(Input::Rested), [Effect::Dial]);
    }
    let away = peer.handle(dropped);
    let out_of_reach = Effect::Report(Report::OutOfReach);
    assert_eq!(away.first(), Some(&out_of_reach), "it drops everybody");
}

#[test]
fn a_refused_redial_is_an_end() {
    let mut peer = linked();
    peer.handle(closed(1, Loss::Broken, LONG));
    let gone = [Effect::Report(Report::Gone), rest(100)];
    assert_eq!(peer.handle(Input::DialFailed(DialError::Refused)), gone);
    assert_eq!(peer.handle(Input::Rested), [Effect::Dial]);
    let again = peer.handle(Input::DialFailed(DialError::Refused));
    assert_eq!(again, [rest(200)], "told once");
    assert_eq!(peer.handle(Input::Rested), [Effect::Dial]);
    let up = [Effect::Report(Report::Up)];
    assert_eq!(
        peer.handle(Input::Ready(link(2, 5, 2))),
        up,
        "the suspicion was wrong"
    );
}

#[test]
fn silence_leaves_the_decision_to_the_elections_until_somebody_refuses() {
    let mut peer = linked();
    peer.handle(closed(1, Loss::Broken, LONG));
    let away = [Effect::Report(Report::OutOfReach), rest(100)];
    assert_eq!(peer.handle(Input::DialFailed(DialError::NoAnswer)), away);
    peer.handle(Input::Rested);
    let gone = [Effect::Report(Report::Gone), rest(200)];
    assert_eq!(peer.handle(Input::DialFailed(DialError::Refused)), gone);
}

#[test]
fn a_later_life_ends_the_former_one() {
    let mut peer = linked();
    peer.handle(closed(1, Loss::Broken, LONG));
    let restarted = [Report::Restarted, Report::Up].map(Effect::Report);
    assert_eq!(peer.handle(Input::Ready(link(2, 6, 2))), restarted);
    assert_eq!(peer.known(), Some(NodeIncarnation(6)));

    let mut gone = linked();
    gone.handle(closed(1, Loss::Left, LONG));
    let up = [Effect::Report(Report::Up)];
    assert_eq!(
        gone.handle(Input::Ready(link(2, 6, 2))),
        up,
        "its end was told before"
    );
}

#[test]
fn a_later_life_replaces_a_link_that_still_seems_to_stand() {
    let mut peer = linked();
    let expected = [
        Effect::Replace(ConnId(1)),
        Effect::Report(Report::Restarted),
        Effect::Report(Report::Up),
    ];
    assert_eq!(peer.handle(Input::Ready(link(2, 6, 0))), expected);
    assert!(peer.handle(closed(1, Loss::Broken, LONG)).is_empty());
    let stale = [Effect::CloseStale(ConnId(3))];
    assert_eq!(peer.handle(Input::Ready(link(3, 5, 9))), stale);
    assert_eq!(peer.stage(), Stage::Linked(link(2, 6, 0)));
}

/// T5: both sides see the two links in different orders, and keep the same one.
#[test]
fn of_two_links_the_one_with_the_larger_id_stays_whichever_came_first() {
    for [first, second] in [[(1, 1), (2, 2)], [(2, 2), (1, 1)]] {
        let mut peer = with_address();
        peer.handle(Input::Start);
        peer.handle(Input::Ready(link(first.0, 5, first.1)));
        let effects = peer.handle(Input::Ready(link(second.0, 5, second.1)));
        assert!(effects.contains(&Effect::Replace(ConnId(1))), "{effects:?}");
        assert_eq!(peer.stage(), Stage::Linked(link(2, 5, 2)));
        assert!(peer.handle(closed(1, Loss::Replaced, LONG)).is_empty());
    }
}

#[test]
fn a_link_that_the_peer_replaces_is_not_redialled_while_the_other_one_comes() {
    let mut peer = linked();
    let waits = [Effect::Rest {
        min: MS(100),
        max: MS(100),
    }];
    assert_eq!(peer.handle(closed(1, Loss::Replaced, LONG)), waits);
    peer.handle(Input::Ready(link(2, 5, 2)));
    assert!(peer.handle(Input::Rested).is_empty());
    assert_eq!(peer.stage(), Stage::Linked(link(2, 5, 2)));
}

#[test]
fn links_that_break_soon_are_redialled_a_few_times_and_then_less_and_less() {
    let mut peer = linked();
    let mut waits = Vec::new();
    for conn in 1..12 {
        match peer.handle(closed(conn, Loss::Broken, MS(1))).as_slice() {
            [Effect::Dial] => waits.push(0),
            [Effect::Rest { max, .. }] => {
                waits.push(max.as_millis());
                assert_eq!(peer.handle(Input::Rested), [Effect::Dial]);
            }
            other => panic!("{other:?}"),
        }
        peer.handle(Input::Ready(link(conn + 1, 5, 2)));
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
        peer.handle(closed(12, Loss::Broken, LONG)),
        [Effect::Dial],
        "one that lasted is forgiven"
    );
}

#[test]
fn who_breaks_a_rule_waits_for_a_second_and_more() {
    let mut peer = linked();
    for step in 0..9u32 {
        let effects = peer.handle(closed(u64::from(step) + 1, Loss::Misbehaved, MS(1)));
        let [Effect::Rest { min, max }] = effects.as_slice() else {
            panic!("{effects:?}");
        };
        assert_eq!(*min, PENANCE);
        assert!((PENANCE..=MOST_PENANCE).contains(max));
        assert_eq!(*max, (PENANCE * (1 << step.min(6))).min(MOST_PENANCE));
        peer.handle(Input::Rested);
        peer.handle(Input::Ready(link(u64::from(step) + 2, 5, 2)));
    }
}

#[test]
fn a_goodbye_is_an_end_and_is_not_redialled_at_once() {
    let mut peer = linked();
    let gone = [Effect::Report(Report::Gone), rest(100)];
    assert_eq!(peer.handle(closed(1, Loss::Left, LONG)), gone);
}

#[test]
fn who_dials_itself_stops_dialling() {
    let mut peer = with_address();
    assert_eq!(peer.handle(Input::Start), [Effect::Dial]);
    let nothing: [Effect; 0] = [];
    assert_eq!(peer.handle(Input::DialFailed(DialError::Itself)), nothing);
    for input in [Input::Rested, Input::Start] {
        assert_eq!(peer.handle(input), nothing);
    }
    // The real peer may still dial.
    let up = [Effect::Report(Report::Up)];
    assert_eq!(peer.handle(from_peer(link(1, 5, 1))), up);
    assert_eq!(peer.handle(closed(1, Loss::Broken, LONG)), nothing);
}

#[test]
fn without_an_address_the_peer_is_waited_for() {
    let mut peer = Peer::new(Backoff::default(), false);
    let nothing: [Effect; 0] = [];
    assert_eq!(peer.handle(Input::Start), nothing);
    peer.handle(Input::Ready(link(1, 5, 1)));
    let waits = [Effect::Rest {
        min: MS(10_000),
        max: MS(10_000),
    }];
    assert_eq!(peer.handle(closed(1, Loss::Broken, LONG)), waits);
    let away = [Effect::Report(Report::OutOfReach)];
    assert_eq!(peer.handle(Input::Rested), away);
    let up = [Effect::Report(Report::Up)];
    assert_eq!(peer.handle(Input::Ready(link(2, 5, 2))), up);
}

#[test]
fn a_link_from_the_peer_serves_while_an_own_attempt_is_under_way() {
    let mut peer = with_address();
    peer.handle(Input::Start);
    peer.handle(from_peer(link(1, 5, 1))); // it dialled as well
    let nothing: [Effect; 0] = [];
    assert_eq!(peer.handle(Input::DialFailed(DialError::NoAnswer)), nothing);
    assert_eq!(peer.handle(closed(1, Loss::Broken, LONG)), [Effect::Dial]);

    let mut peer = linked();
    peer.handle(closed(1, Loss::Broken, LONG));
    peer.handle(from_peer(link(2, 5, 2)));
    assert_eq!(
        peer.handle(closed(2, Loss::Broken, LONG)),
        nothing,
        "the attempt that is under way is the redial"
    );
}

#[test]
fn a_removed_peer_is_left_alone() {
    let mut peer = linked();
    assert_eq!(peer.handle(Input::Removed), [Effect::Dismiss(ConnId(1))]);
    let nothing: [Effect; 0] = [];
    for input in [closed(1, Loss::Broken, LONG), Input::Rested, Input::Start] {
        assert_eq!(peer.handle(input), nothing);
    }
}

#[test]
fn an_earlier_life_is_let_in_once_the_later_one_is_forgotten() {
    let mut peer = linked();
    peer.handle(closed(1, Loss::Left, LONG));
    let stale = [Effect::CloseStale(ConnId(2))];
    assert_eq!(peer.handle(from_peer(link(2, 3, 2))), stale);
    peer.forget_later_than(NodeIncarnation(3));
    assert_eq!(peer.known(), None);
    let up = [Effect::Report(Report::Up)];
    assert_eq!(peer.handle(from_peer(link(3, 3, 3))), up);
    assert_eq!(peer.known(), Some(NodeIncarnation(3)));
    peer.forget_later_than(NodeIncarnation(4));
    assert_eq!(peer.known(), Some(NodeIncarnation(3)), "it is no later one");
}
