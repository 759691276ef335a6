//! Judges the frames of a link that is ready.
//!
//! Decided here: the order of the frames, the rights of the peer, which messages are dropped and which frames end the
//! link. Not here: the content of a message. Only code that knows the type of the group's messages can decode a
//! message, and this code then asks the group's [`TermGuard`](crate::remote::TermGuard).

mod budget;
mod directory;

use std::time::Duration;

use crate::{
    group::companion_of,
    protocol::{AgentId, Incarnation, Leader, Member, Time},
    remote::{
        Closed, DropReason, Limits, MayBe, Rights,
        wire::{
            Bounds, Frame, Messages, Opening, RawMessage, RosterContent, RosterFrame, WireError,
        },
    },
};

pub(crate) use budget::Bucket;

use budget::Forgiveness;
use directory::{AnnouncedAgent, LinkDirectory};

/// Judges the frames of one side of one link.
///
/// # How a driver uses it
/// 1. [`took`](Self::took) after every read, with the number of bytes.
/// 2. [`frame`](Self::frame) for every body that [`Frames`](crate::remote::wire::Frames) yields. It returns a
///    [`FrameVerdict`]: a change in a group, messages, or a question to answer.
/// 3. For each of the messages call [`sender`](Self::sender), which returns the group on this side and the sending
///    agent. Then decode the payload, check the sender's role, ask the group's guard about the message's
///    [`term`](crate::protocol::PeerMessage::term), and deliver it. If a number in [`RawMessage::to`] belongs to no
///    agent, call [`unknown_agent`](Self::unknown_agent).
/// 4. For a change of a roster, add or change the members, and ask the guard about the leader's term. If a name belongs
///    to another node's agent, the group drops the messages: the link stays.
///
/// Every `Err` ends the link. Count every `DropReason`.
///
/// # Rules for a sender
/// The numbers of a group's agents begin at 0 and have no gap. The number of an agent that left is not given to another
/// agent for a while, because messages to the former agent may be on their way. A group is opened before any other
/// frame about it, and an agent is announced before its first message. The first roster with an agent comes before the
/// agent's first message. A later roster, with a new incarnation of the agent, may come after the first message of that
/// incarnation.
#[derive(Debug)]
pub struct Inbound {
    bounds: Bounds,
    limits: Limits,
    rights: Rights,
    /// The number of the last frame.
    last: u64,
    bytes: Bucket,
    unknown: Forgiveness,
    /// Tolerance for openings that begin a group anew.
    openings: Forgiveness,
    directory: LinkDirectory,
}

/// Whether this side has a group that a peer announces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupStanding {
    /// This side carries the group, under the contained number.
    Carried(usize),
    /// This side does not carry the group.
    Unknown,
    /// This side carries the group, but by other rules or with another list of voters.
    Mismatch,
}

/// The meaning of a frame.
#[derive(Debug, PartialEq, Eq)]
pub enum FrameVerdict<'a> {
    /// A change of the peer's agents in one group.
    Roster(RosterChange),
    /// Messages, to be judged one by one.
    Messages(Messages<'a>),
    /// Answer with a PONG and this token.
    Answer(u64),
    /// The peer answered the PING with this token.
    Answered(u64),
    /// The peer refused an earlier process of this node's name.
    Twin,
    /// No action is needed; the frame is only counted.
    Drop(DropReason),
}

/// The changes of a peer's agents in one group. All of them are within the peer's rights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RosterChange {
    /// The group, by this side's number.
    pub group: usize,
    /// Whether the group begins anew: agents of the peer that this change does not contain are gone.
    pub is_opening: bool,
    /// The agents that left the group, with the peer's numbers. They come before `members`.
    pub left: Vec<(u32, AgentId)>,
    /// The agents that are new or changed, with the peer's numbers, which messages *to* these agents contain.
    pub members: Vec<(u32, Member)>,
    /// The leader, as the peer knows it, if it is one of the peer's agents.
    pub leader: Option<Leader>,
}

/// A message's sender, as announced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageSender<'a> {
    /// The group, by this side's number.
    pub group: usize,
    /// The agent.
    pub from: &'a AgentId,
    /// The incarnation that sent the message.
    pub incarnation: Incarnation,
    /// The highest role that the agent may have.
    pub may_be: MayBe,
}

impl Inbound {
    /// Begins with the frame after READY.
    #[must_use]
    pub fn new(rights: Rights, limits: &Limits, now: Time) -> Self {
        Self {
            bounds: limits.bounds(),
            limits: *limits,
            rights,
            last: 0,
            bytes: Bucket::new(limits, now),
            unknown: Forgiveness::new(limits.unknown(), UNKNOWN_WINDOW),
            openings: Forgiveness::new(limits.unknown(), UNKNOWN_WINDOW),
            directory: LinkDirectory::default(),
        }
    }

