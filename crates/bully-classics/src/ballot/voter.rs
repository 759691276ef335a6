//! A voter's memory of ballots: its last ballot, the highest elected ballot, and a ballot whose holder no longer leads.
//! This module does not depend on the role.
//!
//! Decided here: the rules `number-never-reused` and `max-never-falls`. The effect `Persist` writes the record before
//! any message that depends on it is sent.

use super::{BallotNumber, BallotRecord, Out};
use bully_core::protocol::{AgentId, Score};

/// The part of an agent that holds ballots.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Voter {
    pub(super) record: BallotRecord,
    pub(super) own: Option<BallotNumber>,
    /// A ballot whose holder has resigned, or whose holder's end is confirmed.
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

    /// Takes a ballot whose number is `ahead` above the highest known number. Returns whether that number is valid.
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
        // The record is written before any other agent hears of the ballot. A number that is forgotten
        // in a crash would be taken again, and two leaderships would have the same ballot.
        out.persist(self.record.clone());
        true
    }

    /// Raises the highest ballot known to be elected, durably; it never falls. Returns whether it rose.
    pub(super) fn raise(&mut self, max: BallotNumber, out: &mut Out) -> bool {
        if !self.is_above_max(&max) {
            return false;
        }
        self.record.max = Some(max);
        out.persist(self.record.clone());
        true
    }

    /// Stores a ballot that is elected and trusted from now on.
    pub(super) fn elect(&mut self, ballot: &BallotNumber, out: &mut Out) {
        // Each round elects the same leader again, and that must not write to the disk.
        if Some(ballot) != self.record.max.as_ref() {
            self.record.max = Some(ballot.clone());
            out.persist(self.record.clone());
        }
        let max = self.record.max.as_ref();
        self.own.take_if(|own| Some(&*own) < max); // the ballot can no longer win
    }

    pub(super) fn is_above_max(&self, ballot: &BallotNumber) -> bool {
        Some(ballot) > self.record.max.as_ref()
    }

    /// Returns whether this agent knows that the holder no longer leads by this ballot.
    pub(super) fn is_void(&self, ballot: &BallotNumber) -> bool {
        // The ballots of a holder rise, so all its earlier ballots are void as well.
        let void = self.void.as_ref();
        void.is_some_and(|void| void.id == ballot.id && void.n >= ballot.n)
    }
}
