//! The incarnations that may publish a leadership, and when. `tests/heavy/cells` checks every interleaving of threads.

use crate::{
    agent::{
        leadership::LeadershipMachine,
        phase::{Departure, IncarnationEnd, Remaining, Scope},
        status::Lifecycle,
    },
    protocol::{Incarnation, Leader, Role, Term, Time, View},
};

const FIRST: Incarnation = Incarnation(1);
const SECOND: Incarnation = Incarnation(2);
const NOW: Time = Time::from_millis(5);

fn leading(by: Incarnation, term: u64, until: u64) -> View {
    View {
        about: None,
        role: Role::Leader,
        term: Term(term),
        leader: Some(Leader {
            id: "x".parse().expect("a name"),
            incarnation: by,
            term: Term(term),
        }),
        leading: Some(Term(term)),
        valid_until: Time::from_millis(until),
    }
}

fn new() -> LeadershipMachine {
    LeadershipMachine::new(FIRST, None)
}

fn following(leader: Option<&str>) -> View {
    let led = leading(FIRST, 3, 0);
    View {
        role: Role::Follower,
        leader: leader.map(|name| Leader {
            id: name.parse().expect("a name"),
            incarnation: FIRST,
            term: Term(3),
        }),
        leading: None,
        ..led
    }
}

/// Publishes the view after a step. Returns the term of the leadership that the group learns, if there is one.
fn grow(leadership: &LeadershipMachine, by: Incarnation, view: &View) -> Option<Term> {
    let mut noted = None;
    leadership.grow(by, NOW, view, |leader| noted = Some(leader.term));
    noted
}

#[test]
fn an_incarnation_that_was_ended_publishes_nothing_more() {
    for scope in [Scope::Incarnation, Scope::Agent] {
        let leadership = new();
        leadership.leave();
        let ended = leadership.end(scope);
        assert_eq!(
            ended,
            IncarnationEnd {
                incarnation: FIRST,
                has_changed: true,
                is_confirmed: true,
                departure: Some(Departure::Left),
                is_last: scope == Scope::Agent,
            }
        );
        assert_eq!(grow(&leadership, FIRST, &leading(FIRST, 1, 100)), None);
        assert!(!leadership.is_leading(NOW) && leadership.tenure().is_none());
        leadership.drain(FIRST);
        let (status, leads) = leadership.status(NOW);
        assert_eq!((status.lifecycle, leads), (Lifecycle::Ended, false));
        assert!(!status.draining && status.leading.is_none());
        assert!(!leadership.begin(SECOND), "it has left");
        let again = leadership.end(Scope::Agent);
        assert_eq!(again.incarnation, SECOND, "its membership ends");
        assert!(!again.has_changed, "another agent may have its name");
    }
}

#[test]
fn a_former_incarnation_does_not_speak_for_the_present_one() {
    let leadership = new();
    assert_eq!(leadership.end(Scope::Incarnation).departure, None);
    assert!(leadership.begin(SECOND));
    assert_eq!(grow(&leadership, FIRST, &leading(FIRST, 1, 100)), None);
    assert!(!leadership.is_leading(NOW));
    assert_eq!(
        grow(&leadership, SECOND, &leading(SECOND, 2, 100)),
        Some(Term(2))
    );
    assert!(!leadership.shrink(FIRST, None));
    assert!(leadership.is_leading(NOW), "not by the former");
    leadership.drain(FIRST);
    assert!(!leadership.is_draining(), "not by the former");
    assert!(leadership.shrink(SECOND, Some(&following(None))));
    assert!(!leadership.is_leading(NOW));
}

#[test]
fn a_leadership_that_goes_on_has_the_same_number_and_one_after_a_gap_another() {
    let leadership = new();
    assert_eq!(
        grow(&leadership, FIRST, &leading(FIRST, 1, 10)),
        Some(Term(1))
    );
    let serial = leadership.tenure().expect("it leads").serial;
    assert_eq!(
        grow(&leadership, FIRST, &leading(FIRST, 1, 20)),
        None,
        "known"
    );
    assert_eq!(
        grow(&leadership, FIRST, &leading(FIRST, 2, 20)),
        Some(Term(2))
    );
    assert_eq!(leadership.tenure().expect("it leads").serial, serial);
    let left = Time::from_millis(20).since(NOW);
    assert_eq!(leadership.remaining_of(NOW, serial), Remaining::For(left));

    let late = Time::from_millis(20);
    assert_eq!(leadership.remaining_of(late, serial), Remaining::Over);
    assert!(leadership.enter(late, None).is_none(), "it has run out");
    let mut noted = 0;
    leadership.grow(FIRST, late, &leading(FIRST, 2, 40), |_| noted += 1);
    assert_eq!(noted, 1, "the leadership had ended in between");
    assert_ne!(leadership.tenure().expect("it leads").serial, serial);
    assert_eq!(leadership.remaining_of(late, serial), Remaining::Over);
}

#[test]
fn a_shorter_lease_is_published_and_the_leadership_goes_on() {
    let leadership = new();
    grow(&leadership, FIRST, &leading(FIRST, 1, 100));
    let shorter = leading(FIRST, 1, 6);
    assert!(!leadership.shrink(FIRST, Some(&shorter)));
    assert!(leadership.is_leading(NOW) && !leadership.is_leading(Time::from_millis(6)));
    assert!(
        leadership.shrink(FIRST, None),
        "lost and won again in one step"
    );
}

#[test]
fn no_lead_future_enters_while_the_leader_drains_or_after_its_own_work_in_that_tenure() {
    let leadership = new();
    assert!(
        leadership.enter(NOW, None).is_none(),
        "the agent does not lead"
    );
    grow(&leadership, FIRST, &leading(FIRST, 1, 10));
    let tenure = leadership.enter(NOW, None).expect("it leads");
    assert!(leadership.enter(NOW, Some(tenure.serial)).is_none());
    leadership.drain(FIRST);
    assert!(leadership.is_draining() && leadership.status(NOW).0.draining);
    assert!(leadership.enter(NOW, None).is_none());

    let late = Time::from_millis(10);
    leadership.grow(FIRST, late, &leading(FIRST, 1, 20), |_| ());
    assert!(
        leadership.is_draining(),
        "the expired leadership is still handed over"
    );
    assert!(leadership.enter(late, None).is_none());
    assert!(leadership.shrink(FIRST, None));
    assert!(!leadership.is_draining());
}

#[test]
fn another_leader_alone_is_an_update_and_the_same_one_is_not() {
    let leadership = new();
    let mut updates = leadership.updates();
    for name in ["x", "y"] {
        for is_other in [true, false] {
            grow(&leadership, FIRST, &following(Some(name)));
            assert_eq!(
                updates.has_changed().expect("the sender is there"),
                is_other
            );
            updates.mark_unchanged();
        }
        let leader = leadership.status(NOW).0.leader;
        assert_eq!(leader, following(Some(name)).leader);
    }
}
