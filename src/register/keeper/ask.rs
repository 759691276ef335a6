//! How the questions of agents reach the task that uses the store, and where this task runs.
//!
//! Decided here: the first question starts the task, on the arbiter of the agent that asks. If the task has ended (its
//! arbiter was stopped, the store's own code panicked, or the group had no agent in this process), the next question
//! starts it again. A question that waits when the task ends is not answered. An agent must expect this of any store.

use std::sync::{Arc, PoisonError};

use actix::{Recipient, System};
use tokio::sync::mpsc::{Sender, channel, error::TrySendError};
use tracing::warn;

use super::{
    Keeper, StoreAnswer,
    task::{AnswersTo, AskedQuestion, KeeperTask},
};
use crate::{
    elections::lease::{RegisterQuestion, RegisterShown},
    protocol::AgentId,
};

/// The task that serves a group's agents, while it runs.
#[derive(Debug, Default)]
pub(super) struct RunningTask {
    /// Number of tasks that have been started so far.
    started: u64,
    questions: Option<Sender<AskedQuestion>>,
}

/// A store that agents use.
pub(crate) trait AskedStore<A, T: Send>: Send + Sync {
    /// Asks the store for the agent `from`. The agent receives the answer, and from then on the changes of the store.
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
                // Dropped, because an agent must expect of any store that a question gets no answer.
                warn!(agent = %asked.from, "question to the register dropped: too many wait");
            }
            Err(TrySendError::Closed(asked)) => self.start(&mut running, asked),
        }
    }
}

impl Keeper {
    fn start(self: &Arc<Self>, running: &mut RunningTask, first: AskedQuestion) {
        // The group is gone, or no task can be started from here. Agents ask from their own tasks, so without a task no
        // agent waits for this answer.
        let Some(group) = self.group.upgrade().filter(|_| is_task()) else {
            return;
        };
        let (questions, asked) = channel(QUEUE);
        // The queue is new, so it has room for the first question.
        drop(questions.try_send(first));
        running.started = running.started.saturating_add(1);
        running.questions = Some(questions);
        let task = KeeperTask::new(&group, Arc::clone(self), running.started, asked);
        drop(actix::spawn(task.run()));
    }
}

/// Returns whether this code may run in a task of an arbiter, or of a `LocalSet`, in which actors run without a System.
fn is_task() -> bool {
    tokio::task::try_id().is_some() || System::try_current().is_some()
}

/// Largest number of questions that may wait for the task: some questions from each of a thousand agents.
const QUEUE: usize = 4_096;
