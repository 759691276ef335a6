//! Rosters: their sizes, and the rosters that are refused.

use super::{body, bounds, hex, rows, written};
use crate::{
    group::Pace,
    protocol::{About, AgentId, Electorate, Incarnation, Member, MemberKind, Score, StoreId, Term},
    remote::wire::{
        Frame, Hello, LeaderHint, Opening, RosterContent, RosterFrame, WireError, write,
    },
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

/// The type `About` decides which characters the text may have.
#[test]
fn the_text_about_an_agent_is_bounded_and_in_one_line() {
    let with = |text: &[u8]| {
        let head = hex("97 02 01 00 c0 90 91 99 00 a16a 00 c0 01 07 90 c0");
        content(&[&head[..], text, b"\xc0"].concat())
    };
    let text = |text: &str| written(|out| write::text(out, text));
    for good in ["http://10.0.0.3:8080", &"x".repeat(256)] {
        let members = with(&text(good)).unwrap().members;
        assert_eq!(members[0].1.about, About::new(good).ok());
    }
    for (bad, why) in [
        (text(""), WireError::Value),
        (text("a\nb"), WireError::Value),
        (text("a\u{1b}[2J"), WireError::Value),
        (text("a\u{202e}b"), WireError::Value),
        (text(&"x".repeat(257)), WireError::TextTooLong),
        (text(&"x".repeat(60_000)), WireError::TextTooLong),
        (hex("a2 c080"), WireError::Utf8),
        (hex("07"), WireError::Type),
        (hex("c401 78"), WireError::Type),
        (hex("91 a178"), WireError::Type),
    ] {
        assert_eq!(with(&bad), Err(why), "{bad:02x?}");
    }
}

#[test]
fn a_roster_has_one_form() {
    for (bytes, due, what) in rows(
        "
        97 02 01 00 c0 90 90                                                                | Truncated | it ends too early
        97 02 01 00 c0 90 90 c0 c0                                                          | Trailing  | bytes after the last
        97 02 01 00 90 90 90 c0                                                             | Type      | an opening of no items
        97 02 01 00 92 a167 a0 90 90 c0                                                     | Type      | an opening of two items
        97 02 01 00 c0 90 90 92 00 00                                                       | Type      | a leader of two items
        97 02 01 00 c0 c0 90 c0                                                             | Type      | no list of those that left
        97 02 01 00 c0 90 91 99 00 a0 00 c0 01 c0 90 c0 c0 c0                               | Value     | an empty name
        97 02 01 00 c0 90 91 99 00 a16a 02 c0 01 c0 90 c0 c0 c0                             | Value     | no such kind of member
        97 02 01 00 c0 90 91 99 00 a16a 00 c0 04 c0 90 c0 c0 c0                             | Value     | no such presence
        97 02 01 00 c0 90 91 99 00 a120 00 c0 01 c0 90 c0 c0 c0                             | Value     | a name that is none
        97 02 01 00 c0 90 91 99 00 a16a 00 93 00 00 00 01 c0 90 c0 c0 c0                    | Type      | a score of three numbers
        97 02 01 00 c0 90 91 99 00 a16a 00 94 00 00 00 cf8000000000000000 01 c0 90 c0 c0 c0 | Value     | a score out of its range
        97 02 01 00 c0 90 91 98 00 a16a 00 c0 01 c0 90 c0 c0                                | Type      | an item less
        97 02 01 00 c0 90 91 99 00 a16a 00 c0 01 c0 91 ff c0 c0 c0                          | Value     | an end below zero
        97 02 01 00 c0 90 91 99 00 a16a 00 c0 01 c0 92 05 05 c0 c0 c0                       | Value     | an end twice
        97 02 01 00 c0 90 91 99 00 a16a 00 c0 01 c0 92 05 04 c0 c0 c0                       | Value     | ends out of order
        97 02 01 00 c0 90 91 99 00 a16a 00 c0 01 c0 95 01 02 03 04 05 c0 c0 c0              | Items     | too many ends
        97 02 01 00 c0 90 91 99 00 a16a 00 c0 01 c0 c0 c0 c0 c0                             | Type      | no list of ends
        97 02 01 00 c0 90 91 99 00 a16a 00 c0 01 c0 90 00 c0 c0                             | Value     | a store of none
    ",
    ) {
        let why = content(&bytes).unwrap_err();
        assert_eq!(format!("{why:?}"), due, "{what}");
    }
}

const LONGEST: std::time::Duration = std::time::Duration::from_micros(u64::MAX);
