//! The access to a group's register: one in each process, which all agents of the group in this process share.
//!
//! ```text
//!   agents ── ReadRegister, SwapRegister ──▶ ask ───▶ task ──▶ Schedule: what is asked next, who hears of it
//!     ▲                                                │ ▲
//!     └────────── RegisterShown ───────────────────────┘ └── one operation at a time, within a limit ──▶ Register
//! ```
//!
//! Decided here: the agents of one group use one register. Not here: the order of the operations on a store
//! (`schedule.rs`, pure), the check of a record (`content.rs`), where the task runs and when it ends (`ask.rs`,
//! `task.rs`), the store's state for an operator (`health.rs`), how often a failing store is tried (`back_off.rs`),
//! which agents could take the lease (`roster.rs`, pure; `presence.rs`), the wall clocks of the other agents
//! (`clocks.rs`), the removal of a schedule's mark (`reset.rs`).

mod ask;
mod back_off;
mod clocks;
mod content;
mod health;
mod hearsay;
mod presence;
mod reset;
mod roster;
mod schedule;
mod task;
#[cfg(test)]
mod tests;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use actix::Message;

use crate::{
    clock::{Clock, SystemWallClock, WallClock},
    elections::{AnyMessage, lease::LeaseName},
    group::{Attachments, Group, WeakGroup},
    protocol::{AgentId, IdError, Incarnation, Time},
};
pub(crate) use bully_register::entry_of_swap;

use super::{Register, RegisterError, RegisterKey};
pub(crate) use ask::AskedStore;
use ask::RunningTask;
pub(crate) use back_off::{BackOff, pause};
pub(crate) use clocks::ReadStoreClock;
use health::Health;
pub(crate) use health::{Access, StoreState};
pub(crate) use presence::StoreContenders;
pub(crate) use reset::{MARK, MarkReset};
use roster::PresentRoster;
pub(crate) use roster::{ContenderClock, StoreContender};
use task::AnswersTo;

/// The store and the name of a group's lease, and the settings for the store.
#[derive(Debug)]
pub(crate) struct KeeperSettings {
    pub(crate) register: Arc<dyn Register>,
    pub(crate) name: LeaseName,
    /// Longest duration of an operation. After this time its outcome is unknown.
    pub(crate) limit: Duration,
    /// The clock that measures for how long the store has failed.
    pub(crate) clock: Arc<dyn Clock>,
}

/// The access of this process to the register of a group.
#[derive(Debug)]
pub(crate) struct Keeper {
    settings: KeeperSettings,
    keys: RegisterKeys,
    health: Health,
    roster: Mutex<PresentRoster>,
    /// The receivers of answers, by the agents of this process. The first question of an agent adds its receiver.
    hearers: Mutex<BTreeMap<AgentId, AnswersTo>>,
    /// The wall clocks of the agents of this process that have their own clock. Other agents use the clock of the host.
    walls: Mutex<BTreeMap<AgentId, Arc<dyn WallClock>>>,
    group: WeakGroup<AnyMessage>,
    running: Mutex<RunningTask>,
}

/// An answer of a store to an agent.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(crate) struct StoreAnswer<T: 'static>(pub(crate) T);

/// The keys of the lease and of the claim, and the common prefix of the keys of the agents' rows.
#[derive(Debug)]
struct RegisterKeys {
    lease: RegisterKey,
    claim: RegisterKey,
    present: RegisterKey,
}

impl RegisterKeys {
    fn of(name: &LeaseName) -> Result<Self, IdError> {
        let key = |record| format!("{}/{}/{record}", name.cluster, name.group).parse();
        Ok(Self {
            lease: key("lease")?,
            claim: key("claim")?,
            present: key("present")?,
        })
    }
}

/// Reason why an agent cannot use its register.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AttachError {
    /// The other agents of the group in this process use another register.
    #[error(
        "the agents of this group in this process keep their lease in {theirs}, not in {mine}: give all of them the same register"
    )]
    AnotherRegister {
        /// The store and the name of the other agents' lease, in words.
        theirs: String,
        /// The store and the name that this agent requested, in words.
        mine: String,
    },
    /// The names of the cluster and the group do not make a valid key.
    #[error(transparent)]
    Key(#[from] IdError),
}

debug_is_text!(AttachError);

