//! Faults of agents and bridges, caused on purpose.
//!
//! Only a build with the feature `testkit` has these messages. In production, the address of an agent or a bridge
//! cannot be used to crash or hang it.

use std::{fmt, future::Future, panic::resume_unwind, pin::Pin};

use actix::{ActorFutureExt, AsyncContext, Context, Handler, Message, WrapFuture};

use crate::{agent::Agent, protocol::Election, remote::RemoteBridge};

/// A fault of an agent.
#[derive(Message)]
#[rtype(result = "()")]
#[non_exhaustive]
pub enum Inject {
    /// The agent panics; the panic prints nothing.
    Crash,
    /// The agent stops at once, without handing over.
    Stop,
    /// The agent handles neither messages nor timers until this future has ended.
    Hang(Pin<Box<dyn Future<Output = ()> + Send>>),
}

impl Inject {
    /// Returns [`Inject::Hang`] with this future.
    pub fn hang(until: impl Future<Output = ()> + Send + 'static) -> Self {
        Self::Hang(Box::pin(until))
    }
}

impl fmt::Debug for Inject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Crash => "Crash",
            Self::Stop => "Stop",
            Self::Hang(_) => "Hang(..)",
        })
    }
}

impl<E: Election> Handler<Inject> for Agent<E> {
    type Result = ();

    fn handle(&mut self, fault: Inject, ctx: &mut Context<Self>) {
        match fault {
            Inject::Crash => resume_unwind(Box::new("injected")),
            Inject::Stop => self.stop(ctx),
            Inject::Hang(until) => ctx.wait(until.into_actor(self).map(|(), _, _| ())),
        }
    }
}

/// Makes a bridge's actor panic: links are made again, and no member is reported as gone.
#[derive(Clone, Copy, Debug, Message)]
#[rtype(result = "()")]
pub struct CrashBridge;

impl Handler<CrashBridge> for RemoteBridge {
    type Result = ();

    fn handle(&mut self, CrashBridge: CrashBridge, _: &mut Context<Self>) {
        resume_unwind(Box::new("injected"));
    }
}
