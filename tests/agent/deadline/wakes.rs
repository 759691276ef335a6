//! The cost of a deadline: polls of the actor's task.

use std::cell::Cell;
use std::future::Future;
use std::iter::once;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context as Task, Poll};

use actix::dev::ContextFut;
use actix::prelude::*;
use actix_bully::supervisor::Deadline;

use crate::common::virtual_system;
use crate::deadline::watch::{OnFire, Step, Watch};

use Step::{Outside, Pass, Set, SetIn};

/// An actor's task that counts its polls.
struct Counted(ContextFut<Watch, Context<Watch>>, Rc<Cell<u32>>);

impl Future for Counted {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, task: &mut Task<'_>) -> Poll<()> {
        self.1.set(self.1.get() + 1);
        Pin::new(&mut self.0).poll(task)
    }
}

/// Returns the number of polls of the watch from the first message in `body` on.
fn polls(on_fire: OnFire, body: impl AsyncFnOnce(Addr<Watch>, Deadline)) -> u32 {
    virtual_system().block_on(async {
        let watch = Watch::new(on_fire);
        let deadline = watch.deadline.clone();
        let task = Context::new().into_future(watch);
        let (addr, polls) = (task.address(), Rc::default());
        actix_rt::spawn(Counted(task, Rc::clone(&polls)));
        settle().await;
        polls.set(0);
        body(addr.clone(), deadline).await;
        settle().await;
        polls.get()
    })
}

/// Lets every woken task run. No time passes.
async fn settle() {
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
}

#[test]
fn a_deadline_costs_no_poll_but_the_one_that_it_has_to() {
    let earlier = (100..110).rev();
    let later = 100..110;
    let rows: [(&str, OnFire, Vec<Step>, u32); 5] = [
        (
            "earlier, with the context in a handler: one poll per message",
            OnFire::Nothing,
            earlier.clone().map(SetIn).collect(),
            10,
        ),
        (
            "earlier, without the context: a message and a wake each",
            OnFire::Nothing,
            earlier.map(Set).collect(),
            20,
        ),
        (
            "later, in a handler: one poll per message",
            OnFire::Nothing,
            once(SetIn(100)).chain(later.clone().map(Set)).collect(),
            11,
        ),
        (
            "later, outside of the actor: the first message alone",
            OnFire::Nothing,
            once(SetIn(100)).chain(later.map(Outside)).collect(),
            1,
        ),
        (
            "set by its own callback: the message, then one poll per beat",
            OnFire::SetAgain(10),
            once(SetIn(10)).chain([Pass(10); 10]).collect(),
            11,
        ),
    ];
    for (what, on_fire, steps, expected) in rows {
        let count = polls(on_fire, async |watch, deadline| {
            for step in steps {
                step.take(&watch, &deadline).await;
                settle().await;
            }
        });
        assert_eq!(count, expected, "{what}");
    }
}
