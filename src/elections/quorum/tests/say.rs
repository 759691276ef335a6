//! What others say to the machine under test, and it to them.

use super::*;

pub(super) fn leadership(name: &str, term: u64) -> Leadership {
    let (id, term) = (id(name), Term(term));
    Leadership { id, term }
}

pub(super) fn round(counter: u64) -> Round {
    Round {
        incarnation: Incarnation(1),
        counter,
    }
}

/// A question for the term after `seen`.
pub(super) fn elect(seen: u64, score: i32) -> Elect {
    Elect {
        round: round(1),
        score: score.into(),
        seen: Term(seen),
        takeover: None,
    }
}

pub(super) fn yields(counter: u64) -> Yield {
    yields_at(counter, 0)
}

pub(super) fn yields_at(counter: u64, seen: u64) -> Yield {
    Yield {
        round: round(counter),
        seen: Term(seen),
        released: None,
    }
}

pub(super) fn objects(counter: u64, seen: u64) -> Ok {
    Ok {
        round: round(counter),
        seen: Term(seen),
        refusal: None,
    }
}

/// "I support another one for so many milliseconds more."
pub(super) fn alive(counter: u64, seen: u64, millis: u64) -> Ok {
    let retry = Duration::from_millis(millis).into();
    Ok {
        refusal: Some(Refusal::LeaderAlive { retry }),
        ..objects(counter, seen)
    }
}

pub(super) fn stale(counter: u64, seen: u64) -> Ok {
    Ok {
        refusal: Some(Refusal::Stale),
        ..objects(counter, seen)
    }
}

pub(super) fn claim(term: u64, score: i32) -> Claim {
    Claim {
        term: Term(term),
        score: score.into(),
        released: None,
        released_incarnation: None,
        prepared: None,
    }
}

pub(super) fn grants(term: u64) -> ClaimReply {
    ClaimReply {
        term: Term(term),
        seen: Term(term),
        granted: true,
        retry: Duration::ZERO.into(),
        incarnation: None,
    }
}

pub(super) fn refuses(term: u64, seen: u64, millis: u64) -> ClaimReply {
    ClaimReply {
        term: Term(term),
        seen: Term(seen),
        granted: false,
        retry: Duration::from_millis(millis).into(),
        incarnation: None,
    }
}

/// What a leader's clock shows in these tests, when it is not this machine's.
pub(super) const SAID: Time = Time::from_millis(77);

pub(super) fn elected(term: u64, score: i32) -> Elected {
    Elected {
        term: Term(term),
        score: score.into(),
        answer: None,
        sent_at: Some(SAID),
    }
}

pub(super) fn heartbeat(term: u64, score: i32) -> Heartbeat {
    Heartbeat {
        term: Term(term),
        score: score.into(),
        sent_at: Some(SAID),
    }
}

pub(super) fn ack(term: u64, echo: Time, score: i32) -> Ack {
    Ack {
        term: Term(term),
        echo,
        score: Some(score.into()),
        promise: Duration::from_millis(P).into(),
        incarnation: None,
    }
}

pub(super) fn nack(term: u64) -> Nack {
    Nack { term: Term(term) }
}

pub(super) fn resign(term: u64, successor: Option<&str>) -> Resign {
    Resign {
        term: Term(term),
        successor: successor.map(id),
    }
}
