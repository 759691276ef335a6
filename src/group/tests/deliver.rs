//! The members that get a message, and the members that do not, because they are down.

use std::sync::Arc;

use super::{Cable, FIRST, group_of, id};
use crate::{
    elections::AnyMessage,
    group::{Envelope, Update},
    protocol::{Incarnation, Member, MemberKind, Presence, Term, To},
};
use bully_core::elections::bully::{Heartbeat, Resign};

fn resign() -> AnyMessage {
    let (term, successor) = (Term(1), None);
    Resign {
        term,
        successor,
        ..Resign::default()
    }
    .into()
}

#[test]
fn a_member_on_another_host_is_sent_messages_until_its_end_is_confirmed() {
    let (group, _peer) = group_of("a");
    let cable = Arc::new(Cable::default());
    let route = group.remote("host-x", Arc::<Cable>::clone(&cable));
    let up = Member::up(id("x"), MemberKind::Voter, None, Incarnation(7));
    let down = Member {
        presence: Presence::Down,
        ended: Some(Incarnation(7)),
        ..up.clone()
    };
    for (known, carried) in [(up, 1), (down, 0)] {
        assert_eq!(route.apply([Update::Known(known)]), []);
        for to in [To::One(id("x")), To::Set([id("x")].into()), To::All] {
            let before = group.counters().sent;
            group.deliver(&id("a"), FIRST, &to, resign());
            let lines = std::mem::take(&mut *cable.0.lock().unwrap());
            assert_eq!(lines, vec!["[x]"; carried], "{to:?}");
            let sent = group.counters().sent - before;
            assert_eq!(usize::try_from(sent), Ok(carried), "{to:?}");
        }
    }
}

/// The sender must not slow down because the receiver has ended.
#[test]
fn a_closed_mailbox_is_counted_and_is_not_a_full_one() {
    let (group, peer) = group_of("a");
    drop(peer);
    for to in [To::One(id("a")), To::All] {
        for message in [resign(), Heartbeat::default().into()] {
            let full = group
                .routes()
                .deliver(&id("x"), Incarnation(7), &to, message);
            assert_eq!(full, 0, "{to:?}");
        }
    }
    assert_eq!(group.counters().closed, 4);
}

#[test]
fn a_member_of_this_process_is_sent_messages_until_its_end_is_confirmed() {
    let (group, _peer) = group_of("a");
    let message = Envelope {
        from: id("x"),
        incarnation: Incarnation(7),
        message: resign(),
    };
    let all_ways = || {
        let before = group.counters().sent;
        for to in [To::One(id("a")), To::Set([id("a")].into()), To::All] {
            group.deliver(&id("x"), Incarnation(7), &to, resign());
        }
        let sent_from_here = group.counters().sent - before;
        group.deliver_here(&message, None);
        group.deliver_here(&message, Some(&[id("a")]));
        group.deliver_here(&message, Some(&[id("x"), id("a")]));
        (sent_from_here, group.counters().sent - before)
    };
    assert_eq!(all_ways(), (3, 6));
    assert!(group.suspect(&id("a"), FIRST));
    assert_eq!(all_ways(), (3, 6), "a suspected member may be up");
    assert!(group.down(&id("a"), FIRST));
    assert_eq!(all_ways(), (0, 0));
}
