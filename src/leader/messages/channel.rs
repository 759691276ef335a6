//! One type of messages under its name: how it is sent, and how it is received.
//!
//! Decided here: the largest length of a message, the handling of bytes that are not such a message, and how many
//! messages an actor has at once. Not here: where further messages wait (`waiting.rs`).

use std::{fmt, marker::PhantomData, sync::Arc};

use actix::Recipient;
use bytes::BytesMut;
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    group::{AppMessage, Envelope},
    protocol::{AgentId, Time},
    remote::{Bounds, decode_payload, encode_payload},
    supervisor::{Intake, contain},
};

use super::{
    Messages, SendError,
    state::{ActorQueue, Arrived, EndpointState, Hand, Inbox, InboxContext},
};

/// Sends messages of one type, under the name of the type, from one agent. Clones are the same channel.
pub struct Channel<M> {
    state: Arc<EndpointState>,
    name: AgentId,
    of: PhantomData<fn(M)>,
}

impl<M: Serialize> Channel<M> {
    pub(super) fn new(state: Arc<EndpointState>, name: AgentId) -> Self {
        Self {
            state,
            name,
            of: PhantomData,
        }
    }

    /// Sends a message to an agent of the group, which may be this agent itself.
    ///
    /// `Ok` means that the message is on its way, not that it arrives. If an agent of another host cannot keep up, its
    /// host drops the message and counts it.
    ///
    /// # Errors
    /// [`SendError`], and nothing was sent.
    pub fn send_to(&self, to: &AgentId, message: &M) -> Result<(), SendError> {
        let body = encode(message, Messages::MAX_LEN)?;
        self.state.send(to, self.message(&body))
    }

    /// Sends a message to all agents of the group whose applications take messages, except this agent itself. The
    /// message is encoded once, and sent once to each host. Returns the number of receivers. An agent of this process
    /// whose queue is full is not counted.
    ///
    /// # Errors
    /// [`SendError`], and nothing was sent.
    pub fn send_to_all(&self, message: &M) -> Result<usize, SendError> {
        let body = encode(message, Messages::MAX_LEN)?;
        self.state.send_to_all(self.message(&body))
    }

    fn message(&self, body: &[u8]) -> AppMessage {
        AppMessage::new(self.name.clone(), PLAIN, body)
    }
}

impl<M> Clone for Channel<M> {
    fn clone(&self) -> Self {
        Self {
            state: Arc::clone(&self.state),
            name: self.name.clone(),
            of: PhantomData,
        }
    }
}

impl<M> fmt::Debug for Channel<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Channel").field(&self.name).finish()
    }
}

/// The kind of an [`AppMessage`] that contains one message for the actor that is registered under its name.
const PLAIN: u8 = 0;

/// Encodes a message.
///
/// # Errors
/// [`SendError::TooLong`], [`SendError::Unencodable`].
pub(crate) fn encode<M: Serialize + ?Sized>(
    message: &M,
    max: usize,
) -> Result<BytesMut, SendError> {
    let mut out = BytesMut::with_capacity(FEW_BYTES);
    encode_payload(message, &mut out).map_err(|reason| SendError::Unencodable {
        reason: reason.to_string().into(),
    })?;
    let len = out.len();
    if len > max {
        return Err(SendError::TooLong { len, max });
    }
    Ok(out)
}

/// Initial capacity in bytes, enough for most messages. A buffer that starts empty would be copied each time it grows.
const FEW_BYTES: usize = 128;

/// Decodes a message. A panic of the type's own code is contained.
///
/// # Errors
/// The reason why the bytes are not a message of this type, or the text of the panic.
pub(crate) fn decode<M: DeserializeOwned>(bytes: &[u8]) -> Result<M, Box<str>> {
    let bounds = Bounds {
        depth: DEPTH,
        // A list has at most as many items, and a text at most as many bytes, as the message has bytes.
        items: bytes.len(),
        text: bytes.len(),
    };
    let decoded = contain(|| decode_payload(bytes, bounds))?;
    decoded.map_err(|reason| reason.to_string().into())
}

/// Deepest nesting of a message that is decoded: a deeper message could overflow the stack of the thread.
const DEPTH: u8 = 16;

/// Decodes the messages of one name, and hands them to the actor that is registered for the name.
pub(super) struct TypedInbox<M: Send + 'static> {
    typed: Arc<Typed<M>>,
    queue: Arc<ActorQueue>,
}

/// One type of messages for one actor.
struct Typed<M: Send + 'static> {
    to: Recipient<Envelope<M>>,
    intake: Arc<Intake>,
}

impl<M: Send + 'static> TypedInbox<M> {
    pub(super) fn new(state: &Arc<EndpointState>, to: Recipient<Envelope<M>>) -> Self {
        let queue = state.queue_of(&to);
        let endpoint = Arc::downgrade(state);
        let wake = move || {
            if let Some(endpoint) = endpoint.upgrade() {
                endpoint.wake();
            }
        };
        let intake = Intake::new(HANDED, HANDED_BYTES, wake);
        let typed = Arc::new(Typed { to, intake });
        Self { typed, queue }
    }
}

impl<M: DeserializeOwned + Send + 'static> Inbox for TypedInbox<M> {
    fn receive(&self, here: &InboxContext<'_>, arrived: Arrived) {
        let typed = Arc::<Typed<M>>::clone(&self.typed);
        self.queue.receive(here, typed, arrived);
    }

    fn look(&self, here: &InboxContext<'_>) -> Option<Time> {
        self.queue.look(here)
    }
}

impl<M: DeserializeOwned + Send + 'static> Hand for Typed<M> {
    fn hand(&self, state: &EndpointState, envelope: &Envelope<AppMessage>) -> bool {
        let AppMessage { kind, body, .. } = &envelope.message;
        let decoded = if *kind == PLAIN {
            decode(&body.0)
        } else {
            Err("it is not one message for an actor".into())
        };
        let message = match decoded {
            Ok(message) => message,
            Err(reason) => {
                state.note_undecoded(&envelope.message.name, &envelope.from, &reason);
                return true;
            }
        };
        let whole = Envelope {
            from: envelope.from.clone(),
            incarnation: envelope.incarnation,
            message,
        };
        let handed = self.intake.hand(&self.to, whole, body.0.len());
        // A message for an actor that has ended is lost, as with an address of actix.
        handed.is_ok() || !self.to.connected()
    }
}

/// Largest number of messages of one type that an actor has received and not handled, as far as is known. The limit is
/// there because a slow actor must not make its process grow for ever.
const HANDED: usize = 1_024;
/// Largest size in bytes of the messages of one type that an actor has received and not handled.
const HANDED_BYTES: usize = 1 << 20;
