//! Of the repeated messages of each election, none stands for one of another kind.

use super::*;
use crate::protocol::Round;
use bully_classics::{
    ballot,
    invitation::{self, ElectionId, GroupRole},
    reorganization,
    ring::{self, Lap},
};
use bully_core::elections::message;

/// An acknowledgement and the heartbeat that is passed on wait together wherever two agents talk
/// both ways.
fn each_kind_goes<M: RemoteMessage>(repeated: &[M]) {
    play(async {
        let sink = sink();
        let say = |message: &M| {
            let (from, incarnation) = (id("a"), Incarnation(1));
            let message = message.clone();
            let message = Envelope {
                from,
                incarnation,
                message,
            };
            sink.carry(&[id("x")], message);
        };
        let mut expected = Vec::new();
        for message in repeated {
            assert!(message.is_repeated(), "{message}");
            let mut payload = BytesMut::new();
            encode_payload(message, &mut payload).unwrap();
            expected.push(payload.to_vec());
        }
        repeated.iter().chain(repeated).for_each(say);
        assert_eq!(taken(&sink), expected, "once each, and none for another");
    });
}

const TERM: Term = Term(3);

#[test]
fn a_repeated_message_stands_for_none_of_another_kind_in_a_bully_election() {
    let (term, score) = (TERM, None);
    let ack = message::Ack {
        term,
        score,
        promise: message::Micros(300_000),
        incarnation: Incarnation(1),
        ..message::Ack::default()
    };
    each_kind_goes(&[heartbeat(3), ack.into()]);
}

#[test]
fn a_repeated_message_stands_for_none_of_another_kind_in_a_reorganization() {
    let (term, score) = (TERM, Score::from(1));
    let election = ElectionId {
        count: term,
        id: id("x"),
    };
    let normal = reorganization::Normal {
        election: election.clone(),
    };
    let are_you_normal = reorganization::AreYouNormal {
        election: election.clone(),
        score,
    };
    each_kind_goes::<reorganization::ReorganizationMessage>(&[
        normal.into(),
        are_you_normal.into(),
    ]);
}

#[test]
fn a_repeated_message_stands_for_none_of_another_kind_in_an_invitation() {
    let (term, score) = (TERM, Score::from(1));
    let group = ElectionId {
        count: term,
        id: id("x"),
    };
    let place = invitation::CoordinatorReply {
        group: group.clone(),
        score: None,
        standing: GroupRole::Free,
        seen: term,
    };
    let question = invitation::AreYouCoordinator { group, score };
    each_kind_goes::<invitation::InvitationMessage>(&[place.into(), question.into()]);
}

#[test]
fn a_repeated_message_stands_for_none_of_another_kind_in_a_ballot() {
    let standing = ballot::Standing {
        ballot: None,
        eligible: true,
        connected: true,
        hears: None,
    };
    let round = Round {
        incarnation: Incarnation(1),
        counter: 7,
    };
    let reply = ballot::HeartbeatReply {
        round,
        standing: standing.clone(),
    };
    let request = ballot::HeartbeatRequest {
        round,
        max: None,
        standing,
    };
    each_kind_goes::<ballot::BallotMessage>(&[reply.into(), request.into()]);
}

#[test]
fn a_repeated_message_stands_for_none_of_another_kind_in_a_ring() {
    let (term, known, score) = (TERM, TERM, Score::from(1));
    let hop_ack = ring::HopAck {
        lap: Lap::Coordinator,
        term,
        about: id("a"),
        beat: 1,
        known,
    };
    let beat = ring::Coordinator {
        leader: id("a"),
        incarnation: Incarnation(1),
        term,
        score,
        beat: 1,
    };
    let answer = ring::Answer {
        known,
        leader: None,
    };
    let probe = ring::Probe { known };
    each_kind_goes::<ring::RingMessage>(&[
        hop_ack.into(),
        beat.into(),
        answer.into(),
        probe.into(),
    ]);
}
