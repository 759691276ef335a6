//! The messages about a change of the voters, in the tests' short form.

use super::*;
use crate::elections::{
    message::{AskChange, ChangeAnswer, Enlist, Install, Seal, Sealed},
    vote::{SealRecord, VotersRecord},
};
use crate::protocol::{ChangeError, Changed, Decree, NewVoter, VoterChange};

/// First term of the epoch 1. The epochs count from 0.
pub(super) const NEXT: u64 = 1 << 40;

pub(super) fn voter(name: &str) -> NewVoter {
    let (id, contact) = (id(name), None);
    NewVoter { id, contact }
}

pub(super) fn decree(epoch: u64, names: &[&str]) -> Decree {
    let mut voters: Vec<_> = names.iter().map(|name| voter(name)).collect();
    voters.sort_by(|one, other| one.id.cmp(&other.id));
    Decree {
        epoch,
        voters,
        vote_quorum: None,
        lease_quorum: None,
    }
}

pub(super) fn seal(term: u64, names: &[&str]) -> Seal {
    Seal {
        term: Term(term),
        next: Box::new(decree(1, names)),
    }
}

pub(super) fn sealed(term: u64) -> Sealed {
    Sealed {
        term: Term(term),
        incarnation: Incarnation(1),
    }
}

pub(super) fn install(epoch: u64, names: &[&str]) -> Install {
    Install {
        term: Term(epoch << 40),
        decree: Box::new(decree(epoch, names)),
    }
}

/// Returns a record that has sealed this term for this list.
pub(super) fn seals(term: u64, names: &[&str]) -> VotersRecord {
    VotersRecord {
        installed: None,
        seal: Some(SealRecord {
            term: Term(term),
            next: decree(1, names),
        }),
        tells: false,
    }
}

/// Returns a former leader that decided a list without itself.
pub(super) fn removed_by_itself(config: &QuorumConfig) -> Kit {
    let mut me = Kit::heard_by(config.clone());
    me.change(remove(ME)).whatever();
    me.step(Input::Drained).whatever();
    me.hear(LOW, sealed(MINE)).whatever();
    me
}

/// Returns the configuration of a learner that was made a voter and removed again. No configured list names it.
pub(super) fn typed_without_me(config: QuorumConfig) -> QuorumConfig {
    let typed = QuorumConfig::new([LOW, HIGH].map(id));
    valid(QuorumConfig {
        voters: typed.voters,
        learner: true,
        ..config
    })
}

/// Returns the vote `reply`, which reports a seal of this term and list.
pub(super) fn reports(reply: &ClaimReply, term: u64, names: &[&str]) -> ClaimReply {
    let seal = seals(term, names).seal.map(Box::new);
    ClaimReply {
        seal,
        ..reply.clone()
    }
}

pub(super) fn enlist(term: u64) -> Enlist {
    Enlist { term: Term(term) }
}

pub(super) fn add(name: &str) -> VoterChange {
    VoterChange::Add(voter(name))
}

pub(super) fn remove(name: &str) -> VoterChange {
    VoterChange::Remove(id(name))
}

/// Returns the command of an agent that may command it.
pub(super) fn ask(term: u64, change: VoterChange) -> AskChange {
    AskChange {
        term: Term(term),
        change: Box::new(change),
        is_unentitled: false,
    }
}

pub(super) fn refusal(term: u64, change: VoterChange, reason: ChangeError) -> ChangeAnswer {
    ChangeAnswer {
        term: Term(term),
        change: Box::new(change),
        outcome: Err(reason),
    }
}

pub(super) fn installed(epoch: u64, names: &[&str]) -> Event {
    Event::Voters(Box::new(VotersEvent::Installed(decree(epoch, names))))
}

pub(super) fn answered(change: VoterChange, outcome: Result<Changed, ChangeError>) -> Event {
    Event::Voters(Box::new(VotersEvent::Answered { change, outcome }))
}

pub(super) fn record(me: &Kit) -> &Vote {
    &me.machine.core.voter.record
}

impl Kit {
    pub(super) fn change(&mut self, change: VoterChange) -> StepEffects {
        self.step(Input::ChangeVoters(Box::new(change)))
    }
}
