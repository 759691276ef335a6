//! Messages that follow the leader, in this process or on another host.
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
//! - **At most once.** A message is given to at most one actor of at most one leader. A message that was certainly
//!   refused is sent again; a message with an unknown outcome is never sent again.
//! - **Order.** Messages of one proxy are given to actors in the order in which they were taken, whichever agent leads
//!   meanwhile. Messages of the leader's own proxy also wait for the messages before them. In elections that may have
//!   two leaders at once ([`Leaders`](crate::protocol::Leaders)) this holds for each leader.
//! - **The leader only.** The receiving agent's leadership is checked right before the actor gets a message. A message
//!   in the actor's mailbox may outlast the leadership: a write that must not come late carries a
//!   [fence](crate::leader::fence).
//! - **Bounds.** The number and the bytes of waiting messages have limits; a message without room is refused and counted
//!   ([`ProxyCounts`]). An actor gets no more messages than its mailbox takes. The messages that wait for the actor at
//!   the leader have a limit as well; beyond it, messages wait in the senders' buffers.
//! - **Loss.** A message may be lost with a link, with the leader, or with this process. Its outcome is then unknown. A
//!   sender that waits for an answer learns this ([`ProxyError::Unknown`]).
//!
//! # Where to go next
//! `sender.rs` and `receiver.rs` decide, without a runtime. `state.rs` is the part that all threads use, `inbox.rs` the
//! work of the agent's endpoint, `frame.rs` the bytes, `builder.rs` the start.

mod arrived;
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

/// A message that a [`LeaderProxy`] can send: any message of actix that can cross between hosts together with its
/// answer.
///
/// The types follow the rules of a [`RemoteMessage`](crate::remote::RemoteMessage): flat, without maps. An answer of
/// `()` is fine.
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
