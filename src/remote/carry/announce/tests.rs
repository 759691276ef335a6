//! The reports of this node's agents to a peer, and their order.

use super::*;
use crate::protocol::{Incarnation, MemberKind, Rules, Term};

fn up(name: &str, incarnation: u64) -> Member {
    let id = AgentId::new(name).unwrap();
    Member::up(
        id,
        MemberKind::Voter,
        Some(1.into()),
        Incarnation(incarnation),
    )
}

fn rules(name: &'static str) -> Requirements {
    Requirements::new(Rules::new(name))
}

fn local(members: &[Member]) -> LocalMembers {
    let requirements = Some(rules("available"));
    let members = members.to_vec();
    LocalMembers {
        requirements,
        members,
        leader: None,
    }
}

/// Returns the update of an announcer while no message waits.
fn update(announcer: &mut Announcer, local: LocalMembers) -> RosterUpdate {
    announcer.update(local, usize::MAX, |_| false)
}

/// Returns the update of an announcer while no message waits and the peer has no place for another number.
fn update_tightly(announcer: &mut Announcer, local: LocalMembers) -> RosterUpdate {
    announcer.update(local, 0, |_| false)
}

fn down(mut member: Member) -> Member {
    member.presence = Presence::Down;
    member.ended = member.incarnation;
    member
}

#[test]
fn an_agent_that_comes_is_told_before_the_messages_and_one_that_goes_after_them() {
    let mut announcer = Announcer::default();
    let announcement = update(&mut announcer, local(&[up("a", 1), up("b", 1)]));
    assert_eq!(announcement.opens, Some(rules("available")));
    assert_eq!(
        announcement.before.members,
        [(0, up("a", 1)), (1, up("b", 1))]
    );

    let announcement = update(&mut announcer, local(&[down(up("a", 1)), up("c", 1)]));
    assert_eq!(announcement.opens, None);
    assert_eq!(announcement.before.members, [(2, up("c", 1))]);
    assert_eq!(announcement.after.members, [(0, down(up("a", 1)))]);
    assert_eq!(announcement.after.left, [1]);
    let names = [0, 1, 2].map(|number| announcer.name(number).is_some());
    assert_eq!(names, [true, false, true]);
    let given = [0, 1, 2, 3].map(|number| announcer.was_given(number));
    assert_eq!(given, [true, true, true, false]);

    let announcement = update(&mut announcer, local(&[up("a", 2), up("c", 1), up("d", 1)]));
    let told = [(0, up("a", 2)), (3, up("d", 1))];
    assert_eq!(announcement.before.members, told, "not b's number");
    assert_eq!(announcement.after, RosterContent::default());
    assert_eq!(
        update(&mut announcer, local(&[up("a", 2), up("c", 1), up("d", 1)])),
        RosterUpdate::default()
    );
}

/// Lets agents come and go while the peer has `spare` places. Checks that the peer never keeps more than `most`
/// places.
fn come_and_go(spare: usize, most: usize) {
    let mut announcer = Announcer::default();
    let mut rng = fastrand::Rng::with_seed(7);
    let mut given = 0;
    for _ in 0..300 {
        let here: Vec<_> = (0..20u32).filter(|_| rng.bool()).collect();
        let members: Vec<_> = here.iter().map(|k| up(&format!("n{k:02}"), 1)).collect();
        let left = spare.saturating_sub(announcer.places());
        let told = announcer.update(local(&members), left, |_| false);
        for (number, _) in &told.before.members {
            assert!(*number <= given, "{number} leaves {given} out");
            given = given.max(number.saturating_add(1));
        }
        let numbers: BTreeSet<_> = announcer.known.values().map(|(n, _)| *n).collect();
        assert_eq!(numbers.len(), here.len());
        let places = announcer.places();
        assert_eq!(places, usize::try_from(given).unwrap());
        assert!(places <= most, "{places} of {most}");
    }
}

