//! The task that reads and writes the marks (the progress) of an agent's schedules in the store of its lease.
//!
//! Decided here: how many operations run at one time; a slow operation is given up, and its outcome counts as unknown;
//! if the store fails, only one operation at a time tries the store; and the task ends with the agent, not with an
//! arbiter. Not here: the content of reads and writes (`marks.rs`), the removal of old marks (`forget.rs`), the pause
//! after a failure and the store's reports for an operator (`register/keeper/`).

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    future::poll_fn,
    io::{self, ErrorKind},
    panic::AssertUnwindSafe,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
};

use actix::clock::{Sleep, sleep, timeout};
use futures::{FutureExt, StreamExt, future::LocalBoxFuture, stream::FuturesUnordered};
use tokio::sync::mpsc::{Receiver, Sender, channel, error::TrySendError};
use tracing::warn;

use crate::{
    agent::{AgentReader, ScheduleFinding, WeakAgentReader},
    clock::WallClock,
    protocol::AgentId,
    register::{
        Entry, RegisterError, Swap,
        keeper::{Access, BackOff, Keeper},
    },
};

use super::{
    forget::{Forgetting, RunningNames},
    marks::{MarkOperation, MarkStep, StoredMark},
    message::Question,
    routes::AnswerRoutes,
};

/// Largest number of operations at one time. A renewal of the lease, which goes to the same store, never waits for more
/// operations than this number.
const MOST_AT_ONCE: usize = 16;

/// Largest number of questions that wait for the task: one for each schedule of a leader with many schedules. A leader
/// asks again if the queue is full.
const QUEUE: usize = 16_384;

/// The store of the lease, and the agent whose schedules have their marks in it.
#[derive(Clone, Debug)]
struct MarkStore {
    agent: WeakAgentReader,
    id: AgentId,
    keeper: Arc<Keeper>,
    routes: Arc<AnswerRoutes>,
    clock: Arc<dyn WallClock>,
    names: RunningNames,
}

/// The task of an agent. It runs on the arbiter of the schedule that asks first. If that arbiter ends, the next
/// question starts a new task, which reads each record again.
#[derive(Debug)]
pub(super) struct MarkTasks {
    store: MarkStore,
    running: Mutex<Option<Sender<Question>>>,
}

impl MarkTasks {
    pub(super) fn new(
        agent: &AgentReader,
        keeper: Arc<Keeper>,
        routes: Arc<AnswerRoutes>,
        clock: &Arc<dyn WallClock>,
        names: &RunningNames,
    ) -> Self {
        let store = MarkStore {
            agent: agent.downgrade(),
            id: agent.id().clone(),
            keeper,
            routes,
            clock: Arc::clone(clock),
            names: Arc::clone(names),
        };
        Self {
            store,
            running: Mutex::default(),
        }
    }

    /// Returns the name of the store for an operator.
    pub(super) fn store(&self) -> &str {
        self.store.keeper.name()
    }

    /// Gives a question of the agent, which leads, to the task. The task asks the store. If no answer comes, the agent
    /// asks again.
    pub(super) fn ask(&self, question: Question) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let put = match &*running {
            Some(questions) => questions.try_send(question),
            None => Err(TrySendError::Closed(question)),
        };
        match put {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => {
                warn!(node = %self.store.id, "question about a schedule's mark dropped: too many wait");
            }
            Err(TrySendError::Closed(question)) => {
                if running.is_some() {
                    warn!(node = %self.store.id, "the arbiter of the schedules' marks has ended: another arbiter takes over");
                }
                let questions = self.start();
                // The new queue has room for the first question.
                questions.try_send(question).ok();
                *running = Some(questions);
            }
        }
    }

    /// Starts the task on this thread; it ends when the last sender of questions is dropped.
    fn start(&self) -> Sender<Question> {
        let (questions, asked) = channel(QUEUE);
        let task = MarkTask {
            store: self.store.clone(),
            asked,
            marks: BTreeMap::new(),
            waiting: VecDeque::new(),
            running: FuturesUnordered::new(),
            back_off: BackOff::default(),
            pause: None,
            foreign: BTreeSet::new(),
            forgetting: Forgetting::default(),
        };
        drop(actix::spawn(task.run()));
        questions
    }
}

struct MarkTask {
    store: MarkStore,
    asked: Receiver<Question>,
    marks: BTreeMap<AgentId, StoredMark>,
    /// Operations that wait to begin, at most one for each schedule.
    waiting: VecDeque<(AgentId, MarkOperation)>,
    running: FuturesUnordered<LocalBoxFuture<'static, (AgentId, StoreDone)>>,
    back_off: BackOff,
    /// The pause until a failing store is tried again.
    pause: Option<Pin<Box<Sleep>>>,
    /// Schedules with a foreign record. Each is reported once, although the leader asks again and again.
    foreign: BTreeSet<AgentId>,
    forgetting: Forgetting,
}

