//! What both elections say survives its way, is bounded, and nothing foreign is taken for it.

use std::fmt::Debug;

use actix_bully::protocol::{AgentId, Score, Term};
use bully_classics::{
    invitation::{self, GroupRole, InvitationMessage},
    reorganization::{self, Call, ElectionId, ReorganizationMessage, Task},
};
use bully_core::protocol::PeerMessage;
use serde::{Serialize, de::DeserializeOwned};

/// The longest name, and the largest numbers.
fn election() -> ElectionId {
    let id = AgentId::new(&"n".repeat(AgentId::MAX_LEN)).unwrap();
    let count = Term(u64::MAX);
    ElectionId { count, id }
}

const SEEN: Term = Term(u64::MAX);
const TASK: Task = Task(u64::MAX);

fn score() -> Score {
    Score::from((i64::MIN, i64::MIN, i64::MIN, i64::MIN))
}

fn reorganization() -> Vec<ReorganizationMessage> {
    use reorganization::{
        AreYouNormal, AreYouThere, Halt, NewCoordinator, Normal, NotNormal, Ready, Resign, There,
    };
    let (election, score, seen) = (election(), score(), SEEN);
    let mut all: Vec<ReorganizationMessage> = vec![
        AreYouThere {
            election: election.clone(),
            score: Some(score),
        }
        .into(),
        There {
            election: election.clone(),
            score: None,
            coordinates: true,
            seen,
        }
        .into(),
        AreYouNormal {
            election: election.clone(),
            score,
        }
        .into(),
        Normal {
            election: election.clone(),
        }
        .into(),
        NotNormal {
            election: election.clone(),
            seen,
        }
        .into(),
        Halt {
            election: election.clone(),
            score,
        }
        .into(),
        NewCoordinator {
            election: election.clone(),
        }
        .into(),
        Ready {
            election: election.clone(),
            score,
            task: TASK,
        }
        .into(),
        Resign {
            election: election.clone(),
            successor: Some(election.id.clone()),
        }
        .into(),
    ];
    all.extend(acks());
    all
}

fn acks() -> impl Iterator<Item = ReorganizationMessage> {
    use reorganization::{Ack, Nack};
    let calls = [Call::Halt, Call::NewCoordinator, Call::Ready].into_iter();
    calls.flat_map(|call| {
        let (election, seen, score) = (election(), SEEN, Some(score()));
        let ack = Ack {
            call,
            election: election.clone(),
        };
        let nack = Nack {
            call,
            election,
            seen,
            score,
        };
        [ack.into(), nack.into()]
    })
}

fn invitation() -> Vec<InvitationMessage> {
    use invitation::{
        Accept, AreYouCoordinator, AreYouThere, Decline, Invitation, Ready, Resign, There,
    };
    let (group, score, seen) = (election(), score(), SEEN);
    let mut all: Vec<InvitationMessage> = vec![
        AreYouCoordinator {
            group: group.clone(),
            score,
        }
        .into(),
        Invitation {
            group: group.clone(),
            score,
        }
        .into(),
        Accept {
            group: group.clone(),
        }
        .into(),
        Decline {
            group: group.clone(),
            seen,
            score: None,
        }
        .into(),
        Ready {
            group: group.clone(),
            score,
            task: TASK,
        }
        .into(),
        AreYouThere {
            group: group.clone(),
        }
        .into(),
        There {
            group: group.clone(),
            belongs: true,
        }
        .into(),
        Resign {
            group: group.clone(),
            successor: None,
        }
        .into(),
    ];
    all.extend(places());
    all
}

fn places() -> impl Iterator<Item = InvitationMessage> {
    use invitation::CoordinatorReply;
    let group = election;
    let standings = [
        GroupRole::Coordinator { members: u32::MAX },
        GroupRole::Free,
        GroupRole::Merging,
        GroupRole::Joining { group: group() },
        GroupRole::Member { group: group() },
    ];
    standings.into_iter().map(move |standing| {
        let place = CoordinatorReply {
            group: group(),
            score: Some(score()),
            standing,
            seen: SEEN,
        };
        place.into()
    })
}

/// There and back; unknown fields, and endings that are cut off, are refused.
fn survives<M: PeerMessage + Serialize + DeserializeOwned + Debug>(message: &M) {
    let text = serde_json::to_string(message).unwrap();
    assert!(text.len() < 1_024, "bounded: {text}");
    assert_eq!(&serde_json::from_str::<M>(&text).unwrap(), message);
    assert!(!message.to_string().is_empty());
    let more = text.replacen("\"count\":", "\"more\":1,\"count\":", 1);
    assert_ne!(more, text);
    assert!(serde_json::from_str::<M>(&more).is_err(), "{more}");
    let cut = text.get(..text.len() / 2).unwrap();
    assert!(serde_json::from_str::<M>(cut).is_err());
}

#[test]
fn every_message_of_a_reorganization_survives_its_way() {
    for message in reorganization() {
        survives(&message);
        assert_eq!(message.term(), SEEN, "{message}");
    }
}

#[test]
fn every_message_of_an_invitation_survives_its_way() {
    for message in invitation() {
        survives(&message);
        assert_eq!(message.term(), SEEN, "{message}");
    }
}

#[test]
fn every_kind_has_a_name_of_its_own() {
    let mut names: Vec<&str> = reorganization().iter().map(PeerMessage::kind).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
}
