//! Version 1: what nodes of release 0.1 say, and understand, while a group is upgraded host by host.
//!
//! | frame | version 1 | here |
//! |---|---|---|
//! | READY | without proofs: `92 01`, link | [`encode_first_ready`], and by [`Frame::decode_of`](super::Frame::decode_of) |
//! | ROSTER | an opening names no voters: name, rules, epoch | [`RosterFrame::encode_of`](super::RosterFrame::encode_of), the same |
//! | MESSAGES | three kinds of a quorum have fewer fields | [`from_first`], [`to_first`] |
//!
//! There are no CONDITIONS, so no limits, and no proof: a node with a secret refuses such a peer. All other frames are
//! the same. Only bully elections are carried: the messages of all others have changed since.
//!
//! # A voter that promises nothing
//! `Ack` of version 1 does not say for how long its voter supports no other agent. A leader of release 0.1 takes it for
//! its own lease, which is right only where all timings are equal. So unless an operator
//! [says so](crate::remote::Peer::with_equal_timings), no lease counts on a voter behind such a link
//! (`version-1-promises-nothing`). Nor do questions and votes cross then: a candidate that the other version elects, and
//! that gets no lease by it, would be in the way of all others. So the voters of each version elect among themselves;
//! the version that has a quorum leads, and the others follow what its leader announces.

use bytes::BytesMut;
use serde::{Deserialize, Serialize};

use super::{Bounds, WireError, decode_payload, encode_payload, frame::Kind, write};
use crate::elections::message::{
    Ack, BullyMessage, Claim, ClaimReply, Elect, Elected, Heartbeat, Leadership, Micros, Nack,
    Ok as Answer, Resign, Takeover, Yield,
};
use crate::protocol::{AgentId, PeerMessage, Score, Term, Time};
use crate::remote::LinkId;

/// Whether the members of a group by these rules can talk over a link of version 1.
pub(in crate::remote) fn first_carries(rules: &str) -> bool {
    matches!(rules, "available" | "quorum")
}

/// Appends READY as in version 1.
pub fn encode_first_ready(link: LinkId, out: &mut BytesMut) {
    write::frame(out, |out| {
        write::array(out, 2);
        write::unsigned(out, Kind::Ready.into());
        write::short_bytes(out, &link.0);
    });
}

/// What is known of the timings of a node that cannot say what its voters promise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FirstTimings {
    /// Nothing: no lease counts on it, and no vote crosses.
    #[default]
    Unknown,
    /// They are those of this node, as its operator says; or nothing counts on them, as where no lease is.
    Equal,
}

