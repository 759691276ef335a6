//! What may be said on a link that is ready, row by row.

use std::cell::Cell;

use bytes::BytesMut;

use super::node;
use crate::{
    protocol::{AgentId, Incarnation, Member, MemberKind, Score, Term, Time},
    remote::{
        Closed, Dropped, Established, Farewell, Inbound, Letter, Limits, LinkId, MayBe, News,
        NodeIncarnation, Rights, Standing, Verdict,
        wire::{
            Bounds, Features, Frame, LeaderHint, LettersWriter, Opening, RawLetter, Receivers,
            Roster, RosterContent, Targets, WireError, encode_goodbye, encode_ping, encode_pong,
            encode_ready,
        },
    },
};

const NOW: Time = Time::ZERO;
/// This side's number for the group.
const HERE: usize = 40;

/// A link to a peer that numbers its frames, and the judge at this end.
struct Link {
    inbound: Inbound,
    seq: u64,
    standing: Cell<Standing>,
}

impl Link {
    fn new(rights: Rights) -> Self {
        Self::with(rights, &Limits::default())
    }

    fn with(rights: Rights, limits: &Limits) -> Self {
        let established = Established {
            peer: node("host-b"),
            incarnation: NodeIncarnation(1),
            link: LinkId([0; 16]),
            version: 1,
            features: Features(0),
            frame: 65_536,
            rights,
        };
        Self {
            inbound: Inbound::new(&established, limits, NOW),
            seq: 0,
            standing: Cell::new(Standing::Carried(HERE)),
        }
    }

    fn judge(
        &mut self,
        write: impl FnOnce(u64, &mut BytesMut),
    ) -> Result<Verdict<'static>, Closed> {
        self.seq += 1;
        let mut out = BytesMut::new();
        write(self.seq, &mut out);
        let standing = self.standing.get();
        match self.inbound.frame(NOW, &out[4..], |_| standing)? {
            Verdict::News(news) => Ok(Verdict::News(news)),
            Verdict::Answer(token) => Ok(Verdict::Answer(token)),
            Verdict::Answered(token) => Ok(Verdict::Answered(token)),
            Verdict::Drop(why) => Ok(Verdict::Drop(why)),
            Verdict::Letters(letters) => panic!("{letters:?}"),
        }
    }

    fn roster(
        &mut self,
        opening: Option<Opening<'_>>,
        content: &RosterContent,
    ) -> Result<Verdict<'static>, Closed> {
        self.judge(|seq, out| Roster::encode(seq, 5, opening, content, out))
    }

    /// Opens the group 5, with agents numbered from 0 on.
    fn open(&mut self, agents: &[Member]) -> Result<News, Closed> {
        let judged = self.roster(Some(SHOP), &announce(agents))?;
        let Verdict::News(news) = judged else {
            panic!("{judged:?}");
        };
        Ok(news)
    }

    fn letter(&mut self, group: u32, from: u32, life: u64) -> Result<Letter<'_>, Closed> {
        self.letter_at(NOW, group, from, life)
    }

    fn letter_at(
        &mut self,
        now: Time,
        group: u32,
        from: u32,
        life: u64,
    ) -> Result<Letter<'_>, Closed> {
        let letter = RawLetter {
            group,
            from,
            incarnation: Incarnation(life),
            to: Receivers::All,
            payload: &[],
        };
        self.inbound.letter(now, &letter)
    }
}

const SHOP: Opening<'static> = Opening {
    name: "shop",
    mode: "quorum",
    epoch: 0,
};

fn id(name: &str) -> AgentId {
    AgentId::new(name).unwrap()
}

fn voter(name: &str) -> Member {
    let score = Some(Score::from(1));
    Member::up(id(name), MemberKind::Voter, score, Incarnation(9))
}

fn announce(agents: &[Member]) -> RosterContent {
    RosterContent {
        members: (0..).zip(agents.iter().cloned()).collect(),
        ..RosterContent::default()
    }
}

fn is_passed(letter: &Result<Letter<'_>, Closed>) -> bool {
    matches!(letter, Ok(Letter::Pass(_)))
}

