//! How questions come to the register's task, and where that task runs.
//!
//! Decided here: that the task is started by the first question, on the arbiter of the agent that asks, and anew by
//! the next one when it has ended: because its arbiter was stopped, the store's own code has panicked, or the
//! group had no agent here. What was asked of a task that ended is not answered, which an agent has to expect of any
//! store.

use std::sync::{Arc, PoisonError};

use actix::{Recipient, System};
use tokio::sync::mpsc::{Sender, channel, error::TrySendError};
use tracing::warn;

use super::{Keeper, StoreAnswer, task::KeeperTask};
use crate::{
    elections::lease::{RegisterQuestion, RegisterShown},
    protocol::AgentId,
};

/// The task that serves a group's agents, if it runs.
#[derive(Debug, Default)]
pub(super) struct RunningTask {
    /// How many tasks were started.
    started: u64,
    questions: Option<Sender<AskedQuestion>>,
}

/// What an agent asks.
#[derive(Debug)]
pub(super) struct AskedQuestion {
    pub(super) from: AgentId,
    pub(super) question: RegisterQuestion,
    /// Where it hears the answer, and of changes.
    pub(super) answers: AnswersTo,
}

/// What an agent hears of its register.
pub(super) type AnswersTo = Recipient<StoreAnswer<Box<RegisterShown>>>;

/// A store that agents ask.
pub(crate) trait AskedStore<A, T: Send>: Send + Sync {
    /// Asks for that agent, which is told the answer; and of changes from then on.
    fn ask(self: Arc<Self>, from: AgentId, question: A, answers: Recipient<StoreAnswer<T>>);
}

impl AskedStore<RegisterQuestion, Box<RegisterShown>> for Keeper {
    fn ask(self: Arc<Self>, from: AgentId, question: RegisterQuestion, answers: AnswersTo) {
        let asked = AskedQuestion {
            from,
            question,
            answers,
        };
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let put = match &running.questions {
            Some(questions) => questions.try_send(asked),
            None => Err(TrySendError::Closed(asked)),
        };
        match put {
            Ok(()) => {}
            Err(TrySendError::Full(asked)) => {
                warn!(agent = %asked.from, "question to the register dropped: too many wait");
            }
            Err(TrySendError::Closed(asked)) => self.start(&mut running, asked),
        }
    }
}

impl Keeper {
    fn start(self: &Arc<Self>, running: &mut RunningTask, first: AskedQuestion) {
        // An agent asks from its own task; anybody else has nothing to wait for.
        let Some(group) = self.group.upgrade().filter(|_| is_task()) else {
            return;
        };
        let (questions, asked) = channel(QUEUE);
        // There is room for the first one.
        drop(questions.try_send(first));
        running.started = running.started.saturating_add(1);
        running.questions = Some(questions);
        let task = KeeperTask::new(&group, Arc::clone(self), running.started, asked);
        drop(actix::spawn(task.run()));
    }
}

/// Whether this may be a task of an arbiter, or of a `LocalSet`, where actors run without a System.
fn is_task() -> bool {
    tokio::task::try_id().is_some() || System::try_current().is_some()
}

/// So many questions may wait for the task's turn: a few of each of a thousand agents.
const QUEUE: usize = 4_096;
