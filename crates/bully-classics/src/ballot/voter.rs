//! What a voter remembers of ballots: those it took, the highest that was elected, and one by
//! which no agent leads any more. This part knows no role.
//!
//! Decided here: `number-never-reused` and `max-never-falls`. The record is written, by `Persist`,
//! before anything that depends on it can be sent.

use super::{BallotNumber, BallotRecord, Out};
use bully_core::protocol::{AgentId, Score};

/// The part of an agent that holds ballots.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Voter {
    /// What is durable.
    pub(super) record: BallotRecord,
    /// The ballot of this incarnation.
    pub(super) own: Option<BallotNumber>,
    /// A ballot whose holder has resigned, or whose end is confirmed.
    pub(super) void: Option<BallotNumber>,
}

impl Voter {
    pub(super) const fn new(record: BallotRecord) -> Self {
        Self {
            record,
            own: None,
            void: None,
        }
    }

    /// Takes a ballot so many numbers above all that are known. Says whether there was one.
    pub(super) fn take(
        &mut self,
        (score, id): (Score, &AgentId),
        ahead: u64,
        out: &mut Out,
    ) -> bool {
        let Some(n) = self.record.next(ahead) else {
            return false;
        };
        self.record.n = n;
        self.own = Some(BallotNumber {
            n,
            score,
            id: id.clone(),
        });
        // Before the ballot is told to any other agent: a number that is forgotten in a crash would
        // be taken again, and two leaderships would have one ballot.
        out.persist(self.record.clone());
        true
    }

    /// The highest ballot known to be elected rises, durably; it never falls. Says whether it rose.
    pub(super) fn raise(&mut self, max: BallotNumber, out: &mut Out) -> bool {
        if !self.is_above_max(&max) {
            return false;
        }
        self.record.max = Some(max);
        out.persist(self.record.clone());
        true
    }

    /// A ballot is elected, and trusted from now on.
    pub(super) fn elect(&mut self, ballot: &BallotNumber, out: &mut Out) {
        // A leader is elected anew in each round: the disk must not be written for that.
        if Some(ballot) != self.record.max.as_ref() {
            self.record.max = Some(ballot.clone());
            out.persist(self.record.clone());
        }
        let max = self.record.max.as_ref();
        self.own.take_if(|own| Some(&*own) < max); // it cannot win any more
    }

    pub(super) fn is_above_max(&self, ballot: &BallotNumber) -> bool {
        Some(ballot) > self.record.max.as_ref()
    }

    /// Whether its holder is known not to lead by it any more.
    pub(super) fn is_void(&self, ballot: &BallotNumber) -> bool {
        // The ballots of one holder rise, so all that it took before this one are over as well.
        let void = self.void.as_ref();
        void.is_some_and(|void| void.id == ballot.id && void.n >= ballot.n)
    }
}
