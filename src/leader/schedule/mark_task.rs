//! The task that reads and writes the marks of an agent's schedules in the store of its lease.
//!
//! Decided here: how many operations run at one time, that a slow operation is given up with its outcome unknown, and that
//! the task ends with the agent. Not here: the content of reads and writes (`marks.rs`).

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    future::poll_fn,
    io::{self, ErrorKind},
    panic::AssertUnwindSafe,
    sync::Arc,
    task::Poll,
};

use actix::clock::timeout;
use futures::{FutureExt, StreamExt, future::LocalBoxFuture, stream::FuturesUnordered};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tracing::{info, warn};

use crate::{
    protocol::AgentId,
    register::{Entry, RegisterError, Swap, keeper::Keeper},
};

use super::{
    marks::{MarkOperation, MarkStep, StoredMark},
    message::ScheduleMessage,
    service::{AnswerRoutes, ScheduleAnswer},
};

/// Most operations at one time. A renewal of the lease goes to the same store beside them, and waits for at most these.
const MOST_AT_ONCE: usize = 16;

/// Most questions that wait for the task. A leader asks again if its question finds no room.
const QUEUE: usize = 1_024;

/// Starts the task on this thread; it ends when the last sender of questions is dropped.
pub(super) fn start(
    agent: AgentId,
    keeper: Arc<Keeper>,
    routes: Arc<AnswerRoutes>,
) -> Sender<ScheduleMessage> {
    let (questions, asked) = channel(QUEUE);
    let task = MarkTask {
        agent,
        keeper,
        routes,
        asked,
        marks: BTreeMap::new(),
        waiting: VecDeque::new(),
        running: FuturesUnordered::new(),
        failing: None,
        foreign: BTreeSet::new(),
    };
    drop(actix::spawn(task.run()));
    questions
}

struct MarkTask {
    agent: AgentId,
    keeper: Arc<Keeper>,
    routes: Arc<AnswerRoutes>,
    asked: Receiver<ScheduleMessage>,
    marks: BTreeMap<AgentId, StoredMark>,
    /// At most one operation of each schedule.
    waiting: VecDeque<(AgentId, MarkOperation)>,
    running: FuturesUnordered<LocalBoxFuture<'static, (AgentId, StoreDone)>>,
    /// The kind of operation that fails. A success of a lesser kind does not end it: a store that became read-only still
    /// answers reads.
    failing: Option<OperationKind>,
    /// Schedules whose record is foreign. It is told once, although the leader asks again and again.
    foreign: BTreeSet<AgentId>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum OperationKind {
    Read,
    Swap,
}

enum StoreDone {
    Read(Result<Option<Entry>, RegisterError>),
    Swap(Result<Swap, RegisterError>),
}

enum MarkEvent {
    Asked(ScheduleMessage),
    Done(AgentId, StoreDone),
    Over,
}

impl MarkTask {
    async fn run(mut self) {
        loop {
            match self.next().await {
                MarkEvent::Asked(said) => self.ask(&said),
                MarkEvent::Done(schedule, done) => self.done(schedule, done),
                MarkEvent::Over => return,
            }
        }
    }

    async fn next(&mut self) -> MarkEvent {
        poll_fn(|task| {
            if let Poll::Ready(Some((schedule, done))) = self.running.poll_next_unpin(task) {
                return Poll::Ready(MarkEvent::Done(schedule, done));
            }
            let asked = self.asked.poll_recv(task);
            asked.map(|said| said.map_or(MarkEvent::Over, MarkEvent::Asked))
        })
        .await
    }

    fn ask(&mut self, said: &ScheduleMessage) {
        let Some(schedule) = said.asked_of().cloned() else {
            return;
        };
        let mark = self
            .marks
            .entry(schedule.clone())
            .or_insert_with(|| StoredMark::new(self.keeper.lease_name().clone(), schedule.clone()));
        let step = mark.ask(&self.agent, said);
        self.follow(schedule, step);
    }

    fn done(&mut self, schedule: AgentId, done: StoreDone) {
        let (kind, failure) = match &done {
            StoreDone::Read(read) => (OperationKind::Read, read.as_ref().err()),
            StoreDone::Swap(swap) => (OperationKind::Swap, swap.as_ref().err()),
        };
        // The record is foreign, and the store has answered.
        let failure = failure.filter(|error| !matches!(error, RegisterError::Foreign { .. }));
        let store = self.keeper.name();
        if let Some(reason) = failure {
            // Once, not for each try.
            if self.failing.is_none() {
                warn!(node = %self.agent, store, %schedule, %reason, "mark of a schedule not stored: no tick begins");
            }
            self.failing = self.failing.max(Some(kind));
        } else if self.failing.is_some_and(|failing| failing <= kind) {
            info!(node = %self.agent, store, "marks of schedules are stored again");
            self.failing = None;
        }
        let Some(mark) = self.marks.get_mut(&schedule) else {
            return;
        };
        let step = match done {
            StoreDone::Read(read) => mark.read(read),
            StoreDone::Swap(swap) => mark.swapped(swap),
        };
        self.follow(schedule, step);
        self.begin();
    }

    fn follow(&mut self, schedule: AgentId, step: MarkStep) {
        match step {
            MarkStep::Nothing => {}
            MarkStep::Run(operation) => {
                self.waiting.push_back((schedule, operation));
                self.begin();
            }
            MarkStep::Answer(round, outcome) => {
                self.foreign.remove(&schedule);
                let from = self.agent.clone();
                self.routes.pass(ScheduleAnswer {
                    from,
                    round,
                    outcome,
                });
            }
            MarkStep::Foreign(reason) => {
                if !self.foreign.insert(schedule.clone()) {
                    return;
                }
                let store = self.keeper.name();
                warn!(node = %self.agent, store, %schedule, %reason, "mark of a schedule is none: remove the record, or give the schedule another name");
            }
        }
    }

    fn begin(&mut self) {
        while self.running.len() < MOST_AT_ONCE
            && let Some((schedule, operation)) = self.waiting.pop_front()
        {
            let done = perform(Arc::clone(&self.keeper), schedule.clone(), operation);
            let done = AssertUnwindSafe(done).catch_unwind();
            let done = done.map(|done| {
                let panicked = || RegisterError::unknown(io::Error::other("it panicked"));
                (
                    schedule,
                    done.unwrap_or_else(|_| StoreDone::Read(Err(panicked()))),
                )
            });
            self.running.push(done.boxed_local());
        }
    }
}

async fn perform(keeper: Arc<Keeper>, schedule: AgentId, operation: MarkOperation) -> StoreDone {
    let limit = keeper.limit();
    let late = || io::Error::new(ErrorKind::TimedOut, format!("no answer within {limit:?}"));
    let (register, key) = match keeper.of_schedule(&schedule) {
        Ok(place) => place,
        // Each part of the key is a name by itself, so it is one.
        Err(reason) => {
            return StoreDone::Read(Err(RegisterError::unreachable(io::Error::other(reason))));
        }
    };
    match operation {
        MarkOperation::Read => {
            let read = timeout(limit, register.read(&key)).await;
            StoreDone::Read(read.unwrap_or_else(|_| Err(RegisterError::unreachable(late()))))
        }
        MarkOperation::Swap { expected, value } => {
            let swap = timeout(limit, register.swap(&key, expected.as_ref(), value)).await;
            StoreDone::Swap(swap.unwrap_or_else(|_| Err(RegisterError::unknown(late()))))
        }
    }
}
