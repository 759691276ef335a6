//! An agent's group as the agent needs it, for any type of the group's messages.

use std::sync::Arc;

use crate::{
    group::{AppMessage, Attachments, Counts, Group, PeerReport, ReachableMember},
    protocol::{
        About, AgentId, Incarnation, Leader, MemberKind, Members, PeerMessage, Requirements,
    },
};

/// An agent's group as the agent's state needs it, for any type of the group's messages.
pub(super) trait GroupMembership: Send + Sync {
    fn name(&self) -> &str;
    fn note_leader(&self, leader: Leader);
    fn forget_leader(&self, id: &AgentId, incarnation: Incarnation);
    fn suspect(&self, id: &AgentId, incarnation: Incarnation);
    fn down(&self, id: &AgentId, incarnation: Incarnation);
    fn retire(&self, id: &AgentId, incarnation: Incarnation);
    fn leave(&self, id: &AgentId, incarnation: Incarnation);
    /// Sets the `about` text of a member of this process.
    fn set_about(&self, id: &AgentId, about: Option<About>);
    /// Returns the kind of the member `id`; `None` if the group has no such member.
    fn kind(&self, id: &AgentId) -> Option<MemberKind>;
    /// Returns the group through which its agents' applications talk to each other; `None` if the group's name is too
    /// long.
    fn companion(&self) -> Option<Group<AppMessage>>;
    fn members(&self) -> Arc<Members>;
    fn counts(&self) -> Counts;
    fn requirements(&self) -> Option<Requirements>;
    /// Returns whether another agent of this process is up.
    fn has_others_here(&self, id: &AgentId) -> bool;
    fn reach(&self) -> Vec<ReachableMember>;
    fn peers(&self) -> Vec<PeerReport>;
    /// Returns the objects that upper layers keep with the group in this process.
    fn kept(&self) -> &Attachments;
}

impl<M: PeerMessage> GroupMembership for Group<M> {
    fn name(&self) -> &str {
        Self::name(self)
    }
    fn note_leader(&self, leader: Leader) {
        Self::note_leader(self, leader);
    }
    fn forget_leader(&self, id: &AgentId, incarnation: Incarnation) {
        Self::forget_leader(self, id, incarnation);
    }
    fn suspect(&self, id: &AgentId, incarnation: Incarnation) {
        Self::suspect(self, id, incarnation);
    }
    fn down(&self, id: &AgentId, incarnation: Incarnation) {
        Self::down(self, id, incarnation);
    }
    fn retire(&self, id: &AgentId, incarnation: Incarnation) {
        Self::retire(self, id, incarnation);
    }
    fn leave(&self, id: &AgentId, incarnation: Incarnation) {
        Self::leave(self, id, incarnation);
    }
    fn set_about(&self, id: &AgentId, about: Option<About>) {
        Self::set_about(self, id, about);
    }
    fn kind(&self, id: &AgentId) -> Option<MemberKind> {
        Self::members(self).get(id).map(|member| member.kind)
    }
    fn members(&self) -> Arc<Members> {
        Self::members(self)
    }
    fn counts(&self) -> Counts {
        self.counters()
    }
    fn companion(&self) -> Option<Group<AppMessage>> {
        Self::companion(self)
    }
    fn requirements(&self) -> Option<Requirements> {
        Self::requirements(self)
    }
    fn has_others_here(&self, id: &AgentId) -> bool {
        Self::has_others_here(self, id)
    }
    fn reach(&self) -> Vec<ReachableMember> {
        Self::reach(self)
    }
    fn peers(&self) -> Vec<PeerReport> {
        Self::peers(self)
    }
    fn kept(&self) -> &Attachments {
        Self::kept(self)
    }
}