    /// Applies new rights of the peer from now on.
    ///
    /// # Errors
    /// `Closed::FromNotAllowed` if one of its agents may no longer have the role with which it was announced.
    pub(crate) fn follow_rights(&mut self, rights: Rights) -> Result<(), Closed> {
        self.rights = rights;
        let rights = &self.rights;
        let may_be = |group: &AgentId, agent: &AgentId| of_group(rights, group, agent);
        if self.directory.rejudge(may_be) {
            Ok(())
        } else {
            Err(Closed::FromNotAllowed)
        }
    }

    /// Notes that bytes were read.
    ///
    /// # Errors
    /// `Closed::Rate`.
    pub fn took(&mut self, now: Time, bytes: usize) -> Result<(), Closed> {
        if self.bytes.take(now, bytes) {
            Ok(())
        } else {
            Err(Closed::Rate)
        }
    }

    /// Judges the body of a frame. `standing` is called when the peer opens a group.
    ///
    /// # Errors
    /// Reason to close the link.
    pub fn frame<'a>(
        &mut self,
        now: Time,
        body: &'a [u8],
        standing: impl FnOnce(&Opening<'_>) -> GroupStanding,
    ) -> Result<FrameVerdict<'a>, Closed> {
        let frame = Frame::decode(body, self.bounds)?;
        // The number is checked first: a frame that comes twice, or after a gap, must change nothing.
        if let Some(seq) = frame.seq() {
            self.follow(seq)?;
        }
        match frame {
            Frame::Roster(roster) => self.roster(now, roster, standing),
            Frame::Messages(messages) => Ok(FrameVerdict::Messages(messages)),
            Frame::Ping { token, .. } => Ok(FrameVerdict::Answer(token)),
            Frame::Pong { token, .. } => Ok(FrameVerdict::Answered(token)),
            Frame::Twin { .. } => Ok(FrameVerdict::Twin),
            Frame::Goodbye { why } => Err(Closed::Goodbye(why)),
            Frame::Hello(_) | Frame::Ready { .. } | Frame::Conditions(_) => Err(Closed::Protocol),
        }
    }

    /// Judges a message of a frame that was judged before.
    ///
    /// # Errors
    /// Reason to close the link.
    pub fn sender(
        &mut self,
        now: Time,
        message: &RawMessage<'_>,
    ) -> Result<Result<MessageSender<'_>, DropReason>, Closed> {
        let standing = self.directory.group(message.group).map(|g| g.standing);
        let slot = match standing.unwrap_or(GroupStanding::Unknown) {
            GroupStanding::Carried(slot) => slot,
            GroupStanding::Mismatch => return Ok(Err(DropReason::Mismatch)),
            GroupStanding::Unknown => {
                return self.forgive(now, DropReason::UnknownGroup).map(Err);
            }
        };
        let group = self.directory.group_mut(message.group);
        let from = group.and_then(|group| group.agent_mut(message.from));
        // Rights are checked when an agent is announced: an unannounced agent was never checked.
        let agent = from.ok_or(Closed::FromNotAllowed)?;
        let incarnation = Some(message.incarnation);
        // A message of an earlier incarnation, or of an incarnation whose end was announced, does not count.
        let is_former = incarnation < agent.incarnation || incarnation <= agent.ended;
        if is_former {
            return Ok(Err(DropReason::FormerIncarnation));
        }
        // A message may come before the roster with the new incarnation. The former incarnation has already sent its
        // last message.
        agent.incarnation = incarnation;
        Ok(Ok(MessageSender {
            group: slot,
            from: &agent.id,
            incarnation: message.incarnation,
            may_be: agent.may_be,
        }))
    }

    /// Notes that a message was for an agent that does not exist here.
    ///
    /// # Errors
    /// `Closed::UnknownTargets` when there were too many.
    pub fn unknown_agent(&mut self, now: Time) -> Result<DropReason, Closed> {
        self.forgive(now, DropReason::UnknownAgent)
    }

    fn follow(&mut self, found: u64) -> Result<(), Closed> {
        let last = self.last;
        if last.checked_add(1) != Some(found) {
            return Err(Closed::Sequence { found, last });
        }
        self.last = found;
        Ok(())
    }

    fn forgive(&mut self, now: Time, dropped: DropReason) -> Result<DropReason, Closed> {
        if self.unknown.forgives(now) {
            Ok(dropped)
        } else {
            Err(Closed::UnknownTargets)
        }
    }

    fn roster(
        &mut self,
        now: Time,
        roster: RosterFrame<'_>,
        standing: impl FnOnce(&Opening<'_>) -> GroupStanding,
    ) -> Result<FrameVerdict<'static>, Closed> {
        // `Frame::decode` has read the whole roster: a malformed roster opens no group.
        if let Some(opening) = &roster.opening {
            self.open(now, roster.group, opening, standing)?;
        }
        let group = self.directory.group(roster.group);
        match group.map_or(GroupStanding::Unknown, |group| group.standing) {
            GroupStanding::Carried(slot) => {
                let is_opening = roster.opening.is_some();
                self.change(slot, roster.group, is_opening, roster.content)
                    .map(FrameVerdict::Roster)
            }
            GroupStanding::Mismatch => Ok(FrameVerdict::Drop(DropReason::Mismatch)),
            // A peer may have many groups that this side does not carry. Each opening of such a group is counted, but
            // is not a mistake of the peer.
            GroupStanding::Unknown if roster.opening.is_some() => {
                Ok(FrameVerdict::Drop(DropReason::UnknownGroup))
            }
            GroupStanding::Unknown => self
                .forgive(now, DropReason::UnknownGroup)
                .map(FrameVerdict::Drop),
        }
    }

    fn open(
        &mut self,
        now: Time,
        number: u32,
        opening: &Opening<'_>,
        standing: impl FnOnce(&Opening<'_>) -> GroupStanding,
    ) -> Result<(), Closed> {
        if usize::try_from(number).map_or(true, |n| n >= self.limits.groups()) {
            return Err(Closed::TooManyAgents);
        }
        let name = AgentId::new(opening.name).map_err(|_| WireError::Value)?;
        // A group may have only one number: with a second number, it would be in doubt which agents the numbers under
        // the first one mean.
        if self.directory.has_other(number, &name) {
            return Err(Closed::Protocol);
        }
        // `standing` lets the driver note the opening, so it is called after the checks above.
        let standing = standing(opening);
        // A group is opened once, and again when its agents have all ended and new agents follow other rules.
        let is_anew = self.directory.group(number).is_some() && standing != GroupStanding::Unknown;
        if is_anew && !self.openings.forgives(now) {
            return Err(Closed::Openings);
        }
        self.directory.open(number, name, standing);
        Ok(())
    }

    fn change(
        &mut self,
        slot: usize,
        number: u32,
        is_opening: bool,
        content: RosterContent,
    ) -> Result<RosterChange, Closed> {
        // Departures come first: the same roster may give a number that becomes free now to another agent.
        let mut left = Vec::with_capacity(content.left.len());
        for number_left in content.left {
            let agent = self.directory.remove(number, number_left);
            left.push((number_left, agent.ok_or(Closed::Protocol)?.id));
        }
        for (agent, member) in &content.members {
            self.announce(number, *agent, member)?;
        }
        // The leader comes last: it may be an agent that this roster announces.
        let leader = match content.leader {
            None => None,
            Some(hint) => {
                let group = self.directory.group(number);
                let agent = group.and_then(|group| group.agent(hint.agent));
                // A peer that may only vote must not make its agents leaders by a hint.
                let agent = agent.filter(|agent| agent.may_be == MayBe::Leader);
                Some(hint.named(agent.ok_or(Closed::FromNotAllowed)?.id.clone()))
            }
        };
        Ok(RosterChange {
            group: slot,
            is_opening,
            left,
            members: content.members,
            leader,
        })
    }

    fn announce(&mut self, group: u32, number: u32, member: &Member) -> Result<(), Closed> {
        let name = self.directory.group(group).map(|group| &group.name);
        let name = name.ok_or(Closed::Protocol)?;
        let needed = MayBe::needed_by(member.kind, member.score.is_some());
        let may_be = of_group(&self.rights, name, &member.id);
        let may_be = may_be.filter(|may_be| *may_be >= needed);
        let agent = AnnouncedAgent {
            id: member.id.clone(),
            incarnation: member.incarnation,
            ended: member.ends.last(),
            may_be: may_be.ok_or(Closed::FromNotAllowed)?,
            needed,
        };
        let known = self.directory.set(group, number, agent);
        known.ok_or(Closed::Protocol)?;
        // The directory may already contain one agent too many. This is harmless, since the directory ends with the
        // link.
        if self.directory.entries > self.limits.agents() {
            return Err(Closed::TooManyAgents);
        }
        Ok(())
    }
}

/// Time within which the messages to unknown targets, and the new beginnings of groups, are counted.
const UNKNOWN_WINDOW: Duration = Duration::from_secs(10);

/// Returns the role that a peer's agent may have in a group. A peer with rights for an agent may also send the messages
/// of its application.
fn of_group(rights: &Rights, group: &AgentId, agent: &AgentId) -> Option<MayBe> {
    let group = companion_of(group.as_str()).unwrap_or(group.as_str());
    rights.of(group, agent.as_str())
}
