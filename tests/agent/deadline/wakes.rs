//! What a deadline costs: polls of the actor's task.

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context as Task, Poll};

use actix::dev::ContextFut;
use actix::prelude::*;
use actix_bully::supervisor::Deadline;

use crate::common::virtual_system;
use crate::deadline::watch::{OnFire, Plain, Watch, ms, soon};

/// Counts how often an actor's task is polled.
struct Counted(ContextFut<Watch, Context<Watch>>, Rc<Cell<u32>>);

impl Future for Counted {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, task: &mut Task<'_>) -> Poll<()> {
        self.1.set(self.1.get() + 1);
        Pin::new(&mut self.0).poll(task)
    }
}

/// How often the watch is polled from the first message in `body` on.
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

/// Lets every task that has been woken run, without any time passing.
async fn settle() {
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
}

#[test]
fn an_earlier_deadline_set_with_the_context_in_a_handler_costs_no_further_poll() {
    let count = polls(OnFire::Nothing, async |watch, _| {
        for after in (100..110).rev() {
            watch.send(Plain::SetIn(after)).await.unwrap();
            settle().await;
        }
    });
    assert_eq!(count, 10, "one poll per message");
}

#[test]
fn an_earlier_deadline_set_without_the_context_costs_one_further_poll() {
    let count = polls(OnFire::Nothing, async |watch, _| {
        for after in (100..110).rev() {
            watch.send(Plain::Set(after)).await.unwrap();
            settle().await;
        }
    });
    assert_eq!(count, 20, "a message and a wake each");
}

#[test]
fn a_later_deadline_costs_no_further_poll_wherever_it_is_set() {
    let count = polls(OnFire::Nothing, async |watch, deadline| {
        watch.send(Plain::SetIn(100)).await.unwrap();
        settle().await;
        for after in 100..110 {
            watch.send(Plain::Set(after)).await.unwrap();
            settle().await;
            deadline.set(soon(after));
            settle().await;
        }
    });
    assert_eq!(count, 11, "one poll per message");
}

#[test]
fn a_deadline_set_by_its_own_callback_costs_one_poll_each_time() {
    let count = polls(OnFire::SetAgain(10), async |watch, _| {
        watch.send(Plain::SetIn(10)).await.unwrap();
        for _ in 0..10 {
            ms(10).await;
            settle().await;
        }
    });
    assert_eq!(count, 11, "the message, then one poll per beat");
}
