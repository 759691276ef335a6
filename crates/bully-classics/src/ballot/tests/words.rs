//! The messages themselves: how they read, and what they say of terms.

use super::*;

#[test]
fn messages_have_a_readable_text() {
    let of = |message: BallotMessage| (message.kind(), message.to_string(), message.term().0);
    let asks = request(3, Some(ballot(7, HIGH)), hearing(7, HIGH));
    assert_eq!(
        of(asks.into()),
        (
            "heartbeat_request",
            "heartbeat_request 1.3 max 7.high@9, holds no ballot, hears 7.high@9".into(),
            7
        )
    );
    let answers = HeartbeatReply {
        round: round(3),
        standing: alone(leading(8, LOW)),
    };
    assert_eq!(
        of(answers.into()),
        (
            "heartbeat_reply",
            "heartbeat_reply 1.3, stands with 8.low@1, cut off".into(),
            8
        )
    );
    let witness = Standing {
        eligible: false,
        ..idle()
    };
    assert_eq!(
        of(request(1, None, witness).into()),
        (
            "heartbeat_request",
            "heartbeat_request 1.1, is not eligible".into(),
            0
        )
    );
    let leads = Leads {
        ballot: ballot(7, HIGH),
    };
    assert_eq!(of(leads.into()), ("leads", "leads by 7.high@9".into(), 7));
    let nack = Nack {
        max: ballot(8, HIGH),
    };
    assert_eq!(
        of(nack.into()),
        ("nack", "nack, followed 8.high@9".into(), 8)
    );
    let resign = Resign {
        ballot: ballot(7, HIGH),
        successor: Some(id(LOW)),
    };
    assert_eq!(
        of(resign.into()),
        ("resign", "resign 7.high@9 for low".into(), 7)
    );
}

/// Gossip is said anew in every round; a resignation is said once.
#[test]
fn only_a_resignation_is_not_repeated() {
    let resign = Resign {
        ballot: ballot(7, HIGH),
        successor: None,
    };
    assert!(!BallotMessage::from(resign).is_repeated());
    assert!(BallotMessage::from(request(1, None, idle())).is_repeated());
    assert!(
        BallotMessage::from(Leads {
            ballot: ballot(7, HIGH)
        })
        .is_repeated()
    );
}
