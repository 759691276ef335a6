//! Calls for those who drive machines: reports of members, and the parts that draw a record.
//!
//! Decided here: which reports there are. The files of [`Member`] and [`Members`](crate::protocol::Members) decide the
//! effect of each report. Not here: any machine.
//!
//! The reports are traits, so the documentation of both types for applications has only the methods that read a list
//! and make one.

pub use crate::record::{
    lines::{Line, Subject, Way, lines, to_text},
    mermaid::to_mermaid,
    moment::{AgentCondition, AgentMoment, RecordedMoments},
    ring::BoundedRecord,
};

use crate::protocol::{AgentId, Incarnation, Leader, Member, Score, StoreId};

/// Reports of one member.
pub trait MemberReports {
    /// Notes that its present host reports it as up. A later incarnation ends the earlier ones; a stale report changes
    /// nothing. Returns whether anything changed.
    fn mark_up(&mut self, incarnation: Incarnation) -> bool;

    /// Notes that its present host reports that it may have ended. Returns whether anything changed.
    fn mark_suspect(&mut self, incarnation: Incarnation) -> bool;

    /// Notes that this process has seen it end, its leadership revoked: its earlier incarnations had ended before.
    /// Returns whether anything changed.
    fn mark_down(&mut self, incarnation: Incarnation) -> bool;

    /// Notes that another process, or a sentinel, reports the end of just that incarnation. Returns whether anything
    /// changed.
    fn mark_end_told(&mut self, incarnation: Incarnation) -> bool;

    /// Returns the same member as another process reports it: an end that was seen there counts as reported here.
    #[must_use]
    fn told(self) -> Self;

    /// Notes all that another process, its present host, knows of it. Returns whether anything changed.
    fn bring_up_to_date(&mut self, newest: &Self) -> bool;
}

/// Reports of the members of a group.
pub trait MembersReports {
    /// Notes that another process, or a sentinel, reports that just this incarnation is over.
    fn end_told(&mut self, id: &AgentId, incarnation: Incarnation) -> bool;

    /// A member's incarnation is thought to be over (a lost connection, silence).
    fn suspect(&mut self, id: &AgentId, incarnation: Incarnation) -> bool;

    /// A member has another score.
    fn set_score(&mut self, id: &AgentId, score: Option<Score>) -> bool;

    /// Notes which store keeps a member's votes, as its host reports it.
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

    /// Notes whether the host of that agent refuses this process, since it knows a later process of its name. Returns
    /// whether that is new.
    fn disown(&mut self, id: &AgentId, is_refused: bool) -> bool;

    /// Notes the members of another snapshot whose hosts refuse this process.
    fn keep_disowners(&mut self, of: &Self);
}