#[test]
fn numbers_stay_dense_and_belong_to_one_agent() {
    for (spare, most) in [(0, 20), (30, 30), (usize::MAX, 20 + RESTING + 1)] {
        come_and_go(spare, most);
    }
}

/// A vote may be under way to the agent that had the number. The vote would count for the next agent with this
/// number.
#[test]
fn a_number_rests_until_many_others_are_free_or_the_other_side_has_no_place_left() {
    let number = |told: &RosterUpdate| told.before.members[0].0;
    let mut announcer = Announcer::default();
    update(&mut announcer, local(&[up("a", 1)]));
    update(&mut announcer, local(&[]));
    let mut tight = Announcer::default();
    update_tightly(&mut tight, local(&[up("a", 1)]));
    update_tightly(&mut tight, local(&[]));
    let b = local(&[up("b", 1)]);
    assert_eq!(number(&update_tightly(&mut tight, b)), 0, "no other place");

    for k in 1..=RESTING {
        let told = update(&mut announcer, local(&[up(&format!("n{k}"), 1)]));
        let own = u32::try_from(k).unwrap();
        assert_eq!(number(&told), own, "n{k} has a number of its own");
        update(&mut announcer, local(&[]));
    }
    let told = update(&mut announcer, local(&[up("b", 1)]));
    assert_eq!(number(&told), 0, "the one that has been free for longest");
    let told = update(&mut announcer, local(&[up("b", 1), up("c", 1)]));
    assert_eq!(number(&told), u32::try_from(RESTING).unwrap() + 1);
}

#[test]
fn other_rules_begin_a_group_anew() {
    let mut announcer = Announcer::default();
    assert_eq!(
        update(&mut announcer, LocalMembers::default()),
        RosterUpdate::default(),
        "no agent, no rules"
    );
    update(&mut announcer, local(&[up("a", 1), up("b", 1)]));
    let requirements = Some(rules("quorum"));
    let members = vec![up("b", 2)];
    let announcement = update(
        &mut announcer,
        LocalMembers {
            requirements: requirements.clone(),
            members,
            leader: None,
        },
    );
    assert_eq!(announcement.opens, requirements);
    assert_eq!(announcement.before.members, [(0, up("b", 2))]);
    assert!(announcement.after.left.is_empty());
    let given = [0, 1, 2].map(|number| announcer.was_given(number));
    assert_eq!(
        given,
        [true, true, false],
        "messages to them may be under way"
    );
}

#[test]
fn in_another_epoch_all_are_told_anew_and_keep_the_numbers_that_messages_name() {
    let mut announcer = Announcer::default();
    let of = |epoch, members: &[Member]| LocalMembers {
        requirements: Some(Requirements {
            epoch,
            ..rules("quorum")
        }),
        ..local(members)
    };
    let all = ["a", "b", "c", "d"].map(|name| up(name, 1));
    update(&mut announcer, of(0, &all[1..]));
    update(&mut announcer, of(0, &all));
    let number = |announcer: &Announcer| {
        let number = |member: &Member| announcer.number(&member.id);
        all.each_ref().map(number)
    };
    assert_eq!(number(&announcer), [3, 0, 1, 2].map(Some));
    let announcement = update(&mut announcer, of(1, &all));
    assert_eq!(announcement.opens.map(|opens| opens.epoch), Some(1));
    let [a, b, c, d] = all.clone();
    let told = [(0, b), (1, c), (2, d.clone()), (3, a.clone())];
    assert_eq!(announcement.before.members, told);
    assert_eq!(number(&announcer), [3, 0, 1, 2].map(Some));
    assert_eq!(update(&mut announcer, of(1, &all)), RosterUpdate::default());

    // When agents have left, the agents with the highest numbers take their numbers, because the peer accepts no
    // number above a gap.
    let announcement = update(&mut announcer, of(2, &[a.clone(), d.clone()]));
    assert_eq!(announcement.before.members, [(0, a), (1, d)]);
    assert_eq!(announcement.after, RosterContent::default());
    assert_eq!(number(&announcer), [Some(0), None, None, Some(1)]);
    let names = [0, 1, 2, 3].map(|number| announcer.name(number).is_some());
    assert_eq!(names, [true, true, false, false]);
    assert!(announcer.was_given(3), "messages to it may be under way");
}

