//! ROSTER: the agents of one group on a node, and the changes among them.
//!
//! Only rosters contain names; messages use the numbers that rosters give. An *opening* roster begins a group anew on a
//! link; the rosters after it contain changes. If a roster is longer than a frame, an opening roster contains the first
//! agents, and further rosters contain the other agents.

use std::{num::NonZeroU64, time::Duration};

use bytes::BytesMut;

use super::{
    WireError,
    frame::kind,
    read::{Cursor, Integer},
    write,
};
use crate::{
    group::Pace,
    protocol::{
        About, AgentId, Electorate, Ends, Incarnation, Leader, Member, MemberKind, Presence, Score,
        StoreId, Term,
    },
};

/// The rules that a group follows on a node. If the rules of two nodes differ, no message of the group crosses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opening<'a> {
    /// The group's name.
    pub name: &'a str,
    /// The name of the rules; see [`Requirements::rules`](crate::protocol::Requirements::rules).
    pub rules: &'a str,
    /// The epoch of the voters, if the rules have one.
    pub epoch: u64,
    /// The voters and quorums of the epoch.
    pub voters: Option<Electorate>,
    /// The timings of the agents, for people.
    pub pace: Option<Pace>,
}

/// A received roster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RosterFrame<'a> {
    /// The frame's number.
    pub seq: u64,
    /// The sender's number for the group.
    pub group: u32,
    /// The group that the number means from now on: all earlier facts about the number are void. `None`: the roster
    /// opens no group.
    pub opening: Option<Opening<'a>>,
    /// The agents.
    pub content: RosterContent,
}

/// A roster in full, either to be sent or read from a frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RosterContent {
    /// The numbers of agents that have left the group. The same roster may give these numbers to other agents.
    pub left: Vec<u32>,
    /// Agents that are new or have changed, each with the sender's number for it.
    pub members: Vec<(u32, Member)>,
    /// The leader, as far as the sender knows, if an agent of the sender leads.
    pub leader: Option<LeaderHint>,
}

/// A leader among the sender's agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LeaderHint {
    /// The sender's number for the leader.
    pub agent: u32,
    /// The incarnation in which it leads.
    pub incarnation: Incarnation,
    /// The term in which it leads.
    pub term: Term,
}

impl LeaderHint {
    /// Returns the leader; `id` is the name that its number means.
    #[must_use]
    pub fn named(self, id: AgentId) -> Leader {
        Leader {
            id,
            incarnation: self.incarnation,
            term: self.term,
        }
    }
}

impl<'a> RosterFrame<'a> {
    pub(super) const ITEMS: usize = 7;

    pub(super) fn read(mut cursor: Cursor<'a>) -> Result<Self, WireError> {
        let seq = cursor.unsigned()?;
        let group = cursor.small()?;
        let opening = if cursor.nil() {
            None
        } else {
            cursor.array_of(5)?;
            Some(Opening {
                name: cursor.text()?,
                rules: cursor.text()?,
                epoch: cursor.unsigned()?,
                voters: electorate(&mut cursor)?,
                pace: pace(&mut cursor)?,
            })
        };
        let mut content = RosterContent::default();
        for _ in 0..cursor.array()? {
            content.left.push(cursor.small()?);
        }
        let members = cursor.array()?;
        if members > Self::MAX_MEMBERS {
            return Err(WireError::Items);
        }
        for _ in 0..members {
            content.members.push(member(&mut cursor)?);
        }
        if !cursor.nil() {
            cursor.array_of(3)?;
            content.leader = Some(LeaderHint {
                agent: cursor.small()?,
                incarnation: Incarnation(cursor.unsigned()?),
                term: Term(cursor.unsigned()?),
            });
        }
        cursor.end()?;
        Ok(Self {
            seq,
            group,
            opening,
            content,
        })
    }

