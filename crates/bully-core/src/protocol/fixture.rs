//! Common parts of the tests of several elections: the group around one agent.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "tests alone use it"
)]

use super::{
    AgentId, Birth, Identity, Incarnation, Input, Member, MemberKind, Members, Score, StoreId,
};

/// Name of the machine under test. Its score is 5.
pub const ME: &str = "me";
/// Name of a voter with the score 1.
pub const LOW: &str = "low";
/// Name of a voter with the score 9.
pub const HIGH: &str = "high";
/// Name of an observer with the score 99, which does not count. It is a member, so it receives the messages to all
/// members.
pub const EYE: &str = "eye";

pub fn id(name: &str) -> AgentId {
    AgentId::new(name).unwrap()
}

/// Returns the identity of ME, and its group: LOW, ME, HIGH and the observer EYE, all up. Three of them vote, or two if
/// ME observes.
pub fn among(kind: MemberKind, score: Option<Score>) -> (Identity, Members) {
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
        store: Some(StoreId::new(1)),
    };
    (identity, members)
}

/// Returns whether a driver would pass the input to a machine that knows these members. A machine that has not started
/// knows no member, and a test may give it any input.
pub fn admits<M, T, A>(members: &Members, me: &AgentId, input: &Input<M, T, A>) -> bool {
    match input {
        Input::Received {
            from, incarnation, ..
        } => members.is_empty() || members.admit(me, from, *incarnation).is_ok(),
        Input::Start(_)
        | Input::Told(_)
        | Input::TimedOut(_)
        | Input::Members(_)
        | Input::Campaign
        | Input::SetScore(_)
        | Input::StepDown { .. }
        | Input::Drained
        | Input::ChangeVoters(_) => true,
    }
}
