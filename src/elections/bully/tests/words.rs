//! What agents say, in the tests' short form.

use super::*;

pub(super) fn leader(name: &str, term: u64) -> Leader {
    Leader {
        id: id(name),
        incarnation: Incarnation(1),
        term: Term(term),
    }
}

pub(super) fn round(counter: u64) -> Round {
    Round {
        incarnation: Incarnation(1),
        counter,
    }
}

/// "Who outranks me?", in the asker's first round, having seen no term.
pub(super) fn elect(score: i32) -> Elect {
    Elect {
        round: round(1),
        score: score.into(),
        seen: Term::ZERO,
        takeover: None,
    }
}

pub(super) fn ok(counter: u64) -> Ok {
    Ok {
        round: round(counter),
        seen: Term::ZERO,
        refusal: None,
    }
}

pub(super) fn yields(counter: u64) -> Yield {
    Yield {
        round: round(counter),
        seen: Term::ZERO,
        released: None,
    }
}

/// A leader's Yield: its belief has ended.
pub(super) fn releases(counter: u64, term: u64) -> Yield {
    Yield {
        seen: Term(term),
        released: Some(Term(term)),
        ..yields(counter)
    }
}

pub(super) fn elected(term: u64, score: i32) -> Elected {
    Elected {
        term: Term(term),
        score: score.into(),
        answer: None,
        sent_at: None,
    }
}

/// A standing leader's answer to an Elect.
pub(super) fn answers(counter: u64, term: u64, score: i32) -> Elected {
    Elected {
        answer: Some(round(counter)),
        ..elected(term, score)
    }
}

pub(super) fn heartbeat(term: u64, score: i32) -> Heartbeat {
    Heartbeat {
        term: Term(term),
        score: score.into(),
        sent_at: None,
    }
}

pub(super) fn resign(term: u64, successor: Option<&str>) -> Resign {
    Resign {
        term: Term(term),
        successor: successor.map(id),
    }
}
