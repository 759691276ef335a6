//! The state that an agent's endpoint shares with its senders: the registered names, and the sending of messages.
//!
//! Decided here: which names are allowed; each name is registered once.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    fmt,
    hash::{DefaultHasher, Hash, Hasher},
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{
            AtomicBool, AtomicU64,
            Ordering::{AcqRel, Acquire, Relaxed, Release},
        },
    },
};

use actix::{Message, Recipient, clock::Instant};
use tracing::warn;

use crate::{
    agent::AgentReader,
    group::{AppMessage, Envelope, Group, HeldBytes, NodeDigest, Snapshot},
    protocol::{AgentId, Incarnation, Time, To},
    similar::similar,
    supervisor::Retries,
};

use super::{MessagesError, SendError};

/// The shared part of one agent's endpoint.
pub(crate) struct EndpointState {
    id: AgentId,
    /// The node on which the endpoint began.
    node: NodeDigest,
    incarnation: Incarnation,
    group: Group<AppMessage>,
    endpoint: OnceLock<Recipient<Look>>,
    inboxes: Mutex<BTreeMap<AgentId, Arc<dyn Inbox>>>,
    /// The messages that wait for each actor, by the hash of the actor's address.
    queues: Mutex<BTreeMap<u64, Arc<ActorQueue>>>,
    is_over: AtomicBool,
    /// Whether a [`Look`] is on its way to the endpoint, so that no second `Look` is sent.
    is_woken: AtomicBool,
    unreadable: AtomicU64,
    /// Names of unknown or undecodable messages that were logged. Each name is logged once.
    told: Mutex<BTreeSet<AgentId>>,
    began: Instant,
}

/// The receiver of the messages of one name. All of its methods run on the endpoint's arbiter.
pub(crate) trait Inbox: Send + Sync {
    /// Receives a message with the name of this inbox from a member.
    fn receive(&self, here: &InboxContext<'_>, arrived: Arrived);

    /// Handles a possible change: of a leadership, the members, the time, or the messages that wait in this inbox.
    /// Returns the time by which this method must be called again.
    fn look(&self, _: &InboxContext<'_>) -> Option<Time> {
        None
    }

    /// Handles the end of the agent.
    fn end(&self) {}
}

/// A received message of a member. It counts in the endpoint's mailbox until this value is dropped.
pub(crate) struct Arrived {
    pub(crate) envelope: Envelope<AppMessage>,
    /// The part of the mailbox's limit that the message takes; `None` in a simulated network.
    pub(super) _held: Option<HeldBytes>,
}

impl Arrived {
    pub(super) fn len(&self) -> usize {
        self.envelope.message.body.0.len()
    }
}

/// Hands messages of one type to an actor.
pub(super) trait Hand: Send + Sync {
    /// Hands a message to the actor. Returns `false` if the actor has no room for it: the message must wait.
    fn hand(&self, state: &EndpointState, envelope: &Envelope<AppMessage>) -> bool;
}

/// The messages that wait for one actor (`waiting.rs`).
#[derive(Default)]
pub(super) struct ActorQueue(pub(super) Mutex<Waiting>);

#[derive(Default)]
pub(super) struct Waiting {
    pub(super) messages: VecDeque<(Arc<dyn Hand>, Arrived)>,
    pub(super) bytes: usize,
    pub(super) retries: Retries,
}

/// Makes the endpoint look at all of its inboxes.
#[derive(Message)]
#[rtype(result = "()")]
pub(super) struct Look;

/// The parts of the endpoint that an inbox may use during a call.
pub(crate) struct InboxContext<'a> {
    pub(crate) state: &'a Arc<EndpointState>,
    pub(crate) agent: &'a AgentReader,
    /// The present members that have an endpoint.
    pub(crate) snapshot: &'a Snapshot<AppMessage>,
    pub(crate) now: Time,
}

impl InboxContext<'_> {
    /// Sends `body` to the endpoint of the agent `to`. Does nothing if that agent has no endpoint.
    pub(crate) fn send(&self, to: &AgentId, name: &AgentId, kind: u8, body: &[u8]) {
        let message = AppMessage::new(name.clone(), kind, body);
        let (id, incarnation) = (&self.state.id, self.state.incarnation);
        self.snapshot
            .deliver(id, incarnation, &To::One(to.clone()), message);
    }
}

