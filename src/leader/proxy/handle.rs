//! An application's handle of a proxy, and the actor behind its `Recipient`.

use std::{fmt, sync::Arc, time::Duration};

use actix::{
    Actor, Addr, Context, Handler, Recipient,
    clock::timeout,
    dev::{MessageResponse, OneshotSender},
};
use tokio::runtime::Handle;
use tracing::error;

use crate::supervisor::contain;

use super::{
    LeaderMessage, ProxyCounts, ProxyError,
    state::{Answer, ProxyState},
};

/// Sends messages of one type to the leader of a group, in this process or on another host; made by
/// [`builder`](Self::builder). Clones are the same proxy, with one order of messages.
///
/// The leader's actor handles a message at most once, in order. Without a leader a message waits, up to the buffer's
/// limits. If a leader refuses a message because it does not lead any more, the message goes to the next leader. If the
/// outcome of a message is unknown, it is not sent again.
///
/// # Examples
/// ```
/// use std::time::Duration;
/// use actix::prelude::*;
/// use actix_bully::{Group, agent::BullyAgent, leader::{LeaderProxy, ProxyError}};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Message, Serialize, Deserialize)]
/// #[rtype(result = "u64")]
/// struct Add(u64);
///
/// #[derive(Default)]
/// struct Counter(u64);
///
/// impl Actor for Counter { type Context = Context<Self>; }
/// impl Handler<Add> for Counter {
///     type Result = u64;
///     fn handle(&mut self, add: Add, _: &mut Context<Self>) -> u64 {
///         self.0 += add.0;
///         self.0
///     }
/// }
///
/// System::new().block_on(async {
///     let group = Group::new("demo")?;
///     let agent = BullyAgent::builder("api-1").join(&group).start()?;
///     // On each host; a bridge that carries `group` carries these messages too.
///     let adds = LeaderProxy::<Add>::builder(&agent, "add")
///         .deliver_to(Counter::default().start().recipient())
///         .start()?;
///
///     adds.do_send(Add(1)); // waits for a leader
///     assert_eq!(adds.send(Add(2), Duration::from_secs(5)).await?, 3);
///     # Ok::<(), Box<dyn std::error::Error>>(())
/// }).unwrap();
/// ```
pub struct LeaderProxy<M: LeaderMessage> {
    state: Arc<ProxyState<M>>,
    actor: Addr<ProxyActor<M>>,
}

impl<M: LeaderMessage> LeaderProxy<M> {
    pub(super) fn new(state: Arc<ProxyState<M>>, actor: Addr<ProxyActor<M>>) -> Self {
        Self { state, actor }
    }

    /// Sends a message without an answer. A refused message is counted ([`ProxyCounts::refused`]), and logged at
    /// `debug`.
    pub fn do_send(&self, message: M) {
        self.state.put_or_count(message);
    }

    /// Sends a message without an answer, if there is room for it.
    ///
    /// `Ok` means that the message waits or is on its way, not that it is handled.
    ///
    /// # Errors
    /// [`ProxyError::Full`], [`ProxyError::Send`]; the message is not sent.
    pub fn try_send(&self, message: M) -> Result<(), ProxyError> {
        self.state.put(message)
    }

    /// Sends a message and waits for the answer, at most for `within`. This time includes the wait for a leader.
    ///
    /// If the future is dropped while the message is not sent yet, the message is never sent.
    ///
    /// # Errors
    /// [`ProxyError`]; its variant shows whether the message may have been handled.
    pub async fn send(&self, message: M, within: Duration) -> Result<M::Result, ProxyError> {
        if Handle::try_current().is_err() {
            return Err(ProxyError::NoRuntime);
        }
        match self.state.ask(message)? {
            Answer::Direct(request) => match timeout(within, request).await {
                Ok(Ok(Ok(answer))) => Ok(answer),
                Ok(Ok(Err(_)) | Err(_)) => Err(ProxyError::ReceiverGone),
                Err(_) => Err(ProxyError::Unknown),
            },
            Answer::Queued(id, answer) => {
                let mut waiting = Waiting {
                    state: &self.state,
                    ask: Some(id),
                };
                let answered = timeout(within, answer).await;
                match answered {
                    Ok(answered) => {
                        waiting.ask = None;
                        answered.unwrap_or(Err(ProxyError::Unknown))
                    }
                    Err(_) => Err(waiting.give_up(within).unwrap_or(ProxyError::Unknown)),
                }
            }
        }
    }