impl Keeper {
    /// Prepares a group whose agents will keep a lease in a register. The incarnations in other processes are not
    /// known, so this process begins its incarnations after a random number, to differ from all other processes.
    pub(crate) fn precede(group: &Group<AnyMessage>) {
        if Self::of(group.kept()).is_none() {
            group.begin_after(unlike_others());
        }
    }

    /// Returns the group's access to its register. It has the settings of the first agent that attached a register.
    pub(crate) fn attach(
        group: &Group<AnyMessage>,
        settings: KeeperSettings,
    ) -> Result<Arc<Self>, AttachError> {
        let mine = settings.place();
        let keeper = group.kept().find(|| Self::make(group, settings))?;
        let theirs = keeper.settings.place();
        if theirs != mine {
            return Err(AttachError::AnotherRegister { theirs, mine });
        }
        Ok(keeper)
    }

    /// Returns the access to a group's register; `None` if the group's lease is not in a register.
    pub(crate) fn of(kept: &Attachments) -> Option<Arc<Self>> {
        kept.find(|| Err(())).ok()
    }

    /// Returns the store, and the key of this schedule's mark in it.
    pub(crate) fn of_schedule(
        &self,
        schedule: &AgentId,
    ) -> Result<(&dyn Register, RegisterKey), IdError> {
        let (register, below) = self.of_schedules()?;
        Ok((register, format!("{below}/{schedule}").parse()?))
    }

    /// Returns the store, and the common prefix of the keys of all schedules.
    pub(crate) fn of_schedules(&self) -> Result<(&dyn Register, RegisterKey), IdError> {
        let LeaseName { cluster, group } = &self.settings.name;
        let below = format!("{cluster}/{group}/schedule").parse()?;
        Ok((&*self.settings.register, below))
    }

    /// Returns the name of the lease.
    pub(crate) const fn lease_name(&self) -> &LeaseName {
        &self.settings.name
    }

    /// Returns the longest duration of an operation.
    pub(crate) const fn limit(&self) -> Duration {
        self.settings.limit
    }

    /// Notes the end of an operation on the lease or on a mark, with its failures. Returns whether the store has
    /// failed. A record that another program wrote is not a failure of the store.
    pub(crate) fn note(&self, access: Access, failures: [Option<&RegisterError>; 2]) -> bool {
        let is_failure = |error: &&RegisterError| !matches!(error, RegisterError::Foreign { .. });
        let failure = failures.into_iter().flatten().find(is_failure);
        match failure {
            Some(error) => self.health.fails(access, self.now(), self.name(), error),
            None => self.health.works(access, self.name()),
        }
        failure.is_some()
    }

    /// Returns the present time, by the clock that times the store's failures.
    pub(crate) fn now(&self) -> Time {
        self.settings.clock.now()
    }

    /// Returns the name of the store, and its recent state for the agent `id`.
    pub(crate) fn state(&self, id: &AgentId) -> (String, StoreState) {
        let health = self.health.read(self.settings.clock.now());
        let state = StoreState {
            other: self.other_of(id),
            has_another: self.contenders().has_other(id),
            ..health
        };
        (self.name().to_owned(), state)
    }

    /// Returns the store's name for an operator.
    pub(crate) fn name(&self) -> &str {
        self.settings.register.name()
    }

    fn hearers(&self) -> MutexGuard<'_, BTreeMap<AgentId, AnswersTo>> {
        // A poisoned lock is used, because a panic under it cannot leave a change half done.
        self.hearers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn make(group: &Group<AnyMessage>, settings: KeeperSettings) -> Result<Arc<Self>, AttachError> {
        let keys = RegisterKeys::of(&settings.name)?;
        Ok(Arc::new(Self {
            roster: Mutex::new(PresentRoster::new(&settings.name)),
            settings,
            keys,
            health: Health::default(),
            hearers: Mutex::default(),
            walls: Mutex::default(),
            group: group.downgrade(),
            running: Mutex::default(),
        }))
    }
}

impl KeeperSettings {
    /// Returns the store and the name of the lease as a text, for an operator.
    fn place(&self) -> String {
        let LeaseName { cluster, group } = &self.name;
        format!("{} ({cluster}/{group})", self.register.name())
    }
}

/// Returns an incarnation from milliseconds of the wall clock and random bits. The random bits separate two starts in
/// the same millisecond, or after a clock was set back.
fn unlike_others() -> Incarnation {
    let millis = SystemWallClock.now().as_millis() & (u64::MAX >> 24);
    Incarnation(millis << 23 | u64::from(fastrand::u32(..) >> 10))
}
