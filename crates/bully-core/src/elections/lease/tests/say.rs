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
        lease: cell(Ok(lease), |record| &record.nonce),
        claim: cell(Ok(claim), |record| &record.nonce),
    }
}

pub(super) fn cell<R>(content: Result<Option<R>, RecordError>, nonce: fn(&R) -> &Nonce) -> Cell<R> {
    let record = content.as_ref().ok().and_then(Option::as_ref);
    Cell {
        version: version(record.map(nonce)),
        content,
    }
}

/// Returns the version of the record with this nonce. Every attempt has its own nonce.
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

/// Returns a lease that LOW has released. The other agents let the successor `next` take it first.
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

/// Returns each answer, with questions and terms of the past, the present and the future.
pub(super) fn every_answer(me: &Kit) -> impl Iterator<Item = Box<RegisterShown>> + use<> {
    let last = me.request();
    let term = me.view().term.0;
    let mut leases = vec![Err(RecordError::Kind), Ok(None)];
    for term in [term.saturating_sub(1), term, term + 1] {
        let others = [LOW, HIGH, ME, STRANGER].map(|name| held(name, term, 7));
        let given = [None, Some(ME), Some(HIGH)].map(|next| released(term, next));
        leases.extend(others.into_iter().chain(given).map(|lease| Ok(Some(lease))));
    }
    let own = me.machine.core.attempts.iter().map(|own| &own.record);
    leases.extend(own.filter_map(|record| match record {
        Swapped::Lease(record) => Some(Ok(Some(record.clone()))),
        Swapped::Claim(_) => None,
    }));
    let mut answers = Vec::new();
    for lease in leases {
        let of = |name, attempt| Ok(Some(claim(name, attempt)));
        let format = Err(RecordError::Format { found: 2 });
        for claim in [Ok(None), of(HIGH, 3), of(LOW, 4), format] {
            answers.push(Answer::Holds {
                lease: cell(lease.clone(), |record| &record.nonce),
                claim: cell(claim, |record| &record.nonce),
            });
        }
    }
    let own = me.machine.core.attempts.back();
    let own = own.map(|own| match &own.record {
        Swapped::Lease(record) => &record.nonce,
        Swapped::Claim(record) => &record.nonce,
    });
    answers.extend([
        Answer::Applied(version(own)),
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

/// Draws an answer of the store, mostly to the last question.
pub(super) fn any_answer(dice: &mut Dice, me: &Kit) -> Box<RegisterShown> {
    let last = me.request();
    let request = dice.pick(&[
        None,
        Some(last),
        Some(last + 1),
        Some(last.saturating_sub(1)),
    ]);
    let term = dice.term_near(me.view().term).0;
    let term = term.min(u64::MAX - (1 << 33));
    let own = me.machine.core.attempts.back();
    let lease = match dice.below(8) {
        0 => None,
        1 => Some(released(term, dice.pick(&[None, Some(ME), Some(LOW)]))),
        2 | 3 => own.and_then(|attempt| match &attempt.record {
            Swapped::Lease(record) => Some(record.clone()),
            Swapped::Claim(_) => None,
        }),
        _ => Some(held(dice.pick(&[LOW, HIGH, ME]), term, dice.below(9))),
    };
    let claim = dice
        .one_in(2)
        .then(|| claim(dice.pick(&[LOW, HIGH]), dice.below(9)));
    let answer = match dice.below(9) {
        0 => Answer::Failed,
        1 => Answer::Changed,
        2..5 => Answer::Applied(version(None)),
        _ => holds(lease, claim),
    };
    let request = match (&answer, own) {
        (Answer::Applied(_), Some(own)) if !dice.one_in(3) => Some(own.request),
        _ => request,
    };
    shown(request, answer)
}
