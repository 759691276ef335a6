//! The task that uses the store, one operation after the other.
//!
//! Decided here: the task stops waiting for an operation that takes too long, and the outcome of this operation then
//! counts as unknown; the task ends when this process has no agent of the group any more. Not here: which operation is
//! next, and which agents receive its answer ([`KeeperSchedule`]).

use std::{
    future::poll_fn,
    io::{self, ErrorKind},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use actix::{
    Recipient,
    clock::{Sleep, sleep, timeout},
};
use futures::{
    FutureExt, StreamExt,
    future::{LocalBoxFuture, pending, select},
};
use tokio::sync::mpsc::{Receiver, channel};

use super::{
    Keeper, StoreAnswer,
    health::Access,
    roster::{AgentHere, EVERY},
    schedule::{KeeperSchedule, NextOperation, Operation, RegisterReply, WhichRecord},
};
use crate::{
    elections::{
        AnyMessage,
        lease::{RegisterQuestion, RegisterShown},
    },
    group::{Group, MembershipWatch},
    protocol::AgentId,
    register::{Change, ChangeStream, Entry, RegisterError, Swap},
};

#[derive(Debug)]
pub(super) struct AskedQuestion {
    pub(super) from: AgentId,
    pub(super) question: RegisterQuestion,
    /// The receiver of the answer, and of later changes.
    pub(super) answers: AnswersTo,
}

/// The receiver of the answers to an agent.
pub(super) type AnswersTo = Recipient<StoreAnswer<Box<RegisterShown>>>;

/// The state of one task; see the [module](self).
pub(super) struct KeeperTask {
    keeper: Arc<Keeper>,
    members: MembershipWatch<AnyMessage>,
    members_changed: Receiver<()>,
    asked: Receiver<AskedQuestion>,
    changes: Vec<(WhichRecord, ChangeStream)>,
    schedule: KeeperSchedule,
    operation: Option<LocalBoxFuture<'static, Done>>,
    timer: Option<Pin<Box<Sleep>>>,
}

/// The result of an operation.
enum Done {
    Read(
        Result<Option<Entry>, RegisterError>,
        Result<Option<Entry>, RegisterError>,
    ),
    Swap(Result<Swap, RegisterError>),
}

/// An event that wakes the task.
enum KeeperEvent {
    Asked(AskedQuestion),
    Told(Vec<(WhichRecord, Change)>),
    Done(Done),
    Due,
    MembersChanged,
}

impl KeeperTask {
    pub(super) fn new(
        group: &Group<AnyMessage>,
        keeper: Arc<Keeper>,
        number: u64,
        asked: Receiver<AskedQuestion>,
    ) -> Self {
        let (change, members_changed) = channel(1);
        let members = group.watch(move || {
            // If an earlier notice still waits in the queue, a second notice is not needed.
            change.try_send(()).ok();
        });
        let register = &keeper.settings.register;
        let keys = [
            (WhichRecord::Lease, &keeper.keys.lease),
            (WhichRecord::Claim, &keeper.keys.claim),
        ];
        let told = keys
            .into_iter()
            .filter_map(|(which, key)| Some((which, register.changes(key)?)));
        Self {
            changes: told.collect(),
            schedule: KeeperSchedule::new(&keeper.settings.name, number),
            keeper,
            members,
            members_changed,
            asked,
            operation: None,
            timer: None,
        }
    }

    /// Serves the agents of this process and writes their rows, as long as there are any.
    pub(super) async fn run(self) {
        let rows = rows(Arc::clone(&self.keeper)).boxed_local();
        select(self.serve().boxed_local(), rows).await;
    }

    async fn serve(mut self) {
        while self.has_agents() {
            self.proceed();
            let mut replies = Vec::new();
            match poll_fn(|cx| self.poll_event(cx)).await {
                KeeperEvent::Asked(asked) => {
                    let from = asked.from.clone();
                    self.keeper.hearers().insert(from, asked.answers);
                    let now = self.keeper.settings.clock.now();
                    self.schedule
                        .hear(now, asked.from, asked.question, &mut replies);
                }
                KeeperEvent::Told(told) => {
                    let now = self.keeper.settings.clock.now();
                    for (which, change) in told {
                        self.schedule.tell(now, which, change, &mut replies);
                    }
                }
                KeeperEvent::Done(done) => {
                    self.finish(done, &mut replies);
                    let now = self.keeper.settings.clock.now();
                    self.schedule.tell_rest(now, &mut replies);
                }
                KeeperEvent::Due | KeeperEvent::MembersChanged => {}
            }
            for reply in replies {
                self.send(reply);
            }
        }
    }

    /// Returns whether this process has agents of the group. This read of the membership also requests a notice of its
    /// next change.
    fn has_agents(&self) -> bool {
        self.members.look().here().next().is_some()
    }

    /// Begins the operation that is due, if there is one.
    fn proceed(&mut self) {
        if self.operation.is_some() {
            return;
        }
        let now = self.keeper.settings.clock.now();
        self.timer = None;
        match self.schedule.next(now) {
            NextOperation::Run(operation) => self.operation = Some(self.begin(operation)),
            NextOperation::At(at) => self.timer = Some(Box::pin(sleep(at.since(now)))),
            NextOperation::Nothing => {}
        }
    }

    fn begin(&self, operation: Operation) -> LocalBoxFuture<'static, Done> {
        let keeper = &self.keeper;
        let (register, limit) = (&keeper.settings.register, keeper.settings.limit);
        match operation {
            Operation::Read => {
                let lease = timeout(limit, register.read(&keeper.keys.lease));
                let claim = timeout(limit, register.read(&keeper.keys.claim));
                // Both reads run at once, so a remote store can answer them in one round trip.
                let both = futures::future::join(lease, claim);
                both.map(move |(lease, claim)| {
                    let known = |read: Result<_, _>| {
                        read.unwrap_or_else(|_| Err(RegisterError::unreachable(late(limit))))
                    };
                    Done::Read(known(lease), known(claim))
                })
                .boxed_local()
            }
            Operation::Swap {
                which,
                expected,
                value,
            } => {
                let key = match which {
                    WhichRecord::Lease => &keeper.keys.lease,
                    WhichRecord::Claim => &keeper.keys.claim,
                };
                let swap = timeout(limit, register.swap(key, expected.as_ref(), value));
                let known = move |swap: Result<_, _>| {
                    swap.unwrap_or_else(|_| Err(RegisterError::unknown(late(limit))))
                };
                swap.map(move |swap| Done::Swap(known(swap))).boxed_local()
            }
        }
    }

    fn finish(&mut self, done: Done, replies: &mut Vec<RegisterReply>) {
        self.operation = None;
        let keeper = &self.keeper;
        let (access, failures) = match &done {
            Done::Read(lease, claim) => {
                let both = [lease.as_ref().err(), claim.as_ref().err()];
                (Access::Reads, both)
            }
            Done::Swap(swap) => (Access::Writes, [swap.as_ref().err(), None]),
        };
        let has_failed = keeper.note(access, failures);
        match done {
            Done::Read(lease, claim) => self.schedule.read(lease, claim, replies),
            Done::Swap(swap) => self.schedule.swapped(swap, replies),
        }
        if !has_failed {
            let refused = self.schedule.refused();
            self.keeper.health.holds(self.keeper.name(), refused);
        }
    }

    fn send(&mut self, reply: RegisterReply) {
        // do_send: an agent has few questions at a time, and reads are at least 10 ms apart.
        let tell = |to: &AnswersTo, shown| to.do_send(StoreAnswer(Box::new(shown)));
        match reply {
            RegisterReply::To(id, shown) => {
                if let Some(to) = self.keeper.hearers().get(&id) {
                    tell(to, shown);
                }
            }
            RegisterReply::ToOthers {
                but,
                at,
                answer,
                is_broken,
            } => {
                let age = self.keeper.settings.clock.now().since(at);
                let shown = RegisterShown {
                    is_broken,
                    ..RegisterShown::unasked(age.into(), answer)
                };
                let mut agents = self.keeper.hearers();
                agents.retain(|_, to| to.connected());
                let others = agents.iter().filter(|(id, _)| !but.contains(id));
                others.for_each(|(_, to)| tell(to, shown.clone()));
            }
        }
    }

    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<KeeperEvent> {
        // The result of the operation is handled before new questions, because the next operation depends on it.
        if let Some(operation) = &mut self.operation
            && let Poll::Ready(done) = operation.as_mut().poll(cx)
        {
            return Poll::Ready(KeeperEvent::Done(done));
        }
        if let Poll::Ready(Some(question)) = self.asked.poll_recv(cx) {
            return Poll::Ready(KeeperEvent::Asked(question));
        }
        if let Poll::Ready(Some(())) = self.members_changed.poll_recv(cx) {
            return Poll::Ready(KeeperEvent::MembersChanged);
        }
        let mut all = Vec::new();
        self.changes
            .retain_mut(|(which, changes)| match changes.poll_next_unpin(cx) {
                Poll::Ready(told) => {
                    let is_open = told.is_some();
                    all.extend(told.map(|change| (*which, change)));
                    is_open
                }
                Poll::Pending => true,
            });
        if !all.is_empty() {
            return Poll::Ready(KeeperEvent::Told(all));
        }
        if let Some(timer) = &mut self.timer {
            return timer.as_mut().poll(cx).map(|()| KeeperEvent::Due);
        }
        Poll::Pending
    }
}

/// Writes the rows of the agents of this process, in rounds.
async fn rows(keeper: Arc<Keeper>) {
    // The second round follows soon, so that agents that start together see each other.
    let mut pause = SOON;
    while keeper.can_list() {
        let Some(group) = keeper.group.upgrade() else {
            break;
        };
        let newest = group.newest();
        // Observers have no row, because they never lead.
        let here = newest.here().filter(|member| member.is_voter());
        let here = here.filter_map(|member| {
            Some(AgentHere {
                id: member.id.clone(),
                incarnation: member.incarnation?,
                score: member.score.filter(|_| member.is_up()),
                wall: keeper.wall_of(&member.id),
                about: member.about.clone(),
            })
        });
        let here = here.collect();
        drop(group);
        Arc::clone(&keeper).round(here).await;
        sleep(pause).await;
        pause = EVERY;
    }
    // This future never ends, because its end would stop `run`, which serves the agents.
    pending::<()>().await;
}

/// Time from the first round to the second.
const SOON: Duration = Duration::from_secs(1);

pub(super) fn late(limit: Duration) -> io::Error {
    io::Error::new(ErrorKind::TimedOut, format!("no answer within {limit:?}"))
}
