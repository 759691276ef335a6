//! What all incarnations of an agent are made from, and what its handles read of that.
//!
//! Decided here: that an agent's name, its group and its configuration are kept once, and what follows from
//! them is not kept at all. Not here: the store, which is given back when the agent ends; handles outlast it.

use crate::{
    group::Group,
    protocol::{AgentId, Election, MemberKind, Timings},
};

use super::membership::GroupMembership;

/// The settings of one agent.
pub(super) struct Spec<E: Election> {
    pub(super) id: AgentId,
    pub(super) kind: MemberKind,
    /// Whether the election promises at most one leader per term, so that its tokens are fences.
    pub(super) is_fenced: bool,
    pub(super) config: E::Config,
    pub(super) group: Group<E::Message>,
    pub(super) seed: u64,
}

/// The same for those who do not name the election.
pub(super) trait AgentSettings: Send + Sync {
    fn id(&self) -> &AgentId;
    fn kind(&self) -> MemberKind;
    fn is_fenced(&self) -> bool;
    fn group(&self) -> &dyn GroupMembership;
    fn timings(&self) -> Option<&Timings>;
}

impl<E: Election> AgentSettings for Spec<E> {
    fn id(&self) -> &AgentId {
        &self.id
    }
    fn kind(&self) -> MemberKind {
        self.kind
    }
    fn is_fenced(&self) -> bool {
        self.is_fenced
    }
    fn group(&self) -> &dyn GroupMembership {
        &self.group
    }
    fn timings(&self) -> Option<&Timings> {
        E::timings(&self.config)
    }
}
