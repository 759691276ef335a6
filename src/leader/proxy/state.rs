//! The state of one proxy that all threads share; it drives the machines.
//!
//! Decided here: a message goes to the actor at once if this agent leads, no message waits before it and the actor has
//! room; the endpoint does everything else, on its arbiter. Not here: which messages are sent (`sender.rs`) and taken
//! (`receiver.rs`), and how the endpoint handles arrivals (`inbox.rs`).

use std::{
    collections::BTreeMap,
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{
            AtomicBool, AtomicU64,
            Ordering::{Acquire, Relaxed, Release},
        },
    },
};

use actix::{MailboxError, Message, Recipient};
use bytes::Bytes;
use tokio::sync::oneshot;
use tracing::{debug, error};

use crate::{
    agent::{AgentReader, Keeps},
    leader::messages::{EndpointState, SendError, encode},
    protocol::{AgentId, Member, Time},
    supervisor::{Intake, Retries, contain},
};

use super::{
    LeaderMessage, ProxyCounts, ProxyError, Untaken,
    arrived::ArrivedQueue,
    exchange::{KeptMessage, Life, ProxyBounds, Refusal, Settled},
    frame::{MESSAGE_HEAD, RunHead},
    receiver::Receiver,
    sender::Sender,
};

/// The error after the agent has left or ended for good.
const ENDED: ProxyError = ProxyError::Send(SendError::Ended);

/// The shared part of one proxy.
pub(super) struct ProxyState<M: LeaderMessage> {
    pub(super) name: AgentId,
    pub(super) endpoint: Arc<EndpointState>,
    pub(super) agent: AgentReader,
    pub(super) handling: Handling<M>,
    /// Counts the messages that the actor has received and not handled yet.
    pub(super) intake: Arc<Intake>,
    /// Size of the longest message.
    pub(super) longest: usize,
    pub(super) bounds: ProxyBounds,
    /// Whether a message may go to the actor of this process without the lock: the endpoint knows that this agent
    /// leads, and no message waits. Written under the lock only.
    is_direct: AtomicBool,
    /// Number of messages that went to the actor without the lock.
    direct: AtomicU64,
    inner: Mutex<Inner<M>>,
}

/// The actor that handles messages while this agent leads.
pub(super) enum Handling<M: Message<Result: Send> + Send + 'static> {
    Nobody,
    Fixed(Recipient<M>),
    /// `find` is called at each message.
    Found {
        find: Box<dyn Fn() -> Option<Recipient<M>> + Send + Sync>,
        /// The recipient is kept while the same actor is found: a new clone could put one more message into a full
        /// mailbox.
        last: Mutex<Option<Arc<Recipient<M>>>>,
    },
}

impl<M: LeaderMessage> Handling<M> {
    pub(super) fn found(find: impl Fn() -> Option<Recipient<M>> + Send + Sync + 'static) -> Self {
        Self::Found {
            find: Box::new(find),
            last: Mutex::default(),
        }
    }

    /// Calls `give` with the actor and its message.
    ///
    /// # Errors
    /// The reason why no actor exists, and the message for it.
    pub(super) fn with<V, T>(
        &self,
        value: V,
        give: impl FnOnce(&Recipient<M>, V) -> T,
    ) -> Result<T, (Refusal, V)> {
        let found;
        let to = match self {
            Self::Nobody => return Err((Refusal::Unregistered, value)),
            Self::Fixed(to) => to,
            Self::Found { find, last } => match contained(find) {
                Some(to) => {
                    let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
                    found = match &*last {
                        Some(known) if **known == to => Arc::clone(known),
                        Some(_) | None => Arc::clone(last.insert(Arc::new(to))),
                    };
                    drop(last);
                    &found
                }
                None => return Err((Refusal::NotReady, value)),
            },
        };
        if !to.connected() {
            return Err((Refusal::NotReady, value));
        }
        Ok(give(to, value))
    }
}

/// Calls the application's `find`. If it panics, no actor was found. The panic ends neither the caller nor the actor of
/// the proxy's recipient, and the message waits: `find` is called before the message is given away.
fn contained<T>(find: impl FnOnce() -> Option<T>) -> Option<T> {
    contain(find).unwrap_or_else(|reason| {
        error!(
            reason,
            "`find` of `deliver_to_found` panicked: messages wait"
        );
        None
    })
}

/// A message that waits to be sent, or is on its way.
#[derive(Debug)]
pub(super) struct Outgoing {
    pub(super) bytes: Bytes,
    pub(super) is_ask: bool,
}

/// The part of a proxy's state that is behind a lock.
pub(super) struct Inner<M: LeaderMessage> {
    pub(super) sender: Sender<Outgoing>,
    pub(super) receiver: Receiver,
    pub(super) asks: BTreeMap<u64, Ask<M>>,
    pub(super) counts: ProxyCounts,
    /// Reason of the last refusal by a leader.
    pub(super) last: Option<Refusal>,
    /// Messages of other agents that wait for the actor.
    pub(super) arrived: ArrivedQueue,
    pub(super) retries: Retries,
    /// Whether this agent's messages get the next room at the actor, before the messages of other agents.
    pub(super) is_own_turn: bool,
    /// Deliveries that are still to be acknowledged, by sender.
    pub(super) unacknowledged: BTreeMap<AgentId, Unacknowledged>,
    /// Version of the group's members at the last check for ended endpoints.
    pub(super) version: u64,
    is_over: bool,
}

