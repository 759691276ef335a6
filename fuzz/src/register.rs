//! The answers of a register to an agent: the agent's own writes, records of others, and answers to no question.

use actix_bully::protocol::{About, AgentId};
use bully_core::elections::{
    lease::{
        Answer, Cell, ClaimRecord, Holder, LeaseName, LeaseRecord, Nonce, RecordError,
        RegisterQuestion, RegisterShown, Successor, Swapped, Version,
    },
    quorum::Micros,
};

use crate::choices::{Choices, incarnation, name, score, some, term};

/// The last questions of an agent.
#[derive(Debug, Default)]
pub(crate) struct Register {
    request: u64,
    lease: Option<LeaseRecord>,
    claim: Option<ClaimRecord>,
}

impl Register {
    pub(crate) fn hear(&mut self, question: RegisterQuestion) {
        match question {
            RegisterQuestion::Read(read) => self.request = read.request,
            RegisterQuestion::Swap(swap) => {
                self.request = swap.request;
                match swap.record {
                    Swapped::Lease(record) => self.lease = Some(record),
                    Swapped::Claim(record) => self.claim = Some(record),
                }
            }
        }
    }

    pub(crate) fn says(&self, choices: &mut Choices<'_>) -> Box<RegisterShown> {
        let back = u64::from(choices.below(4));
        let request = self.request.saturating_sub(back);
        let request = (!choices.one_in(8)).then_some(request);
        let answer = match choices.below(8) {
            0 => Answer::Failed,
            1 => Answer::Changed,
            2 | 3 => Answer::Applied(version(choices)),
            _ => Answer::Holds {
                lease: cell(choices, |choices| self.lease(choices)),
                claim: cell(choices, |choices| self.claim(choices)),
            },
        };
        Box::new(RegisterShown {
            request,
            answer,
            age: Micros(u64::from(choices.byte()) << 12),
            waited: Micros(u64::from(choices.byte()) << 6),
            is_broken: choices.one_in(8),
        })
    }

    /// Makes the record of the agent's own attempt, or of another agent.
    fn lease(&self, choices: &mut Choices<'_>) -> Option<LeaseRecord> {
        match choices.below(4) {
            0 => None,
            1 => self.lease.clone(),
            _ => Some(LeaseRecord {
                name: group(choices),
                term: term(choices),
                holder: some(choices, |choices| Holder {
                    id: name(choices),
                    incarnation: incarnation(choices),
                    score: score(choices),
                    about: some(choices, |_| About::new("x").ok()).flatten(),
                }),
                lease: Micros(u64::from(choices.byte()) << 12),
                nonce: nonce(choices),
                next: some(choices, |choices| Successor {
                    id: name(choices),
                    wait: Micros(u64::from(choices.byte()) << 12),
                }),
            }),
        }
    }

    fn claim(&self, choices: &mut Choices<'_>) -> Option<ClaimRecord> {
        match choices.below(4) {
            0 | 1 => None,
            2 => self.claim.clone(),
            _ => Some(ClaimRecord {
                name: group(choices),
                score: some(choices, score),
                seen: term(choices),
                nonce: nonce(choices),
            }),
        }
    }
}

fn cell<R>(choices: &mut Choices<'_>, make: impl FnOnce(&mut Choices<'_>) -> Option<R>) -> Cell<R> {
    let version = version(choices);
    let content = if choices.one_in(8) {
        Err(RecordError::Kind)
    } else {
        Ok(make(choices))
    };
    Cell { version, content }
}

fn version(choices: &mut Choices<'_>) -> Version {
    Version::new(&[choices.below(4)]).expect("a short version")
}

fn nonce(choices: &mut Choices<'_>) -> Nonce {
    Nonce {
        id: name(choices),
        incarnation: incarnation(choices),
        attempt: u64::from(choices.byte()),
    }
}

/// Makes a group's name, mostly that of the agent.
fn group(choices: &mut Choices<'_>) -> LeaseName {
    let id = |name| AgentId::new(name).expect("a name");
    LeaseName {
        cluster: id("shop"),
        group: id(if choices.one_in(8) { "jobs" } else { "cron" }),
    }
}
