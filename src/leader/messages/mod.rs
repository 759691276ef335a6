//! What the applications of a group's agents say to each other, here and on other hosts.
//!
//! ```text
//!   Channel::send_to("api-2", &Job)        Registry: "job" ─▶ Job ─▶ Recipient<Envelope<Job>>
//!        │ bytes, and the name "job"          ▲
//!        ▼                                    │ known names only, decoded here
//!   companion of the group ─▶ bridge ─▶ Endpoint of api-2, a member of the companion
//! ```
//!
//! Decided here: that an agent has one endpoint, made at the first call and ended with the agent; and that
//! a message is bytes under a name until its receiver knows the name. Not here: which agent leads, and messages
//! that follow the leader.

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
    protocol::{AgentId, Election},
};

pub use channel::Channel;
pub use error::{ChannelError, MessagesError, SendError};

use channel::TypedInbox;
pub(crate) use channel::{decode, encode};
pub(crate) use state::{Arrived, EndpointState, Inbox, InboxContext, check_name};

/// Messages of an application between the agents of one group, as one agent sends and receives them. Clones are the
/// same.
///
/// A type is registered by name with each agent that receives it, in one call; it crosses between hosts as soon as a
/// bridge [carries](crate::remote::BridgeBuilder::carry) the group.
///
/// # What you can rely on
/// - **Order.** What one agent says to another arrives in order, whatever its types.
/// - **Loss.** A message is delivered at most once. It may be lost: with a link, with a process, or where
///   more waits than the bridge holds ([`LimitsBuilder::queue`](crate::remote::LimitsBuilder::queue), of which
///   messages of applications take half at most, and [`mailbox`](crate::remote::LimitsBuilder::mailbox), of which they
///   take half as well).
/// - **Pace.** An actor is handed no more than its mailbox takes, and has 1,024 messages and 1 MiB of a type at most that
///   it has not handled. The others wait, and count in the mailbox until they are handed over: within one process 512 KiB
///   of all types together, and a sender beyond that is refused ([`SendError::Full`]).
/// - **Origin.** [`Envelope::from`] is the agent that sent it, as far as the bridge knows its peers; a peer may
///   send for the agents that its [`Rights`](crate::remote::Rights) name in the group.
/// - **Bounds.** A message of more than [`MAX_LEN`](Self::MAX_LEN) bytes is refused where it is sent. Bytes are decoded
///   once their sender is known to be a member and their name is registered, and never to more than that.
///
/// Types are those of a [`RemoteMessage`](crate::remote::RemoteMessage): flat, without maps; give those as lists of
/// pairs. A type whose fields change takes another name, so that agents of both releases understand each other.
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
    /// The longest message, in bytes of its encoded form. It has to fit into a frame of the bridge as well
    /// ([`LimitsBuilder::frame`](crate::remote::LimitsBuilder::frame)).
    pub const MAX_LEN: usize = 32 * 1024;

    /// The messages of this agent, until it leaves or ends for good. The first call makes the agent's endpoint on
    /// the current arbiter; later ones give the same.
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

    /// The agent.
    pub fn id(&self) -> &AgentId {
        self.0.id()
    }

    /// Registers a type under a name, by which all agents of the group know it: this agent receives it, and `to` gets
    /// each message of it. Bytes that are no `M` are counted and dropped.
    ///
    /// # Errors
    /// [`ChannelError`], and nothing was changed.
    pub fn register<M>(
        &self,
        name: &str,
        to: Recipient<Envelope<M>>,
    ) -> Result<Channel<M>, ChannelError>
    where
        M: Serialize + DeserializeOwned + Send + 'static,
    {
        let name = check_name(name)?;
        self.0
            .register(&name, Arc::new(TypedInbox::new(&self.0, to)))?;
        Ok(Channel::new(Arc::clone(&self.0), name))
    }

    /// Names a type that this agent sends and need not receive.
    ///
    /// # Errors
    /// [`ChannelError`] when the name is refused, or the agent has ended.
    pub fn channel<M: Serialize>(&self, name: &str) -> Result<Channel<M>, ChannelError> {
        let name = check_name(name)?;
        self.0.must_go_on()?;
        Ok(Channel::new(Arc::clone(&self.0), name))
    }

    /// How many messages arrived that no type here is registered for, or that were none of their type.
    pub fn unreadable(&self) -> u64 {
        self.0.unreadable()
    }

    pub(crate) fn state(&self) -> &Arc<EndpointState> {
        &self.0
    }
}

impl fmt::Debug for Messages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Messages").field(self.id()).finish()
    }
}
