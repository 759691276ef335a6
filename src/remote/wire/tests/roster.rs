//! The sizes of rosters.

use super::written;
use crate::{
    group::Pace,
    protocol::{About, AgentId, Electorate, Incarnation, Member, MemberKind, Score, StoreId, Term},
    remote::wire::{Hello, LeaderHint, Opening, RosterContent, RosterFrame},
};
use bully_core::driver::MemberReports as _;

fn largest() -> Member {
    let max = Incarnation(u64::MAX);
    let score = Score::from((i64::MIN, i64::MIN, i64::MIN, i64::MIN));
    let id = AgentId::new(&"x".repeat(256)).unwrap();
    let mut member = Member::up(id, MemberKind::Voter, Some(score), max);
    for back in 0..4 {
        member.mark_end_told(Incarnation(u64::MAX - back));
    }
    member.store = Some(StoreId::new(u64::MAX));
    member.about = About::new(&"x".repeat(About::MAX_LEN)).ok();
    member
}

/// A sender uses these two figures to split a roster.
#[test]
fn a_sender_can_compute_what_fits() {
    let rules = "x".repeat(256);
    let name = "x".repeat(256);
    let opening = Opening {
        name: &name,
        rules: &rules,
        epoch: u64::MAX,
        voters: Some(Electorate {
            voters: u32::MAX,
            vote_quorum: u32::MAX,
            lease_quorum: u32::MAX,
            list: u64::MAX,
            spans: Some((LONGEST, LONGEST)),
        }),
        pace: Some(Pace {
            delay: LONGEST,
            detection: LONGEST,
        }),
    };
    let mut content = RosterContent {
        left: vec![u32::MAX; 16],
        members: Vec::new(),
        leader: Some(LeaderHint {
            agent: u32::MAX,
            incarnation: Incarnation(u64::MAX),
            term: Term(u64::MAX),
        }),
    };
    let size = |content: &RosterContent| {
        written(|out| RosterFrame::encode(u64::MAX, u32::MAX, Some(opening), content, out)).len()
    };
    let rest = size(&content);
    assert!(rest <= RosterFrame::MAX_REST + 16 * 5, "{rest}");
    content.members = vec![(u32::MAX, largest()); 10];
    assert_eq!(size(&content) - rest, 10 * RosterFrame::MAX_MEMBER);
    let smallest = usize::try_from(Hello::MIN_FRAME).unwrap();
    assert!(RosterFrame::MAX_REST + 5 * RosterFrame::MAX_MEMBER + 16 * 5 <= smallest);
}

const LONGEST: std::time::Duration = std::time::Duration::from_micros(u64::MAX);
