//! The interface of every election: inputs go in, effects come out.
//!
//! Decided here: the shape that all machines share, and the contract of a machine's driver. The
//! same machine runs under an actor, in a simulator and under a model checker.

use std::{
    convert::Infallible,
    fmt::{Debug, Display},
    time::Duration,
};

use super::{
    AgentId, EffectsOf, Incarnation, InputOf, MemberKind, MembershipError, MinimumRole, Prospects,
    Requirements, Score, StoreId, Term, Time, Timings, View,
};

/// One participant's side of a leader election, as a pure machine.
///
/// A machine has no clock, no randomness, no threads and no hash order: the same inputs give the
/// same effects. It is *total*: every input in every role is decided, and none can fail; nonsense
/// from a peer is a traced no-op.
///
/// # Duties of a driver
/// 1. One reading of the agent's own clock per step, taken after the input was dequeued.
/// 2. Effects are executed in their order. Nothing after an [`Effect::Persist`] leaves before it
///    is durable; if it cannot be made durable, the agent stops.
/// 3. Setting a timer replaces the timer of that name. Timers may be late, never early.
/// 4. Steps do not overlap.
/// 5. A message may be lost, delayed, duplicated or reordered, and so may a question to a store and its answer. No agent
///    sends to itself.
/// 6. After a crash: a new machine with a larger [`Incarnation`], the last durable record, and no
///    old timers.
/// 7. Messages from an incarnation that has since ended are dropped, and so are messages from an agent that is not
///    another member: [`Members::admit`](super::Members::admit) decides, and no machine checks again.
/// 8. The user reads [`view`](Self::view) with a fresh clock reading, never the last event. A lost leadership is
///    published *before* any effect of its step, a gained leadership *after* all of them.
///
/// [`Effect::Persist`]: super::Effect::Persist
pub trait Election: Sized + Debug + Unpin + 'static {
    /// A message from one participant to another: flat, without recursion.
    type Message: PeerMessage;
    /// The names of the timers.
    type Timer: Copy + Debug + Ord + Unpin + 'static;
    /// A question to a store that the participants share: [`Infallible`] for an election without a store.
    type Ask: Clone + Debug + PartialEq + Send + Unpin + 'static;
    /// An answer of that store.
    type Told: Clone + Debug + PartialEq + Send + Unpin + 'static;
    /// What must survive a crash: `()` or a small record.
    type Durable: Clone + Debug + PartialEq + Send + Unpin + 'static;
    /// The rules' parameters: the same at every member, so best behind an `Arc`.
    type Config: Clone + Debug + Send + Sync + Unpin + 'static;

    /// Makes a machine at the beginning of an incarnation; it sends nothing before
    /// [`Input::Start`](super::Input::Start).
    ///
    /// `durable` is the record that the last [`Effect::Persist`](super::Effect::Persist) of any incarnation made
    /// durable; `None` if there was none since the store was created. A machine that persists a record before its first
    /// promise may take `None` for "no incarnation of mine promised anything"; after `Some` it must honour promises
    /// that it may have given beside the record.
    fn new(identity: Identity, config: &Self::Config, durable: Option<Self::Durable>) -> Self;

    /// Decides one input; the effects are appended to `out`, to be executed in that order.
    fn handle(&mut self, now: Time, input: InputOf<Self>, out: &mut EffectsOf<Self>);

    /// The driver has made a record durable, or a probe of the same disk, in that time. Default: nothing depends on it.
    fn note_write(&mut self, _took: Duration) {}

    /// The work of this participant failed, which leads. When it has stepped down it lets others go first for that long at
    /// least. Default: for as long as always.
    fn hold_back(&mut self, _span: Duration) {}

    /// What this participant's state means at `now`: its role, the leader, and until when.
    fn view(&self, now: Time) -> View;

    /// What keeps this participant from leading, or lets it wait: for people who ask why. Cheap, because it
    /// is asked after each step. Default: nothing.
    fn prospects(&self) -> Prospects {
        Prospects::default()
    }

    /// Returns whether this participant leads no more, and still tries to tell that to the agents that wait for it. An
    /// agent that leaves stays for that, for as long as a promise lasts and no longer. Default: a message that was sent
    /// counts as received.
    fn is_releasing(&self) -> bool {
        false
    }

    /// The durations that the configuration names, so that people can be told which of them does not fit the
    /// network. Default: none.
    fn timings(_config: &Self::Config) -> Option<&Timings> {
        None
    }

    /// Returns the promises of the election, and its requirements for this participant and its group. It is called
    /// before the participant starts.
    ///
    /// There is no default: an election that says nothing would promise more than its author has considered.
    ///
    /// # Errors
    /// [`MembershipError`] when the configuration has no such participant.
    fn requirements(
        config: &Self::Config,
        agent: &AgentId,
        kind: MemberKind,
    ) -> Result<Requirements, MembershipError>;

    /// The same parameters for a participant on a host whose wall clock showed this when the participant's own clock
    /// showed zero: in milliseconds since 1970 began in UTC, negative before. A driver that has a wall clock asks
    /// once, when it is told to start a participant. Default: unchanged; few elections need the wall clock.
    #[must_use]
    fn on_host(config: Self::Config, _wall_at_zero: i64) -> Self::Config {
        config
    }

    /// Checks that this participant's record fits the configuration; called when the record was loaded,
    /// before an incarnation begins. Default: any record does.
    ///
    /// # Errors
    /// [`MembershipError`] when it must not take part with this record.
    fn admits(
        _config: &Self::Config,
        _agent: &AgentId,
        _durable: Option<&Self::Durable>,
    ) -> Result<(), MembershipError> {
        Ok(())
    }
}

