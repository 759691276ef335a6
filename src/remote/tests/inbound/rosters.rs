//! The announcements that a peer may make, and the part that this side keeps.

use super::*;

#[test]
fn the_agents_of_a_roster_may_speak() {
    let mut link = InboundLink::new(Rights::all());
    let change = link.open(&[voter("a"), voter("b")]).unwrap();
    let members = announce(&[voter("a"), voter("b")]).members;
    let expected = RosterChange {
        group: HERE,
        is_opening: true,
        left: vec![],
        members,
        leader: None,
    };
    assert_eq!(change, expected);
    let Ok(Ok(passed)) = link.message(5, 1, 9) else {
        panic!("passed");
    };
    assert_eq!((passed.group, passed.from), (HERE, &id("b")));
    assert_eq!(passed.incarnation, Incarnation(9));
    assert_eq!(passed.may_be, MayBe::Leader);
}

#[test]
fn an_agent_that_left_is_named_and_the_number_is_free_again() {
    let mut link = InboundLink::opened(&[voter("a"), voter("b")]);
    let mut content = announce(&[voter("c")]);
    content.left = vec![0];
    content.leader = Some(LeaderHint {
        agent: 1,
        incarnation: Incarnation(9),
        term: Term(3),
    });
    let Ok(FrameVerdict::Roster(change)) = link.roster(None, &content) else {
        panic!("change");
    };
    assert!(!change.is_opening);
    assert_eq!(change.left, [(0, id("a"))]);
    assert_eq!(change.leader.unwrap().id, id("b"));
    let Ok(Ok(passed)) = link.message(5, 0, 9) else {
        panic!("passed");
    };
    assert_eq!(passed.from, &id("c"));
}

/// The breach "`from` not allowed", for rosters.
#[test]
fn a_peer_announces_only_the_agents_that_it_may() {
    let rights = Rights::none()
        .grant("shop", "api-*", MayBe::Leader)
        .grant("shop", "witness", MayBe::Voter)
        .grant("shop", "view", MayBe::Observer);
    let mut witness = voter("witness");
    witness.score = None;
    let mut view = voter("view");
    view.kind = MemberKind::Observer;
    let may = [voter("api-1"), witness.clone(), view.clone()];
    assert!(InboundLink::new(rights.clone()).open(&may).is_ok());
    witness.score = Some(Score::from(1));
    view.kind = MemberKind::Voter;
    view.score = None;
    for may_not in [voter("db"), witness, view] {
        let refused = InboundLink::new(rights.clone()).open(&[may_not]);
        assert_eq!(refused, Err(Closed::FromNotAllowed));
    }
    let mut link = InboundLink::new(Rights::none().grant("bank", "*", MayBe::Leader));
    assert_eq!(link.open(&[voter("api-1")]), Err(Closed::FromNotAllowed));
}

/// The rights of a peer may change while its link is open.
#[test]
fn new_rights_hold_at_once_and_an_agent_that_lost_its_role_ends_the_link() {
    let mut link = InboundLink::opened(&[voter("api-1")]);
    let may = |what| Rights::none().grant("shop", "api-*", what);
    assert_eq!(link.inbound.follow_rights(may(MayBe::Leader)), Ok(()));
    assert!(is_passed(&link.message(5, 0, 9)));
    let mut other = announce(&[]);
    other.members = vec![(1, voter("db"))];
    assert_eq!(link.roster(None, &other), Err(Closed::FromNotAllowed));
    let lost = link.inbound.follow_rights(may(MayBe::Voter));
    assert_eq!(lost, Err(Closed::FromNotAllowed));
}

/// A peer announces a leader that may not lead. This side does not believe the announcement.
#[test]
fn a_peer_names_no_leader_that_may_not_lead() {
    let mut witness = voter("witness");
    witness.score = None;
    let mut content = announce(&[witness, voter("api")]);
    let rights =
        Rights::none()
            .grant("*", "witness", MayBe::Voter)
            .grant("*", "api", MayBe::Leader);
    for (agent, is_allowed) in [(0, false), (1, true), (2, false)] {
        content.leader = Some(LeaderHint {
            agent,
            incarnation: Incarnation(9),
            term: Term(3),
        });
        let judged = InboundLink::new(rights.clone()).roster(Some(SHOP), &content);
        assert_eq!(judged.is_ok(), is_allowed);
        assert!(is_allowed || judged == Err(Closed::FromNotAllowed));
    }
}

