//! Messages of every type, to be written and read.

use crate::elections::AnyMessage;
use crate::protocol::{
    AgentId, ChangeError, Changed, Contact, Decree, Incarnation, Leader, NewVoter, Round, Score,
    StoreId, Term, Time, VoterChange,
};
use bully_core::elections::{
    message::{
        Ack, AskChange, Behind, Candidate, ChangeAnswer, Claim, ClaimReply, Elect, Elected, Enlist,
        Heartbeat, Install, Leadership, Micros, Nack, Ok as Answer, Recall, Recalled, Recover,
        Recovered, Refusal, Resign, Seal, Sealed, Takeover, Yield,
    },
    vote::{Heard, SealRecord},
};

pub(super) const TERM: Term = Term(300);
pub(super) const SEEN: Term = Term(u64::MAX);
const CLOCK: Term = Term(92_000_000_000);
const TIME: Time = Time::from_millis(9);
pub(super) const RETRY: Micros = Micros(70_000);
const ROUND: Round = Round {
    incarnation: Incarnation(1 << 40),
    counter: 7,
};

fn id() -> AgentId {
    AgentId::new("agent-3").unwrap()
}

fn score() -> Score {
    Score::from((1, -200, i64::MIN, i64::MAX))
}

fn leadership() -> Leadership {
    let (id, term) = (id(), TERM);
    Leadership { id, term }
}

fn leader() -> Leader {
    Leader {
        id: id(),
        incarnation: ROUND.incarnation,
        term: TERM,
    }
}

fn candidate() -> Candidate {
    Candidate {
        id: id(),
        incarnation: ROUND.incarnation,
    }
}

fn questions() -> Vec<AnyMessage> {
    let (round, score, seen) = (ROUND, score(), SEEN);
    let elect = |takeover, released| Elect {
        round,
        score,
        seen,
        takeover,
        released,
    };
    let answer = |refusal| Answer {
        round,
        seen,
        refusal,
    };
    let give_way = |released| Yield {
        round,
        seen,
        released,
        clock: None,
    };
    vec![
        elect(None, None).into(),
        elect(Some(leadership()), None).into(),
        elect(None, Some(leader())).into(),
        Behind { seen }.into(),
        answer(None).into(),
        answer(Some(Refusal::Stale)).into(),
        answer(Some(Refusal::NotFree { retry: RETRY })).into(),
        give_way(None).into(),
        give_way(Some(TERM)).into(),
    ]
}

fn announcements() -> Vec<AnyMessage> {
    let (term, score, sent_at) = (TERM, score(), Some(TIME));
    let elected = |answer| Elected {
        term,
        score,
        answer,
        sent_at,
    };
    let heartbeat = |sent_at| Heartbeat {
        term,
        score,
        sent_at,
    };
    let resign = |successor| Resign {
        term,
        successor,
        given: None,
    };
    vec![
        elected(None).into(),
        elected(Some(ROUND)).into(),
        heartbeat(None).into(),
        heartbeat(sent_at).into(),
        resign(None).into(),
        resign(Some(id())).into(),
        Resign {
            given: Some(SEEN),
            ..resign(Some(id()))
        }
        .into(),
    ]
}

fn votes() -> Vec<AnyMessage> {
    let (term, score, seen) = (TERM, score(), SEEN);
    let incarnation = ROUND.incarnation;
    let claim = |released, successor| Claim {
        term,
        score,
        released,
        successor,
    };
    let reply = |granted| ClaimReply {
        term,
        seen,
        granted,
        retry: RETRY,
        incarnation,
        candidate: candidate(),
        seal: None,
        clock: None,
    };
    let ack = |score| Ack {
        term,
        echo: TIME,
        score,
        slow: false,
        promise: RETRY,
        incarnation,
    };
    vec![
        claim(None, None).into(),
        claim(Some(leader()), None).into(),
        claim(None, Some(candidate())).into(),
        reply(true).into(),
        reply(false).into(),
        ack(None).into(),
        ack(Some(score)).into(),
        Nack {
            term,
            of: term,
            incarnation,
        }
        .into(),
        Takeover { term }.into(),
    ]
}

