//! The register of a group: one in each process, for all agents that the group has there.
//!
//! ```text
//!   agents ── ReadRegister, SwapRegister ──▶ ask ───▶ task ──▶ Schedule: what is asked next, who hears of it
//!     ▲                                                │ ▲
//!     └────────── RegisterShown ───────────────────────┘ └── one operation at a time, within a limit ──▶ Register
//! ```
//!
//! Decided here: that the agents of one group use one register.
//! Not here: what a store is asked (`schedule.rs`, pure), how a record is told from anything else (`content.rs`),
//! where the task runs and when it ends (`ask.rs`, `task.rs`), what an operator is told of the store (`health.rs`), how often a
//! store that fails is tried (`back_off.rs`), who could take the lease (`roster.rs`, pure; `presence.rs`), what the wall clocks of the others show (`clocks.rs`),
//! how a mark of a schedule is removed (`reset.rs`).

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
use ask::{AnswersTo, RunningTask};
pub(crate) use back_off::{BackOff, pause};
pub(crate) use clocks::ReadStoreClock;
use health::Health;
pub(crate) use health::{Access, StoreState};
pub(crate) use presence::StoreContenders;
pub(crate) use reset::{MARK, MarkReset};
pub(crate) use roster::ContenderClock;
use roster::PresentRoster;

/// Where the lease of a group is, and how its store is asked.
#[derive(Debug)]
pub(crate) struct KeeperSettings {
    pub(crate) register: Arc<dyn Register>,
    pub(crate) name: LeaseName,
    /// The longest that an operation may take; afterwards its outcome is unknown.
    pub(crate) limit: Duration,
    /// By which the store's failures are timed.
    pub(crate) clock: Arc<dyn Clock>,
}

/// The register of a group in this process.
#[derive(Debug)]
pub(crate) struct Keeper {
    settings: KeeperSettings,
    keys: RegisterKeys,
    health: Health,
    roster: Mutex<PresentRoster>,
    /// Where the agents here hear, once each has asked.
    hearers: Mutex<BTreeMap<AgentId, AnswersTo>>,
    /// The wall clocks of the agents here that have one of their own. The others go by that of the host.
    walls: Mutex<BTreeMap<AgentId, Arc<dyn WallClock>>>,
    group: WeakGroup<AnyMessage>,
    running: Mutex<RunningTask>,
}

/// What a store says to an agent.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(crate) struct StoreAnswer<T: 'static>(pub(crate) T);

/// Where the two records are, and below which key the rows of those that are there.
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

/// Why an agent does not get its register.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AttachError {
    /// The agents of the group that are here use another one.
    #[error(
        "the agents of this group in this process keep their lease in {theirs}, not in {mine}: give all of them the same register"
    )]
    AnotherRegister {
        /// Where the lease of the others is.
        theirs: String,
        /// What was asked for.
        mine: String,
    },
    /// Cluster and group make no key.
    #[error(transparent)]
    Key(#[from] IdError),
}

debug_is_text!(AttachError);

impl Keeper {
    /// Notes that the group's agents keep a lease in a register: each incarnation that begins in this process from now
    /// on is unlike those of any other process, which cannot be asked for its own.
    pub(crate) fn precede(group: &Group<AnyMessage>) {
        if Self::of(group.kept()).is_none() {
            group.begin_after(unlike_others());
        }
    }

    /// The register of the group, with the settings of the first agent that names one.
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

    /// The register of a group, if its lease is in one.
    pub(crate) fn of(kept: &Attachments) -> Option<Arc<Self>> {
        kept.find(|| Err(())).ok()
    }

    /// The store, for records beside those of the lease, and where the one of that schedule is.
    pub(crate) fn of_schedule(
        &self,
        schedule: &AgentId,
    ) -> Result<(&dyn Register, RegisterKey), IdError> {
        let (register, below) = self.of_schedules()?;
        Ok((register, format!("{below}/{schedule}").parse()?))
    }

    /// The same for all schedules: the key that theirs are below.
    pub(crate) fn of_schedules(&self) -> Result<(&dyn Register, RegisterKey), IdError> {
        let LeaseName { cluster, group } = &self.settings.name;
        let below = format!("{cluster}/{group}/schedule").parse()?;
        Ok((&*self.settings.register, below))
    }

    /// Which lease it is.
    pub(crate) const fn lease_name(&self) -> &LeaseName {
        &self.settings.name
    }

    /// The longest that an operation may take.
    pub(crate) const fn limit(&self) -> Duration {
        self.settings.limit
    }

    /// An operation has ended, with these failures, on the lease or on a mark. Says whether the store failed: a record of
    /// something else is shown as such, not as a failure.
    pub(crate) fn note(&self, access: Access, failures: [Option<&RegisterError>; 2]) -> bool {
        let is_failure = |error: &&RegisterError| !matches!(error, RegisterError::Foreign { .. });
        let failure = failures.into_iter().flatten().find(is_failure);
        match failure {
            Some(error) => self.health.fails(access, self.now(), self.name(), error),
            None => self.health.works(access, self.name()),
        }
        failure.is_some()
    }

    /// The time by which the store's failures are timed.
    pub(crate) fn now(&self) -> Time {
        self.settings.clock.now()
    }

    /// How its store is called, and what that has said of late, also of that agent.
    pub(crate) fn state(&self, id: &AgentId) -> (String, StoreState) {
        let health = self.health.read(self.settings.clock.now());
        let state = StoreState {
            other: self.other_of(id),
            has_another: self.contenders().has_other(id),
            ..health
        };
        (self.name().to_owned(), state)
    }

    /// How an operator calls the store.
    pub(crate) fn name(&self) -> &str {
        self.settings.register.name()
    }

    fn hearers(&self) -> MutexGuard<'_, BTreeMap<AgentId, AnswersTo>> {
        // Nothing that can panic half-way runs under the lock.
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
    /// Where the lease is, for an operator.
    fn place(&self) -> String {
        let LeaseName { cluster, group } = &self.name;
        format!("{} ({cluster}/{group})", self.register.name())
    }
}

/// Milliseconds of the wall clock, and chance for two starts in one of them, or for a clock that was set back.
fn unlike_others() -> Incarnation {
    let millis = SystemWallClock.now().as_millis() & (u64::MAX >> 24);
    Incarnation(millis << 23 | u64::from(fastrand::u32(..) >> 10))
}