#[test]
fn a_roster_is_news_and_its_agents_may_speak() {
    let mut link = Link::new(Rights::all());
    let news = link.open(&[voter("a"), voter("b")]).unwrap();
    let members = announce(&[voter("a"), voter("b")]).members;
    let expected = News {
        group: HERE,
        is_opening: true,
        left: vec![],
        members,
        leader: None,
    };
    assert_eq!(news, expected);
    let Ok(Letter::Pass(passed)) = link.letter(5, 1, 9) else {
        panic!("passed");
    };
    assert_eq!((passed.group, passed.from), (HERE, &id("b")));
    assert_eq!(passed.incarnation, Incarnation(9));
    assert_eq!(passed.may_be, MayBe::Leader);
}

#[test]
fn who_left_is_named_and_the_number_is_free_again() {
    let mut link = Link::new(Rights::all());
    link.open(&[voter("a"), voter("b")]).unwrap();
    let mut content = announce(&[voter("c")]);
    content.left = vec![0];
    content.leader = Some(LeaderHint {
        agent: 1,
        incarnation: Incarnation(9),
        term: Term(3),
    });
    let Ok(Verdict::News(news)) = link.roster(None, &content) else {
        panic!("news");
    };
    assert!(!news.is_opening);
    assert_eq!(news.left, [(0, id("a"))]);
    assert_eq!(news.leader.unwrap().id, id("b"));
    let Ok(Letter::Pass(passed)) = link.letter(5, 0, 9) else {
        panic!("passed");
    };
    assert_eq!(passed.from, &id("c"));
}

/// T4, and the row "`from` not allowed", for rosters
#[test]
fn a_peer_announces_only_whom_it_may() {
    let rights = Rights::none()
        .grant("shop", "api-*", MayBe::Leader)
        .grant("shop", "witness", MayBe::Voter)
        .grant("shop", "view", MayBe::Observer);
    let mut witness = voter("witness");
    witness.score = None;
    let mut view = voter("view");
    view.kind = MemberKind::Observer;
    let may = [voter("api-1"), witness.clone(), view.clone()];
    assert!(Link::new(rights.clone()).open(&may).is_ok());
    witness.score = Some(Score::from(1));
    view.kind = MemberKind::Voter;
    view.score = None;
    for may_not in [voter("db"), witness, view] {
        let refused = Link::new(rights.clone()).open(&[may_not]);
        assert_eq!(refused, Err(Closed::FromNotAllowed));
    }
    let mut link = Link::new(Rights::none().grant("bank", "*", MayBe::Leader));
    assert_eq!(link.open(&[voter("api-1")]), Err(Closed::FromNotAllowed));
}

/// T4: who may not lead is not believed to
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
        let judged = Link::new(rights.clone()).roster(Some(SHOP), &content);
        assert_eq!(judged.is_ok(), is_allowed);
        assert!(is_allowed || judged == Err(Closed::FromNotAllowed));
    }
}

/// The row "`from` not allowed", for letters
#[test]
fn a_letter_of_somebody_who_was_not_announced_ends_the_link() {
    let mut link = Link::new(Rights::all());
    link.open(&[voter("a")]).unwrap();
    assert_eq!(link.letter(5, 1, 9), Err(Closed::FromNotAllowed));
    assert_eq!(link.letter(5, u32::MAX, 9), Err(Closed::FromNotAllowed));
    let left = RosterContent {
        left: vec![0],
        ..RosterContent::default()
    };
    assert!(link.roster(None, &left).is_ok());
    assert_eq!(link.letter(5, 0, 9), Err(Closed::FromNotAllowed));
}

/// T5: older lives are ignored and counted
#[test]
fn a_letter_of_a_former_life_is_dropped() {
    let mut link = Link::new(Rights::all());
    let mut ended = voter("b");
    ended.ended = Some(Incarnation(9));
    link.open(&[voter("a"), ended]).unwrap();
    let former = || Ok(Letter::Drop(Dropped::FormerLife));
    assert_eq!(link.letter(5, 0, 8), former());
    assert_eq!(link.letter(5, 1, 9), former(), "it has ended for certain");
    assert!(is_passed(&link.letter(5, 1, 10)));
    assert!(
        is_passed(&link.letter(5, 0, 12)),
        "the roster may come later"
    );
    assert_eq!(link.letter(5, 0, 11), former());
}

