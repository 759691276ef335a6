//! When a leadership counts as run out for the subscribers of an agent that does not run.

use std::{sync::Arc, time::Duration};

use actix::{AsyncContext, Context, clock::sleep};

use super::Subscriber;
use crate::{
    agent::{
        audience::Part,
        belief::{Belief, Place},
    },
    clock::{Clock, RuntimeClock},
    protocol::{AgentId, Event, Incarnation, Leader, MemberKind, Role, Term, Time, View},
};

const FIRST: Incarnation = Incarnation(1);

/// A group that nobody asks.
struct Nowhere;

impl Place for Nowhere {
    fn note_leader(&self, _: Leader) {}
    fn forget_leader(&self, _: &AgentId, _: Incarnation) {}
    fn suspect(&self, _: &AgentId, _: Incarnation) {}
    fn down(&self, _: &AgentId, _: Incarnation) {}
    fn retire(&self, _: &AgentId, _: Incarnation) {}
    fn leave(&self, _: &AgentId, _: Incarnation) {}
    fn kind(&self, _: &AgentId) -> Option<MemberKind> {
        None
    }
}

fn leading(id: &AgentId, until: Time) -> View {
    let term = Term(1);
    View {
        role: Role::Leader,
        term,
        leader: Some(Leader {
            id: id.clone(),
            incarnation: FIRST,
            term,
        }),
        leading: Some(term),
        valid_until: until,
    }
}

#[actix_rt::test]
async fn a_leadership_that_is_renewed_within_the_grace_is_not_lost_and_one_that_is_not_is() {
    tokio::time::pause();
    let id: AgentId = "x".parse().expect("a name");
    let (clock, place) = (Arc::new(RuntimeClock::new()), Box::new(Nowhere));
    let start = clock.now();
    let belief = Arc::new(Belief::new(id.clone(), clock, place, FIRST, None));
    let subscriber = Context::<Subscriber>::new();
    let to = subscriber.address().recipient();
    let number = belief.audience().number();
    belief.audience().add(number, &to, Part::Listens);
    let acquired = || belief.audience().acquired().is_some();

    let until = |millis| leading(&id, start.after(Duration::from_millis(millis)));
    belief.tell(FIRST, &Event::Acquired { term: Term(1) });
    belief.grow(FIRST, &until(50));
    belief.have_watched(&until(50));
    sleep(Duration::from_millis(55)).await;
    assert!(
        !belief.is_leader() && acquired(),
        "its agent may be about to say so"
    );
    belief.grow(FIRST, &until(200));
    sleep(Duration::from_millis(20)).await;
    assert!(belief.is_leader() && acquired(), "it was renewed in time");
    sleep(Duration::from_millis(150)).await;
    assert!(!belief.is_leader() && !acquired(), "nobody has said a word");
}