    /// Appends a roster frame.
    ///
    /// A frame of `n` bytes has room for `(n - MAX_REST) / MAX_MEMBER` members, but never for more than
    /// [`MAX_MEMBERS`](Self::MAX_MEMBERS). With the smallest limit of a frame that a peer may set, a frame has room for
    /// 5 members. The caller sends the remaining members in further rosters, with `opening` = `None`.
    pub fn encode(
        seq: u64,
        group: u32,
        opening: Option<Opening<'_>>,
        content: &RosterContent,
        out: &mut BytesMut,
    ) {
        write::frame(out, |out| {
            write::array(out, Self::ITEMS);
            write::unsigned(out, kind::ROSTER);
            write::unsigned(out, seq);
            write::unsigned(out, group.into());
            write_opening(opening, out);
            write::array(out, content.left.len());
            for number in &content.left {
                write::unsigned(out, (*number).into());
            }
            write::array(out, content.members.len());
            for (number, member) in &content.members {
                write_member(*number, member, out);
            }
            write_hint(content.leader, out);
        });
    }

    /// Largest number of members in one roster: their decoded form is larger than their bytes.
    pub const MAX_MEMBERS: usize = 256;
    /// Largest number of bytes of one member.
    pub const MAX_MEMBER: usize = 618;
    /// Largest number of bytes of a roster without its members and the numbers of agents that left (5 bytes each).
    pub const MAX_REST: usize = 640;
}

fn write_opening(opening: Option<Opening<'_>>, out: &mut BytesMut) {
    let Some(opening) = opening else {
        return write::nil(out);
    };
    write::array(out, 5);
    write::text(out, opening.name);
    write::text(out, opening.rules);
    write::unsigned(out, opening.epoch);
    write_electorate(opening.voters, out);
    let Some(pace) = opening.pace else {
        return write::nil(out);
    };
    write::array(out, 2);
    for span in [pace.delay, pace.detection] {
        write::unsigned(out, u64::try_from(span.as_micros()).unwrap_or(u64::MAX));
    }
}

fn write_electorate(voters: Option<Electorate>, out: &mut BytesMut) {
    let Some(voters) = voters else {
        return write::nil(out);
    };
    write::array(out, if voters.spans.is_some() { 6 } else { 4 });
    write::unsigned(out, voters.voters.into());
    write::unsigned(out, voters.vote_quorum.into());
    write::unsigned(out, voters.lease_quorum.into());
    write::unsigned(out, voters.list);
    if let Some((promise, round)) = voters.spans {
        for span in [promise, round] {
            write::unsigned(out, u64::try_from(span.as_micros()).unwrap_or(u64::MAX));
        }
    }
}

fn write_hint(hint: Option<LeaderHint>, out: &mut BytesMut) {
    let Some(hint) = hint else {
        return write::nil(out);
    };
    write::array(out, 3);
    write::unsigned(out, hint.agent.into());
    write::unsigned(out, hint.incarnation.0);
    write::unsigned(out, hint.term.0);
}

fn write_member(number: u32, member: &Member, out: &mut BytesMut) {
    write::array(out, 9);
    write::unsigned(out, number.into());
    write::text(out, member.id.as_str());
    write::unsigned(
        out,
        match member.kind {
            MemberKind::Voter => 0,
            MemberKind::Observer => 1,
        },
    );
    match member.score {
        None => write::nil(out),
        Some(score) => {
            write::array(out, 4);
            for part in score.parts() {
                write::signed(out, part);
            }
        }
    }
    write::unsigned(
        out,
        match member.presence {
            Presence::Unseen => 0,
            Presence::Up => 1,
            Presence::Suspect => 2,
            Presence::Down => 3,
        },
    );
    number_or_nil(member.incarnation.map(|incarnation| incarnation.0), out);
    write::array(out, member.ends.iter().len());
    for ended in member.ends.iter() {
        write::unsigned(out, ended.0);
    }
    number_or_nil(member.store.map(StoreId::get), out);
    match &member.about {
        None => write::nil(out),
        Some(about) => write::text(out, about.as_str()),
    }
}

fn number_or_nil(number: Option<u64>, out: &mut BytesMut) {
    match number {
        None => write::nil(out),
        Some(number) => write::unsigned(out, number),
    }
}