/// The row "`to` or group unknown"
#[test]
fn letters_to_nobody_are_dropped_and_too_many_end_the_link() {
    let mut link = Link::new(Rights::all());
    let at = Time::from_millis;
    for n in 0..50 {
        let dropped = link.letter_at(at(n), 7, 0, 9);
        assert_eq!(dropped, Ok(Letter::Drop(Dropped::UnknownGroup)));
        let dropped = link.inbound.unknown_agent(at(n));
        assert_eq!(dropped, Ok(Dropped::UnknownAgent));
    }
    let too_many = link.letter_at(at(9_999), 7, 0, 9);
    assert_eq!(too_many, Err(Closed::UnknownTargets));
    let too_many = link.inbound.unknown_agent(at(9_999));
    assert_eq!(too_many, Err(Closed::UnknownTargets));
    assert!(
        link.letter_at(at(10_000), 7, 0, 9).is_ok(),
        "the first are forgotten"
    );
}

/// S8: a group that is not here leaves nothing behind, and costs no patience when it is opened.
#[test]
fn a_group_that_is_not_here_is_dropped() {
    let mut link = Link::new(Rights::none());
    link.standing.set(Standing::Unknown);
    let unknown = || Ok(Verdict::Drop(Dropped::UnknownGroup));
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
fn nothing_crosses_for_a_group_with_other_rules() {
    let mut link = Link::new(Rights::all());
    link.standing.set(Standing::Mismatch);
    let mismatch = link.roster(Some(SHOP), &announce(&[voter("a")]));
    assert_eq!(mismatch, Ok(Verdict::Drop(Dropped::Mismatch)));
    for _ in 0..1_000 {
        assert_eq!(link.letter(5, 0, 9), Ok(Letter::Drop(Dropped::Mismatch)));
    }
}

/// A name that another node has: the link stays.
#[test]
fn letters_of_a_refused_name_are_dropped() {
    let mut link = Link::new(Rights::all());
    link.open(&[voter("a"), voter("b")]).unwrap();
    link.inbound.refuse(HERE, &id("a"));
    link.inbound.refuse(HERE, &id("nobody"));
    let refused = || Ok(Letter::Drop(Dropped::RefusedName));
    assert_eq!(link.letter(5, 0, 9), refused());
    assert!(is_passed(&link.letter(5, 1, 9)));
    assert!(link.roster(None, &announce(&[voter("a")])).is_ok());
    assert_eq!(link.letter(5, 0, 9), refused(), "still");
}

/// T5, and the row "sequence gap"
#[test]
fn each_frame_has_the_number_after_the_last_one() {
    for wrong in [0, 1, 3, u64::MAX] {
        let mut link = Link::new(Rights::all());
        assert_eq!(
            link.judge(|seq, out| encode_ping(seq, 7, out)),
            Ok(Verdict::Answer(7))
        );
        let gap = link.judge(|_, out| encode_ping(wrong, 7, out));
        let found = wrong;
        assert_eq!(gap, Err(Closed::Sequence { found, last: 1 }));
        assert_eq!(
            link.judge(|_, out| encode_pong(2, 7, out)),
            Ok(Verdict::Answered(7))
        );
    }
}

/// The row "HELLO twice"
#[test]
fn the_handshake_is_over() {
    let mut link = Link::new(Rights::all());
    let again = link.judge(|_, out| encode_ready(LinkId([0; 16]), out));
    assert_eq!(again, Err(Closed::Protocol));
    let goodbye = link.judge(|_, out| encode_goodbye(Farewell::Leaving, out));
    assert_eq!(goodbye, Err(Closed::Goodbye(Farewell::Leaving)));
}

/// Limits: rate per peer
#[test]
fn a_peer_that_sends_too_fast_is_cut() {
    let limits = Limits::default();
    let mut inbound = Link::new(Rights::all()).inbound;
    let second = |n: u64| Time::from_millis(n * 1_000);
    assert_eq!(inbound.took(second(0), limits.burst()), Ok(()));
    for n in 1..100 {
        assert_eq!(inbound.took(second(n), limits.rate()), Ok(()));
    }
    assert_eq!(inbound.took(second(99), 1), Err(Closed::Rate));
}

/// S8
#[test]
fn a_peer_cannot_make_this_side_remember_more_than_the_limit() {
    let limits = Limits::builder().groups(2).agents(3).build().unwrap();
    let mut link = Link::with(Rights::all(), &limits);
    let three = [voter("a"), voter("b"), voter("c")];
    link.judge(|seq, out| {
        let other = Opening {
            name: "bank",
            ..SHOP
        };
        Roster::encode(seq, 1, Some(other), &announce(&three), out);
    })
    .unwrap();
    let open = |group| {
        move |seq, out: &mut BytesMut| {
            Roster::encode(seq, group, Some(SHOP), &announce(&[voter("a")]), out);
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
    let mut link = Link::with(Rights::all(), &limits);
    for _ in 0..10 {
        link.judge(open(1)).unwrap();
    }
    let mut come_and_go = announce(&[voter("b")]);
    for _ in 0..10 {
        come_and_go.left = vec![0];
        let judged = link.judge(|seq, out| Roster::encode(seq, 1, None, &come_and_go, out));
        assert!(
            judged.is_ok(),
            "a number that is free again takes no more room"
        );
    }
}

/// What a sender owes
#[test]
fn numbers_are_given_one_by_one_and_to_one_agent_each() {
    let numbered = |number, name| RosterContent {
        members: vec![(number, voter(name))],
        ..RosterContent::default()
    };
    let mut left = numbered(0, "a");
    left.left = vec![0, 1];
    for wrong in [numbered(2, "b"), numbered(0, "b"), numbered(1, "a"), left] {
        let mut link = Link::new(Rights::all());
        link.open(&[voter("a")]).unwrap();
        assert_eq!(link.roster(None, &wrong), Err(Closed::Protocol));
    }
    let mut link = Link::new(Rights::all());
    link.open(&[voter("a")]).unwrap();
    let twice = link.judge(|seq, out| {
        Roster::encode(seq, 6, Some(SHOP), &RosterContent::default(), out);
    });
    assert_eq!(twice, Err(Closed::Protocol), "a group under two numbers");
}

/// The row "malformed"
#[test]
fn a_malformed_frame_ends_the_link() {
    let mut link = Link::new(Rights::all());
    for (body, why) in [
        (&b"\x93\x04\x01"[..], WireError::Truncated),
        (b"\x93\x04\x01\x01\xc0", WireError::Trailing),
        (b"\x92\x04\x01", WireError::Type),
        (b"\x91\x09", WireError::Kind),
        (b"\x93\x04\xcc\x01\x01", WireError::NotShortest),
        (
            b"\x97\x02\x01\x05\x93\xa1/\xa1m\x00\x90\x90\xc0",
            WireError::Value,
        ),
    ] {
        let closed = link.inbound.frame(NOW, body, |_| Standing::Unknown);
        assert_eq!(closed, Err(Closed::Malformed(why)), "{body:02x?}");
    }
}

#[test]
fn letters_come_out_as_they_are() {
    let mut link = Link::new(Rights::all());
    let mut out = BytesMut::new();
    let mut letters = LettersWriter::begin(1, &mut out);
    let empty = |_: &mut BytesMut| Ok::<(), ()>(());
    letters
        .push(5, 0, Incarnation(9), Targets::All, empty)
        .unwrap();
    letters.end();
    let Ok(Frame::Letters(sent)) = Frame::decode(&out[4..], Bounds::default()) else {
        panic!("letters");
    };
    let judged = link.inbound.frame(NOW, &out[4..], |_| Standing::Unknown);
    assert_eq!(judged, Ok(Verdict::Letters(sent)));
}
