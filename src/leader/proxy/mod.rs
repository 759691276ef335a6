//! Messages that follow the leader, wherever it is.
//!
//! ```text
//!   do_send, try_send, send().await, Recipient ─▶ LeaderProxy
//!                                                   │  this agent leads, and nothing waits: to the actor at once
//!        Sender: buffer, run in flight ◀────────────┤
//!          │ endpoint of the leader's agent         │
//!          ▼                                        ▼
//!        Receiver: next of the run? leads? room? ─▶ the actor, by its Recipient
//!          └─ how far it came, or a refusal ─▶ Sender
//! ```
//!
//! # What you can rely on
//! - **At most once.** A message is given to one actor at most, of whichever leader. One that was refused, with
//!   certainty, is sent again; one of which nothing is known never is.
//! - **Order.** Messages of one proxy are given to actors in the order in which they were taken, whichever agent
//!   leads meanwhile; the leader's own messages wait for those before them as well. In elections that may have
//!   two leaders at once ([`Leaders`](crate::protocol::Leaders)) this holds for each of them.
//! - **The leader only.** The receiving agent's leadership is asked for right before the actor gets a message. What
//!   waits in the actor's mailbox may outlast the leadership: a write that must not come late carries a
//!   [fence](crate::leader::fence).
//! - **Bounds.** So many messages and bytes wait, and no more; what is dropped or refused is counted
//!   ([`ProxyCounts`]). An actor is handed no more than its mailbox takes; what waits at the leader for it is bounded as
//!   well, and beyond that the senders' buffers fill.
//! - **Loss.** A message may be lost with a link, with the leader, or with this process: then it is unknown to its
//!   sender, who hears of it where an answer is awaited ([`ProxyError::Unknown`]).
//!
//! # Where to go next
//! `sender.rs` and `receiver.rs` decide, without a runtime; `state.rs` is what all threads use, `inbox.rs` what the
//! agent's endpoint does, `frame.rs` the bytes, `builder.rs` the start.

mod builder;
mod counts;
mod error;
mod exchange;
mod frame;
mod handle;
mod inbox;
mod receiver;
mod sender;
mod state;
#[cfg(test)]
mod tests;

pub use builder::ProxyBuilder;
pub use counts::ProxyCounts;
pub use error::{ProxyError, ProxyStartError, Untaken};
pub use handle::LeaderProxy;
pub(crate) use inbox::unregistered;

use actix::Message;
use serde::{Serialize, de::DeserializeOwned};

/// What can be sent by a [`LeaderProxy`]: any message of actix that crosses between hosts, and whose answer does.
///
/// The types are those of a [`RemoteMessage`](crate::remote::RemoteMessage): flat, without maps. An answer of `()`
/// is fine.
pub trait LeaderMessage:
    Message<Result: Serialize + DeserializeOwned + Send> + Serialize + DeserializeOwned + Send + 'static
{
}

impl<M> LeaderMessage for M where
    M: Message<Result: Serialize + DeserializeOwned + Send>
        + Serialize
        + DeserializeOwned
        + Send
        + 'static
{
}

/// What follows when a message has no room in a proxy's buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Overflow {
    /// The oldest that waits is dropped, and counted.
    DropOldest,
    /// The newest is refused, and counted.
    RefuseNewest,
}