/// Deliveries that a leader has not acknowledged yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unacknowledged {
    pub(super) head: RunHead,
    pub(super) next: u64,
    pub(super) messages: u64,
    pub(super) due: Time,
}

/// A message whose sender waits for the answer.
pub(super) struct Ask<M: LeaderMessage> {
    pub(super) answer: AnswerTo<M>,
    /// The endpoint to which the message was sent; `None` before that.
    pub(super) to: Option<(AgentId, Life)>,
}

type AnswerTo<M> = oneshot::Sender<Result<<M as Message>::Result, ProxyError>>;

/// The path of an answer.
pub(super) enum Answer<M: LeaderMessage> {
    /// The actor of this process answers directly.
    Direct(oneshot::Receiver<Result<M::Result, MailboxError>>),
    /// The endpoint passes the answer on.
    Queued(u64, oneshot::Receiver<Result<M::Result, ProxyError>>),
}

impl<M: LeaderMessage> ProxyState<M> {
    pub(super) fn new(
        name: AgentId,
        (endpoint, agent): (Arc<EndpointState>, AgentReader),
        handling: Handling<M>,
        longest: usize,
        bounds: ProxyBounds,
    ) -> Self {
        let woken = Arc::downgrade(&endpoint);
        let wake = move || {
            if let Some(endpoint) = woken.upgrade() {
                endpoint.wake();
            }
        };
        Self {
            name,
            endpoint,
            agent,
            handling,
            intake: Intake::new(bounds.messages, bounds.bytes, wake),
            longest,
            bounds,
            is_direct: AtomicBool::new(false),
            direct: AtomicU64::new(0),
            inner: Mutex::new(Inner {
                sender: Sender::new(bounds),
                receiver: Receiver::default(),
                asks: BTreeMap::new(),
                counts: ProxyCounts::default(),
                last: None,
                arrived: ArrivedQueue::default(),
                retries: Retries::default(),
                is_own_turn: false,
                unacknowledged: BTreeMap::new(),
                version: 0,
                is_over: false,
            }),
        }
    }

    /// Takes a message that needs no answer.
    pub(super) fn put(&self, message: M) -> Result<(), ProxyError> {
        let given = self.give_at_once(message, |to, message| {
            self.intake.hand(to, message, size_of::<M>())
        });
        let Some(message) = given else {
            return Ok(());
        };
        self.queue(&message, None).map(drop)
    }

    /// Like [`put`](Self::put); a refused message is logged.
    pub(super) fn put_or_count(&self, message: M) {
        if let Err(reason) = self.put(message) {
            debug!(name = %self.name, %reason, "message for the leader refused");
        }
    }

    /// Takes a message that needs an answer.
    pub(super) fn ask(&self, message: M) -> Result<Answer<M>, ProxyError> {
        let mut direct = None;
        let given = self.give_at_once(message, |to, message| {
            let asked = self.intake.ask(to, message, size_of::<M>());
            asked.map(|answered| direct = Some(answered))
        });
        let Some(message) = given else {
            return direct.map(Answer::Direct).ok_or(ENDED);
        };
        let (answer, answered) = oneshot::channel();
        let id = self.queue(&message, Some(answer))?;
        Ok(Answer::Queued(id, answered))
    }

    /// Gives a message to the actor of this process, if this agent leads, no other message waits and the actor has
    /// room. Otherwise returns the message.
    fn give_at_once(
        &self,
        message: M,
        give: impl FnOnce(&Recipient<M>, M) -> Result<(), M>,
    ) -> Option<M> {
        // The lock is not taken, because it would take as long as the rest of this function. If a message of this
        // thread waits, this flag is already false; the messages of two threads have no order.
        if !self.is_direct.load(Acquire) || !self.agent.is_leader() {
            return Some(message);
        }
        match self.handling.with(message, give) {
            Ok(Ok(())) => {
                self.direct.fetch_add(1, Relaxed);
                None
            }
            Ok(Err(message)) | Err((_, message)) => Some(message),
        }
    }

    /// Notes whether the next message may go directly to the actor of this process; called under the lock.
    pub(super) fn note_direct(&self, inner: &Inner<M>) {
        let is_next = inner.sender.is_clear() && inner.sender.wants(self.agent.id());
        self.is_direct.store(is_next && !inner.is_over, Release);
    }

