//! What may be said on a link that is ready, row by row.

mod messages;
mod order;
mod rosters;

use std::cell::Cell;

use bytes::BytesMut;

use super::node;
use crate::{
    protocol::{AgentId, Incarnation, Member, MemberKind, Score, Term, Time},
    remote::{
        Closed, Dropped, Established, Farewell, Inbound, Letter, Limits, LinkId, MayBe, News,
        NodeIncarnation, Rights, Standing, Verdict,
        wire::{
            Allowance, Bounds, Features, Frame, LeaderHint, LettersWriter, Opening, RawLetter,
            Receivers, Roster, RosterContent, Targets, WireError, encode_goodbye, encode_ping,
            encode_pong, encode_ready,
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
            allowance: Allowance::of(&Limits::default()),
            end: None,
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
    rules: "quorum",
    epoch: 0,
    voters: None,
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
