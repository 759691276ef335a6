//! Rosters: what fits, and what is refused.

use super::{body, bounds, hex, written};
use crate::{
    group::Pace,
    protocol::{About, AgentId, Electorate, Incarnation, Member, MemberKind, Score, StoreId, Term},
    remote::wire::{Frame, Hello, LeaderHint, Opening, RosterContent, RosterFrame, WireError},
};
use bully_core::driver::MemberReports as _;

fn content(bytes: &[u8]) -> Result<RosterContent, WireError> {
    let Frame::Roster(roster) = Frame::decode(bytes, bounds())? else {
        return Err(WireError::Kind);
    };
    Ok(roster.content)
}

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

/// A sender splits a roster by these two figures.
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

#[test]
fn a_roster_is_read_as_it_was_written() {
    let content_written = RosterContent {
        left: (0..20).collect(),
        members: vec![(0, largest()), (u32::MAX, largest())],
        leader: None,
    };
    let bytes = written(|out| RosterFrame::encode(9, 8, None, &content_written, out));
    assert_eq!(content(body(&bytes)), Ok(content_written));
}

#[test]
fn the_text_about_an_agent_is_bounded_and_in_one_line() {
    let with = |text: &str| {
        let mut bytes = hex("97 02 01 00 c0 90 91 99 00 a16a 00 c0 01 07 90 c0");
        let len = u16::try_from(text.len()).unwrap();
        match len {
            0..32 => bytes.push(0xa0 | u8::try_from(len).unwrap()),
            32..256 => bytes.extend([0xd9, u8::try_from(len).unwrap()]),
            256.. => bytes.extend([&[0xda][..], &len.to_be_bytes()].concat()),
        }
        bytes.extend(text.as_bytes());
        bytes.push(0xc0);
        content(&bytes)
    };
    for good in ["http://10.0.0.3:8080", &"x".repeat(256)] {
        let members = with(good).unwrap().members;
        assert_eq!(members[0].1.about, About::new(good).ok());
    }
    for bad in ["", "a\nb", "a\u{1b}[2J", "a\u{202e}b"] {
        assert_eq!(with(bad), Err(WireError::Value), "{bad:?}");
    }
    assert_eq!(with(&"x".repeat(257)), Err(WireError::TextTooLong));
}

#[test]
fn a_roster_has_one_form() {
    let with = |member: &str| format!("97 02 01 00 c0 90 91 {member} c0");
    for (bad, why) in [
        ("97 02 01 00 c0 90 90".to_owned(), WireError::Truncated),
        ("97 02 01 00 c0 90 90 c0 c0".to_owned(), WireError::Trailing),
        ("97 02 01 00 90 90 90 c0".to_owned(), WireError::Type),
        (
            "97 02 01 00 92 a167 a0 90 90 c0".to_owned(),
            WireError::Type,
        ),
        ("97 02 01 00 c0 90 90 92 00 00".to_owned(), WireError::Type),
        ("97 02 01 00 c0 c0 90 c0".to_owned(), WireError::Type),
        (with("99 00 a0 00 c0 01 c0 90 c0 c0"), WireError::Value),
        (with("99 00 a16a 02 c0 01 c0 90 c0 c0"), WireError::Value),
        (with("99 00 a16a 00 c0 04 c0 90 c0 c0"), WireError::Value),
        (with("99 00 a120 00 c0 01 c0 90 c0 c0"), WireError::Value),
        (
            with("99 00 a16a 00 93 00 00 00 01 c0 90 c0 c0"),
            WireError::Type,
        ),
        (
            with("99 00 a16a 00 94 00 00 00 cf8000000000000000 01 c0 90 c0 c0"),
            WireError::Value,
        ),
        (with("98 00 a16a 00 c0 01 c0 90 c0"), WireError::Type),
        (with("99 00 a16a 00 c0 01 c0 91 ff c0 c0"), WireError::Value),
        (
            with("99 00 a16a 00 c0 01 c0 92 05 05 c0 c0"),
            WireError::Value,
        ),
        (
            with("99 00 a16a 00 c0 01 c0 92 05 04 c0 c0"),
            WireError::Value,
        ),
        (
            with("99 00 a16a 00 c0 01 c0 95 01 02 03 04 05 c0 c0"),
            WireError::Items,
        ),
        (with("99 00 a16a 00 c0 01 c0 c0 c0 c0"), WireError::Type),
        (with("99 00 a16a 00 c0 01 c0 90 00 c0"), WireError::Value),
    ] {
        assert_eq!(content(&hex(&bad)), Err(why), "{bad}");
    }
}

const LONGEST: std::time::Duration = std::time::Duration::from_micros(u64::MAX);