    /// Returns this proxy as an address: messages to this address go to the leader too. If a sender awaits an answer,
    /// and no answer comes within [`answer_within`](super::ProxyBuilder::answer_within), the sender gets
    /// [`MailboxError::Closed`](actix::MailboxError::Closed).
    pub fn recipient(&self) -> Recipient<M> {
        self.actor.clone().recipient()
    }

    /// Returns the outcomes of the messages so far.
    pub fn counts(&self) -> ProxyCounts {
        self.state.counts()
    }
}

impl<M: LeaderMessage> Clone for LeaderProxy<M> {
    fn clone(&self) -> Self {
        Self {
            state: Arc::clone(&self.state),
            actor: self.actor.clone(),
        }
    }
}

impl<M: LeaderMessage> fmt::Debug for LeaderProxy<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.state.fmt(f)
    }
}

/// A message whose sender waits for the answer. Dropping this value gives the message up.
struct Waiting<'a, M: LeaderMessage> {
    state: &'a ProxyState<M>,
    ask: Option<u64>,
}

impl<M: LeaderMessage> Waiting<'_, M> {
    fn give_up(&mut self, within: Duration) -> Option<ProxyError> {
        let ask = self.ask.take()?;
        Some(self.state.give_up(ask, within))
    }
}

impl<M: LeaderMessage> Drop for Waiting<'_, M> {
    fn drop(&mut self) {
        self.give_up(Duration::ZERO);
    }
}

/// The actor behind a proxy's `Recipient`.
pub(super) struct ProxyActor<M: LeaderMessage> {
    state: Arc<ProxyState<M>>,
    answer_within: Duration,
}

impl<M: LeaderMessage> ProxyActor<M> {
    pub(super) fn new(state: Arc<ProxyState<M>>, answer_within: Duration) -> Self {
        Self {
            state,
            answer_within,
        }
    }
}

impl<M: LeaderMessage> Actor for ProxyActor<M> {
    type Context = Context<Self>;
}

impl<M: LeaderMessage> Handler<M> for ProxyActor<M> {
    type Result = Forwarded<M>;

    fn handle(&mut self, message: M, ctx: &mut Context<Self>) -> Forwarded<M> {
        let proxy = LeaderProxy::new(Arc::clone(&self.state), actix::AsyncContext::address(ctx));
        Forwarded {
            proxy,
            message,
            within: self.answer_within,
        }
    }
}

/// A message on its way through the actor.
pub(super) struct Forwarded<M: LeaderMessage> {
    proxy: LeaderProxy<M>,
    message: M,
    within: Duration,
}

impl<M: LeaderMessage> MessageResponse<ProxyActor<M>, M> for Forwarded<M> {
    fn handle(self, _: &mut Context<ProxyActor<M>>, answer: Option<OneshotSender<M::Result>>) {
        let Self {
            proxy,
            message,
            within,
        } = self;
        // A message may panic when it is encoded or dropped. The panic costs that message alone: if it ended this actor,
        // no later message of any sender would arrive.
        let Some(answer) = answer else {
            // do_send: this is the method of the proxy, and the proxy's buffer is limited.
            return contain(|| proxy.do_send(message)).unwrap_or_else(|reason| log_panic(&reason));
        };
        // The message is sent now, so that messages keep the order of the mailbox. Only the answer is awaited.
        let mut sent = Box::pin(async move { proxy.send(message, within).await });
        let first = match contain(|| futures::FutureExt::now_or_never(&mut sent)) {
            Ok(first) => first,
            Err(reason) => return log_panic(&reason),
        };
        drop(actix::spawn(async move {
            let answered = match first {
                Some(answered) => answered,
                None => sent.await,
            };
            // If `answer` is dropped unused, the sender of the message gets `Closed`.
            if let Ok(result) = answered {
                answer.send(result).ok();
            }
        }));
    }
}

fn log_panic(reason: &str) {
    error!(
        reason,
        "a message to the recipient of a proxy panicked: it is not sent"
    );
}
