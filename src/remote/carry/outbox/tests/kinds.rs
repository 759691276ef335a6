//! In each election, a repeated message never replaces a waiting message of another kind.

use std::collections::BTreeMap;

use super::*;
use bully_classics::{
    ballot::BallotMessage, invitation::InvitationMessage, reorganization::ReorganizationMessage,
    ring::RingMessage,
};
use bully_core::elections::{
    fixture::any::one_of_each_form,
    message::{BullyMessage, QuorumMessage},
};

/// Checks each pair of repeated messages. An acknowledgement and a heartbeat that is passed on often wait together.
fn each_kind_goes<M: RemoteMessage>() {
    let messages: Vec<M> = one_of_each_form();
    let repeated = messages.into_iter().filter(M::is_repeated);
    let repeated: BTreeMap<_, _> = repeated.map(|message| (message.kind(), message)).collect();
    assert!(!repeated.is_empty());
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
        for message in repeated.values() {
            let mut payload = BytesMut::new();
            encode_payload(message, &mut payload).unwrap();
            expected.push(payload.to_vec());
        }
        repeated.values().chain(repeated.values()).for_each(say);
        assert_eq!(taken(&sink), expected, "once each, and none for another");
    });
}

#[test]
fn a_repeated_message_stands_for_none_of_another_kind() {
    each_kind_goes::<BullyMessage>();
    each_kind_goes::<QuorumMessage>();
    each_kind_goes::<RingMessage>();
    each_kind_goes::<BallotMessage>();
    each_kind_goes::<InvitationMessage>();
    each_kind_goes::<ReorganizationMessage>();
}