/// What one participant says to another.
pub trait PeerMessage: Clone + Debug + Display + PartialEq + Send + Unpin + 'static {
    /// Returns the message's name in lower case, for counters and traces: `"elect"`. Two messages have different kinds
    /// if neither can replace the other; see [`is_repeated`](Self::is_repeated).
    fn kind(&self) -> &'static str;

    /// The least role in which `from` may send this. A bridge asks it of each
    /// message, and closes the link of a peer whose agent may not say that, unless there is
    /// something to [hear instead](Self::unentitled).
    ///
    /// An election never says anything else for which its participant's [`MemberKind`] is too little.
    fn needs(&self, from: &AgentId) -> MinimumRole;

    /// Returns the message that is received instead from an agent that may not [send this](Self::needs), where a
    /// refusal of the question is better than a closed link. `None`: the link is closed.
    fn unentitled(&self) -> Option<Self> {
        None
    }

    /// Returns whether a newer one follows anyway, so that a slow receiver may miss this one. On its way to
    /// another host, a newer one of the same [`kind`](Self::kind), of the same sender to the same
    /// receivers, takes its place.
    fn is_repeated(&self) -> bool {
        false
    }

    /// Length of an application's message; `None` for any other. In a mailbox the former leave room for the latter.
    #[doc(hidden)]
    fn application_bytes(&self) -> Option<usize> {
        None
    }

    /// The highest term that the message names, if its election has terms: a bridge closes the
    /// link of a peer that names one which no honest peer can know, or does not hear it.
    fn term(&self) -> Option<Term> {
        None
    }
}

/// Of an election whose participants say nothing to each other.
impl PeerMessage for Infallible {
    fn kind(&self) -> &'static str {
        match *self {}
    }

    fn needs(&self, _: &AgentId) -> MinimumRole {
        match *self {}
    }
}

/// The agent that a machine decides for; fixed for one incarnation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Identity {
    /// The name.
    pub id: AgentId,
    /// The number of the incarnation.
    pub incarnation: Incarnation,
    /// Voter or observer.
    pub kind: MemberKind,
    /// The score at the beginning; `None` for an agent that cannot be elected.
    pub score: Option<Score>,
    /// Whether this is the first incarnation, or one after a crash.
    pub birth: Birth,
    /// The store that keeps its votes; `None` without a disk.
    pub store: Option<StoreId>,
}

/// How an incarnation began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Birth {
    /// The agent was started.
    Started,
    /// A supervisor restarted the agent after a crash or a stop.
    Restarted,
}
