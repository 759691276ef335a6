//! A gate as an actor, in front of one that knows nothing of fences.
//!
//! Decided here: that what is admitted reaches the actor behind in the order of admission, and what follows when
//! that actor has ended. Not here: which fences are admitted (`gate.rs`).

use std::fmt;

use actix::{
    Actor, ActorContext, Addr, Context, Handler, Message,
    dev::{MessageResponse, OneshotSender, ToEnvelope},
};

use super::{Fenced, FencingGate, Stale};

/// Stands in front of an actor, and hands it what its gate admits.
///
/// It handles [`Fenced<M>`] for each message `M` of that actor, with one gate for all of them, and so there is an
/// `Addr` of it, and a `Recipient<Fenced<M>>`. The actor behind gets each message without its fence, in the order
/// in which they were admitted. Give out no other address of it: what does not pass the gate is not checked.
///
/// The answer is that of the actor behind. Where that has ended, the sender gets
/// [`MailboxError::Closed`](actix::MailboxError::Closed), as it would without a gate, and the gate stops too.
/// What was admitted is handled, also if its sender does not wait for the answer any more. The gate outlives
/// restarts of the actor behind, and keeps its address.
///
/// ```
/// use actix::prelude::*;
/// use actix_bully::leader::fence::{Fenced, FenceNumber, FencingActor, FencingGate, Stale};
///
/// # #[derive(Message)]
/// # #[rtype(result = "usize")]
/// # struct Append(&'static str);
/// /// An actor without any idea of leaders.
/// #[derive(Default)]
/// struct Ledger { rows: Vec<&'static str> }
/// # impl Actor for Ledger {
/// #     type Context = Context<Self>;
/// # }
/// # impl Handler<Append> for Ledger {
/// #     type Result = usize;
/// #     fn handle(&mut self, row: Append, _: &mut Context<Self>) -> usize {
/// #         self.rows.push(row.0);
/// #         self.rows.len()
/// #     }
/// # }
///
/// # #[actix::main]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let ledger = FencingActor::new(Ledger::default().start(), FencingGate::default()).start();
/// let (former, present) = (FenceNumber::try_from(1)?, FenceNumber::try_from(2)?);
/// assert_eq!(ledger.send(Fenced { fence: present, message: Append("new") }).await?, Ok(1));
/// assert_eq!(
///     ledger.send(Fenced { fence: former, message: Append("old") }).await?,
///     Err(Stale { fence: former, highest: present }),
/// );
/// # Ok(())
/// # }
/// ```
pub struct FencingActor<A: Actor> {
    gate: FencingGate,
    behind: Addr<A>,
}

impl<A: Actor> FencingActor<A> {
    /// A gate in front of this actor; `gate` may know of fences that were admitted before.
    pub const fn new(behind: Addr<A>, gate: FencingGate) -> Self {
        Self { gate, behind }
    }
}

impl<A: Actor> Actor for FencingActor<A> {
    type Context = Context<Self>;
}

impl<A, M> Handler<Fenced<M>> for FencingActor<A>
where
    A: Actor<Context: ToEnvelope<A, M>> + Handler<M>,
    M: Message<Result: Send> + Send + 'static,
{
    type Result = GatedAnswer<A, M>;
    fn handle(&mut self, fenced: Fenced<M>, ctx: &mut Context<Self>) -> Self::Result {
        if !self.behind.connected() {
            ctx.stop();
        }
        GatedAnswer(self.gate.admit(&fenced).map(|()| Admitted {
            // A clone of its own for each message. An address whose mailbox is full keeps a message back, and a
            // later one may overtake it: then the write of a former leader would follow its successor's. The
            // first message of a clone always has a place.
            to: self.behind.clone(),
            message: fenced.message,
        }))
    }
}

/// Asks a [`FencingActor`] for its gate: the highest fence that was admitted, and how many were refused, those sent
/// without waiting for an answer among them. It may be stored, for a [`FencingActor::new`] after the next start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Message)]
#[rtype(result = "FencingGate")]
pub struct ReadGate;

impl<A: Actor> Handler<ReadGate> for FencingActor<A> {
    type Result = actix::MessageResult<ReadGate>;
    fn handle(&mut self, _: ReadGate, _: &mut Context<Self>) -> Self::Result {
        actix::MessageResult(self.gate.clone())
    }
}

/// What a [`FencingActor`] answers: a refusal at once, or what the actor behind answers, when it does.
#[derive(Debug)]
pub struct GatedAnswer<A: Actor, M>(Result<Admitted<A, M>, Stale>);

/// A message on its way to the actor behind a gate.
struct Admitted<A: Actor, M> {
    to: Addr<A>,
    message: M,
}

impl<A, M> MessageResponse<FencingActor<A>, Fenced<M>> for GatedAnswer<A, M>
where
    A: Actor<Context: ToEnvelope<A, M>> + Handler<M>,
    M: Message<Result: Send> + Send + 'static,
{
    fn handle(
        self,
        _: &mut Context<FencingActor<A>>,
        answer: Option<OneshotSender<Result<M::Result, Stale>>>,
    ) {
        match (self.0, answer) {
            (Ok(Admitted { to, message }), Some(answer)) => {
                // Sent before the task first runs: the order is that of admission.
                let request = to.send(message);
                drop(actix::spawn(async move {
                    // Dropped without an answer, the sender gets what it would get without a gate: `Closed`.
                    if let Ok(result) = request.await {
                        drop(answer.send(Ok(result)));
                    }
                }));
            }
            // Not `send` without waiting: an actor skips messages whose senders do not wait any more.
            (Ok(Admitted { to, message }), None) => to.do_send(message),
            (Err(stale), Some(answer)) => drop(answer.send(Err(stale))),
            (Err(_), None) => {} // counted by the gate
        }
    }
}

impl<A: Actor> fmt::Debug for FencingActor<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FencingActor")
            .field("gate", &self.gate)
            .finish_non_exhaustive()
    }
}

impl<A: Actor, M> fmt::Debug for Admitted<A, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Admitted").finish_non_exhaustive()
    }
}
