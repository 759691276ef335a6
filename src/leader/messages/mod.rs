//! Messages between the applications of a group's agents, in one process and across hosts.
//!
//! ```text
//!   Channel::send_to("api-2", &Job)        Registry: "job" ─▶ Job ─▶ Recipient<Envelope<Job>>
//!        │ bytes, and the name "job"          ▲
//!        ▼                                    │ known names only, decoded here
//!   companion of the group ─▶ bridge ─▶ Endpoint of api-2, a member of the companion
//! ```
//!
//! Decided here: an agent has one endpoint (its sender and receiver of messages), which is made at the first call and
//! ends with the agent. Messages travel as bytes, and are decoded where their name is registered. Not here: which agent
//! leads, and messages that follow the leader.

mod channel;
mod endpoint;
mod error;
mod state;
mod waiting;

use std::{fmt, sync::Arc};

use actix::Recipient;
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    agent::{AgentReader, ElectionHandle, Feature},
    group::Envelope,
    protocol::Election,
};

pub use channel::Channel;
pub use error::{MessagesError, SendError};

use channel::TypedInbox;
pub(crate) use channel::{decode, encode};
pub(crate) use state::{Arrived, EndpointState, Inbox, InboxContext, check_name};

/// Messages of an application between the agents of one group, as one agent sends and receives them. All clones share
/// one endpoint.
///
/// Each agent that receives a type registers it by name, in one call. Messages cross between hosts as soon as a bridge
/// [carries](crate::remote::BridgeBuilder::carry) the group.
///
/// # What you can rely on
/// - **Order.** Messages from one agent to another arrive in order, also messages of different types.
/// - **Loss.** A message is delivered at most once. It may be lost with a link, with a process, or when a queue of the
///   bridge is full. Messages of applications take at most half of a bridge's
///   [`queue`](crate::remote::LimitsBuilder::queue) and of a [`mailbox`](crate::remote::LimitsBuilder::mailbox).
/// - **Pace.** An actor receives no more messages than its mailbox takes, and has at most 1,024 unhandled messages and
///   1 MiB of each type. Further messages wait in the mailbox of the receiving agent: within one process 512 KiB of all
///   types together. Beyond that a sender is refused ([`SendError::Full`]).
/// - **Origin.** [`Envelope::from`] is the agent that sent the message, as far as the bridge knows its peers. A peer
///   may send for the agents that its [`Rights`](crate::remote::Rights) name in the group.
/// - **Bounds.** A message of more than [`MAX_LEN`](Self::MAX_LEN) bytes is refused at the sender. Bytes are decoded
///   only if their sender is a member and their name is registered. The decoded message is never longer than that
///   limit.
///
/// Types follow the rules of a [`RemoteMessage`](crate::remote::RemoteMessage): flat, without maps. Send a map as a
/// list of pairs. A type whose fields change gets another name, so that agents of both releases understand each other.
///
/// # Examples
/// ```
/// use actix::prelude::*;
/// use actix_bully::{Group, agent::BullyAgent, group::Envelope, leader::Messages};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize)]
/// struct Greeting(String);
///
/// struct Host;
/// impl Actor for Host { type Context = Context<Self>; }
/// impl Handler<Envelope<Greeting>> for Host {
///     type Result = ();
///     fn handle(&mut self, said: Envelope<Greeting>, _: &mut Context<Self>) {
///         assert_eq!((said.from.as_str(), said.message.0.as_str()), ("api-1", "hello"));
///         System::current().stop();
///     }
/// }
///
/// let system = System::new();
/// system.block_on(async {
///     let group = Group::new("demo")?;
///     let one = BullyAgent::builder("api-1").join(&group).start()?;
///     let two = BullyAgent::builder("api-2").join(&group).start()?;
///     Messages::of(&two)?.register::<Greeting>("greeting", Host.start().recipient())?;
///     let greetings = Messages::of(&one)?.channel::<Greeting>("greeting")?;
///     greetings.send_to(two.id(), &Greeting("hello".to_owned()))?;
///     Ok::<(), Box<dyn std::error::Error>>(())
/// })?;
/// system.run()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Messages(Arc<EndpointState>);

impl Messages {
    /// Largest length of a message, in bytes of its encoded form. The message must also fit into a frame of the bridge
    /// ([`LimitsBuilder::frame`](crate::remote::LimitsBuilder::frame)).
    pub const MAX_LEN: usize = 32 * 1024;

    /// Returns this agent's sender and receiver of messages, until the agent leaves or ends for good. The first call
    /// makes the agent's endpoint on the current arbiter; later calls return the same endpoint.
    ///
    /// # Errors
    /// [`MessagesError`], and nothing was changed.
    pub fn of<E: Election>(agent: &ElectionHandle<E>) -> Result<Self, MessagesError> {
        Self::of_reader(&agent.reader())
    }

    pub(crate) fn of_reader(agent: &AgentReader) -> Result<Self, MessagesError> {
        if agent.is_over() {
            return Err(MessagesError::Ended);
        }
        agent.offers().check(Feature::Messages)?;
        let state = agent.attached(|| endpoint::start(agent))?;
        Ok(Self(state))
    }

    /// Registers a type under a name, which all agents of the group use for the type. From now on `to` gets each
    /// message of this type that the agent receives. Bytes that cannot be decoded as `M` are counted and dropped.
    ///
    /// # Errors
    /// [`MessagesError`], and nothing was changed.
    pub fn register<M>(
        &self,
        name: &str,
        to: Recipient<Envelope<M>>,
    ) -> Result<Channel<M>, MessagesError>
    where
        M: Serialize + DeserializeOwned + Send + 'static,
    {
        let name = check_name(name)?;
        self.0
            .register(&name, Arc::new(TypedInbox::new(&self.0, to)))?;
        Ok(Channel::new(Arc::clone(&self.0), name))
    }

    /// Makes the channel of a type that this agent sends. The agent need not receive the type.
    ///
    /// # Errors
    /// [`MessagesError`] if the name is refused, or the agent has ended.
    pub fn channel<M: Serialize>(&self, name: &str) -> Result<Channel<M>, MessagesError> {
        let name = check_name(name)?;
        self.0.must_go_on()?;
        Ok(Channel::new(Arc::clone(&self.0), name))
    }

    /// Returns the number of received messages whose name this agent has not registered, or that could not be decoded.
    pub fn unreadable(&self) -> u64 {
        self.0.unreadable()
    }

    pub(crate) fn state(&self) -> &Arc<EndpointState> {
        &self.0
    }
}

impl fmt::Debug for Messages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Messages").field(self.0.id()).finish()
    }
}
