//! Finds the agents to which an agent may hand over: when it is asked to hand over, and before it leaves.
//!
//! Decided here: if the lease of a group is in a store, agents of other processes count as well. Not here: the list of
//! these agents ([`keeper`](crate::register::keeper)), and the choice of an election among them.

use std::{sync::Arc, time::Duration};

use actix::clock::timeout;

use super::{CommandError, ElectionHandle, message::AgentCommand, shared::SharedState};
use crate::{
    protocol::{AgentId, Election, MemberKind},
    register::keeper::Keeper,
};

impl<E: Election> ElectionHandle<E> {
    /// Returns whether the agent asks its leader for the leadership when its turn comes.
    #[cfg(feature = "testkit")]
    pub(crate) fn awaits_turn(&self) -> bool {
        self.shared.vitals().awaits_turn()
    }

    /// Leaves the group, and waits until all resources of the agent are free. A leader first looks for its successors,
    /// for at most `looks`.
    pub(super) async fn depart(&self, looks: Duration) {
        if self.is_leader() {
            self.shared.look_for_successors(looks).await;
        }
        // The agent is marked before the command is sent: if it crashes before it reads the command, it is not
        // restarted.
        self.shared.leave();
        // do_send: may exceed the mailbox's bound by one message for each call, which must not be lost.
        self.addr.do_send(AgentCommand::Leave);
        self.shared.gone().await;
    }
}

impl SharedState {
    /// Checks that the agent may be asked to hand over to the member `to`.
    pub(super) fn check_successor(&self, to: &AgentId) -> Result<(), CommandError> {
        let id = to.clone();
        match self.membership().kind(to) {
            None if self.knows_elsewhere(to) => Ok(()),
            None => Err(CommandError::NoMember { id }),
            Some(MemberKind::Voter) if to != self.id() => Ok(()),
            Some(MemberKind::Voter | MemberKind::Observer) => Err(CommandError::NoSuccessor { id }),
        }
    }

    /// Returns the register of the agent's lease, if it has one.
    pub(super) fn keeper(&self) -> Option<Arc<Keeper>> {
        Keeper::of(self.membership().kept())
    }

    /// Asks the store of the lease for its agents, so that the agent can name its successor: without a name each agent
    /// waits for a random time before it takes the lease. A store that hangs delays the caller by at most `within`.
    pub(super) async fn look_for_successors(&self, within: Duration) {
        if let Some(keeper) = self.keeper() {
            let limit = keeper.limit().min(within);
            timeout(limit, keeper.contenders_now()).await.ok();
        }
    }

    /// Notes in the store of the lease that the agent has left, so that no leader hands over to it. Waits for at most
    /// `within`.
    pub(super) async fn is_no_successor(&self, within: Duration) {
        if let Some(keeper) = self.keeper() {
            let limit = keeper.limit().min(within);
            timeout(limit, keeper.withdraw(self.id())).await.ok();
        }
    }

    /// Returns whether the store of the lease may know the agent `id` in another process. A store that cannot list its
    /// agents may know every agent: only the hand-over itself shows whether the agent exists.
    fn knows_elsewhere(&self, id: &AgentId) -> bool {
        let keeper = self.keeper();
        keeper.is_some_and(|keeper| keeper.contenders().knows(id) != Some(false))
    }
}
