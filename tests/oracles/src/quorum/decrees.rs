//! All seals, lists and answers of the agents of one history about their voters.
//!
//! Decided here: the invariants of a change of the voters, from inputs, effects and views. An *epoch* is the upper part
//! of a term, and names a list of voters.

use std::collections::{BTreeMap, BTreeSet};

use bully_core::{
    elections::quorum::{QuorumConfig, Vote},
    protocol::{AgentId, Changed, Decree, Term, VoterChange},
};

/// Number of the lower bits of a term. They count the elections of one epoch.
const BITS: u32 = 40;

/// Returns the epoch of a term.
pub(super) const fn epoch_of(term: Term) -> u64 {
    term.0 >> BITS
}

/// Returns `config` with the voters of `list`.
pub(super) fn under(config: &QuorumConfig, list: &Decree) -> QuorumConfig {
    let wide = |n: Option<u32>| n.and_then(|n| usize::try_from(n).ok());
    QuorumConfig {
        voters: list.names().cloned().collect(),
        vote_quorum: wide(list.vote_quorum),
        lease_quorum: wide(list.lease_quorum),
        epoch: list.epoch,
        ..config.clone()
    }
}

/// The part of a history's record that concerns lists of voters.
#[derive(Debug, Default)]
pub(super) struct Decrees {
    /// `OneList`: the list that was installed in each epoch.
    lists: BTreeMap<u64, Decree>,
    /// `SealedFirst`: the voters that have sealed for a list in a term.
    seals: Vec<(Term, Decree, BTreeSet<AgentId>)>,
    /// `NoAckAfterSeal`: the highest term that each voter has ever sealed.
    highest: BTreeMap<AgentId, Term>,
}

impl Decrees {
    /// Returns the number of lists that were installed.
    pub(super) fn installed(&self) -> u64 {
        u64::try_from(self.lists.len()).unwrap_or(u64::MAX)
    }

    /// Returns the configuration of `epoch`; `first` is the configuration of the beginning.
    pub(super) fn config(&self, epoch: u64, first: &QuorumConfig) -> Option<QuorumConfig> {
        if epoch == first.epoch {
            return Some(first.clone());
        }
        self.lists.get(&epoch).map(|list| under(first, list))
    }

    /// Forgets a seal or a list that a crash kept from the disk.
    pub(super) fn was_cut_short(&mut self, me: &AgentId, kept: &Vote) {
        let sealed = kept.seal().map_or(Term::ZERO, |seal| seal.term);
        if let Some(highest) = self.highest.get_mut(me)
            && *highest > kept.term
        {
            *highest = sealed;
        }
        for (term, _, voters) in &mut self.seals {
            if *term > kept.term {
                voters.remove(me);
            }
        }
    }

    /// Notes that a voter has written its seal.
    pub(super) fn seals(&mut self, me: &AgentId, term: Term, next: &Decree) {
        let highest = self.highest.entry(me.clone()).or_default();
        *highest = term.max(*highest);
        let same =
            |(t, list, _): &&mut (Term, Decree, BTreeSet<AgentId>)| *t == term && list == next;
        match self.seals.iter_mut().find(same) {
            Some((_, _, voters)) => drop(voters.insert(me.clone())),
            None => self
                .seals
                .push((term, next.clone(), BTreeSet::from([me.clone()]))),
        }
    }

    /// Checks `NoAckAfterSeal`.
    pub(super) fn acknowledges(&self, me: &AgentId, term: Term) -> Result<(), String> {
        match self.highest.get(me) {
            Some(sealed) if term <= *sealed => Err(format!(
                "NoAckAfterSeal: {me} acknowledges term {term}, and has sealed {sealed}"
            )),
            Some(_) | None => Ok(()),
        }
    }

    /// Checks `OneList` and `SealedFirst` when an agent has a new list.
    pub(super) fn installs(
        &mut self,
        me: &AgentId,
        list: &Decree,
        first: &QuorumConfig,
    ) -> Result<(), String> {
        if let Some(known) = self.lists.get(&list.epoch) {
            if known == list {
                return Ok(());
            }
            return Err(format!("OneList: {me} has {list}, others have {known}"));
        }
        let before = list.epoch.checked_sub(1);
        let before = before.and_then(|epoch| self.config(epoch, first));
        self.lists.insert(list.epoch, list.clone());
        let Some(before) = before else {
            return Err(format!("SealedFirst: {me} has {list}, with no list before"));
        };
        let of_voters = |voters: &BTreeSet<AgentId>| {
            let voters = voters.iter().filter(|id| before.voters.contains(id));
            voters.count()
        };
        let is_sealed = self.seals.iter().any(|(term, next, voters)| {
            epoch_of(*term) == before.epoch
                && next == list
                && of_voters(voters) >= before.vote_quorum()
        });
        if is_sealed {
            return Ok(());
        }
        Err(format!(
            "SealedFirst: {me} has {list}, which no quorum has sealed"
        ))
    }

    /// Checks `AnswerTrue` when an agent hears that the voters are changed.
    pub(super) fn answers(
        &mut self,
        me: &AgentId,
        change: &VoterChange,
        changed: &Changed,
        first: &QuorumConfig,
    ) -> Result<(), String> {
        let (new, old) = change.parts();
        let config = self.config(changed.epoch, first);
        let is_true = config.is_some_and(|config| {
            let sorted = |ids: &[AgentId]| ids.iter().cloned().collect::<BTreeSet<_>>();
            sorted(&config.voters) == sorted(&changed.voters)
                && new.is_none_or(|new| config.voters.contains(&new.id))
                && old.is_none_or(|old| !config.voters.contains(old))
        });
        if is_true {
            return Ok(());
        }
        Err(format!(
            "AnswerTrue: {me} reports that epoch {} made {change}, which it did not",
            changed.epoch
        ))
    }
}
