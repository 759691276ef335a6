//! The last statements of the other voters, and the conclusions from them.
//!
//! Decided here: which ballot is the highest of a round (rule `trust-the-highest`), and whether another voter still
//! hears the holder of a ballot (`ask-who-hears-the-leader`). Each voter has one statement; a new statement replaces
//! the earlier one. The original algorithm keeps a set of pairs, in which a voter that answers twice counts twice.

use std::collections::BTreeMap;

use super::{BallotNumber, message::Standing};
use bully_core::protocol::{AgentId, Incarnation, Members};

/// The last statement of each other voter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Statements(BTreeMap<AgentId, Statement>);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Statement {
    incarnation: Incarnation,
    standing: Standing,
    /// The last round of this agent that the voter answered; 0 before the first answer.
    answered: u64,
}

impl Statements {
    /// Stores the statement of a voter. `answers` is the round that the statement answers; `None` for a request. A
    /// statement of the voter's earlier incarnation is replaced.
    pub(super) fn note(
        &mut self,
        from: &AgentId,
        incarnation: Incarnation,
        standing: Standing,
        answers: Option<u64>,
    ) {
        let known = self.0.get_mut(from);
        if known.as_ref().is_some_and(|k| k.incarnation > incarnation) {
            return;
        }
        let same = known.as_ref().filter(|k| k.incarnation == incarnation);
        // A request answers no round, so the round that this incarnation answered last stays.
        let answered = answers.or_else(|| same.map(|k| k.answered));
        let statement = Statement {
            incarnation,
            standing,
            answered: answered.unwrap_or(0),
        };
        match known {
            Some(known) => *known = statement,
            None => drop(self.0.insert(from.clone(), statement)),
        }
    }

    /// Forgets the statements of incarnations that have ended since.
    pub(super) fn forget_ended(&mut self, members: &Members) {
        self.0.retain(|id, statement| {
            let member = members.get(id);
            member.is_some_and(|member| !member.is_stale(statement.incarnation))
        });
    }

    /// Returns the last round that this voter answered; 0 before the first answer.
    pub(super) fn answered(&self, id: &AgentId) -> u64 {
        self.0.get(id).map_or(0, |statement| statement.answered)
    }

    /// Returns the number of voters that have answered this round or a later round.
    pub(super) fn count_since(&self, round: u64) -> usize {
        let all = self.0.values();
        all.filter(|statement| statement.answered >= round).count()
    }

    /// Returns whether the holder of this ballot has stated in this round that it still holds the ballot.
    pub(super) fn confirms(&self, ballot: &BallotNumber, round: u64) -> bool {
        let holder = self.0.get(&ballot.id).filter(|s| s.answered == round);
        holder.is_some_and(|holder| holder.standing.ballot.as_ref() == Some(ballot))
    }

    /// Returns the highest ballot of the voters that answered this round and had heard a majority when they answered
    /// (rule `believe-the-connected`).
    pub(super) fn highest(
        &self,
        round: u64,
        is_void: impl Fn(&BallotNumber) -> bool,
    ) -> Option<(&BallotNumber, Incarnation)> {
        let answers = self.0.values().filter(|s| s.answered == round);
        let connected = answers.filter(|s| s.standing.connected);
        let ballots = connected.filter_map(|s| Some((s.standing.ballot.as_ref()?, s.incarnation)));
        // An answer may have been sent before its sender resigned.
        ballots.filter(|(ballot, _)| !is_void(ballot)).max()
    }

    /// Returns the highest ballot whose holder another voter reports to hear. A report counts only if its voter heard a
    /// majority (it is connected) and answered in the round `since` or later.
    pub(super) fn heard_by_others(
        &self,
        since: u64,
        counts: impl Fn(&BallotNumber) -> bool,
    ) -> Option<&BallotNumber> {
        let recent = self.0.iter().filter(|(_, s)| s.answered >= since);
        let hears = recent.filter(|(_, s)| s.standing.connected);
        let hears = hears.filter_map(|(id, s)| Some((id, s.standing.hears.as_ref()?)));
        let of_others = hears.filter(|(id, ballot)| ballot.id != **id);
        of_others
            .map(|(_, ballot)| ballot)
            .filter(|b| counts(b))
            .max()
    }

    /// Returns whether a voter that answered in the round `since` or later would take a ballot.
    pub(super) fn others_are_eligible(&self, since: u64) -> bool {
        let mut all = self.0.values();
        all.any(|s| s.standing.eligible && s.answered >= since)
    }
}
