//! The requirements that the members of a group share, and their changes while the members run.
//!
//! Decided here: one epoch has one list of voters, because majorities of two lists need no common voter. The
//! requirements of the group are the requirements of its member in the latest epoch, because voters change an epoch's
//! list only by a later epoch. If the rules [learn](crate::protocol::Epochs::Learned) of epochs, the group may have
//! members of several epochs until the members in an older epoch have learned of the newer epoch from other members.

use std::mem;

use crate::{
    group::{JoinError, unshared::unshared},
    protocol::{AgentId, Incarnation, MemberKind, PeerMessage, Requirements},
};

use super::{NameState, Registry};

impl<M: PeerMessage> Registry<M> {
    /// Updates a running agent to the present state of its election: a later epoch, or its kind as a voter or an
    /// observer. Watchers of the group are notified. An incarnation that has ended changes nothing.
    pub(in crate::group) fn advance(
        &mut self,
        id: &AgentId,
        group: &AgentId,
        incarnation: Incarnation,
        kind: MemberKind,
        mine: Requirements,
    ) -> Result<(), JoinError> {
        let name = self.names.get_mut(id);
        let Some(name) = name.filter(|name| name.is_held_by(incarnation)) else {
            return Ok(());
        };
        if let Some(theirs) = &self.requirements {
            check_alike(id, group, theirs, &mine)?;
        }
        name.epoch = mine.epoch;
        // The noted record of this member now counts for the new epoch: the next agent with this name must not join
        // without a record.
        let noted = self.records.get_mut(id);
        if let Some(noted) = noted.filter(|noted| noted.epoch < mine.epoch) {
            *noted = mine.clone();
        }
        let is_later = |theirs: &Requirements| theirs.epoch < mine.epoch;
        let is_new = self.requirements.as_ref().is_none_or(is_later);
        if is_new {
            self.requirements = Some(mine);
        }
        let is_other_kind = self.mark(id, None, |member| {
            mem::replace(&mut member.kind, kind) != kind
        });
        if is_new || is_other_kind {
            self.changed();
        }
        Ok(())
    }

    /// Returns the epoch of a member of this process; `None` for a member of another node.
    pub(in crate::group) fn epoch_of(&self, id: &AgentId) -> Option<u64> {
        let name = self.names.get(id)?;
        (name.state == NameState::Held).then_some(name.epoch)
    }
}

/// Checks that an agent that wants to join has the requirements that the members share.
pub(super) fn check_alike(
    id: &AgentId,
    group: &AgentId,
    theirs: &Requirements,
    mine: &Requirements,
) -> Result<(), JoinError> {
    if theirs.may_meet(mine) {
        return Ok(());
    }
    let (id, group) = (id.clone(), group.clone());
    if theirs.rules != mine.rules {
        return Err(JoinError::Rules {
            id,
            group,
            theirs: theirs.rules,
            mine: mine.rules,
        });
    }
    if theirs.epoch != mine.epoch {
        return Err(JoinError::Epoch {
            id,
            group,
            theirs: theirs.epoch,
            mine: mine.epoch,
        });
    }
    Err(JoinError::Voters {
        id,
        group,
        epoch: mine.epoch,
        theirs: theirs.voters.map(Box::new),
        mine: mine.voters.map(Box::new),
        unshared: unshared(
            theirs.names.as_deref().unwrap_or_default(),
            mine.names.as_deref().unwrap_or_default(),
        )
        .into(),
    })
}