/// Only voters without disks say these.
fn diskless() -> Vec<AnyMessage> {
    let (round, term, seen) = (ROUND, TERM, SEEN);
    let recovered = |recovering| Recovered {
        round,
        term,
        recovering,
        clock: CLOCK,
    };
    let by_clock = ClaimReply {
        term,
        seen,
        granted: false,
        retry: RETRY,
        incarnation: ROUND.incarnation,
        candidate: candidate(),
        seal: None,
        clock: Some(CLOCK),
    };
    vec![
        Recover { round, seen }.into(),
        recovered(false).into(),
        recovered(true).into(),
        by_clock.into(),
        Yield {
            round,
            seen,
            released: None,
            clock: Some(CLOCK),
        }
        .into(),
    ]
}

/// Only voters with disks say these, once each has started.
fn memories() -> Vec<AnyMessage> {
    let nothing = Recalled {
        incarnation: Incarnation(1 << 40),
        seen: SEEN,
        heard: Heard::default(),
    };
    let heard = Heard {
        store: Some(StoreId::new(u64::MAX)),
        incarnation: Some(Incarnation(1 << 40)),
        term: TERM,
    };
    vec![
        Recall { seen: SEEN }.into(),
        nothing.clone().into(),
        Recalled { heard, ..nothing }.into(),
    ]
}

/// The list of the third epoch: a voter whose host is known everywhere, and one that a decree names.
pub(super) fn decree() -> Decree {
    let contact = Contact {
        node: "host-4".to_owned(),
        address: "10.0.0.4:7400".to_owned(),
    };
    let voter = |id, contact| NewVoter { id, contact };
    Decree {
        epoch: 3,
        voters: vec![voter(id(), None), voter(new(), Some(contact))],
        vote_quorum: Some(2),
        lease_quorum: None,
    }
}

fn new() -> AgentId {
    AgentId::new("agent-4").unwrap()
}

/// What is said while the voters are changed.
fn changes() -> Vec<AnyMessage> {
    let (term, seen) = (TERM, SEEN);
    let voter = decree().voters.remove(1);
    let change = Box::new(VoterChange::Replace {
        old: id(),
        new: voter.clone(),
    });
    let next = decree();
    let seal = Some(Box::new(SealRecord { term, next }));
    let answer = |change: VoterChange, outcome| ChangeAnswer {
        term,
        change: Box::new(change),
        outcome,
    };
    let changed = Changed {
        epoch: 3,
        voters: vec![id(), new()],
        already: true,
    };
    let too_many = ChangeError::TooMany {
        voters: 101,
        most: 100,
    };
    vec![
        ClaimReply {
            term,
            seen,
            granted: true,
            retry: RETRY,
            incarnation: ROUND.incarnation,
            candidate: candidate(),
            seal,
            clock: None,
        }
        .into(),
        Seal {
            term,
            next: Box::new(decree()),
        }
        .into(),
        Sealed {
            term,
            incarnation: ROUND.incarnation,
        }
        .into(),
        Install {
            term: Term(3 << 40),
            decree: Box::new(decree()),
        }
        .into(),
        AskChange {
            term,
            change,
            is_unentitled: false,
        }
        .into(),
        answer(VoterChange::Add(voter), Ok(changed)).into(),
        answer(VoterChange::Remove(id()), Err(too_many)).into(),
        Enlist { term }.into(),
    ]
}

/// One of each that crosses, and one of each with everything that it may lack.
pub(super) fn every_message() -> Vec<AnyMessage> {
    [
        questions(),
        announcements(),
        votes(),
        diskless(),
        memories(),
        changes(),
    ]
    .concat()
}
