//! What an agent's thread publishes, while a handle on another thread makes it leave.

use actix_bully::protocol::{Incarnation, Leader, Role, Term, Time, View};
use loom::{
    model,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use tenure::{Loss, Scope, Tenure};

#[path = "../../../src/agent/leads.rs"]
mod leads;
#[path = "../../../src/agent/news.rs"]
mod news;
#[path = "../../../src/agent/status.rs"]
mod status;
mod sync {
    pub(super) use crate::sync::*;
}
#[path = "../../../src/agent/tenure.rs"]
mod tenure;

const FIRST: Incarnation = Incarnation(1);
const SECOND: Incarnation = Incarnation(2);
const NOW: Time = Time::from_millis(5);

fn leading(by: Incarnation) -> View {
    View {
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

/// `ElectionHandle::leave`, whose deadline has passed.
fn give_up(tenure: &Tenure) {
    tenure.leave();
    tenure.end(Scope::All);
    assert!(!tenure.is_leading(NOW), "revoked, and told");
}

#[test]
fn a_leadership_that_was_taken_back_is_not_published() {
    model(|| {
        let tenure = Arc::new(Tenure::new(FIRST));
        let is_told = Arc::new(AtomicBool::new(false));
        let agent = thread::spawn({
            let (tenure, is_told) = (Arc::clone(&tenure), Arc::clone(&is_told));
            move || {
                tenure.grow(FIRST, NOW, &leading(FIRST), |_| {
                    let is_told = is_told.load(Ordering::Acquire);
                    assert!(!is_told, "it has ended, and the group hears that it leads");
                });
                tenure.shrink(FIRST, &leading(FIRST), Loss::None);
            }
        });
        give_up(&tenure);
        is_told.store(true, Ordering::Release);
        assert!(!tenure.is_leading(NOW), "from now on for ever");
        agent.join().expect("the agent's thread");
        assert!(!tenure.is_leading(NOW) && tenure.reign().is_none());
        assert_eq!(tenure.status(NOW).0.leading, None);
    });
}

#[test]
fn a_leadership_that_was_lost_and_won_again_is_not_published_either() {
    model(|| {
        let tenure = Arc::new(Tenure::new(FIRST));
        tenure.grow(FIRST, NOW, &leading(FIRST), |_| ());
        let agent = thread::spawn({
            let tenure = Arc::clone(&tenure);
            move || {
                tenure.shrink(FIRST, &leading(FIRST), Loss::Withdrawn);
                tenure.grow(FIRST, NOW, &leading(FIRST), |_| ());
            }
        });
        give_up(&tenure);
        agent.join().expect("the agent's thread");
        assert!(!tenure.is_leading(NOW) && tenure.reign().is_none());
    });
}

#[test]
fn an_agent_that_left_while_it_was_restarted_leads_no_more() {
    model(|| {
        let tenure = Arc::new(Tenure::new(FIRST));
        let supervisor = thread::spawn({
            let tenure = Arc::clone(&tenure);
            move || {
                tenure.end(Scope::Incarnation);
                let goes_on = tenure.begin(SECOND);
                tenure.grow(SECOND, NOW, &leading(SECOND), |_| ());
                goes_on
            }
        });
        give_up(&tenure);
        let went_on = supervisor.join().expect("the supervisor's thread");
        assert!(tenure.is_over() && !tenure.is_leading(NOW));
        assert!(!tenure.is_present(FIRST) && !tenure.is_present(SECOND));
        let ended = tenure.end(Scope::All).incarnation;
        assert!(went_on || ended == SECOND, "the place to give back");
    });
}

#[test]
fn an_end_is_certain_only_if_nobody_works() {
    model(|| {
        let tenure = Arc::new(Tenure::new(FIRST));
        tenure.grow(FIRST, NOW, &leading(FIRST), |_| ());
        let worker = thread::spawn({
            let tenure = Arc::clone(&tenure);
            move || {
                let reign = tenure.enter(NOW, None);
                let confirmed = reign.and_then(|reign| tenure.exit(reign.incarnation));
                (reign.is_some(), confirmed.is_some())
            }
        });
        tenure.leave();
        let is_certain = tenure.end(Scope::All).is_certain;
        let (has_worked, confirms) = worker.join().expect("the worker's thread");
        assert!(has_worked || is_certain, "nobody else will say so");
        assert!(is_certain != confirms, "said once");
    });
}

#[test]
fn no_news_is_missed() {
    model(|| {
        let tenure = Arc::new(Tenure::new(FIRST));
        let agent = thread::spawn({
            let tenure = Arc::clone(&tenure);
            move || tenure.grow(FIRST, NOW, &leading(FIRST), |_| ())
        });
        let bell = tenure.bell();
        let (status, leads) = tenure.status(NOW);
        agent.join().expect("the agent's thread");
        assert_eq!(status.leading.is_some(), leads, "one state");
        assert!(leads || bell.has_changed(), "it waits for ever");
    });
}