enum StoreDone {
    Read(Result<Option<Entry>, RegisterError>),
    Swap(Result<Swap, RegisterError>),
}

enum MarkEvent {
    Asked(Question),
    Done(AgentId, StoreDone),
    Due,
    Over,
}

impl MarkTask {
    async fn run(mut self) {
        loop {
            self.begin();
            match poll_fn(|task| self.next(task)).await {
                MarkEvent::Asked(question) => self.ask(question),
                MarkEvent::Done(schedule, done) => self.done(schedule, done),
                MarkEvent::Due => {}
                MarkEvent::Over => return,
            }
        }
    }

    fn next(&mut self, task: &mut Context<'_>) -> Poll<MarkEvent> {
        self.forgetting.poll(task);
        if let Poll::Ready(Some((schedule, done))) = self.running.poll_next_unpin(task) {
            return Poll::Ready(MarkEvent::Done(schedule, done));
        }
        if let Some(pause) = &mut self.pause
            && pause.as_mut().poll(task).is_ready()
        {
            return Poll::Ready(MarkEvent::Due);
        }
        let asked = self.asked.poll_recv(task);
        asked.map(|asked| asked.map_or(MarkEvent::Over, MarkEvent::Asked))
    }

    fn ask(&mut self, question: Question) {
        let schedule = question.schedule.clone();
        let mark = self.marks.entry(schedule.clone()).or_insert_with(|| {
            let name = self.store.keeper.lease_name().clone();
            StoredMark::new(name, schedule.clone(), self.store.id.clone())
        });
        let now = self.store.clock.now();
        let step = mark.ask(question, now);
        self.follow(schedule, step);
        self.forgetting
            .asked(&self.store.keeper, now, &self.store.names);
    }

    fn done(&mut self, schedule: AgentId, done: StoreDone) {
        let (access, failure) = match &done {
            StoreDone::Read(read) => (Access::MarkReads, read.as_ref().err()),
            StoreDone::Swap(swap) => (Access::MarkWrites, swap.as_ref().err()),
        };
        let has_failed = self.store.keeper.note(access, [failure, None]);
        if has_failed {
            self.back_off.fails(access, self.store.keeper.now());
        } else {
            self.back_off.works(access);
        }
        let Some(mark) = self.marks.get_mut(&schedule) else {
            return;
        };
        let step = match done {
            StoreDone::Read(read) => mark.read(read),
            StoreDone::Swap(swap) => mark.swapped(swap),
        };
        if let MarkStep::Run(operation) = step {
            // The operation is put in front, so that a schedule's write comes right after its read. While the store
            // fails, only one operation runs at a time, and the operations of other schedules would delay this write.
            self.waiting.push_front((schedule, operation));
            return;
        }
        self.follow(schedule, step);
    }

    fn follow(&mut self, schedule: AgentId, step: MarkStep) {
        match step {
            MarkStep::Nothing => {}
            MarkStep::Run(operation) => self.waiting.push_back((schedule, operation)),
            MarkStep::Answer(answer) => {
                if self.foreign.remove(&schedule) {
                    self.note(&schedule, None);
                }
                self.store.routes.pass(self.store.id.clone(), answer);
            }
            MarkStep::Foreign(reason) => {
                let found = ScheduleFinding::MarkForeign {
                    schedule: schedule.clone(),
                    store: self.store.keeper.name().to_owned(),
                    reason,
                };
                if self.foreign.insert(schedule.clone()) {
                    warn!(node = %self.store.id, "{found}");
                }
                self.note(&schedule, Some(found));
            }
        }
    }

    fn note(&self, schedule: &AgentId, found: Option<ScheduleFinding>) {
        if let Some(agent) = self.store.agent.upgrade() {
            agent.note_schedule(schedule, found);
        }
    }

    /// Begins waiting operations, as many as may run now.
    fn begin(&mut self) {
        let (mut most, now) = (MOST_AT_ONCE, self.store.keeper.now());
        self.pause = None;
        if let Some(at) = self.back_off.not_before() {
            // One schedule tries a failing store for all: otherwise each schedule would ask the store five times a
            // second.
            most = 1;
            if at > now && !self.waiting.is_empty() {
                self.pause = Some(Box::pin(sleep(at.since(now))));
                return;
            }
        }
        while self.running.len() < most
            && let Some((schedule, operation)) = self.waiting.pop_front()
        {
            let done = perform(Arc::clone(&self.store.keeper), schedule.clone(), operation);
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
        // Never happens: each part of the key is a valid name, so the key is valid as well.
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
