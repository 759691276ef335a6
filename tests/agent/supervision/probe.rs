//! An actor that notes what happens to it and fails where it is told to.

use std::fmt::Display;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use actix::WeakAddr;
use actix::clock::Instant;
use actix::prelude::*;

/// Everything that happened, with its virtual time: `"100 i1 started"`.
#[derive(Clone)]
pub(crate) struct Trace {
    lines: Arc<Mutex<Vec<String>>>,
    start: Instant,
}

impl Trace {
    pub(crate) fn new() -> Self {
        Self {
            lines: Arc::default(),
            start: Instant::now(),
        }
    }

    pub(crate) fn note(&self, what: impl Display) {
        let line = format!("{} {what}", self.start.elapsed().as_millis());
        self.lines
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(line);
    }

    /// Takes what has been noted so far.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.lines.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    Panic,
    Stop,
}

impl Fault {
    fn strike(self, ctx: &mut Context<Probe>) {
        match self {
            Self::Panic => panic_quietly(),
            Self::Stop => ctx.stop(),
        }
    }
}

/// Panics without a line on the terminal.
pub(crate) fn panic_quietly() -> ! {
    resume_unwind(Box::new("injected"))
}

/// A moment of an actor that no message leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    Started,
    Restarting,
    Stopping,
    Stopped,
}

/// Fails with `.2` at the moment `.0` of the incarnation `.1`.
pub(crate) type Plan = (Moment, u32, Fault);

#[derive(Clone)]
pub(crate) struct Probe {
    trace: Trace,
    plans: Vec<Plan>,
    incarnation: u32,
    count: u32,
}

impl Probe {
    pub(crate) fn new(trace: Trace, plans: &[Plan]) -> Self {
        Self {
            trace,
            plans: plans.to_vec(),
            incarnation: 0,
            count: 0,
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
        let incarnation = self.incarnation;
        *self = Self {
            incarnation,
            ..Self::new(self.trace.clone(), &self.plans)
        };
    }
}

/// Answers with the incarnation and how many of these it has handled.
#[derive(Message)]
#[rtype(result = "(u32, u32)")]
pub(crate) struct Count;

impl Handler<Count> for Probe {
    type Result = MessageResult<Count>;

    fn handle(&mut self, _: Count, _: &mut Context<Self>) -> Self::Result {
        self.count += 1;
        self.note(format_args!("count {}", self.count));
        MessageResult((self.incarnation, self.count))
    }
}

/// Notes its number.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct Mail(pub(crate) u32);

impl Handler<Mail> for Probe {
    type Result = ();

    fn handle(&mut self, mail: Mail, _: &mut Context<Self>) {
        self.note(format_args!("mail {}", mail.0));
    }
}

/// Fails in a place that a message leads to.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) enum FailIn {
    Handler(Fault),
    /// 7 ms later.
    Timer(Fault),
    Spawned(Fault),
    Wait(Fault),
    /// When the future is dropped: a stop is then sent to the actor by itself.
    Drop(Fault),
}

/// What crashes a child.
pub(crate) const fn poison() -> FailIn {
    FailIn::Handler(Fault::Panic)
}

impl Handler<FailIn> for Probe {
    type Result = ();

    fn handle(&mut self, place: FailIn, ctx: &mut Context<Self>) {
        match place {
            FailIn::Handler(fault) => fault.strike(ctx),
            FailIn::Timer(fault) => {
                ctx.run_later(Duration::from_millis(7), move |_, ctx| fault.strike(ctx));
            }
            FailIn::Spawned(fault) => {
                ctx.spawn(
                    async {}
                        .into_actor(self)
                        .map(move |(), _, ctx| fault.strike(ctx)),
                );
            }
            FailIn::Wait(fault) => {
                ctx.wait(
                    async {}
                        .into_actor(self)
                        .map(move |(), _, ctx| fault.strike(ctx)),
                );
            }
            FailIn::Drop(fault) => {
                let bomb = Bomb(fault, ctx.address().downgrade());
                ctx.run_later(Duration::from_secs(1_000), move |_, _| drop(bomb));
            }
        }
    }
}

/// Fails in a `ResponseActFuture`.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct FailInResponse(pub(crate) Fault);

impl Handler<FailInResponse> for Probe {
    type Result = ResponseActFuture<Self, ()>;

    fn handle(&mut self, message: FailInResponse, _: &mut Context<Self>) -> Self::Result {
        Box::pin(
            async {}
                .into_actor(self)
                .map(move |(), _, ctx| message.0.strike(ctx)),
        )
    }
}

struct Bomb(Fault, WeakAddr<Probe>);

impl Drop for Bomb {
    fn drop(&mut self) {
        match self.0 {
            Fault::Panic if thread::panicking() => {}
            Fault::Panic => panic_quietly(),
            Fault::Stop => {
                if let Some(probe) = self.1.upgrade() {
                    probe.do_send(FailIn::Handler(Fault::Stop));
                }
            }
        }
    }
}
