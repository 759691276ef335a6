//! The way of questions to the register's task, and the place where that task runs.
//!
//! Decided here: the first question starts the task, on the arbiter of the agent that asks. The next question starts it
//! anew if it has ended: because its arbiter was stopped, because the store's own code panicked, or because the group
//! had no agent here. Questions to a task that ended are not answered. An agent must expect that of any store.

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
    /// Number of tasks that were started.
    started: u64,
    questions: Option<Sender<AskedQuestion>>,
}

/// A question of an agent.
#[derive(Debug)]
pub(super) struct AskedQuestion {
    pub(super) from: AgentId,
    pub(super) question: RegisterQuestion,
    /// Where the agent receives the answer, and later changes.
    pub(super) answers: AnswersTo,
}

/// The receiver of an agent's answers from its register.
pub(super) type AnswersTo = Recipient<StoreAnswer<Box<RegisterShown>>>;

/// A store that agents use.
pub(crate) trait AskedStore<A, T: Send>: Send + Sync {
    /// Asks for that agent. The agent receives the answer, and from then on changes.
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
        // An agent asks from its own task. Outside of a task there is no caller that waits for an answer.
        let Some(group) = self.group.upgrade().filter(|_| is_task()) else {
            return;
        };
        let (questions, asked) = channel(QUEUE);
        // There is room for the first question.
        drop(questions.try_send(first));
        running.started = running.started.saturating_add(1);
        running.questions = Some(questions);
        let task = KeeperTask::new(&group, Arc::clone(self), running.started, asked);
        drop(actix::spawn(task.run()));
    }
}

/// Returns whether this code may run in a task of an arbiter, or of a `LocalSet`, where actors run without a System.
fn is_task() -> bool {
    tokio::task::try_id().is_some() || System::try_current().is_some()
}

/// Most questions that may wait for the task: a few of each of a thousand agents.
const QUEUE: usize = 4_096;
