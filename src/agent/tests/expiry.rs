//! When the subscribers of an agent that does not run are told that its leadership ran out.

use std::{sync::Arc, time::Duration};

use actix::{AsyncContext, Context, clock::sleep};

use super::IdleSubscriber;
use crate::{
    agent::{
        membership::GroupMembership, shared::SharedState, subscribers::SubscriberKind,
        vitals::Assumptions,
    },
    clock::{Clock, RuntimeClock},
    group::{AppMessage, Attachments, Counts, Group, PeerReport, ReachableMember},
    protocol::{
        AgentId, Event, Incarnation, Leader, MemberKind, Members, Requirements, Role, Term, Time,
        View,
    },
};

const FIRST: Incarnation = Incarnation(1);

/// A group that hears and says nothing.
#[derive(Default)]
struct Nowhere(Attachments);

impl GroupMembership for Nowhere {
    fn name(&self) -> &'static str {
        "nowhere"
    }
    fn note_leader(&self, _: Leader) {}
    fn forget_leader(&self, _: &AgentId, _: Incarnation) {}
    fn suspect(&self, _: &AgentId, _: Incarnation) {}
    fn down(&self, _: &AgentId, _: Incarnation) {}
    fn retire(&self, _: &AgentId, _: Incarnation) {}
    fn leave(&self, _: &AgentId, _: Incarnation) {}
    fn kind(&self, _: &AgentId) -> Option<MemberKind> {
        None
    }
    fn companion(&self) -> Option<Group<AppMessage>> {
        None
    }
    fn members(&self) -> Arc<Members> {
        Arc::default()
    }
    fn counts(&self) -> Counts {
        Counts::default()
    }
    fn requirements(&self) -> Option<Requirements> {
        None
    }
    fn reach(&self) -> Vec<ReachableMember> {
        Vec::new()
    }
    fn peers(&self) -> Vec<PeerReport> {
        Vec::new()
    }
    fn kept(&self) -> &Attachments {
        &self.0
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
async fn a_leadership_that_is_renewed_within_the_grace_period_is_kept_and_any_other_is_lost() {
    tokio::time::pause();
    let id: AgentId = "x".parse().expect("a name");
    let (clock, membership) = (Arc::new(RuntimeClock::new()), Box::new(Nowhere::default()));
    let start = clock.now();
    let assumed = Assumptions::new(MemberKind::Voter, None);
    let shared = SharedState::new(id.clone(), clock, membership, false, FIRST, None, assumed);
    let shared = Arc::new(shared);
    let subscriber = Context::<IdleSubscriber>::new();
    let to = subscriber.address().recipient();
    let listener = shared.subscribers().next_id();
    let kind = SubscriberKind::Listening;
    shared.subscribers().add(listener, &to, kind);
    let acquired = || shared.subscribers().acquired().is_some();

    let until = |millis| leading(&id, start.after(Duration::from_millis(millis)));
    shared.tell(FIRST, &Event::Acquired { term: Term(1) });
    shared.grow(FIRST, &until(50));
    shared.tell_of_expiry(&until(50));
    sleep(Duration::from_millis(55)).await;
    assert!(
        !shared.is_leader() && acquired(),
        "its agent may be about to say so"
    );
    shared.grow(FIRST, &until(200));
    sleep(Duration::from_millis(20)).await;
    assert!(shared.is_leader() && acquired(), "it was renewed in time");
    sleep(Duration::from_millis(150)).await;
    assert!(!shared.is_leader() && !acquired(), "its agent has not run");
}
