//! The lists of voters of a history, and their invariants.
//!
//! Decided here: three rules. An epoch has one list. A majority of the previous voters has sealed for the list in one
//! term. A term has one list to seal for. Also decided here: an operator removes no voter, and no host is lost for
//! good, if too few voters would remain.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use actix_bully::{
    elections::quorum::Vote,
    protocol::{AgentId, Term},
};

use crate::{check::Broken, voters::LONGEST_ASK};

/// The names of voters, in order.
pub type Names = Vec<AgentId>;

/// Every decided list, as disks and agents know it, and the open requests of operators.
#[derive(Debug, Default)]
pub struct Lists {
    known: BTreeMap<u64, Names>,
    /// The list that was sealed in each term, with its epoch, and the agents that have sealed for it.
    seals: BTreeMap<Term, (u64, Names, BTreeSet<AgentId>)>,
    /// The voters for which a removal was requested, even if the removal failed.
    pub(crate) to_go: BTreeSet<AgentId>,
    /// The voters that do not come back, and the time of their loss.
    pub(crate) lost: BTreeMap<AgentId, Duration>,
    pub(crate) waiting: usize,
}

impl Lists {
    /// Notes the configured list.
    pub fn begin(&mut self, first: Names) {
        self.known.insert(0, first);
    }

    /// Returns the latest list that any agent knew, and its epoch.
    pub fn latest(&self) -> (u64, &[AgentId]) {
        let latest = self.known.last_key_value();
        latest.map_or((0, &[]), |(epoch, names)| (*epoch, names.as_slice()))
    }

    pub const fn are_asked(&self) -> bool {
        self.waiting > 0
    }

    /// Checks that an agent knows the same list of an epoch as the other agents. The list of epoch 0 is configured,
    /// so two hosts may have different lists.
    pub fn knows(&mut self, who: &AgentId, epoch: u64, names: &[AgentId]) -> Result<(), Broken> {
        if epoch == 0 {
            return Ok(());
        }
        let known = self.known.entry(epoch).or_insert_with(|| names.to_vec());
        if known == names {
            return Ok(());
        }
        let (known, other) = (in_words(known), in_words(names));
        Err(format!(
            "epoch {epoch} has the voters {known}, and at {who} {other}"
        ))
    }

    /// Checks a record that is on the disk of an agent.
    pub fn wrote(&mut self, who: &AgentId, record: &Vote) -> Result<(), Broken> {
        if let Some(seal) = record.seal() {
            let names: Names = seal.next.names().cloned().collect();
            let new = (seal.next.epoch, names, BTreeSet::new());
            let (epoch, due, by) = self.seals.entry(seal.term).or_insert_with(|| new.clone());
            if (&new.0, &new.1) != (epoch, due) {
                let (one, other) = (in_words(due), in_words(&new.1));
                let term = seal.term;
                return Err(format!("{term} is sealed for {one} and for {other}"));
            }
            by.insert(who.clone());
        }
        let Some(decree) = record.installed() else {
            return Ok(());
        };
        let (epoch, names): (_, Names) = (decree.epoch, decree.names().cloned().collect());
        if !self.known.contains_key(&epoch) && !self.is_sealed(epoch, &names) {
            let names = in_words(&names);
            return Err(format!(
                "{who} has the voters {names} of epoch {epoch}, for which no quorum has sealed"
            ));
        }
        self.knows(who, epoch, &names)
    }

    /// Whether a majority of the previous voters has sealed for this list in one term.
    fn is_sealed(&self, epoch: u64, names: &[AgentId]) -> bool {
        let before = epoch
            .checked_sub(1)
            .and_then(|before| self.known.get(&before));
        before.is_some_and(|before| {
            self.seals.values().any(|(of, due, by)| {
                let sealed = before.iter().filter(|voter| by.contains(*voter)).count();
                (*of, due.as_slice()) == (epoch, names) && 2 * sealed > before.len()
            })
        })
    }

    /// Whether this voter may be lost: most voters must stay in every list that may come.
    pub(crate) fn can_lose(&self, id: &AgentId, now: Duration) -> bool {
        let (_, latest) = self.latest();
        let is_over = |(lost, at): (&AgentId, &Duration)| {
            !latest.contains(lost) && now > *at + 2 * LONGEST_ASK
        };
        latest.contains(id) && latest.len() >= LEAST && self.lost.iter().all(is_over)
    }

    /// Whether one voter may be removed from the list, even if all other requested removals succeed.
    pub(crate) fn can_shrink(&self, least: usize) -> bool {
        let (_, latest) = self.latest();
        let stay = latest.iter().filter(|id| !self.to_go.contains(*id));
        stay.count() > least
    }
}

fn in_words(names: &[AgentId]) -> String {
    let names: Vec<_> = names.iter().map(AgentId::as_str).collect();
    names.join(" ")
}

/// Smallest number of voters of which one may be lost.
pub(crate) const LEAST: usize = 3;