/// Everything that one agent of a bully election says to another in version 1.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum FirstMessage {
    Elect(Elect),
    Ok(Answer),
    Yield(Yield),
    Elected(Elected),
    Heartbeat(Heartbeat),
    Resign(FirstResign),
    Claim(FirstClaim),
    ClaimReply(FirstClaimReply),
    Ack(FirstAck),
    Nack(Nack),
    Takeover(Takeover),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FirstResign {
    term: Term,
    successor: Option<AgentId>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FirstClaim {
    term: Term,
    score: Score,
    released: Option<Leadership>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FirstClaimReply {
    term: Term,
    seen: Term,
    granted: bool,
    retry: Micros,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FirstAck {
    term: Term,
    echo: Time,
    score: Option<Score>,
}

impl FirstTimings {
    /// Whether messages of that kind count between two voters.
    fn admit(self, kind: &str) -> bool {
        self == Self::Equal || matches!(kind, "elected" | "heartbeat" | "resign" | "nack")
    }
}

/// Appends a message of version 1 as it is said now; says whether there is one that counts, by what is known of the
/// timings there.
///
/// # Errors
/// [`WireError`]: close the link.
pub fn from_first(
    payload: &[u8],
    bounds: Bounds,
    timings: FirstTimings,
    out: &mut BytesMut,
) -> Result<bool, WireError> {
    let message: BullyMessage = match decode_payload(payload, bounds)? {
        FirstMessage::Elect(m) => m.into(),
        FirstMessage::Ok(m) => m.into(),
        FirstMessage::Yield(m) => m.into(),
        FirstMessage::Elected(m) => m.into(),
        FirstMessage::Heartbeat(m) => m.into(),
        FirstMessage::Resign(m) => Resign {
            term: m.term,
            successor: m.successor,
            given: None,
        }
        .into(),
        FirstMessage::Claim(m) => Claim {
            term: m.term,
            score: m.score,
            released: m.released,
            released_incarnation: None,
            successor: None,
        }
        .into(),
        FirstMessage::ClaimReply(m) => ClaimReply {
            term: m.term,
            seen: m.seen,
            granted: m.granted,
            retry: m.retry,
            incarnation: None,
            seal: None,
        }
        .into(),
        FirstMessage::Ack(m) => Ack {
            term: m.term,
            echo: m.echo,
            score: m.score,
            // As long as this leader's own lease needs: the timings are the same.
            promise: Micros(u64::MAX),
            incarnation: None,
        }
        .into(),
        FirstMessage::Nack(m) => m.into(),
        FirstMessage::Takeover(m) => m.into(),
    };
    if !timings.admit(message.kind()) {
        return Ok(false);
    }
    encode_payload(&message, out).map_err(|_| WireError::Value)?;
    Ok(true)
}

/// Appends a message of today as version 1 says it; says whether it is said: not what does not count there, nor what
/// version 1 has no room for.
pub fn to_first(payload: &[u8], timings: FirstTimings, out: &mut BytesMut) -> bool {
    let Ok(message) = decode_payload::<BullyMessage>(payload, Bounds::default()) else {
        return false;
    };
    if !timings.admit(message.kind()) {
        return false;
    }
    let message = match message {
        BullyMessage::Elect(m) => FirstMessage::Elect(m),
        BullyMessage::Ok(m) => FirstMessage::Ok(m),
        BullyMessage::Yield(m) => FirstMessage::Yield(m),
        BullyMessage::Elected(m) => FirstMessage::Elected(m),
        BullyMessage::Heartbeat(m) => FirstMessage::Heartbeat(m),
        // Whoever cannot read that it was given a term claims one of its own.
        BullyMessage::Resign(m) => FirstMessage::Resign(FirstResign {
            term: m.term,
            successor: m.successor,
        }),
        BullyMessage::Claim(m) => {
            if m.released_incarnation.is_some() || m.successor.is_some() {
                return false;
            }
            FirstMessage::Claim(FirstClaim {
                term: m.term,
                score: m.score,
                released: m.released,
            })
        }
        // A seal that is not reported would be no seal.
        BullyMessage::ClaimReply(m) if m.seal.is_some() => return false,
        BullyMessage::ClaimReply(m) => FirstMessage::ClaimReply(FirstClaimReply {
            term: m.term,
            seen: m.seen,
            granted: m.granted,
            retry: m.retry,
        }),
        BullyMessage::Ack(m) => FirstMessage::Ack(FirstAck {
            term: m.term,
            echo: m.echo,
            score: m.score,
        }),
        BullyMessage::Nack(m) => FirstMessage::Nack(m),
        BullyMessage::Takeover(m) => FirstMessage::Takeover(m),
        // All have disks there, and the voters are those of the configuration for ever.
        BullyMessage::Recover(_)
        | BullyMessage::Recovered(_)
        | BullyMessage::Seal(_)
        | BullyMessage::Sealed(_)
        | BullyMessage::Install(_)
        | BullyMessage::AskChange(_)
        | BullyMessage::Enlist(_)
        | BullyMessage::RegisterMessage(_)
        | BullyMessage::ChangeAnswer(_) => return false,
    };
    encode_payload(&message, out).is_ok()
}
