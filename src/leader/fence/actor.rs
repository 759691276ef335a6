//! A gate as an actor, in front of an actor that does not know fences.
//!
//! Decided here: admitted messages reach the actor behind the gate in the order of admission; the gate waits while the
//! actor behind it has no room; the gate stops when the actor behind it has ended. Not here: which fences are admitted
//! (`gate.rs`).

use std::fmt;

use actix::{
    Actor, ActorContext, Addr, Context, Handler, Message,
    dev::{MessageResponse, OneshotSender, ToEnvelope},
};

use crate::supervisor::{Answered, InTurn};

use super::{Fenced, FencingGate, Stale};

/// Receives messages for another actor, and passes on the messages that its gate admits.
///
/// It handles [`Fenced<M>`] for each message `M` of the actor behind it, with one gate for all message types. Senders
/// use the address of the `FencingActor`, or a `Recipient<Fenced<M>>`. The actor behind the gate gets each message
/// without its fence, in the order of admission. Keep the address of the actor behind the gate private: messages that
/// do not pass the gate are not checked.
///
/// The sender gets the answer of the actor behind the gate. If that actor has ended, the sender gets
/// [`MailboxError::Closed`](actix::MailboxError::Closed), as without a gate, and the gate stops too. An admitted
/// message is handled, even if its sender does not wait for the answer any more. The gate survives restarts of the
/// actor behind it, and keeps its address.
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
    in_turn: InTurn,
}

impl<A: Actor> FencingActor<A> {
    /// Makes a gate in front of the actor `behind`. `gate` may know fences that were admitted before.
    pub fn new(behind: Addr<A>, gate: FencingGate) -> Self {
        let in_turn = InTurn::new();
        Self {
            gate,
            behind,
            in_turn,
        }
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
            to: self.behind.clone(),
            in_turn: self.in_turn.clone(),
            message: fenced.message,
        }))
    }
}

/// Asks a [`FencingActor`] for a copy of its gate, with the highest admitted fence and the number of refused messages,
/// including messages whose sender waits for no answer. Store the copy, and give it to [`FencingActor::new`] when the
/// process starts again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Message)]
#[rtype(result = "FencingGate")]
pub struct ReadGate;

impl<A: Actor> Handler<ReadGate> for FencingActor<A> {
    type Result = actix::MessageResult<ReadGate>;
    fn handle(&mut self, _: ReadGate, _: &mut Context<Self>) -> Self::Result {
        actix::MessageResult(self.gate.clone())
    }
}

/// The answer of a [`FencingActor`]: a refusal at once, or later the answer of the actor behind the gate.
#[derive(Debug)]
pub struct GatedAnswer<A: Actor, M>(Result<Admitted<A, M>, Stale>);

/// A message on its way to the actor behind a gate.
struct Admitted<A: Actor, M> {
    to: Addr<A>,
    in_turn: InTurn,
    message: M,
}

impl<A, M> MessageResponse<FencingActor<A>, Fenced<M>> for GatedAnswer<A, M>
where
    A: Actor<Context: ToEnvelope<A, M>> + Handler<M>,
    M: Message<Result: Send> + Send + 'static,
{
    fn handle(
        self,
        ctx: &mut Context<FencingActor<A>>,
        answer: Option<OneshotSender<Result<M::Result, Stale>>>,
    ) {
        match (self.0, answer) {
            (Ok(admitted), answer) => {
                let Admitted {
                    to,
                    in_turn,
                    message,
                } = admitted;
                // If the actor behind the gate drops the answer, the sender gets `Closed`, as it would without a gate.
                let hear = answer.map(|answer| {
                    move |answered: Answered<M>| {
                        drop(actix::spawn(async move {
                            if let Ok(Ok(result)) = answered.await {
                                drop(answer.send(Ok(result)));
                            }
                        }));
                    }
                });
                // The gate handles no other message until the actor behind it has this message, so messages keep the
                // order of admission.
                in_turn.hand(to.recipient(), message, hear, ctx);
            }
            (Err(stale), Some(answer)) => drop(answer.send(Err(stale))),
            (Err(_), None) => {} // the gate has counted the refusal
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