/// A group that this side does not have leaves nothing behind. The frame that opens such a group is allowed, but
/// later frames of the group count as mistakes.
#[test]
fn a_group_that_is_not_here_is_dropped() {
    let mut link = InboundLink::new(Rights::none());
    link.standing.set(GroupStanding::Unknown);
    let unknown = || Ok(FrameVerdict::Drop(DropReason::UnknownGroup));
    for _ in 0..200 {
        assert_eq!(link.roster(Some(SHOP), &announce(&[voter("a")])), unknown());
    }
    for _ in 0..100 {
        assert_eq!(link.roster(None, &announce(&[voter("a")])), unknown());
    }
    let too_many = link.roster(None, &announce(&[voter("a")]));
    assert_eq!(too_many, Err(Closed::UnknownTargets));
}

#[test]
fn a_peer_cannot_make_this_side_remember_more_than_the_limit() {
    let limits = Limits::builder().groups(2).agents(3).build().unwrap();
    let mut link = InboundLink::with(Rights::all(), &limits);
    let three = [voter("a"), voter("b"), voter("c")];
    link.judge(|seq, out| {
        let other = Opening {
            name: "bank",
            ..SHOP
        };
        RosterFrame::encode(seq, 1, Some(other), &announce(&three), out);
    })
    .unwrap();
    let open = |group| {
        move |seq, out: &mut BytesMut| {
            RosterFrame::encode(seq, group, Some(SHOP), &announce(&[voter("a")]), out);
        }
    };
    assert_eq!(
        link.judge(open(2)),
        Err(Closed::TooManyAgents),
        "a third group"
    );
    assert_eq!(
        link.judge(open(0)),
        Err(Closed::TooManyAgents),
        "a fourth agent"
    );
    let mut link = InboundLink::with(Rights::all(), &limits);
    for _ in 0..10 {
        link.judge(open(1)).unwrap();
    }
    let mut come_and_go = announce(&[voter("b")]);
    for _ in 0..10 {
        come_and_go.left = vec![0];
        let judged = link.judge(|seq, out| RosterFrame::encode(seq, 1, None, &come_and_go, out));
        assert!(
            judged.is_ok(),
            "a number that is free again takes no more room"
        );
    }
}

/// The duties of a sender.
#[test]
fn numbers_are_given_one_by_one_and_to_one_agent_each() {
    let numbered = |number, name| RosterContent {
        members: vec![(number, voter(name))],
        ..RosterContent::default()
    };
    let mut left = numbered(0, "a");
    left.left = vec![0, 1];
    for wrong in [numbered(2, "b"), numbered(0, "b"), numbered(1, "a"), left] {
        let mut link = InboundLink::opened(&[voter("a")]);
        assert_eq!(link.roster(None, &wrong), Err(Closed::Protocol));
    }
    let mut link = InboundLink::opened(&[voter("a")]);
    let twice = link.judge(|seq, out| {
        RosterFrame::encode(seq, 6, Some(SHOP), &RosterContent::default(), out);
    });
    assert_eq!(twice, Err(Closed::Protocol), "a group under two numbers");
}

/// A group begins anew when all its agents have ended and other agents follow other rules. A peer may let this happen
/// only a few times.
#[test]
fn a_group_that_begins_anew_again_and_again_ends_the_link() {
    let limits = Limits::builder().unknown(5).build().unwrap();
    let mut link = InboundLink::with(Rights::all(), &limits);
    for _ in 0..=5 {
        assert!(link.open(&[voter("a"), voter("b")]).is_ok());
    }
    assert_eq!(link.open(&[]), Err(Closed::Openings));
}
