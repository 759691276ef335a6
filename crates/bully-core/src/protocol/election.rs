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
    AgentId, EffectsOf, Incarnation, InputOf, Leader, LeaderEnd, MemberKind, MembershipError,
    MinimumRole, Prospects, Requirements, Score, StoreId, Term, Time, Timings, View,
};

/// One participant's side of a leader election, as a pure machine.
///
/// A machine has no clock, no randomness, no threads and no hash order: the same inputs give the same effects. It is
/// *total*: it decides every input in every role, and no input can fail. Nonsense from a peer is a traced no-op.
///
/// # Duties of a driver
/// 1. One reading of the agent's own clock per step, taken after the input was dequeued.
/// 2. Effects are executed in their order. Nothing after an [`Effect::Persist`] leaves the agent before the record is
///    durable; if the record cannot be made durable, the agent stops.
/// 3. A timer that is set replaces the timer of the same name. Timers may be late, never early.
/// 4. Steps do not overlap.
/// 5. A message may be lost, delayed, duplicated or reordered, and so may a question to a store and its answer. No
///    agent sends a message to itself.
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
    /// An answer of the store to a question of the type `Ask`.
    type Told: Clone + Debug + PartialEq + Send + Unpin + 'static;
    /// The record that must survive a crash: `()` or a small value.
    type Durable: Clone + Debug + PartialEq + Send + Unpin + 'static;
    /// The parameters of the rules. All members have the same parameters, so an `Arc` around them saves copies.
    type Config: Clone + Debug + Send + Sync + Unpin + 'static;

    /// Makes a machine at the beginning of an incarnation. The machine sends nothing before
    /// [`Input::Start`](super::Input::Start).
    ///
    /// `durable` is the record that the last [`Effect::Persist`](super::Effect::Persist) of any incarnation made
    /// durable; `None` if no record was made durable since the store was created. A machine that persists a record
    /// before its first promise may conclude from `None` that no incarnation of this agent promised anything. After
    /// `Some`, the machine must also keep promises that an earlier incarnation may have given and that the record does
    /// not contain.
    fn new(identity: Identity, config: &Self::Config, durable: Option<Self::Durable>) -> Self;

    /// Decides one input, and appends the effects to `out` in the order in which they must be executed.
    fn handle(&mut self, now: Time, input: InputOf<Self>, out: &mut EffectsOf<Self>);

    /// Notes the time that the driver took to make a record durable, or to write a probe to the same disk. After a
    /// record, the driver calls this before it executes the remaining effects of the step; the messages in these
    /// effects were made before the measurement. Default: ignored.
    fn note_write(&mut self, _took: Duration) {}

    /// Notes that the work of this participant failed while it led. After its step-down it does not compete with the
    /// other participants for at least `_span`. Default: ignored, so the participant cools down for the usual time.
    fn hold_back(&mut self, _span: Duration) {}

    /// Returns the state that this participant shows to readers at the time `now`: its role, the leader, and the time
    /// until which it leads.
    fn view(&self, now: Time) -> View;

    /// Returns the reasons that keep this participant from leading, or make it wait, for people who look for the cause.
    /// The driver calls this after each step, so it must be cheap. Default: none.
    fn prospects(&self) -> Prospects {
        Prospects::default()
    }

    /// Returns the last leadership whose end this participant noticed, and how it noticed the end. A driver calls this
    /// only after a [`NoLeader`](super::Event::NoLeader), [`NewLeader`](super::Event::NewLeader) or
    /// [`Lost`](super::Event::Lost). Default: `None`; then the end of a leadership is the time of its event.
    fn last_end(&self) -> Option<(&Leader, LeaderEnd)> {
        None
    }

    /// Returns whether this participant has given up a leadership and still tries to report the end to the agents that
    /// wait for it. An agent that leaves the group stays as long as this is true, but at most for the length of a
    /// promise. Default: `false`, because a message that was sent counts as received.
    fn is_releasing(&self) -> bool {
        false
    }

    /// Returns the durations in the configuration, so that people can find the duration that does not fit the network.
    /// Default: none.
    fn timings(_config: &Self::Config) -> Option<&Timings> {
        None
    }

    /// Returns the promises of the election, and its requirements for this participant and its group. The driver calls
    /// this before the participant starts.
    ///
    /// There is no default, because a default would promise more than the author of an election has considered.
    ///
    /// # Errors
    /// [`MembershipError`] when the configuration does not allow this agent to take part as this kind of member.
    fn requirements(
        config: &Self::Config,
        agent: &AgentId,
        kind: MemberKind,
    ) -> Result<Requirements, MembershipError>;

    /// Returns the parameters, completed for a participant on one host. `_wall_at_zero` is the time that the host's
    /// wall clock showed when the participant's own clock showed zero: in milliseconds since the beginning of 1970 in
    /// UTC, negative for an earlier time. A driver that has a wall clock calls this once, when it receives the order to
    /// start a participant. Default: unchanged; few elections need the wall clock.
    #[must_use]
    fn on_host(config: Self::Config, _wall_at_zero: i64) -> Self::Config {
        config
    }

    /// Checks that this participant's record fits the configuration. The driver calls this after it has loaded the
    /// record, before an incarnation begins. Default: every record fits.
    ///
    /// # Errors
    /// [`MembershipError`] when the participant must not take part with this record.
    fn admits(
        _config: &Self::Config,
        _agent: &AgentId,
        _durable: Option<&Self::Durable>,
    ) -> Result<(), MembershipError> {
        Ok(())
    }
}

