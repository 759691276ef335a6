//! An actor that notes all events, and fails on demand.

use std::fmt::Display;
use std::panic::resume_unwind;
use std::time::Duration;
use std::{future::pending, thread};

use actix::WeakAddr;
use actix::prelude::*;

use crate::supervision::stage::Trace;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    Panic,
    Stop,
    Terminate,
    /// The actor refuses to stop. This works in `stopping` only.
    Refuse,
}

impl Fault {
    fn strike(self, ctx: &mut Context<Probe>) {
        match self {
            Self::Panic => panic_quietly(),
            Self::Stop => ctx.stop(),
            Self::Terminate => ctx.terminate(),
            Self::Refuse => {}
        }
    }
}

/// Panics without a line on the terminal.
pub(crate) fn panic_quietly() -> ! {
    resume_unwind(Box::new("injected"))
}

/// A moment in the life of an actor that no message causes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    Started,
    Restarting,
    Stopping,
    Stopped,
}

/// A fault `.2` at the moment `.0` of the incarnation `.1`.
pub(crate) type Plan = (Moment, u32, Fault);

pub(crate) struct Probe {
    trace: Trace,
    plans: Vec<Plan>,
    incarnation: u32,
}

impl Probe {
    pub(crate) fn new(trace: Trace, plans: &[Plan]) -> Self {
        Self {
            trace,
            plans: plans.to_vec(),
            incarnation: 0,
        }
    }

    fn note(&self, what: impl Display) {
        self.trace
            .note(format_args!("i{} {what}", self.incarnation));
    }

    fn reach(&self, moment: Moment, ctx: &mut Context<Self>) {
        self.note(format!("{moment:?}").to_lowercase());
        for plan in &self.plans {
            if plan.0 == moment && plan.1 == self.incarnation {
                plan.2.strike(ctx);
            }
        }
    }
}

impl Actor for Probe {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        self.reach(Moment::Started, ctx);
    }

    fn stopping(&mut self, ctx: &mut Self::Context) -> Running {
        self.reach(Moment::Stopping, ctx);
        let refusal = (Moment::Stopping, self.incarnation, Fault::Refuse);
        if self.plans.contains(&refusal) {
            return Running::Continue;
        }
        Running::Stop
    }

    fn stopped(&mut self, ctx: &mut Self::Context) {
        self.reach(Moment::Stopped, ctx);
    }
}

impl Supervised for Probe {
    fn restarting(&mut self, ctx: &mut Context<Self>) {
        self.incarnation += 1;
        self.reach(Moment::Restarting, ctx);
    }
}

impl Drop for Probe {
    fn drop(&mut self) {
        self.note("dropped");
    }
}

/// A message whose number the probe notes. The answer is the incarnation.
#[derive(Message)]
#[rtype(result = "u32")]
pub(crate) struct Mail(pub(crate) u32);

impl Handler<Mail> for Probe {
    type Result = u32;

    fn handle(&mut self, mail: Mail, _: &mut Context<Self>) -> u32 {
        self.note(format_args!("mail {}", mail.0));
        self.incarnation
    }
}

/// A message that makes the probe fail in a certain place.
#[derive(Clone, Copy, Message)]
#[rtype(result = "()")]
pub(crate) enum FailIn {
    Handler(Fault),
    /// In a timer, 7 ms later.
    Timer(Fault),
    Spawned(Fault),
    Wait(Fault),
    /// In the drop of a future. A stop is sent to the actor as a message there.
    Drop(Fault),
}

/// Returns a message that crashes a child.
pub(crate) const fn poison() -> FailIn {
    FailIn::Handler(Fault::Panic)
}

impl Handler<FailIn> for Probe {
    type Result = ();

    fn handle(&mut self, place: FailIn, ctx: &mut Context<Self>) {
        let now = |fault: Fault| {
            let now = async {}.into_actor(self);
            now.map(move |(), _, ctx: &mut Context<Self>| fault.strike(ctx))
        };
        match place {
            FailIn::Handler(fault) => fault.strike(ctx),
            FailIn::Timer(fault) => {
                ctx.run_later(Duration::from_millis(7), move |_, ctx| fault.strike(ctx));
            }
            FailIn::Spawned(fault) => _ = ctx.spawn(now(fault)),
            FailIn::Wait(fault) => ctx.wait(now(fault)),
            FailIn::Drop(fault) => {
                let bomb = Bomb(fault, ctx.address().downgrade());
                ctx.run_later(Duration::from_secs(1_000), move |_, _| drop(bomb));
            }
        }
    }
}

/// A message that makes the probe fail in a `ResponseActFuture`, or never answer.
#[derive(Clone, Copy, Message)]
#[rtype(result = "()")]
pub(crate) struct Respond(pub(crate) Option<Fault>);

impl Handler<Respond> for Probe {
    type Result = ResponseActFuture<Self, ()>;

    fn handle(&mut self, message: Respond, _: &mut Context<Self>) -> Self::Result {
        let Some(fault) = message.0 else {
            return Box::pin(pending().into_actor(self));
        };
        let now = async {}.into_actor(self);
        Box::pin(now.map(move |(), _, ctx| fault.strike(ctx)))
    }
}

struct Bomb(Fault, WeakAddr<Probe>);

impl Drop for Bomb {
    fn drop(&mut self) {
        if self.0 != Fault::Panic {
            if let Some(probe) = self.1.upgrade() {
                probe.do_send(FailIn::Handler(self.0));
            }
        } else if !thread::panicking() {
            panic_quietly();
        }
    }
}
