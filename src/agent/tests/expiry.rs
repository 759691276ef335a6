//! When subscribers learn that the leadership of a stalled agent has expired.

use std::{sync::Arc, time::Duration};

use actix::{AsyncContext, Context, clock::sleep};

use super::IdleSubscriber;
use crate::{
    agent::{
        ElectionMode,
        any::{AnyBully, AnyConfig},
        shared::SharedState,
        spec::Spec,
        subscribers::SubscriberKind,
    },
    clock::{Clock, RuntimeClock},
    group::Group,
    protocol::{AgentId, Event, Incarnation, Leader, MemberKind, Role, Term, Time, View},
};

const FIRST: Incarnation = Incarnation(1);

fn leading(id: &AgentId, until: Time) -> View {
    let term = Term(1);
    View {
        about: None,
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

/// Returns the shared state of an agent that does not run, with one subscriber.
fn shared(
    clock: RuntimeClock,
    kind: SubscriberKind,
    subscriber: &Context<IdleSubscriber>,
) -> Arc<SharedState> {
    let spec: Spec<AnyBully> = Spec {
        id: "x".parse().expect("a name"),
        kind: MemberKind::Voter,
        leaders: crate::protocol::Leaders::Unpromised,
        mode: ElectionMode::Available,
        config: AnyConfig::default(),
        group: Group::new("nowhere").expect("a name"),
        seed: 0,
        asked: None,
    };
    let shared = SharedState::new(Arc::new(spec), Arc::new(clock), FIRST, None);
    let to = subscriber.address().recipient();
    let id = shared.subscribers().next_id();
    shared.subscribers().add(id, &to, kind);
    Arc::new(shared)
}

#[actix_rt::test]
async fn a_leadership_that_is_renewed_within_the_grace_period_is_kept_and_any_other_is_lost() {
    tokio::time::pause();
    let clock = RuntimeClock::new();
    let start = clock.now();
    let subscriber = Context::<IdleSubscriber>::new();
    let shared = shared(clock, SubscriberKind::Listening, &subscriber);
    let acquired = || shared.subscribers().acquired().is_some();

    let until = |millis| leading(shared.id(), start.after(Duration::from_millis(millis)));
    shared.tell(FIRST, &Event::Acquired { term: Term(1) });
    shared.grow(FIRST, &until(50));
    shared.tell_of_expiry(&until(50));
    sleep(Duration::from_millis(55)).await;
    assert!(
        !shared.is_leader() && acquired(),
        "the agent may be about to report the loss"
    );
    shared.grow(FIRST, &until(200));
    sleep(Duration::from_millis(20)).await;
    assert!(shared.is_leader() && acquired(), "it was renewed in time");
    sleep(Duration::from_millis(150)).await;
    assert!(!shared.is_leader() && !acquired(), "its agent has not run");
}

/// The same holds for work of `lead` that has not begun again.
#[actix_rt::test]
async fn a_hand_over_waits_for_a_subscriber_that_is_told_of_a_leadership_that_holds_again() {
    tokio::time::pause();
    let clock = RuntimeClock::new();
    let start = clock.now();
    let subscriber = Context::<IdleSubscriber>::new();
    let shared = shared(clock, SubscriberKind::Draining, &subscriber);
    let term = Term(1);

    let until = |millis| leading(shared.id(), start.after(Duration::from_millis(millis)));
    shared.tell(FIRST, &Event::Acquired { term });
    shared.grow(FIRST, &until(50));
    shared.drain(FIRST);
    shared.tell(FIRST, &Event::Draining { term, to: None });
    assert!(!shared.is_drained(), "it works");
    shared.tell_of_expiry(&until(50));
    sleep(Duration::from_millis(70)).await;
    assert!(shared.is_drained(), "it was told of the loss");
    shared.grow(FIRST, &until(200));
    assert!(shared.is_draining() && !shared.is_drained());
}

#[actix_rt::test]
async fn work_has_failed_only_if_it_was_not_asked_to_end() {
    tokio::time::pause();
    let clock = RuntimeClock::new();
    let start = clock.now();
    let subscriber = Context::<IdleSubscriber>::new();
    let shared = shared(clock, SubscriberKind::Listening, &subscriber);
    let until = |millis| leading(shared.id(), start.after(Duration::from_millis(millis)));
    shared.grow(FIRST, &until(50));
    let began = shared.now();
    let serial = shared.enter(None).expect("it leads").serial;
    assert!(shared.ended_at_once(began, serial));
    sleep(Duration::from_millis(60)).await;
    assert!(!shared.is_at_work(serial), "the lease ran out");
    assert!(shared.ended_at_once(began, serial), "no step has told it");
    // A lease that is renewed late begins another tenure, which does not own the work of the former tenure.
    shared.grow(FIRST, &until(200));
    let next = shared.enter(Some(serial)).expect("it leads again").serial;
    assert!(!shared.ended_at_once(began, serial));
    assert!(shared.ended_at_once(began, next));
    shared.drain(FIRST);
    assert!(!shared.ended_at_once(began, next), "it hands over");
}