    fn queue(&self, message: &M, answer: Option<AnswerTo<M>>) -> Result<u64, ProxyError> {
        let encoded = encode(message, self.longest);
        let mut inner = self.lock();
        let refuse = |mut inner: MutexGuard<'_, Inner<M>>, why: ProxyError| {
            inner.counts.refused = inner.counts.refused.saturating_add(1);
            Err(why)
        };
        let bytes = match encoded {
            // The bytes are copied at their exact length, so that the buffer is free for the next message.
            Ok(bytes) => Bytes::copy_from_slice(&bytes),
            Err(reason) => return refuse(inner, reason.into()),
        };
        if inner.is_over {
            return refuse(inner, ENDED);
        }
        let size = bytes.len().saturating_add(MESSAGE_HEAD);
        let is_ask = answer.is_some();
        let outgoing = Outgoing { bytes, is_ask };
        let Ok(id) = inner.sender.push(size, outgoing) else {
            return refuse(inner, ProxyError::Full);
        };
        if let Some(answer) = answer {
            inner.asks.insert(id, Ask { answer, to: None });
        }
        self.note_direct(&inner);
        drop(inner);
        self.endpoint.wake();
        Ok(id)
    }

    /// Notes that the sender of an ask waits no longer; returns the error for it.
    pub(super) fn give_up(&self, id: u64, within: std::time::Duration) -> ProxyError {
        let mut inner = self.lock();
        inner.asks.remove(&id);
        if inner.is_over {
            return ENDED;
        }
        let why = match (inner.sender.has_leader(), inner.last) {
            (true, Some(Refusal::Unregistered)) => Untaken::Unregistered,
            (true, Some(Refusal::NotReady)) => Untaken::NotReady,
            _ if self.is_unlinked() => Untaken::Unlinked,
            (false, _) | (true, Some(Refusal::NotLeader)) => Untaken::NoLeader,
            (true, Some(Refusal::Gap | Refusal::Busy) | None) => Untaken::Busy,
        };
        if inner.sender.cancel(id) {
            ProxyError::NotTaken { within, why }
        } else {
            ProxyError::Unknown
        }
    }

    /// Returns whether the leader is known only from a store, and no link reaches it.
    fn is_unlinked(&self) -> bool {
        let Some(leader) = self.agent.current().leader else {
            return false;
        };
        let members = self.endpoint.group().members();
        let is_reached = members.get(&leader.id).is_some_and(Member::is_up);
        self.agent.offers().keeps == Keeps::Store && !is_reached
    }

    pub(super) fn counts(&self) -> ProxyCounts {
        let inner = self.lock();
        ProxyCounts {
            delivered: inner
                .counts
                .delivered
                .saturating_add(self.direct.load(Relaxed)),
            waiting: u64::try_from(inner.sender.len()).unwrap_or(u64::MAX),
            ..inner.counts
        }
    }

    /// Ends the proxy after its agent has ended.
    pub(super) fn end(&self) {
        let mut inner = self.lock();
        inner.is_over = true;
        self.note_direct(&inner);
        let (buffer, flight) = inner.sender.drain();
        let refused = u64::try_from(buffer.len()).unwrap_or(u64::MAX);
        let unknown = u64::try_from(flight.len()).unwrap_or(u64::MAX);
        inner.counts.refused = inner.counts.refused.saturating_add(refused);
        inner.counts.unknown = inner.counts.unknown.saturating_add(unknown);
        fail(&mut inner.asks, &buffer, &ENDED);
        let rest = std::mem::take(&mut inner.asks);
        inner.arrived = ArrivedQueue::default();
        drop(inner);
        for ask in rest.into_values() {
            ask.answer.send(Err(ProxyError::Unknown)).ok();
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Inner<M>> {
        // If the application's code panics under this lock, the state machines are still complete.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<M: LeaderMessage> Inner<M> {
    /// Counts the outcomes of messages, and notifies the callers that wait for answers.
    pub(super) fn settle(&mut self, settled: &Settled<Outgoing>) {
        let counts = &mut self.counts;
        let count =
            |items: &[KeptMessage<Outgoing>]| u64::try_from(items.len()).unwrap_or(u64::MAX);
        counts.delivered = counts.delivered.saturating_add(settled.delivered);
        counts.unknown = counts.unknown.saturating_add(count(&settled.unknown));
        let lost = count(&settled.undeliverable);
        counts.undeliverable = counts.undeliverable.saturating_add(lost);
        fail(&mut self.asks, &settled.unknown, &ProxyError::Unknown);
        let lost = &settled.undeliverable;
        fail(&mut self.asks, lost, &ProxyError::Undeliverable);
    }
}

/// Notifies the callers that wait for the answers to these messages.
fn fail<M: LeaderMessage>(
    asks: &mut BTreeMap<u64, Ask<M>>,
    messages: &[KeptMessage<Outgoing>],
    why: &ProxyError,
) {
    for message in messages.iter().filter(|message| message.payload.is_ask) {
        if let Some(ask) = asks.remove(&message.id) {
            ask.answer.send(Err(why.clone())).ok();
        }
    }
}

impl<M: LeaderMessage> fmt::Debug for ProxyState<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LeaderProxy")
            .field("name", &self.name)
            .field("counts", &self.counts())
            .finish_non_exhaustive()
    }
}
