//! The subscribers for which a hand-over waits, and the tasks that wait for the end of a leadership.

use actix::{AsyncContext, Context};

use super::IdleSubscriber;
use crate::{
    agent::subscribers::{SubscriberKind, Subscribers},
    protocol::{AgentId, Event, Incarnation, LostReason, Term},
};

const FIRST: Incarnation = Incarnation(1);

fn agent() -> AgentId {
    "x".parse().expect("a name")
}

#[test]
fn one_expiry_task_is_needed_while_subscribers_know_of_a_leadership() {
    let subscriber = Context::<IdleSubscriber>::new();
    let mut subscribers = Subscribers::default();
    let acquired = Event::Acquired { term: Term(1) };
    subscribers.tell(&agent(), FIRST, &acquired);
    assert!(!subscribers.needs_expiry_task(), "there are no subscribers");
    let id = subscribers.next_id();
    let to = subscriber.address().recipient();
    subscribers.add(id, &to, SubscriberKind::Listening);
    assert!(subscribers.needs_expiry_task());
    assert!(!subscribers.needs_expiry_task(), "a task runs already");
    subscribers.expiry_task_ended();
    subscribers.lose(&agent(), LostReason::Stalled);
    assert!(
        !subscribers.needs_expiry_task(),
        "the subscribers know of the loss"
    );
    subscribers.regain(&agent(), FIRST, Term(1));
    assert!(subscribers.needs_expiry_task());
}

#[test]
fn each_scan_of_a_few_begins_with_the_first_of_them() {
    let worker = Context::<IdleSubscriber>::new();
    let mut subscribers = Subscribers::default();
    let (gone, there) = (subscribers.next_id(), subscribers.next_id());
    let to = worker.address().recipient();
    subscribers.add(there, &to, SubscriberKind::Draining);
    subscribers.wait_for(there);
    subscribers.forget_stopped();
    assert!(!subscribers.is_drained(), "it works");
    subscribers.wait_for(gone);
    subscribers.forget_stopped();
    subscribers.drained(there);
    assert!(subscribers.is_drained(), "the other subscriber has stopped");
}

#[test]
fn a_scan_of_many_goes_on_where_the_last_one_ended() {
    let worker = Context::<IdleSubscriber>::new();
    let mut subscribers = Subscribers::default();
    let to = worker.address().recipient();
    for _ in 0..1_000 {
        let id = subscribers.next_id();
        subscribers.add(id, &to, SubscriberKind::Draining);
        subscribers.wait_for(id);
    }
    let gone = subscribers.next_id();
    subscribers.wait_for(gone);
    subscribers.forget_stopped();
    subscribers.forget_stopped();
    for id in 1..gone {
        subscribers.drained(id);
    }
    assert!(subscribers.is_drained(), "the last subscriber has stopped");
}
