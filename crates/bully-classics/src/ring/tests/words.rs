//! The messages of a ring, in the tests' short form.

use super::*;

pub(super) fn election(term: u64, origin: &str, score: Option<i32>) -> RingElectionId {
    RingElectionId {
        term: Term(term),
        score: score.map(Score::from),
        origin: id(origin),
        incarnation: Incarnation(1),
    }
}

pub(super) fn entrant(name: &str, score: Option<i32>) -> Entrant {
    Entrant {
        id: id(name),
        incarnation: Incarnation(1),
        score: score.map(Score::from),
        defers: false,
    }
}

/// Returns the election of `origin` with these entrants.
pub(super) fn collect(term: u64, origin: (&str, i32), on_list: &[(&str, i32)]) -> Collect {
    let mut entrants = Bounded::default();
    for (name, score) in on_list {
        assert!(entrants.push(entrant(name, Some(*score))));
    }
    Collect {
        election: election(term, origin.0, Some(origin.1)),
        entrants,
    }
}

/// Returns the nomination of `winner` that the members `by` have passed on. The origin has the score 1.
pub(super) fn nominate(term: u64, origin: &str, winner: &str, by: &[&str]) -> Nominate {
    let mut passed = Bounded::default();
    for name in by {
        assert!(passed.push(id(name)));
    }
    Nominate {
        election: election(term, origin, Some(1)),
        winner: id(winner),
        incarnation: Incarnation(1),
        passed,
    }
}

pub(super) fn coordinator(name: &str, term: u64, score: i32) -> Coordinator {
    beat(name, term, score, 0)
}

pub(super) fn beat(name: &str, term: u64, score: i32, beat: u64) -> Coordinator {
    Coordinator {
        leader: id(name),
        incarnation: Incarnation(1),
        score: score.into(),
        term: Term(term),
        beat,
    }
}

pub(super) fn ack(lap: Lap, term: u64, about: &str, beat: u64, known: u64) -> HopAck {
    HopAck {
        lap,
        term: Term(term),
        about: id(about),
        beat,
        known: Term(known),
    }
}

pub(super) fn answer(known: u64, leader: Option<(&str, u64)>) -> Answer {
    Answer {
        known: Term(known),
        leader: leader.map(|(name, term)| bully_core::protocol::Leader {
            id: id(name),
            incarnation: Incarnation(1),
            term: Term(term),
        }),
    }
}

/// Returns each message, with terms around `term`.
pub(super) fn every_message(term: u64) -> Vec<RingMessage> {
    let (before, after) = (term.saturating_sub(1), term.saturating_add(1));
    let (terms, names) = ([before, term, after, u64::MAX], [A, B, ME, EYE]);
    let mut all: Vec<RingMessage> = Vec::new();
    for term in terms {
        for name in names {
            all.push(collect(term, (name, 9), &[(name, 9)]).into());
            all.push(nominate(term, A, name, &[A]).into());
            all.extend([beat(name, term, 9, 0).into(), beat(name, term, 9, 1).into()]);
        }
    }
    and_other_kinds(all, &terms, &names)
}

/// Returns a random message with a low term.
pub(super) fn any_message(dice: &mut Dice) -> RingMessage {
    let names = &[A, B, ME, Z, EYE, STRANGER];
    let number = &|dice: &mut Dice, field: &str| match field {
        "incarnation" => 1,
        "beat" => dice.below(3),
        _ => dice.below(6),
    };
    any(&mut Draw {
        dice,
        names,
        number,
    })
    .unwrap()
}