fn member(cursor: &mut Cursor<'_>) -> Result<(u32, Member), WireError> {
    cursor.array_of(9)?;
    let number = cursor.small()?;
    let member = Member {
        id: AgentId::new(cursor.text()?).map_err(|_| WireError::Value)?,
        kind: match cursor.unsigned()? {
            0 => MemberKind::Voter,
            1 => MemberKind::Observer,
            _ => return Err(WireError::Value),
        },
        score: score(cursor)?,
        presence: match cursor.unsigned()? {
            0 => Presence::Unseen,
            1 => Presence::Up,
            2 => Presence::Suspect,
            3 => Presence::Down,
            _ => return Err(WireError::Value),
        },
        incarnation: optional(cursor)?.map(Incarnation),
        ended: None, // only this side knows it, so it does not cross
        ends: ends(cursor)?,
        former: None,
        store: store(cursor)?,
        about: about(cursor)?,
    };
    Ok((number, member))
}

fn electorate(cursor: &mut Cursor<'_>) -> Result<Option<Electorate>, WireError> {
    if cursor.nil() {
        return Ok(None);
    }
    let fields = cursor.array()?;
    if !matches!(fields, 4 | 6) {
        return Err(WireError::Type);
    }
    let mut voters = Electorate {
        voters: cursor.small()?,
        vote_quorum: cursor.small()?,
        lease_quorum: cursor.small()?,
        list: cursor.unsigned()?,
        spans: None,
    };
    if fields == 6 {
        let (promise, round) = (cursor.unsigned()?, cursor.unsigned()?);
        voters.spans = Some((Duration::from_micros(promise), Duration::from_micros(round)));
    }
    Ok(Some(voters))
}

fn pace(cursor: &mut Cursor<'_>) -> Result<Option<Pace>, WireError> {
    if cursor.nil() {
        return Ok(None);
    }
    cursor.array_of(2)?;
    let (delay, detection) = (cursor.unsigned()?, cursor.unsigned()?);
    Ok(Some(Pace {
        delay: Duration::from_micros(delay),
        detection: Duration::from_micros(detection),
    }))
}

/// Reads the ended incarnations, the earliest first. More of them than [`Ends`] keeps are refused.
fn ends(cursor: &mut Cursor<'_>) -> Result<Ends, WireError> {
    let told = cursor.array()?;
    if told > Ends::MOST {
        return Err(WireError::Items);
    }
    let mut ends = Ends::default();
    for _ in 0..told {
        let ended = Incarnation(cursor.unsigned()?);
        if ends.last() >= Some(ended) {
            return Err(WireError::Value);
        }
        ends.note(ended);
    }
    Ok(ends)
}

fn optional(cursor: &mut Cursor<'_>) -> Result<Option<u64>, WireError> {
    if cursor.nil() {
        return Ok(None);
    }
    cursor.unsigned().map(Some)
}

/// Reads the text of an agent about itself. If the text is too long or not printable, the link is closed, as for
/// any other invalid value.
fn about(cursor: &mut Cursor<'_>) -> Result<Option<About>, WireError> {
    if cursor.nil() {
        return Ok(None);
    }
    let about = About::new(cursor.text()?).map_err(|_| WireError::Value)?;
    Ok(Some(about))
}

fn store(cursor: &mut Cursor<'_>) -> Result<Option<StoreId>, WireError> {
    let Some(number) = optional(cursor)? else {
        return Ok(None);
    };
    let number = NonZeroU64::new(number).ok_or(WireError::Value)?;
    Ok(Some(StoreId::from(number)))
}

fn score(cursor: &mut Cursor<'_>) -> Result<Option<Score>, WireError> {
    if cursor.nil() {
        return Ok(None);
    }
    cursor.array_of(4)?;
    let mut part = || match cursor.integer()? {
        Integer::Negative(part) => Ok(part),
        Integer::Unsigned(part) => i64::try_from(part).map_err(|_| WireError::Value),
    };
    Ok(Some(Score::from((part()?, part()?, part()?, part()?))))
}
