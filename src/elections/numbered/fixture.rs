//! What the tests of both elections begin with: the group around one agent, and effects as text.

use std::fmt::{Debug, Display};

use super::{Count, ElectionId};
use crate::protocol::{
    AgentId, Birth, Effect, Identity, Incarnation, Member, MemberKind, Members, Score, Term, To,
};

/// The machine under test, with the score 5.
pub(crate) const ME: &str = "me";
/// A voter with the score 1.
pub(crate) const LOW: &str = "low";
/// A voter with the score 9.
pub(crate) const HIGH: &str = "high";
/// An observer, however important it says it is.
pub(crate) const EYE: &str = "eye";

pub(crate) const NOTHING: [&str; 0] = [];

pub(crate) fn id(name: &str) -> AgentId {
    AgentId::new(name).unwrap()
}

pub(crate) fn election(count: u64, name: &str) -> ElectionId {
    ElectionId {
        count: Term(count),
        id: id(name),
    }
}

/// ME, and the group: LOW, ME, HIGH and the observer EYE, all up.
pub(crate) fn among(kind: MemberKind, score: Option<Score>) -> (Identity, Members) {
    let up = |name, kind, score| Member::up(id(name), kind, score, Incarnation(1));
    let mut members = Members::new(false);
    members.join([
        up(LOW, MemberKind::Voter, Some(1.into())),
        up(ME, kind, score),
        up(HIGH, MemberKind::Voter, Some(9.into())),
        up(EYE, MemberKind::Observer, Some(99.into())),
    ]);
    let identity = Identity {
        id: id(ME),
        incarnation: Incarnation(1),
        kind,
        score,
        birth: Birth::Started,
    };
    (identity, members)
}

/// An effect as a line; cancelled timers are not told.
pub(crate) fn tell<M: Display, T: Debug>(effect: &Effect<M, T, Count>) -> Option<String> {
    Some(match effect {
        Effect::Persist(record) => format!("persist {}", record.count),
        Effect::Send { to, message } => match to {
            To::One(id) => format!("{id}: {message}"),
            To::All => format!("all: {message}"),
            To::Set(ids) => {
                let ids: Vec<&str> = ids.iter().map(AgentId::as_str).collect();
                format!("{}: {message}", ids.join(" "))
            }
        },
        Effect::SetTimer { timer, after } => format!("set {timer:?} {}", after.min.as_millis()),
        Effect::CancelTimer(_) => return None,
        Effect::Notify(event) => event.to_string(),
    })
}
