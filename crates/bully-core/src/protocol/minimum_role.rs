//! The right that an agent needs to send a message.
//!
//! It is a right that is granted to a name, not its present state: a leader that has lost its score may still give its
//! leadership up.

/// The least role in which an agent may say something; each role includes those listed above it.
/// See [`PeerMessage::needs`](super::PeerMessage::needs).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MinimumRole {
    /// An observer: it takes no part, and its messages decide nothing.
    Observer,
    /// A voter: its answer counts, or it passes on the decisions of others.
    Voter,
    /// A voter that may lead: it is a candidate, leads, or gives a leadership up.
    Leader,
}