impl EndpointState {
    pub(super) fn new(
        id: AgentId,
        (node, incarnation): (NodeDigest, Incarnation),
        group: Group<AppMessage>,
    ) -> Self {
        Self {
            id,
            node,
            incarnation,
            group,
            endpoint: OnceLock::new(),
            inboxes: Mutex::default(),
            queues: Mutex::default(),
            is_over: AtomicBool::new(false),
            is_woken: AtomicBool::new(false),
            unreadable: AtomicU64::new(0),
            told: Mutex::default(),
            began: Instant::now(),
        }
    }

    pub(super) fn set_endpoint(&self, addr: Recipient<Look>) {
        // Called once, right after the only endpoint was made.
        self.endpoint.get_or_init(|| addr);
    }

    pub(crate) fn id(&self) -> &AgentId {
        &self.id
    }

    /// Returns the incarnation of the endpoint. Each start of an endpoint of this agent has another incarnation.
    pub(crate) fn incarnation(&self) -> Incarnation {
        self.incarnation
    }

    /// Returns the node on which the endpoint began, by its name at that time. The node and the incarnation together
    /// identify one endpoint.
    pub(crate) fn node(&self) -> NodeDigest {
        self.node
    }

    /// Returns a number made of node and incarnation, which only this endpoint puts into its questions. If the agent
    /// moves to another node, an answer to a question that it sent before has another number, and is ignored.
    pub(crate) fn asker(&self) -> Incarnation {
        // On one node these numbers differ as the incarnations differ. Numbers of two nodes are equal with a chance of
        // 2^-64.
        Incarnation(self.node.0 ^ self.incarnation.0)
    }

    pub(crate) fn group(&self) -> &Group<AppMessage> {
        &self.group
    }

    /// Returns the time since the endpoint was made.
    pub(super) fn now(&self) -> Time {
        Time::ZERO.after(self.began.elapsed())
    }

    /// Converts a time since the endpoint was made into an instant.
    pub(super) fn instant(&self, at: Time) -> Instant {
        let after = self.began.checked_add(at.since(Time::ZERO));
        after.unwrap_or(self.began)
    }

    /// Sends a message to one agent, which may be this agent.
    pub(crate) fn send(&self, to: &AgentId, message: AppMessage) -> Result<(), SendError> {
        self.go_on().ok_or(SendError::Ended)?;
        let snapshot = self.group.newest();
        let had_room = if *to == self.id {
            snapshot.post_own(to, self.incarnation, message)
        } else if snapshot.members().get(to).is_none() {
            return Err(SendError::NoMember { to: to.clone() });
        } else {
            let to = To::One(to.clone());
            snapshot.deliver(&self.id, self.incarnation, &to, message) == 0
        };
        if had_room {
            Ok(())
        } else {
            Err(SendError::Full { to: to.clone() })
        }
    }

    /// Sends a message to all other agents. Returns their number, without the agents whose queues are full.
    pub(super) fn send_to_all(&self, message: AppMessage) -> Result<usize, SendError> {
        self.go_on().ok_or(SendError::Ended)?;
        let snapshot = self.group.newest();
        let full = snapshot.deliver(&self.id, self.incarnation, &To::All, message);
        Ok(snapshot.members().len().saturating_sub(1 + full))
    }

    pub(crate) fn register(
        &self,
        name: &AgentId,
        inbox: Arc<dyn Inbox>,
    ) -> Result<(), MessagesError> {
        let mut inboxes = self.inboxes();
        // The end is checked under the lock: the agent's end clears this map, and no name may be registered after that.
        self.must_go_on()?;
        if inboxes.contains_key(name) {
            return Err(MessagesError::Taken { name: name.clone() });
        }
        inboxes.insert(name.clone(), inbox);
        Ok(())
    }

    /// Returns the queue of the actor `to`: one queue for all of its message types, so that messages keep their order.
    pub(super) fn queue_of<M>(&self, to: &Recipient<M>) -> Arc<ActorQueue>
    where
        M: Message<Result: Send> + Send + 'static,
    {
        // All recipients of an actor have the same hash, which differs from the hash of every other actor of this
        // process.
        let mut actor = DefaultHasher::new();
        to.hash(&mut actor);
        let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(queues.entry(actor.finish()).or_default())
    }

