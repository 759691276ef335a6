//! An actor with one deadline. A test chooses the place where the actor sets the deadline.

use std::cell::RefCell;
use std::panic::resume_unwind;
use std::rc::Rc;
use std::time::Duration;

use actix::clock::{Instant, sleep};
use actix::fut::{self, wrap_future};
use actix::prelude::*;
use actix_bully::supervisor::Deadline;

/// The times of the callback's calls, in ms since the start.
#[derive(Clone)]
pub(crate) struct Fired(Rc<RefCell<Vec<u128>>>, Instant);

impl Fired {
    pub(crate) fn new() -> Self {
        Self(Rc::default(), Instant::now())
    }

    pub(crate) fn note(&self) {
        self.0.borrow_mut().push(self.1.elapsed().as_millis());
    }

    pub(crate) fn take(&self) -> Vec<u128> {
        self.0.take()
    }
}

/// The reaction of the callback.
#[derive(Clone, Copy)]
pub(crate) enum OnFire {
    Nothing,
    SetAgain(u64),
    SetAgainAndWait(u64),
}

/// An actor with one deadline, between an item that was spawned before it and one after it.
#[derive(Clone)]
pub(crate) struct Watch {
    pub(crate) deadline: Deadline,
    pub(crate) fired: Fired,
    on_fire: OnFire,
}

impl Watch {
    pub(crate) fn new(on_fire: OnFire) -> Self {
        Self {
            deadline: Deadline::default(),
            fired: Fired::new(),
            on_fire,
        }
    }

    fn fire(&mut self, ctx: &mut Context<Self>) {
        self.fired.note();
        match self.on_fire {
            OnFire::Nothing => {}
            OnFire::SetAgain(after) => self.deadline.set(soon(after)),
            OnFire::SetAgainAndWait(after) => {
                self.deadline.set(soon(after));
                ctx.wait(wrap_future(ms(1)));
            }
        }
    }
}

impl Actor for Watch {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        ctx.spawn(wrap_future(std::future::pending()));
        self.deadline.run(ctx, Self::fire);
        ctx.spawn(wrap_future(std::future::pending()));
    }

    fn stopping(&mut self, _: &mut Self::Context) -> Running {
        Running::Continue
    }
}

impl Supervised for Watch {}

/// The place in which the deadline is set.
#[derive(Clone, Copy, Debug)]
pub(crate) enum From {
    Handler,
    /// A handler after which the actor waits, so that its items are not polled for now.
    HandlerThatWaits,
    /// A handler that stops the actor, which refuses.
    HandlerThatStops,
    /// A timer. This item is polled after the deadline's own item.
    Timer,
    /// A message that is handled as an item.
    Notify,
    /// An item that makes actix poll everything again. The last handle stays noted.
    TimerThatWaits,
    /// A future of `ctx.wait` that goes on waiting.
    Wait,
    Response,
}

pub(crate) const FROM: [From; 8] = [
    From::Handler,
    From::HandlerThatWaits,
    From::HandlerThatStops,
    From::Timer,
    From::Notify,
    From::TimerThatWaits,
    From::Wait,
    From::Response,
];

/// A message that sets the deadline `.1` ms from now, with the context at the place `.0`.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct Set(pub(crate) From, pub(crate) u64);

impl Handler<Set> for Watch {
    type Result = ResponseActFuture<Self, ()>;

    fn handle(&mut self, Set(from, after): Set, ctx: &mut Context<Self>) -> Self::Result {
        let at = soon(after);
        let set = move |watch: &mut Self, ctx: &mut Context<Self>| watch.deadline.set_in(ctx, at);
        match from {
            From::Handler => set(self, ctx),
            From::HandlerThatWaits => {
                ctx.wait(wrap_future(ms(1)));
                set(self, ctx);
            }
            From::HandlerThatStops => {
                ctx.stop();
                set(self, ctx);
            }
            From::Timer => {
                ctx.run_later(Duration::ZERO, set);
            }
            From::Notify => ctx.notify(Call(Box::new(set))),
            From::TimerThatWaits => {
                ctx.run_later(Duration::ZERO, move |watch, ctx| {
                    ctx.wait(wrap_future(async {}).map(move |(), watch, ctx| set(watch, ctx)));
                    watch.deadline.set_in(ctx, at + Duration::from_secs(1));
                });
            }
            From::Wait => {
                let first = wrap_future(async {}).map(move |(), watch, ctx| set(watch, ctx));
                ctx.wait(first.then(|(), _, _| wrap_future(ms(1))));
            }
            From::Response => {
                return Box::pin(wrap_future(async {}).map(move |(), watch, ctx| set(watch, ctx)));
            }
        }
        Box::pin(fut::ready(()))
    }
}

/// A message that runs any code in the actor.
#[derive(Message)]
#[rtype(result = "()")]
struct Call(Code);

type Code = Box<dyn FnOnce(&mut Watch, &mut Context<Watch>)>;

impl Handler<Call> for Watch {
    type Result = ();

    fn handle(&mut self, call: Call, ctx: &mut Context<Self>) {
        call.0(self, ctx);
    }
}

/// A step of a test. The first four steps are messages with a plain handler, so that no other code touches the
/// actor's items.
#[derive(Clone, Copy, Message)]
#[rtype(result = "()")]
pub(crate) enum Step {
    Set(u64),
    SetIn(u64),
    Clear,
    Crash,
    /// Sets the deadline outside of the actor.
    Outside(u64),
    Pass(u64),
}

impl Handler<Step> for Watch {
    type Result = ();

    fn handle(&mut self, step: Step, ctx: &mut Context<Self>) {
        match step {
            Step::Set(after) | Step::Outside(after) => self.deadline.set(soon(after)),
            Step::SetIn(after) => self.deadline.set_in(ctx, soon(after)),
            Step::Clear => self.deadline.clear(),
            Step::Crash => resume_unwind(Box::new("injected")),
            Step::Pass(_) => {}
        }
    }
}

impl Step {
    pub(crate) async fn take(self, watch: &Addr<Watch>, deadline: &Deadline) {
        match self {
            Self::Outside(after) => deadline.set(soon(after)),
            Self::Pass(time) => ms(time).await,
            Self::Set(_) | Self::SetIn(_) | Self::Clear => watch.send(self).await.unwrap(),
            Self::Crash => watch.do_send(self),
        }
    }
}

pub(crate) fn soon(after: u64) -> Instant {
    Instant::now() + Duration::from_millis(after)
}

pub(crate) async fn ms(n: u64) {
    sleep(Duration::from_millis(n)).await;
}
