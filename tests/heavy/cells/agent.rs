//! The state that an agent's thread publishes, while a handle on another thread makes the agent leave.

use bully_core::protocol::{Incarnation, Leader, Role, Term, Time, View};
use loom::{
    model,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use leadership::LeadershipMachine;
use phase::Scope;

#[path = "../../../src/agent/eligibility.rs"]
mod eligibility;
#[path = "../../../src/agent/lead_futures.rs"]
mod lead_futures;
#[path = "../../../src/agent/leadership.rs"]
mod leadership;
#[path = "../../../src/agent/phase.rs"]
mod phase;
#[path = "../../../src/agent/remains.rs"]
mod remains;
#[path = "../../../src/agent/status.rs"]
mod status;
mod sync {
    pub(super) use crate::sync::*;
}

const FIRST: Incarnation = Incarnation(1);
const SECOND: Incarnation = Incarnation(2);
const NOW: Time = Time::from_millis(5);

fn leading(by: Incarnation) -> View {
    View {
        about: None,
        role: Role::Leader,
        term: Term(1),
        leader: Some(Leader {
            id: "x".parse().expect("a name"),
            incarnation: by,
            term: Term(1),
        }),
        leading: Some(Term(1)),
        valid_until: Time::from_millis(100),
    }
}

/// Does as `ElectionHandle::leave` after its deadline.
fn give_up(leadership: &LeadershipMachine) {
    leadership.leave();
    leadership.end(Scope::Agent);
    assert!(!leadership.is_leading(NOW), "the leadership is revoked");
}

#[test]
fn a_leadership_that_was_taken_back_is_not_published() {
    model(|| {
        let leadership = Arc::new(LeadershipMachine::new(FIRST, None));
        let is_told = Arc::new(AtomicBool::new(false));
        let agent = thread::spawn({
            let (leadership, is_told) = (Arc::clone(&leadership), Arc::clone(&is_told));
            move || {
                leadership.grow(FIRST, NOW, &leading(FIRST), |_| {
                    let is_told = is_told.load(Ordering::Acquire);
                    assert!(!is_told, "the group hears of a leadership that has ended");
                });
                leadership.shrink(FIRST, Some(&leading(FIRST)));
            }
        });
        give_up(&leadership);
        is_told.store(true, Ordering::Release);
        assert!(
            !leadership.is_leading(NOW),
            "no leadership after the agent left"
        );
        agent.join().expect("the agent's thread");
        assert!(!leadership.is_leading(NOW) && leadership.tenure().is_none());
        assert_eq!(leadership.status(NOW).0.leading, None);
    });
}

#[test]
fn a_leadership_that_was_lost_and_won_again_is_not_published() {
    model(|| {
        let leadership = Arc::new(LeadershipMachine::new(FIRST, None));
        leadership.grow(FIRST, NOW, &leading(FIRST), |_| ());
        let agent = thread::spawn({
            let leadership = Arc::clone(&leadership);
            move || {
                leadership.shrink(FIRST, None);
                leadership.grow(FIRST, NOW, &leading(FIRST), |_| ());
            }
        });
        give_up(&leadership);
        agent.join().expect("the agent's thread");
        assert!(!leadership.is_leading(NOW) && leadership.tenure().is_none());
    });
}

#[test]
fn an_agent_that_left_while_it_was_restarted_leads_no_more() {
    model(|| {
        let leadership = Arc::new(LeadershipMachine::new(FIRST, None));
        let supervisor = thread::spawn({
            let leadership = Arc::clone(&leadership);
            move || {
                leadership.end(Scope::Incarnation);
                let goes_on = leadership.begin(SECOND);
                leadership.grow(SECOND, NOW, &leading(SECOND), |_| ());
                goes_on
            }
        });
        give_up(&leadership);
        let went_on = supervisor.join().expect("the supervisor's thread");
        assert!(leadership.departure().is_some() && !leadership.is_leading(NOW));
        assert!(!leadership.is_present(FIRST) && !leadership.is_present(SECOND));
        let ended = leadership.end(Scope::Agent).incarnation;
        assert!(
            went_on || ended == SECOND,
            "the end of the second incarnation is returned"
        );
    });
}

#[test]
fn an_end_is_confirmed_once_and_only_when_no_work_runs() {
    model(|| {
        let leadership = Arc::new(LeadershipMachine::new(FIRST, None));
        leadership.grow(FIRST, NOW, &leading(FIRST), |_| ());
        let worker = thread::spawn({
            let leadership = Arc::clone(&leadership);
            move || {
                let entered = leadership.enter(NOW, None);
                let confirmed = entered.and_then(|held| leadership.exit(held.incarnation));
                (entered.is_some(), confirmed.is_some())
            }
        });
        leadership.leave();
        let is_confirmed = leadership.end(Scope::Agent).is_confirmed;
        let (has_worked, confirms) = worker.join().expect("the worker's thread");
        assert!(has_worked || is_confirmed, "no later step confirms the end");
        assert!(is_confirmed != confirms, "said once");
    });
}

#[test]
fn no_update_is_missed() {
    model(|| {
        let leadership = Arc::new(LeadershipMachine::new(FIRST, None));
        let agent = thread::spawn({
            let leadership = Arc::clone(&leadership);
            move || leadership.grow(FIRST, NOW, &leading(FIRST), |_| ())
        });
        let updates = leadership.updates();
        let (status, leads) = leadership.status(NOW);
        agent.join().expect("the agent's thread");
        assert_eq!(
            status.leading.is_some(),
            leads,
            "status and leadership agree"
        );
        assert!(
            leads || updates.has_changed(),
            "the subscriber waits for ever"
        );
    });
}
