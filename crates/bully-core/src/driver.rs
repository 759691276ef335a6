//! Calls for programs that drive machines: reports about members, and the types that show a recorded run.
//!
//! Decided here: which reports exist. The files of [`Member`] and [`Members`](crate::protocol::Members) decide the
//! effect of each report. Not here: any machine.
//!
//! The reports are traits. So an application finds in the documentation of both types only the methods that make a list
//! and read it.

pub use crate::record::{
    lines::{Line, Subject, Way, lines, to_text},
    mermaid::to_mermaid,
    moment::{AgentCondition, AgentMoment, RecordedMoments},
    ring::BoundedRecord,
};

use crate::protocol::{AgentId, Incarnation, Leader, Member, Score, StoreId};

/// Reports about one member.
pub trait MemberReports {
    /// Notes that the member's present host reports the member as up. A later incarnation ends the earlier
    /// incarnations. A report about an earlier incarnation changes nothing. Returns whether anything changed.
    fn mark_up(&mut self, incarnation: Incarnation) -> bool;

    /// Notes that the member's present host reports that the member may have ended. Returns whether anything changed.
    fn mark_suspect(&mut self, incarnation: Incarnation) -> bool;

    /// Notes that this process has seen the end of the member's incarnation, and that its leadership is revoked. The
    /// member's earlier incarnations have ended as well. Returns whether anything changed.
    fn mark_down(&mut self, incarnation: Incarnation) -> bool;

    /// Notes that another process, or a sentinel, reports the end of exactly this incarnation. Returns whether
    /// anything changed.
    fn mark_end_told(&mut self, incarnation: Incarnation) -> bool;

    /// Returns the form in which this process keeps a member's entry that another process sent. An end that the other
    /// process has seen becomes an end that was only reported.
    #[must_use]
    fn told(self) -> Self;

    /// Notes all facts in `newest`, the entry that the member's present host has sent. Returns whether anything
    /// changed.
    fn bring_up_to_date(&mut self, newest: &Self) -> bool;
}

/// Reports about the members of a group.
pub trait MembersReports {
    /// Notes that another process, or a sentinel, reports the end of exactly this incarnation. Returns whether
    /// anything changed.
    fn end_told(&mut self, id: &AgentId, incarnation: Incarnation) -> bool;

    /// Notes that a member's incarnation may have ended (a lost connection, silence). Returns whether anything changed.
    fn suspect(&mut self, id: &AgentId, incarnation: Incarnation) -> bool;

    /// Notes that a member has another score. Returns whether anything changed.
    fn set_score(&mut self, id: &AgentId, score: Option<Score>) -> bool;

    /// Notes which store keeps a member's votes, as its host reports it. Returns whether anything changed.
    fn set_store(&mut self, id: &AgentId, store: Option<StoreId>) -> bool;

    /// Returns whether a change of the member at this position finds room beside the shared list. Otherwise the change
    /// copies the whole list.
    fn has_room(&self, at: usize) -> bool;

    /// Replaces the entry of the member at this position, except its name and its rank.
    fn set(&mut self, at: usize, member: Member);

    /// Returns the positions of the voters with a score in [`Members::iter`](crate::protocol::Members::iter), highest
    /// rank first.
    fn places_by_rank(&self) -> impl Iterator<Item = usize>;

    /// Notes the leader, for members that join later. A leader with an older term changes nothing.
    fn note_leader(&mut self, leader: Leader);

    /// Notes that this leadership has ended.
    fn forget_leader(&mut self, id: &AgentId, incarnation: Incarnation);

    /// Opens or closes the group to other hosts; see [`Members::new`](crate::protocol::Members::new).
    fn set_closed(&mut self, closed: bool);

    /// Notes whether the host of the agent `id` refuses this process, because that host knows a later process with the
    /// same name. Returns whether anything changed.
    fn disown(&mut self, id: &AgentId, is_refused: bool) -> bool;

    /// Copies, from another snapshot, the list of the members whose hosts refuse this process.
    fn keep_disowners(&mut self, of: &Self);
}
