//! Whose work a hand-over waits for, and when somebody has to watch a leadership's end.

use actix::{AsyncContext, Context};

use super::Subscriber;
use crate::{
    agent::audience::{Audience, Part},
    protocol::{AgentId, Event, Incarnation, LostReason, Term},
};

const FIRST: Incarnation = Incarnation(1);

fn agent() -> AgentId {
    "x".parse().expect("a name")
}

#[test]
fn one_watch_is_needed_while_somebody_believes_in_a_leadership() {
    let subscriber = Context::<Subscriber>::new();
    let mut audience = Audience::default();
    let acquired = Event::Acquired { term: Term(1) };
    audience.tell(&agent(), FIRST, &acquired);
    assert!(!audience.needs_watch(), "nobody listens");
    let number = audience.number();
    let to = subscriber.address().recipient();
    audience.add(number, &to, Part::Listens);
    assert!(audience.needs_watch());
    assert!(!audience.needs_watch(), "there is one");
    audience.unwatched();
    audience.lose(&agent(), LostReason::Stalled);
    assert!(!audience.needs_watch(), "nobody believes in it any more");
    audience.regain(&agent(), FIRST, Term(1));
    assert!(audience.needs_watch());
}

#[test]
fn each_look_at_a_few_begins_with_the_first_of_them() {
    let works = Context::<Subscriber>::new();
    let mut audience = Audience::default();
    let (gone, there) = (audience.number(), audience.number());
    let to = works.address().recipient();
    audience.add(there, &to, Part::Works);
    audience.wait_for(there);
    audience.forget_stopped();
    assert!(!audience.is_drained(), "it works");
    audience.wait_for(gone);
    audience.forget_stopped();
    audience.drained(there);
    assert!(
        audience.is_drained(),
        "the other one was seen to have stopped"
    );
}

#[test]
fn a_look_at_many_goes_on_where_the_last_one_ended() {
    let works = Context::<Subscriber>::new();
    let mut audience = Audience::default();
    let to = works.address().recipient();
    for _ in 0..1_000 {
        let number = audience.number();
        audience.add(number, &to, Part::Works);
        audience.wait_for(number);
    }
    let gone = audience.number();
    audience.wait_for(gone);
    audience.forget_stopped();
    audience.forget_stopped();
    for number in 1..gone {
        audience.drained(number);
    }
    assert!(
        audience.is_drained(),
        "the last one was seen to have stopped"
    );
}