#[test]
fn an_agent_that_has_left_keeps_its_number_until_its_last_messages_are_written() {
    let mut announcer = Announcer::default();
    update(&mut announcer, local(&[up("a", 1), up("b", 1)]));
    update(&mut announcer, local(&[up("b", 1)]));
    let a = AgentId::new("a").unwrap();
    assert_eq!((announcer.number(&a), announcer.name(0)), (Some(0), None));
    announcer.forget_left();
    assert_eq!(announcer.number(&a), None);
}

#[test]
fn a_long_roster_is_told_in_pieces_and_nothing_of_it_is_left_out() {
    let members = |from: u32, to: u32| {
        let named = (from..to).map(|k| (k, up(&format!("n{k}"), 1)));
        RosterContent {
            members: named.collect(),
            ..RosterContent::default()
        }
    };
    let left = |left: &[u32]| RosterContent {
        left: left.to_vec(),
        ..RosterContent::default()
    };
    let content = RosterContent {
        left: vec![7, 8, 9],
        ..members(0, 3)
    };
    let pieces = [left(&[7, 8]), left(&[9]), members(0, 2), members(2, 3)];
    assert_eq!(RosterUpdate::pieces(&content, 2), pieces);
    assert_eq!(RosterUpdate::pieces(&RosterContent::default(), 2), []);
    let leader = Some(LeaderHint {
        agent: 1,
        incarnation: Incarnation(1),
        term: Term(4),
    });
    let hint = RosterContent {
        leader,
        ..RosterContent::default()
    };
    assert_eq!(RosterUpdate::pieces(&hint, 2), [hint]);
}

#[test]
fn the_leader_is_a_hint_that_is_told_once() {
    let mut announcer = Announcer::default();
    let leader = || {
        let id = AgentId::new("b").unwrap();
        let (incarnation, term) = (Incarnation(1), Term(4));
        Some(Leader {
            id,
            incarnation,
            term,
        })
    };
    let with = |leader| LocalMembers {
        leader,
        ..local(&[up("a", 1), up("b", 1)])
    };
    let announcement = update(&mut announcer, with(leader()));
    let hint = announcement.before.leader.unwrap();
    assert_eq!((hint.agent, hint.term), (1, Term(4)));
    assert_eq!(update(&mut announcer, with(leader())).before.leader, None);
    let pieces = RosterUpdate::pieces(&announcement.before, 1);
    assert_eq!(pieces.len(), 2);
    assert!(pieces[0].leader.is_none() && pieces[1].leader.is_some());
}

#[test]
fn an_agent_that_came_and_went_is_told_as_ended_after_its_messages() {
    let mut announcer = Announcer::default();
    let says = |member: &Member| member.id.as_str() != "c";
    update(&mut announcer, local(&[up("a", 1)]));
    // Since the last update `a` was restarted and crashed, and `b` and `c` came and crashed. `c` sent no message.
    let now = [up("a", 2), up("b", 1), up("c", 1)].map(down);
    let announcement = announcer.update(local(&now), usize::MAX, says);
    let before = [(0, up("a", 2)), (1, up("b", 1)), (2, down(up("c", 1)))];
    assert_eq!(announcement.before.members, before);
    let after = [(0, down(up("a", 2))), (1, down(up("b", 1)))];
    assert_eq!(announcement.after.members, after);
}

#[test]
fn half_of_the_numbers_of_the_other_side_is_kept_for_present_agents() {
    let spare = [0, 31, 32, 64].map(|used| places_to_spare(64, used));
    assert_eq!(spare, [32, 1, 0, 0]);
}
