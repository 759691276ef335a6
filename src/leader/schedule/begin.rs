//! The beginning of an agent's schedules: the store, the clock, and the agents whose acknowledgement counts.
//!
//! Decided here: which settings are refused; an agent begins once. Not here: the work after that (`service.rs`).

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use crate::{
    agent::{AgentReader, ElectionHandle},
    clock::{SystemWallClock, WallClock},
    elections::lease::RULES as LEASE,
    leader::{Messages, MessagesError},
    protocol::{AgentId, Election},
    register::keeper::Keeper,
    store::{MemoryStore, TermStore},
};

use super::{
    ScheduleError,
    register::ScheduleRecord,
    service::{BegunStore, RecordStore, ScheduleService},
};

/// The application's settings for the schedules of one agent.
#[derive(Debug, Default)]
pub(super) struct BeginSettings {
    pub(super) store: Option<RecordStore>,
    pub(super) clock: Option<Arc<dyn WallClock>>,
}

impl BeginSettings {
    /// Returns the settings with the wall clock that the agent was given, unless the settings have a clock: so in
    /// virtual time, ticks are due by virtual time. Call this before `attached` and not in it, because both take the
    /// same lock.
    fn with_clock_of(mut self, agent: &AgentReader) -> Self {
        self.clock = self.clock.or_else(|| agent.given_wall_clock());
        self
    }
}

/// Returns the agent's service for schedules. If the service has not begun, it begins with the defaults.
pub(super) fn service_of<E: Election>(
    agent: &ElectionHandle<E>,
) -> Result<Arc<ScheduleService>, ScheduleError> {
    let agent = agent.reader();
    let keeping = MarkKeeping::of(&agent)?;
    let settings = BeginSettings::default().with_clock_of(&agent);
    agent.attached(|| start(&agent, keeping, settings))
}

/// Begins the agent's part in schedules with `settings`.
///
/// # Errors
/// [`ScheduleError::Begun`] if the agent has begun before.
pub(super) fn begin<E: Election>(
    agent: &ElectionHandle<E>,
    settings: BeginSettings,
) -> Result<(), ScheduleError> {
    let agent = agent.reader();
    let keeping = MarkKeeping::of(&agent)?;
    let settings = settings.with_clock_of(&agent);
    let mut is_first = false;
    agent.attached(|| {
        is_first = true;
        start(&agent, keeping, settings)
    })?;
    if is_first {
        return Ok(());
    }
    let agent = agent.id().clone();
    Err(ScheduleError::Begun { agent })
}

/// The place that keeps the progress of the schedules (their marks), where the next leader finds it.
enum MarkKeeping {
    Agents(Messages),
    /// The store of the agent's lease: the agents then send each other no messages about schedules.
    Store(Arc<Keeper>),
}

impl MarkKeeping {
    /// Returns the keeper of the marks. Call this before `attached` and not in it, because both take the same lock.
    fn of(agent: &AgentReader) -> Result<Self, ScheduleError> {
        let requirements = agent.requirements().ok_or_else(|| ended(agent))?;
        if requirements.rules != LEASE {
            return messages_of(agent).map(Self::Agents);
        }
        let keeper = agent.attached_to_group(|| Err(ended(agent)));
        keeper.map(Self::Store)
    }
}

fn messages_of(agent: &AgentReader) -> Result<Messages, ScheduleError> {
    Messages::of_reader(agent).map_err(|reason| {
        if reason == MessagesError::Ended {
            return ended(agent);
        }
        reason.into()
    })
}

fn ended(agent: &AgentReader) -> ScheduleError {
    let agent = agent.id().clone();
    ScheduleError::Ended { agent }
}

fn start(
    agent: &AgentReader,
    keeping: MarkKeeping,
    settings: BeginSettings,
) -> Result<Arc<ScheduleService>, ScheduleError> {
    let id = agent.id();
    let clock = settings.clock.unwrap_or_else(|| Arc::new(SystemWallClock));
    let messages = match keeping {
        MarkKeeping::Agents(messages) => messages,
        MarkKeeping::Store(_) if settings.store.is_some() => {
            let agent = id.clone();
            return Err(ScheduleError::KeptByLease { agent });
        }
        MarkKeeping::Store(keeper) => {
            let service = ScheduleService::with_store(agent, keeper, clock);
            return Ok(Arc::new(service));
        }
    };
    let requirements = agent.requirements().ok_or_else(|| ended(agent))?;
    let store = settings.store.unwrap_or_else(|| in_memory(agent));
    if requirements.relies_on_votes() && agent.is_open() && store.is_volatile() {
        return Err(ScheduleError::VolatileStore);
    }
    let is_foreign =
        |group: &AgentId, node: &AgentId| node != id || group.as_str() != agent.group();
    if let Some(owner) = store.identity()
        && is_foreign(&owner.group, &owner.node)
    {
        let owner = Box::new(owner.clone());
        return Err(ScheduleError::ForeignStore { owner });
    }
    let store = BegunStore::new(store)?;
    let service = ScheduleService::start(agent, &messages, &requirements, clock, store)?;
    Ok(Arc::new(service))
}

/// The records of agents without a store of their own. Each record survives all starts of its agent in this process.
#[derive(Default)]
struct MemoryRecords(Mutex<BTreeMap<AgentId, MemoryStore<ScheduleRecord>>>);

fn in_memory(agent: &AgentReader) -> RecordStore {
    let made = agent.attached_to_group(|| Ok::<_, ()>(Arc::<MemoryRecords>::default()));
    let records = made.unwrap_or_default();
    let mut records = records.0.lock().unwrap_or_else(PoisonError::into_inner);
    Arc::new(records.entry(agent.id().clone()).or_default().clone())
}