    pub(super) fn inbox(&self, name: &AgentId) -> Option<Arc<dyn Inbox>> {
        self.inboxes().get(name).cloned()
    }

    /// Returns all inboxes. The lock is not held while they are called.
    pub(super) fn all(&self) -> Vec<Arc<dyn Inbox>> {
        self.inboxes().values().cloned().collect()
    }

    /// Makes every inbox look soon. Any thread may call it.
    pub(crate) fn wake(&self) {
        if !self.is_woken.swap(true, AcqRel)
            && let Some(endpoint) = self.endpoint.get()
        {
            // do_send: may exceed the mailbox's bound by one message: `is_woken` prevents a second message.
            endpoint.do_send(Look);
        }
    }

    /// Notes that the endpoint looks now: a message that arrives later needs another [`Look`].
    pub(super) fn looks(&self) {
        self.is_woken.store(false, Release);
    }

    /// Notes the end of the agent: nothing is sent or received any more.
    pub(super) fn end(&self) {
        let inboxes = {
            let mut inboxes = self.inboxes();
            self.is_over.store(true, Release);
            std::mem::take(&mut *inboxes)
        };
        for inbox in inboxes.values() {
            inbox.end();
        }
        // The queues hold the waiting messages, which are lost with the agent.
        let queues =
            std::mem::take(&mut *self.queues.lock().unwrap_or_else(PoisonError::into_inner));
        drop(queues);
        self.group.leave(&self.id, self.incarnation);
    }

    pub(crate) fn must_go_on(&self) -> Result<(), MessagesError> {
        self.go_on().ok_or(MessagesError::Ended)
    }

    fn go_on(&self) -> Option<()> {
        (!self.is_over.load(Acquire)).then_some(())
    }

    pub(crate) fn note_unreadable(&self) {
        self.unreadable.fetch_add(1, Relaxed);
    }

    /// Counts a message of an unregistered name. The first message of each name is logged, with the most similar
    /// registered name: the sender cannot know the names of this process.
    pub(super) fn note_unknown(&self, name: &AgentId, from: &AgentId) {
        self.note_unreadable();
        if self.is_first(name) {
            let inboxes = self.inboxes();
            let similar = similar(name.as_str(), inboxes.keys().map(AgentId::as_str));
            warn!(agent = %self.id, %from, %name, similar, "{}", unknown(similar.is_some()));
        }
    }

    /// Counts a message that is not of the type registered under its name at this agent. The first message of each name
    /// is logged.
    pub(crate) fn note_undecoded(&self, name: &AgentId, from: &AgentId, reason: &str) {
        self.note_unreadable();
        if self.is_first(name) {
            warn!(agent = %self.id, %from, %name, reason, "messages of this name are dropped: they are not of the type that is registered for it here, or the type cannot be sent; when a type changes, change its name");
        }
    }

    /// Returns whether the name was not logged yet. At most [`TOLD`] names are kept, because peers choose the names;
    /// further names are only counted.
    fn is_first(&self, name: &AgentId) -> bool {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.len() < TOLD && told.insert(name.clone())
    }

    pub(super) fn unreadable(&self) -> u64 {
        self.unreadable.load(Relaxed)
    }

    fn inboxes(&self) -> MutexGuard<'_, BTreeMap<AgentId, Arc<dyn Inbox>>> {
        // A poisoned lock is still used: each change under it is one step, so a panic leaves no change half made.
        self.inboxes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for EndpointState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("EndpointState").field(&self.id).finish()
    }
}

/// Largest number of names that are logged as unknown or undecoded; `is_first` has the reason.
const TOLD: usize = 32;

/// Returns the advice for a message type with an unknown name.
const fn unknown(is_similar: bool) -> &'static str {
    if is_similar {
        "messages of this name are dropped: no type is registered for it here, and one is for a similar name; is it misspelled?"
    } else {
        "messages of this name are dropped: no type is registered for it here; register it before others send, or send it to the agents that take it"
    }
}

/// Length of the longest name of a type, in bytes. Short, because each message contains the name; a bridge allows 256.
const MAX_NAME: usize = 64;

pub(crate) fn check_name(name: &str) -> Result<AgentId, MessagesError> {
    let (len, max) = (name.len(), MAX_NAME);
    if len > max {
        return Err(MessagesError::NameTooLong { len, max });
    }
    AgentId::new(name).map_err(MessagesError::Name)
}
