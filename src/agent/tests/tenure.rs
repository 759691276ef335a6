//! Who may publish a leadership, and when not. That no interleaving of threads gets around it is
//! checked in `tests/heavy/cells`.

use crate::{
    agent::{
        leads::Fate,
        status::Life,
        tenure::{Ended, Loss, Remaining, Scope, Shrunk, Tenure},
    },
    protocol::{Incarnation, Leader, Role, Term, Time, View},
};

const FIRST: Incarnation = Incarnation(1);
const SECOND: Incarnation = Incarnation(2);
const NOW: Time = Time::from_millis(5);

fn leading(by: Incarnation, term: u64, until: u64) -> View {
    View {
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

fn following() -> View {
    View {
        role: Role::Follower,
        leader: None,
        leading: None,
        ..leading(FIRST, 3, 0)
    }
}

/// Publishes; says which leadership the group was told of.
fn grow(tenure: &Tenure, by: Incarnation, view: &View) -> Option<Term> {
    let mut noted = None;
    tenure.grow(by, NOW, view, |leader| noted = Some(leader.term));
    noted
}

#[test]
fn an_incarnation_that_was_ended_publishes_nothing_more() {
    for scope in [Scope::Incarnation, Scope::All] {
        let tenure = Tenure::new(FIRST);
        tenure.leave();
        let ended = tenure.end(scope);
        assert_eq!(
            ended,
            Ended {
                incarnation: FIRST,
                is_certain: true,
                fate: Fate::Left
            }
        );
        assert_eq!(grow(&tenure, FIRST, &leading(FIRST, 1, 100)), None);
        assert!(!tenure.is_leading(NOW) && tenure.reign().is_none());
        tenure.drain(FIRST);
        let (status, leads) = tenure.status(NOW);
        assert_eq!((status.life, leads), (Life::Ended, false));
        assert!(!status.draining && status.leading.is_none());
        assert!(!tenure.begin(SECOND), "it has left");
        assert_eq!(tenure.end(Scope::All).incarnation, SECOND, "its place goes");
    }
}

#[test]
fn a_former_incarnation_does_not_speak_for_the_present_one() {
    let tenure = Tenure::new(FIRST);
    assert_eq!(tenure.end(Scope::Incarnation).fate, Fate::GoesOn);
    assert!(tenure.begin(SECOND));
    assert_eq!(grow(&tenure, FIRST, &leading(FIRST, 1, 100)), None);
    assert!(!tenure.is_leading(NOW));
    assert_eq!(
        grow(&tenure, SECOND, &leading(SECOND, 2, 100)),
        Some(Term(2))
    );
    assert_eq!(
        tenure.shrink(FIRST, &following(), Loss::Withdrawn),
        Shrunk::Kept
    );
    assert!(tenure.is_leading(NOW), "nor against it");
    assert_eq!(
        tenure.shrink(SECOND, &following(), Loss::None),
        Shrunk::Revoked
    );
    assert!(!tenure.is_leading(NOW));
}

#[test]
fn a_leadership_that_goes_on_has_the_same_number_and_one_after_a_gap_another() {
    let tenure = Tenure::new(FIRST);
    assert_eq!(grow(&tenure, FIRST, &leading(FIRST, 1, 10)), Some(Term(1)));
    let serial = tenure.reign().expect("it leads").serial;
    assert_eq!(grow(&tenure, FIRST, &leading(FIRST, 1, 20)), None, "known");
    assert_eq!(grow(&tenure, FIRST, &leading(FIRST, 2, 20)), Some(Term(2)));
    assert_eq!(tenure.reign().expect("it leads").serial, serial);
    let rest = Time::from_millis(20).since(NOW);
    assert_eq!(tenure.remaining(NOW, serial), Remaining::For(rest));

    let late = Time::from_millis(20);
    assert_eq!(tenure.remaining(late, serial), Remaining::Over);
    assert!(tenure.enter(late, None).is_none(), "it has run out");
    let mut noted = 0;
    tenure.grow(FIRST, late, &leading(FIRST, 2, 40), |_| noted += 1);
    assert_eq!(noted, 1, "it was gone in between");
    assert_ne!(tenure.reign().expect("it leads").serial, serial);
    assert_eq!(tenure.remaining(late, serial), Remaining::Over);
}

#[test]
fn a_shorter_lease_is_published_and_the_leadership_goes_on() {
    let tenure = Tenure::new(FIRST);
    grow(&tenure, FIRST, &leading(FIRST, 1, 100));
    let shorter = leading(FIRST, 1, 6);
    assert_eq!(tenure.shrink(FIRST, &shorter, Loss::None), Shrunk::Kept);
    assert!(tenure.is_leading(NOW) && !tenure.is_leading(Time::from_millis(6)));
    assert_eq!(
        tenure.shrink(FIRST, &shorter, Loss::Withdrawn),
        Shrunk::Revoked
    );
}