/// A message from one participant to another.
pub trait PeerMessage: Clone + Debug + Display + PartialEq + Send + Unpin + 'static {
    /// Returns the message's name in lower case, for counters and traces: `"elect"`. Two messages of which neither can
    /// replace the other must have different kinds; see [`is_repeated`](Self::is_repeated).
    fn kind(&self) -> &'static str;

    /// Returns the least role in which `from` may send this message. A bridge checks the role for each message. It
    /// closes the link of a peer whose agent may not send the message, unless a receiver can [hear another message
    /// instead](Self::unentitled).
    ///
    /// An election never sends a message that needs a higher role than the [`MemberKind`] of its participant allows.
    fn needs(&self, from: &AgentId) -> MinimumRole;

    /// Returns the message that the receiver gets in place of this message if the sender may not [send](Self::needs)
    /// this message; `None` if a bridge has to close the link. An election returns a message here for a question that
    /// should be refused without closing the link.
    fn unentitled(&self) -> Option<Self> {
        None
    }

    /// Returns whether a newer message follows in any case, so that a slow receiver may miss this message. On the way
    /// to another host, a newer message of the same [`kind`](Self::kind), from the same sender to the same receivers,
    /// replaces this message.
    fn is_repeated(&self) -> bool {
        false
    }

    /// Returns the length of an application's message, in bytes; `None` for a message of an election. In a mailbox,
    /// messages of applications leave room for messages of elections.
    #[doc(hidden)]
    fn application_bytes(&self) -> Option<usize> {
        None
    }

    /// Returns the highest term in the message, if its election has terms. If no honest peer can know such a term, a
    /// bridge closes the peer's link, or drops the message.
    fn term(&self) -> Option<Term> {
        None
    }
}

/// For an election whose participants send no messages to each other.
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
    /// The name of the agent.
    pub id: AgentId,
    /// The number of the incarnation.
    pub incarnation: Incarnation,
    /// Voter or observer.
    pub kind: MemberKind,
    /// The score at the beginning; `None` for an agent that cannot be elected.
    pub score: Option<Score>,
    /// How the incarnation began: by a start, or by a restart after a crash.
    pub birth: Birth,
    /// The store that keeps the agent's votes; `None` without a disk.
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
