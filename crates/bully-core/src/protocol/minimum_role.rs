//! The right that an agent needs to send a message.
//!
//! The right belongs to a name and does not depend on the agent's present state: a leader that has lost its score may
//! still give up its leadership.

/// The least role in which an agent may send a message. Each role includes the roles listed above it. See
/// [`PeerMessage::needs`](super::PeerMessage::needs).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MinimumRole {
    /// An observer: it does not vote, and its messages decide nothing.
    Observer,
    /// A voter: its answer counts, or it passes on the decisions of others.
    Voter,
    /// A voter that may lead: it is a candidate, leads, or gives a leadership up.
    Leader,
}
