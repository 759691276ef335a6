//! How questions come to the register's task, and where that task runs.
//!
//! Decided here: that the task is started by the first question, on the arbiter of the agent that asks, and anew by
//! the next one when it has ended: because its arbiter was stopped, the store's own code has panicked, or the
//! group had no agent here. What was asked of a task that ended is not answered, which an agent has to expect of any
//! store.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use actix::System;
use tokio::sync::mpsc::{Sender, channel, error::TrySendError};
use tracing::warn;

use super::{Keeper, task::KeeperTask};
use crate::{
    elections::lease::RegisterMessage,
    group::{Envelope, Group, RemoteLink, WeakGroup},
    protocol::AgentId,
};
use bully_core::elections::message::BullyMessage;

/// See the [module](self).
pub(super) struct KeeperLink {
    group: WeakGroup<BullyMessage>,
    keeper: Arc<Keeper>,
    running: Mutex<RunningKeeper>,
}

#[derive(Default)]
struct RunningKeeper {
    /// How many tasks were started.
    started: u64,
    questions: Option<Sender<RegisterQuestion>>,
}

/// What an agent asks.
#[derive(Debug)]
pub(super) struct RegisterQuestion {
    pub(super) from: AgentId,
    pub(super) message: RegisterMessage,
}

impl KeeperLink {
    pub(super) fn new(group: &Group<BullyMessage>, keeper: &Arc<Keeper>) -> Self {
        Self {
            group: group.downgrade(),
            keeper: Arc::clone(keeper),
            running: Mutex::default(),
        }
    }

    fn start(&self, running: &mut RunningKeeper, first: RegisterQuestion) {
        // An agent asks from its own task; anybody else has nothing to wait for.
        let Some(group) = self.group.upgrade().filter(|_| is_task()) else {
            return;
        };
        let (questions, asked) = channel(QUEUE);
        // There is room for the first one.
        drop(questions.try_send(first));
        running.started = running.started.saturating_add(1);
        running.questions = Some(questions);
        let keeper = Arc::clone(&self.keeper);
        let task = KeeperTask::new(&group, keeper, running.started, asked);
        drop(actix::spawn(task.run()));
    }
}

/// Whether this may be a task of an arbiter, or of a `LocalSet`, where actors run without a System.
fn is_task() -> bool {
    tokio::task::try_id().is_some() || System::try_current().is_some()
}

impl RemoteLink<BullyMessage> for KeeperLink {
    fn carry(&self, _: &[AgentId], envelope: Envelope<BullyMessage>) {
        let BullyMessage::RegisterMessage(message) = envelope.message else {
            return; // said to all members
        };
        let from = envelope.from;
        let question = RegisterQuestion { from, message };
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let put = match &running.questions {
            Some(questions) => questions.try_send(question),
            None => Err(TrySendError::Closed(question)),
        };
        match put {
            Ok(()) => {}
            Err(TrySendError::Full(question)) => {
                warn!(agent = %question.from, "question to the register dropped: too many wait");
            }
            Err(TrySendError::Closed(question)) => self.start(&mut running, question),
        }
    }
}

impl fmt::Debug for KeeperLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeeperLink")
            .field("keeper", &self.keeper)
            .finish_non_exhaustive()
    }
}

/// So many questions may wait for the task's turn: a few of each of a thousand agents.
const QUEUE: usize = 4_096;
