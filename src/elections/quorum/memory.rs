//! One name, one store, one incarnation: what a voter may have forgotten, and who notices.
//!
//! The promise rests on what a voter knows of its past: its record. A record may be missing (the store was lost,
//! or another one stands under the old name), and it may be too old (a backup, or a copy of the file). No voter can see
//! that by itself. Decided here: what it does while it cannot know, and what the others remember for it.
//!
//! | rule | what it says | decided in |
//! |---|---|---|
//! | `bound-to-one-incarnation` | A promise, a vote and a raise are for one incarnation. | `voter.rs` |
//! | `abstain-when-late` | A voter whose record is empty when it starts abstains for P, once, from when it hears of a later election than the first of its epoch, or would hold one; unless the first one has reached it since: it made that claim, or heard it. | here |
//! | `one-store-per-voter` | A voter keeps with which store each other one took part in this epoch, and whoever says something under that name with another store is not heard. | `recall.rs` |
//! | `remember-who-took-part` | Who hears a vote or an acknowledgement keeps the last incarnation of its voter, and the highest such term. | `recall.rs` |
//! | `incarnation-before-word` | A record names this incarnation before its first vote or acknowledgement leaves. | `voter.rs` |
//! | `ask-after-start` | A voter that starts asks the others what they heard of it, and asks whoever has not answered again when it hears from it. Without a quarantine it votes, claims and acknowledges when the first has answered, or after E. | here, `recall.rs` |
//! | `older-than-remembered` | A record below what another voter heard of this one is an old copy: the agent ends. | `recall.rs` |
//! | `written-within-a-minute` | What is kept of the others is written with the next record, a minute later at the latest. | `recall.rs` |
//!
//! None of it without disks: there [`diskless`](super::diskless) has other rules. With Ql = 1 a lease rests on no
//! promise, so that no voter abstains for one that it may have forgotten.
//!
//! # Why an honest voter is never taken for an old copy
//! Nobody hears a vote or an acknowledgement of an incarnation before its record names that incarnation and a term as
//! high (`incarnation-before-word`, `persist-before-send`). So whatever is remembered of former incarnations is in the
//! record that a later one starts with, however often one is killed, and whatever elections it missed: that the *group*
//! has gone on to higher terms says nothing. A claim does not count, since it leaves before the vote of its own
//! candidate is durable (`claim-beside-own-vote`).
//!
//! What is heard of the present incarnation says nothing of the record that it started with, so it is kept apart from
//! what was heard before.
//!
//! # What it closes, and what not
//! A second process of a leader's name with a new store, or with a copy of the store, gets no vote while the leader has
//! promises; the confirmed end of one process frees no promise to the other. A voter with a lost store does not help to
//! elect beside a leader that it has forgotten: it abstains, and whoever met it before does not hear it. A file that was
//! restored from a backup ends its agent in words.
//!
//! Not closed: two processes of one voter on two sides of a partition, where those on one side never met the other
//! process; a lost store together with a voter that was cut off since the birth, so that neither knows of any election;
//! a store that was lost after a promise longer than its present P; a restored file where no voter that is reached can
//! know better, which is no worse than a lost one.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use super::{Defect, QuorumConfig, Vote, voter::Voter};
use crate::protocol::{AgentId, Incarnation, Term, Time};

/// What an incarnation knows of its own past, and of what it has to write of the others'.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Memory {
    /// The record with which this incarnation began: the last incarnation that took part, and its term.
    pub(super) began: (Option<Incarnation>, Term),
    /// `abstain-when-late`: it has no record of an earlier election, and took no part in the first one.
    is_late: bool,
    /// `ask-after-start`: it waits for the first answer until then.
    pub(super) waits: Option<Time>,
    /// The others that have not answered, and when each was asked last.
    pub(super) open: BTreeMap<AgentId, Time>,
    /// What was heard of the others' incarnations before the present ones.
    pub(super) former: BTreeMap<AgentId, (Incarnation, Term)>,
    /// Since when something that is kept of the others is not written.
    pub(super) unwritten: Option<Time>,
    /// Whose other store was told of.
    pub(super) told: BTreeSet<AgentId>,
    /// `older-than-remembered`: this agent takes part no more.
    pub(super) is_over: bool,
}

impl Memory {
    pub(super) fn new(record: &Vote) -> Self {
        Self {
            began: (record.incarnation, record.term),
            is_late: false,
            waits: None,
            open: BTreeMap::new(),
            former: BTreeMap::new(),
            unwritten: None,
            told: BTreeSet::new(),
            is_over: false,
        }
    }

    /// Whether the record was empty when this incarnation began.
    fn began_empty(&self) -> bool {
        self.began.1 == Term::ZERO
    }

    pub(super) const fn is_over(&self) -> bool {
        self.is_over
    }

    /// Everything that is kept of the others is written.
    pub(super) const fn note_written(&mut self) {
        self.unwritten = None;
    }
}

// ---- a record that is missing ----------------------------------------------------------------

impl Voter {
    /// `ask-after-start`: the incarnation begins. One that does not abstain waits for the first answer.
    pub(super) fn remember(
        &mut self,
        config: &QuorumConfig,
        now: Time,
        abstains: bool,
        peers: &[AgentId],
    ) {
        if config.diskless().is_some() {
            return;
        }
        let memory = &mut self.memory;
        memory.is_late = memory.began_empty() && !abstains;
        memory.open = peers.iter().map(|id| (id.clone(), now)).collect();
        let waits = !abstains && !peers.is_empty();
        memory.waits = waits.then(|| now.after(config.timings.round()));
    }

    /// A later epoch begins: nothing that was remembered is of it. An incarnation that has taken no part in the one
    /// before may have missed the beginning, and asks whoever speaks in this one.
    pub(super) fn forget_others(&mut self, peers: &[AgentId]) {
        let takes_part = self.record.incarnation >= Some(self.incarnation);
        self.record.others.clear();
        let memory = &mut self.memory;
        memory.former.clear();
        memory.told.clear();
        memory.open.clear();
        if !takes_part {
            memory.is_late = memory.began_empty();
            memory.open = peers.iter().map(|id| (id.clone(), Time::ZERO)).collect();
        }
    }

    /// `abstain-when-late`: that election is, or was, held.
    pub(super) fn hear_of_election(&mut self, config: &QuorumConfig, now: Time, term: Term) {
        let first = config.term_above(config.first_term());
        let is_later = first.is_some_and(|first| term > first);
        if !self.memory.is_late || !is_later {
            return;
        }
        self.memory.is_late = false;
        if config.lease_quorum() > 1 && !config.confuses(Defect::LateVotesAtOnce) {
            let until = now.after(config.timings.promise());
            self.quarantine = self.quarantine.max(Some(until));
        }
    }

    /// `abstain-when-late`: an agent claims that term. Before the first one nobody has promised anything.
    pub(super) fn excuse(&mut self, config: &QuorumConfig, term: Term) {
        if Some(term) == config.term_above(config.first_term()) {
            self.memory.is_late = false;
        }
    }

    /// `ask-after-start`: for how much longer it waits for the first answer.
    pub(super) fn awaits(&self, now: Time) -> Duration {
        self.memory
            .waits
            .map_or(Duration::ZERO, |until| until.since(now))
    }
}
