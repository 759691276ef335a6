//! The rows by which agents show that they could take the lease: how they are read from a store and written to it.
//!
//! Decided here: a round reads all rows and then writes the rows of this process. A round is a task of its own
//! (`task.rs`), so it does not delay the operations on the lease. In a store that cannot list its entries there are no
//! rows. Not here: the meaning of the rows (`roster.rs`).

use std::sync::{Arc, MutexGuard, PoisonError};

use actix::clock::timeout;

use super::{
    Keeper, StoreAnswer,
    health::Access,
    roster::{AgentHere, PresentRoster, RowChange, StoreContender},
    task::late,
};
use crate::{
    clock::{SystemWallClock, WallClock},
    elections::lease::{Answer, Micros, RegisterShown},
    protocol::{AgentId, Incarnation, Time},
    register::{Entry, RegisterError, RegisterKey, Swap},
};

/// The agents that could take the lease, as far as the store shows them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StoreContenders {
    /// Unknown: the store cannot list its entries, or has not listed them yet.
    Unknown,
    /// The present agents.
    Listed(Vec<StoreContender>),
}

impl StoreContenders {
    /// Returns whether the agent `id` is present; `None` if this is unknown.
    pub(crate) fn knows(&self, id: &AgentId) -> Option<bool> {
        self.any(|present| present.id == *id)
    }

    /// Returns whether the agent `id` could lead; `None` if this is unknown.
    pub(crate) fn can_lead(&self, id: &AgentId) -> Option<bool> {
        self.any(|present| present.id == *id && present.score.is_some())
    }

    /// Returns whether an agent other than `id` could lead; `None` if this is unknown.
    pub(crate) fn has_other(&self, id: &AgentId) -> Option<bool> {
        self.any(|present| present.id != *id && present.score.is_some())
    }

    fn any(&self, is_it: impl Fn(&StoreContender) -> bool) -> Option<bool> {
        match self {
            Self::Unknown => None,
            Self::Listed(all) => Some(all.iter().any(is_it)),
        }
    }
}

type Listed = Vec<(RegisterKey, Entry)>;

impl Keeper {
    /// Returns the contenders that the last round has read.
    pub(crate) fn contenders(&self) -> StoreContenders {
        let now = self.settings.clock.now();
        let present = self.roster().present(now);
        present.map_or(StoreContenders::Unknown, StoreContenders::Listed)
    }

    /// Lists the rows again, and returns the contenders.
    pub(crate) async fn contenders_now(&self) -> StoreContenders {
        // If the store fails, the last known rows are used.
        drop(self.list().await);
        self.contenders()
    }

    /// Tells each agent of this process which agent of another process is the best successor.
    fn tell_contender(&self, now: Time) {
        let newest = self.group.upgrade().map(|group| group.newest());
        // Members of the group do not count here: agents know the members from the group, which has newer facts than
        // the rows.
        let is_member = |id: &AgentId| {
            let newest = newest.as_ref();
            newest.is_some_and(|newest| newest.members().get(id).is_some())
        };
        let best = self.roster().best_elsewhere(now, is_member);
        let mut hearers = self.hearers();
        hearers.retain(|_, to| to.connected());
        for to in hearers.values() {
            let shown = RegisterShown::unasked(Micros(0), Answer::Contender(best.clone()));
            // do_send: there is one message for each listing.
            to.do_send(StoreAnswer(Box::new(shown)));
        }
    }

    /// Removes the row of an agent that has left, so that no leader hands over to it.
    pub(crate) async fn withdraw(&self, id: &AgentId) {
        let Some(listed) = self.list().await else {
            return;
        };
        let own = self.roster().own(id, &listed);
        if let Some(change) = own {
            self.change(change).await;
        }
    }

    /// Returns the incarnation of another process's agent that has the name `id`; `None` if no process has such an
    /// agent.
    pub(super) fn other_of(&self, id: &AgentId) -> Option<Incarnation> {
        self.roster().other_of(id)
    }

    /// Reads the rows, and writes the rows of the agents of this process. The rows are read first, because a row is
    /// replaced only in the version that was read. If the store does not list the rows, nothing is written until the
    /// next round.
    pub(super) async fn round(self: Arc<Self>, here: Vec<AgentHere>) {
        let Some(listed) = self.list().await else {
            return;
        };
        let now = self.settings.clock.now();
        let changes = self.roster().changes(now, wall(), &here, &listed);
        for change in changes {
            self.change(change).await;
        }
    }

    /// Returns whether the store can list rows.
    pub(super) fn can_list(&self) -> bool {
        self.settings.register.list(&self.keys.present).is_some()
    }

    pub(super) async fn list(&self) -> Option<Listed> {
        let listing = self.settings.register.list(&self.keys.present)?;
        let listed = timeout(self.settings.limit, listing).await;
        let listed = listed.unwrap_or_else(|_| Err(RegisterError::unreachable(late(self.limit()))));
        let now = self.settings.clock.now();
        match listed {
            Ok(listed) => {
                self.health.works(Access::Lists, self.name());
                self.roster().list(now, wall(), &listed);
                self.tell_contender(now);
                Some(listed)
            }
            Err(error) => {
                self.health.fails(Access::Lists, now, self.name(), &error);
                self.tell_contender(now); // by now a row may be too old to count
                None
            }
        }
    }

    /// Makes one change of a row. If it fails, the next round tries again.
    async fn change(&self, change: RowChange) {
        let (register, limit) = (&self.settings.register, self.settings.limit);
        match change {
            RowChange::Write {
                id,
                incarnation,
                expected,
                value,
            } => {
                let Ok(key) = format!("{}/{id}", self.keys.present).parse() else {
                    return;
                };
                let swap = register.swap(&key, expected.as_ref(), value);
                if let Ok(Ok(Swap::Done(_))) = timeout(limit, swap).await {
                    self.roster().note_written(id, incarnation);
                }
            }
            RowChange::Remove { key, expected } => {
                if let Some(removing) = register.remove(&key, &expected) {
                    drop(timeout(limit, removing).await);
                }
            }
        }
    }

    pub(super) fn roster(&self) -> MutexGuard<'_, PresentRoster> {
        // A poisoned lock is used, because a panic under it cannot leave a change half done.
        self.roster.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns this host's wall clock, in milliseconds since 1970. This time is shown to people, and gives the age of a row
/// at its first reading. No rule of an election uses it.
fn wall() -> u64 {
    SystemWallClock.now().as_millis()
}
