//! Inputs of a machine.
//!
//! A leadership may end from outside the machine in these ways:
//!
//! | event | input | published reason |
//! |---|---|---|
//! | a user orders the agent to step down | [`Input::StepDown`], then [`Input::Drained`] or the timer of the hand-over | [`Resigned`](super::LostReason::Resigned) |
//! | the application takes the agent's score away | [`Input::SetScore`] with `None`; then as above, without a `StepDown` | `Resigned` |
//! | the agent leaves the group, and leads | `StepDown { to: None }`, then as above, then none | `Resigned` |
//! | the agent leaves the group, and does not lead | none: every driver reports the end of a membership to the other agents, which get [`Input::Members`] | none: no leadership ends |
//! | the agent's actor stops or panics | none: the driver reports the end, and the other agents get it with the group's snapshot | [`Ended`](super::LostReason::Ended) |
//! | the agent does not run for a while | the inputs that have waited, in their order, at a later time; or none, if the driver ends the leadership first | [`Stalled`](super::LostReason::Stalled), [`LeaseExpired`](super::LostReason::LeaseExpired) |
//!
//! A member of the simulator that leaves (`World::leave`, in `bully-sim`) only stops, even if it leads. A history that
//! needs a hand-over gives a `StepDown` first.

use std::{convert::Infallible, sync::Arc};

use super::{AgentId, Election, Incarnation, Members, Score, VoterChange};

/// One event for a machine; see [`Election::handle`].
///
/// `A` is the type of a store's answers. The type of an election without a store has no value, so that no answer can
/// arrive.
#[derive(Clone, Debug, PartialEq)]
pub enum Input<M, T, A = Infallible> {
    /// The incarnation begins; the group has the contained members. This is the first input, and the driver gives it
    /// once.
    Start(Arc<Members>),
    /// A message arrived from a member whose `incarnation` is not known to have ended.
    Received {
        /// The sender.
        from: AgentId,
        /// The sender's incarnation when it sent the message.
        incarnation: Incarnation,
        /// The message.
        message: M,
    },
    /// The store has answered a question, or has reported a change for which the machine did not ask.
    Told(A),
    /// A timer that was set is due.
    TimedOut(T),
    /// The membership changed: a member joined, left, came up, went down, or has another score.
    ///
    /// A snapshot has all known facts, so several changes may arrive as one. A leader's end cannot be missed: its
    /// incarnation is marked as ended, or a later incarnation is up.
    Members(Arc<Members>),
    /// The user's command to hold an election (ASTRA's goal `!bully_election()`).
    Campaign,
    /// The application gave another score; `None` makes the agent ineligible.
    SetScore(Option<Score>),
    /// The user's command to hand over the leadership, to the member `to` if it is given.
    StepDown {
        /// The requested successor; with `None`, the member of the highest rank that is up.
        to: Option<AgentId>,
    },
    /// The work of a leader that steps down has ended.
    Drained,
    /// The user's command to change the voters while the group runs. An election whose voters cannot change ignores the
    /// command; other elections answer with [`Event::Voters`](super::Event::Voters). The command may be repeated until
    /// the answer.
    ChangeVoters(Box<VoterChange>),
}

impl<M, T, A> Input<M, T, A> {
    /// Returns the same input for a machine with other messages and answers; `None` where that machine does not get
    /// such an input.
    pub fn translate<N, B>(
        self,
        message: impl FnOnce(M) -> Option<N>,
        told: impl FnOnce(A) -> Option<B>,
    ) -> Option<Input<N, T, B>> {
        Some(match self {
            Self::Received {
                from,
                incarnation,
                message: received,
            } => Input::Received {
                from,
                incarnation,
                message: message(received)?,
            },
            Self::Told(answer) => Input::Told(told(answer)?),
            Self::Start(members) => Input::Start(members),
            Self::TimedOut(timer) => Input::TimedOut(timer),
            Self::Members(members) => Input::Members(members),
            Self::Campaign => Input::Campaign,
            Self::SetScore(score) => Input::SetScore(score),
            Self::StepDown { to } => Input::StepDown { to },
            Self::Drained => Input::Drained,
            Self::ChangeVoters(change) => Input::ChangeVoters(change),
        })
    }
}

/// The input of the machine `E`. Machines with the same messages, timers and answers share this type.
pub type InputOf<E> =
    Input<<E as Election>::Message, <E as Election>::Timer, <E as Election>::Told>;
