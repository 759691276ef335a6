//! The parts of an agent that need no running actor; `tests/agent` has the tests with actors.

mod builder;
mod clock;
mod expiry;
mod leadership;
mod subscribers;

use actix::{Actor, Context, Handler};

use super::message::Notice;

/// A subscriber that never runs. It exists as long as its context.
struct IdleSubscriber;

impl Actor for IdleSubscriber {
    type Context = Context<Self>;
}

impl Handler<Notice> for IdleSubscriber {
    type Result = ();
    fn handle(&mut self, _: Notice, _: &mut Context<Self>) {}
}
