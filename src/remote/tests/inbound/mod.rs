//! The frames of a link that is ready, and the judgement of each frame.

mod messages;
mod order;
mod rosters;

use std::cell::Cell;

use bytes::BytesMut;

use crate::{
    protocol::{AgentId, Incarnation, Member, MemberKind, Score, Term, Time},
    remote::{
        Closed, DropReason, FrameVerdict, GroupStanding, Inbound, Limits, MayBe, MessageSender,
        Rights, RosterChange,
        wire::{
            LeaderHint, Opening, RawMessage, RawReceivers, RosterContent, RosterFrame, encode_ping,
            encode_pong,
        },
    },
};

/// The sender of a message, or the reason why the message was dropped, or the reason why the link is closed.
type Judged<'a> = Result<Result<MessageSender<'a>, DropReason>, Closed>;

const NOW: Time = Time::ZERO;
/// The number of the group at this side.
const HERE: usize = 40;

/// A link to a peer that numbers its frames, and the judge at this end.
struct InboundLink {
    inbound: Inbound,
    seq: u64,
    standing: Cell<GroupStanding>,
}

impl InboundLink {
    fn new(rights: Rights) -> Self {
        Self::with(rights, &Limits::default())
    }

    /// Returns a link whose peer has announced these agents.
    fn opened(agents: &[Member]) -> Self {
        let mut link = Self::new(Rights::all());
        link.open(agents).unwrap();
        link
    }

    fn with(rights: Rights, limits: &Limits) -> Self {
        Self {
            inbound: Inbound::new(rights, limits, NOW),
            seq: 0,
            standing: Cell::new(GroupStanding::Carried(HERE)),
        }
    }

    fn judge(
        &mut self,
        write: impl FnOnce(u64, &mut BytesMut),
    ) -> Result<FrameVerdict<'static>, Closed> {
        self.seq += 1;
        let mut out = BytesMut::new();
        write(self.seq, &mut out);
        let standing = self.standing.get();
        match self.inbound.frame(NOW, &out[4..], |_| standing)? {
            FrameVerdict::Roster(change) => Ok(FrameVerdict::Roster(change)),
            FrameVerdict::Answer(token) => Ok(FrameVerdict::Answer(token)),
            FrameVerdict::Answered(token) => Ok(FrameVerdict::Answered(token)),
            FrameVerdict::Twin => Ok(FrameVerdict::Twin),
            FrameVerdict::Drop(why) => Ok(FrameVerdict::Drop(why)),
            FrameVerdict::Messages(messages) => panic!("{messages:?}"),
        }
    }

    fn roster(
        &mut self,
        opening: Option<Opening<'_>>,
        content: &RosterContent,
    ) -> Result<FrameVerdict<'static>, Closed> {
        self.judge(|seq, out| RosterFrame::encode(seq, 5, opening, content, out))
    }

    /// Opens the group 5, with agents that are numbered from 0.
    fn open(&mut self, agents: &[Member]) -> Result<RosterChange, Closed> {
        let judged = self.roster(Some(SHOP), &announce(agents))?;
        let FrameVerdict::Roster(change) = judged else {
            panic!("{judged:?}");
        };
        Ok(change)
    }

    fn message(&mut self, group: u32, from: u32, incarnation: u64) -> Judged<'_> {
        self.message_at(NOW, group, from, incarnation)
    }

    fn message_at(&mut self, now: Time, group: u32, from: u32, incarnation: u64) -> Judged<'_> {
        let message = RawMessage {
            group,
            from,
            incarnation: Incarnation(incarnation),
            to: RawReceivers::All,
            payload: &[],
        };
        self.inbound.sender(now, &message)
    }
}

const SHOP: Opening<'static> = Opening {
    name: "shop",
    rules: "quorum",
    epoch: 0,
    voters: None,
    pace: None,
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

fn is_passed(message: &Judged<'_>) -> bool {
    matches!(message, Ok(Ok(_)))
}
