//! Several reports before any member reads them, and reports that come late.

use actix::{AsyncContext, Context};

use super::{FIRST, IdlePeer, group_of, id};
use crate::{
    elections::AnyMessage,
    group::Group,
    protocol::{Incarnation, Member, MemberKind, Presence, Requirements, Rules, Score},
};

#[test]
fn a_report_that_follows_another_one_before_a_look_is_not_lost() {
    let (group, _peer) = group_of("a");
    assert_eq!(group.members().len(), 1, "it is merged");
    // A new score is staged. The next report is made on top of the staged score.
    group.set_score(&id("a"), FIRST, Some(Score::from(5)));
    assert!(group.suspect(&id("a"), FIRST));
    let members = group.members();
    let member = members.get(&id("a")).unwrap();
    assert_eq!(
        (member.score, member.presence),
        (Some(Score::from(5)), Presence::Suspect)
    );
}

#[test]
fn messages_reach_a_member_while_it_is_up() {
    let (group, _peer) = group_of("a");
    let is_reachable = || group.reach()[0].is_reachable;
    assert!(is_reachable());
    group.suspect(&id("a"), FIRST);
    assert!(!is_reachable());
    group.down(&id("a"), FIRST);
    assert!(!is_reachable());
}

/// An agent's score may be set on one thread while another thread makes the agent leave.
#[test]
fn a_late_score_is_not_that_of_the_next_holder_of_the_name() {
    let (group, _peer) = group_of("a");
    let later = Incarnation(FIRST.0 + 1);
    group.set_score(&id("a"), later, Some(Score::from(99)));
    assert_eq!(group.members().get(&id("a")).unwrap().score, None);
}

/// An agent may start on one thread while another thread makes it leave.
#[test]
fn a_late_start_does_not_take_the_name_of_its_successor() {
    let group = Group::<AnyMessage>::new("g").unwrap();
    let reserve = || {
        group
            .reserve(&id("a"), Requirements::new(Rules::new("test")))
            .unwrap()
    };
    let first = reserve();
    assert!(group.leave(&id("a"), first));
    let second = reserve();
    let peer = Context::<IdlePeer>::new();
    let join = |incarnation| {
        let (inbox, changes) = (peer.address().recipient(), peer.address().recipient());
        let member = Member::up(id("a"), MemberKind::Voter, None, incarnation);
        group.join(member, inbox, changes)
    };
    assert!(!join(first));
    assert_eq!(group.members().get(&id("a")), None);
    assert!(join(second));
    group.retire(&id("a"), second);
    assert!(!join(second), "a name that is free is not held again");
    assert!(
        group
            .reserve(&id("a"), Requirements::new(Rules::new("test")))
            .is_ok()
    );
}
