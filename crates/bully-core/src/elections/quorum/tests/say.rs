//! The messages of a quorum election, in the tests' short form.

use super::{
    epochs::{ask, enlist, install, refusal, remove, seal, sealed},
    *,
};
use crate::elections::{
    message::{Candidate, Recall, Recover, Recovered},
    quorum::leader::Leading,
};
use crate::protocol::ChangeError;

pub(super) fn leadership(name: &str, term: u64) -> Leadership {
    let (id, term) = (id(name), Term(term));
    Leadership { id, term }
}

/// Returns a question for the term after `seen`.
pub(super) fn elect(seen: u64, score: i32) -> Elect {
    Elect {
        round: round(1),
        score: score.into(),
        seen: Term(seen),
        ..Elect::default()
    }
}

pub(super) fn yields_at(counter: u64, seen: u64) -> Yield {
    Yield {
        round: round(counter),
        seen: Term(seen),
        ..Yield::default()
    }
}

pub(super) fn objects(counter: u64, seen: u64) -> Ok {
    Ok {
        round: round(counter),
        seen: Term(seen),
        ..Ok::default()
    }
}

/// "I support another agent for `millis` more milliseconds."
pub(super) fn alive(counter: u64, seen: u64, millis: u64) -> Ok {
    let retry = Duration::from_millis(millis).into();
    Ok {
        refusal: Some(Refusal::NotFree { retry }),
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
        ..Claim::default()
    }
}

pub(super) fn grants(term: u64) -> ClaimReply {
    ClaimReply {
        term: Term(term),
        seen: Term(term),
        granted: true,
        incarnation: Incarnation(1),
        candidate: candidate(ME, 1),
        ..ClaimReply::default()
    }
}

pub(super) fn refuses(term: u64, seen: u64, millis: u64) -> ClaimReply {
    ClaimReply {
        seen: Term(seen),
        granted: false,
        retry: Duration::from_millis(millis).into(),
        ..grants(term)
    }
}

/// Time of another leader's clock in these tests.
pub(super) const SAID: Time = Time::from_millis(77);

pub(super) fn elected(term: u64, score: i32) -> Elected {
    Elected {
        term: Term(term),
        score: score.into(),
        sent_at: Some(SAID),
        ..Elected::default()
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
        incarnation: Incarnation(1),
        ..Ack::default()
    }
}

/// Returns a refusal to this agent, the leader of [`MINE`].
pub(super) fn nack(term: u64) -> Nack {
    nack_of(MINE, term)
}

pub(super) fn nack_of(of: u64, term: u64) -> Nack {
    Nack {
        term: Term(term),
        of: Term(of),
        incarnation: Incarnation(1),
    }
}

/// Returns a voter's memory of this agent's earlier incarnations.
pub(super) fn recalled(heard: Heard) -> Recalled {
    Recalled {
        incarnation: Incarnation(1),
        heard,
        ..Recalled::default()
    }
}

pub(super) fn candidate(name: &str, incarnation: u64) -> Candidate {
    let (id, incarnation) = (id(name), Incarnation(incarnation));
    Candidate { id, incarnation }
}

impl Kit {
    /// Returns a vote in this term for the agent's successor, or for the agent itself if it has none.
    pub(super) fn votes(&self, term: u64) -> ClaimReply {
        let reply = grants(term);
        if let State::Leading(Leading { ahead, .. }) = &self.machine.state
            && let Some(ahead) = ahead
        {
            return reply.of(ahead.to.id.as_str());
        }
        reply
    }
}

impl ClaimReply {
    /// Returns the same answer about a vote for the agent `name`.
    pub(super) fn of(self, name: &str) -> Self {
        let candidate = candidate(name, 1);
        Self { candidate, ..self }
    }

    /// Returns the same answer to this incarnation of the asker, about a vote for it.
    pub(super) fn addressed_to(self, incarnation: u64) -> Self {
        let incarnation = Incarnation(incarnation);
        let candidate = Candidate {
            incarnation,
            ..self.candidate
        };
        Self {
            incarnation,
            candidate,
            ..self
        }
    }
}

/// Returns each message, with terms and rounds of the past, the present and the future.
pub(super) fn every_message(me: &Kit) -> Vec<QuorumMessage> {
    let seen = me.view().term.0;
    let mut all: Vec<QuorumMessage> = Vec::new();
    let terms = [0, seen.saturating_sub(1), seen, seen + 1, u64::MAX];
    for term in terms {
        for score in [0, 20] {
            all.extend([elected(term, score).into(), heartbeat(term, score).into()]);
            all.extend([elect(term, score).into(), claim(term, score).into()]);
            for echo in [Time::ZERO, me.now, SAID] {
                all.push(ack(term, echo, score).into());
            }
        }
        for name in [LOW, HIGH, ME, STRANGER] {
            let takeover = Some(Box::new(leadership(name, term)));
            let elect = elect(term, 20);
            all.push(Elect { takeover, ..elect }.into());
            all.push(resign(term, Some(name)).into());
            all.push(gives(term, name, term.saturating_add(1)).into());
        }
        for counter in [0, 1, 2] {
            all.extend([
                yields_at(counter, term).into(),
                objects(counter, term).into(),
            ]);
            all.extend([alive(counter, term, 50).into(), stale(counter, term).into()]);
        }
        all.extend([grants(term).into(), refuses(term, term, 50).into()]);
        all.extend([nack(term).into(), resign(term, None).into()]);
        all.push(Takeover { term: Term(term) }.into());
        all.push(Behind { seen: Term(term) }.into());
        all.extend([nack_of(term, term).into(), grants(term).of(LOW).into()]);
        all.extend(of_a_change(term));
        let seen = Term(term);
        for counter in [0, 1, 2] {
            let round = round(counter);
            all.push(Recall { seen }.into());
            all.push(recalled(Heard::default()).into());
            all.push(Recover { round, seen }.into());
            for recovering in [false, true] {
                let answer = Recovered {
                    round,
                    term: seen,
                    recovering,
                    clock: seen,
                };
                all.push(answer.into());
            }
        }
    }
    and_other_kinds(all, &terms, &[HIGH])
}

/// Returns the messages about a change to the list of the epoch 1.
fn of_a_change(term: u64) -> Vec<QuorumMessage> {
    vec![
        seal(term, &[HIGH, ME]).into(),
        sealed(term).into(),
        install(1, &[HIGH, ME]).into(),
        enlist(term).into(),
        ask(term, remove(LOW)).into(),
        refusal(term, remove(LOW), ChangeError::UnderWay).into(),
    ]
}

/// Returns a `Resign` with a term in which voters have voted for the successor.
pub(super) fn gives(term: u64, successor: &str, given: u64) -> Resign {
    Resign {
        given: Some(Term(given)),
        ..resign(term, Some(successor))
    }
}
