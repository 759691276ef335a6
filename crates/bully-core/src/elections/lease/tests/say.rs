//! Records, questions and answers of a register, in few words.

use super::*;

pub(super) fn swap(request: u64, over: Option<&Nonce>, record: Swapped) -> RegisterQuestion {
    RegisterQuestion::Swap(Box::new(SwapRegister {
        request,
        expected: version(over),
        record,
    }))
}

pub(super) fn shown(request: Option<u64>, answer: Answer) -> Box<RegisterShown> {
    Box::new(match request {
        Some(request) => RegisterShown::to(request, answer),
        None => RegisterShown::unasked(Micros(0), answer),
    })
}

pub(super) fn holds(lease: Option<LeaseRecord>, claim: Option<ClaimRecord>) -> Answer {
    Answer::Holds {
        lease: Cell {
            version: version(lease.as_ref().map(|record| &record.nonce)),
            content: Ok(lease),
        },
        claim: Cell {
            version: version(claim.as_ref().map(|record| &record.nonce)),
            content: Ok(claim),
        },
    }
}

/// Of what has that nonce: every attempt has its own.
pub(super) fn version(nonce: Option<&Nonce>) -> Version {
    let text = nonce.map_or_else(String::new, ToString::to_string);
    Version::new(text.as_bytes()).unwrap()
}

pub(super) fn config() -> LeaseConfig {
    LeaseConfig {
        timings: Timings::lan(),
        ..LeaseConfig::new("shop", "cron").unwrap()
    }
}

pub(super) fn nonce(name: &str, attempt: u64) -> Nonce {
    Nonce {
        id: id(name),
        incarnation: Incarnation(1),
        attempt,
    }
}

pub(super) fn score_of(name: &str) -> Score {
    Score::from(match name {
        LOW => 1,
        HIGH => 9,
        _ => 5,
    })
}

pub(super) fn held(name: &str, term: u64, attempt: u64) -> LeaseRecord {
    LeaseRecord {
        name: config().name,
        term: Term(term),
        holder: Some(Holder {
            id: id(name),
            incarnation: Incarnation(1),
            score: score_of(name),
            about: None,
        }),
        lease: Duration::from_millis(LEASE).into(),
        nonce: nonce(name, attempt),
        next: None,
    }
}

/// Released by LOW, for that agent, which the others let for a time.
pub(super) fn released(term: u64, next: Option<&str>) -> LeaseRecord {
    let wait = config().wait().into();
    LeaseRecord {
        holder: None,
        next: next.map(|name| Successor { id: id(name), wait }),
        ..held(LOW, term, 900 + term)
    }
}

pub(super) fn claim(name: &str, attempt: u64) -> ClaimRecord {
    ClaimRecord {
        name: config().name,
        score: Some(score_of(name)),
        seen: Term(if name == ME { OLD } else { 0 }),
        nonce: nonce(name, attempt),
    }
}

/// Each answer, about questions and terms of the past, the present and the future.
pub(super) fn every_answer(me: &Kit) -> impl Iterator<Item = Box<RegisterShown>> + use<> {
    let last = me.request();
    let term = me.view().term.0;
    let mut leases = vec![None];
    for term in [term.saturating_sub(1), term, term + 1] {
        let others = [LOW, HIGH, ME, STRANGER].map(|name| held(name, term, 7));
        let given = [None, Some(ME), Some(HIGH)].map(|next| released(term, next));
        leases.extend(others.into_iter().chain(given).map(Some));
    }
    leases.extend(me.machine.core.attempts.iter().map(|a| match &a.record {
        Swapped::Lease(record) => Some(record.clone()),
        Swapped::Claim(_) => None,
    }));
    let claims = [None, Some(claim(HIGH, 3)), Some(claim(LOW, last))];
    let mut answers: Vec<_> = leases
        .into_iter()
        .zip(claims.into_iter().cycle())
        .map(|(lease, claim)| holds(lease, claim))
        .collect();
    answers.push(Answer::Holds {
        lease: Cell {
            version: version(None),
            content: Err(RecordError::Kind),
        },
        claim: Cell {
            version: version(None),
            content: Err(RecordError::Format { found: 2 }),
        },
    });
    answers.extend([
        Answer::Applied(version(None)),
        Answer::Changed,
        Answer::Failed,
    ]);
    let asked = [
        None,
        Some(last.saturating_sub(1)),
        Some(last),
        Some(last + 1),
    ];
    asked.into_iter().flat_map(move |request| {
        let answers = answers.clone();
        answers
            .into_iter()
            .map(move |answer| shown(request, answer))
    })
}
