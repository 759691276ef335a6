//! Calls for those who drive machines: reports of members, and the parts that draw a record.
//!
//! Decided here: which reports there are. The files of [`Member`] and [`Members`](crate::protocol::Members) decide what each
//! of them changes. Not here: any machine.
//!
//! The reports are traits. So the pages of both types, which applications read, keep to reading a list and to making one.

pub use crate::record::{
    lines::{Line, Subject, Way, lines, to_text},
    mermaid::to_mermaid,
    moment::{AgentCondition, AgentMoment, RecordedMoments},
    ring::BoundedRecord,
};

use crate::protocol::{AgentId, Incarnation, Leader, Member, Score, StoreId};

/// Reports of one member.
pub trait MemberReports {
    /// Its present host reports it as up. A later incarnation ends the earlier ones; a stale
    /// report changes nothing. Says whether anything changed.
    fn mark_up(&mut self, incarnation: Incarnation) -> bool;

    /// Its present host reports that it may have ended. Says whether anything changed.
    fn mark_suspect(&mut self, incarnation: Incarnation) -> bool;

    /// This process has seen it end, its leadership revoked: its earlier incarnations had ended before. Says whether
    /// anything changed.
    fn mark_down(&mut self, incarnation: Incarnation) -> bool;

    /// Another process, or a sentinel, tells the end of just that incarnation. Says whether anything changed.
    fn mark_end_told(&mut self, incarnation: Incarnation) -> bool;

    /// The same member as another process tells it: an end that was seen there counts as told here.
    #[must_use]
    fn told(self) -> Self;

    /// Another process, its present place, says all that it knows of it. Says whether anything changed.
    fn bring_up_to_date(&mut self, newest: &Self) -> bool;
}

/// Reports of the members of a group.
pub trait MembersReports {
    /// Another process, or a sentinel, tells that just this incarnation is over.
    fn end_told(&mut self, id: &AgentId, incarnation: Incarnation) -> bool;

    /// A member's incarnation is thought to be over (a lost connection, silence).
    fn suspect(&mut self, id: &AgentId, incarnation: Incarnation) -> bool;

    /// A member has another score.
    fn set_score(&mut self, id: &AgentId, score: Option<Score>) -> bool;

    /// A member's host tells which store keeps its votes.
    fn set_store(&mut self, id: &AgentId, store: Option<StoreId>) -> bool;

    /// Returns whether a change of the member at that place costs no copy of the list.
    fn has_room(&self, at: usize) -> bool;

    /// Replaces the entry of the member at that place, except its name and its rank.
    fn set(&mut self, at: usize, member: Member);

    /// The places of the voters with a score in [`Members::iter`](crate::protocol::Members::iter), highest rank first.
    fn places_by_rank(&self) -> impl Iterator<Item = usize>;

    /// Notes the leader, for members that join later. An older term changes nothing.
    fn note_leader(&mut self, leader: Leader);

    /// Notes that this leadership is over.
    fn forget_leader(&mut self, id: &AgentId, incarnation: Incarnation);

    /// Opens or closes the group to other hosts; see [`Members::new`](crate::protocol::Members::new).
    fn set_closed(&mut self, closed: bool);

    /// Notes whether the host of that agent refuses this process, since it knows a later one of its name. Says whether
    /// that is new.
    fn disown(&mut self, id: &AgentId, is_refused: bool) -> bool;

    /// The hosts of these agents refuse this process, as another snapshot says.
    fn keep_disowners(&mut self, of: &Self);
}
