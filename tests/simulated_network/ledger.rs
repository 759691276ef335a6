//! The promises of voters, over all their incarnations and on each host where they run.
//!
//! Decided here: what counts as a vote (an answer that reached a candidate, or a record that names the candidate),
//! and that the checker never forgets a vote or a record.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use actix::Recipient;
use actix_bully::{
    clock::WallTime,
    elections::{AnyMessage, quorum::Vote},
    group::{Envelope, LocalWire},
    protocol::{AgentId, Term},
};
use bully_core::protocol::PeerMessage;

use crate::{check::Broken, lists::Lists, setting::agent_of};

/// The votes and records of one history. Clones share one ledger.
#[derive(Clone, Debug, Default)]
pub struct Ledger(Arc<Mutex<Entries>>);

#[derive(Debug, Default)]
struct Entries {
    /// The agent that got a voter's vote in a term.
    votes: BTreeMap<(AgentId, Term), AgentId>,
    /// The term of each voter's record.
    records: BTreeMap<AgentId, Term>,
    /// The pairs of agents of which the second does not hear the first, and the end of this silence in simulated
    /// time.
    silent: BTreeMap<(AgentId, AgentId), Duration>,
    counts: BTreeMap<&'static str, u64>,
    /// The leaders that asked for votes for their successors, with the terms.
    asked_ahead: BTreeSet<(AgentId, Term)>,
    /// The due times that have begun.
    begun: BTreeSet<WallTime>,
    /// The messages that were handled, by agent and number. `last` has the last number of each start of an agent.
    handled: BTreeSet<(usize, u64)>,
    last: BTreeMap<(usize, u64), u64>,
    lists: Lists,
    /// Whether the voters have no disks. Then a vote holds for a limited time, in one incarnation of its voter.
    is_diskless: bool,
    broken: Option<Broken>,
}

impl Ledger {
    /// Notes that a voter voted, and that the history is broken if the voter voted for another candidate in this
    /// term.
    pub fn voted(&self, voter: &AgentId, term: Term, candidate: &AgentId) {
        let mut entries = self.entries();
        let vote = entries.votes.entry((voter.clone(), term));
        let first = vote.or_insert_with(|| candidate.clone()).clone();
        if first != *candidate {
            let broken = format!("{voter} voted for {first} and {candidate} in {term}");
            entries.broken.get_or_insert(broken);
        }
    }

    /// Notes that the voters have no disks, so neither votes nor records survive a restart.
    pub fn expect_no_disks(&self) {
        self.entries().is_diskless = true;
    }

    /// Notes that a vote has arrived. By then the record of the vote must be on the voter's disk. A leader may have
    /// asked for this vote for its successor. Then the answer goes to the leader, but the record has the candidate.
    fn answered(&self, voter: &AgentId, term: Term, candidate: &AgentId) {
        let asked = (candidate.clone(), term);
        if !self.entries().asked_ahead.contains(&asked) {
            self.voted(voter, term, candidate);
        }
        let kept = self.entries().records.get(voter).copied();
        if kept < Some(term) {
            let kept = kept.unwrap_or_default();
            self.breaks(format!("{voter} voted in {term}, with a record of {kept}"));
        }
    }

    /// Notes that a voter's record is on its disk.
    pub fn wrote(&self, voter: &AgentId, record: &Vote) {
        if let Some(candidate) = &record.voted_for {
            self.voted(voter, record.term, &candidate.id);
        }
        let mut entries = self.entries();
        let last = entries.records.entry(voter.clone()).or_default();
        let before = std::mem::replace(last, record.term);
        if record.term < before {
            let broken = format!(
                "the record of {voter} went from {before} to {}",
                record.term
            );
            entries.broken.get_or_insert(broken);
        }
        if let Err(broken) = entries.lists.wrote(voter, record) {
            entries.broken.get_or_insert(broken);
        }
    }

    /// Gives access to the lists of voters.
    pub fn lists<R>(&self, then: impl FnOnce(&mut Lists) -> R) -> R {
        then(&mut self.entries().lists)
    }

    /// Stops the messages between two agents of one process until this time.
    pub fn silence(&self, one: &AgentId, other: &AgentId, until: Duration) {
        let mut entries = self.entries();
        for (from, to) in [(one, other), (other, one)] {
            entries.silent.insert((from.clone(), to.clone()), until);
        }
    }

    /// Lets all agents hear each other again.
    pub fn end_silence(&self) {
        self.entries().silent.clear();
    }

    fn is_silent(&self, from: &AgentId, to: &AgentId) -> bool {
        let entries = self.entries();
        if entries.silent.is_empty() {
            return false;
        }
        let now = turmoil::sim_elapsed().unwrap_or_default();
        let until = entries.silent.get(&(from.clone(), to.clone()));
        until.is_some_and(|until| now < *until)
    }

    /// Notes that a tick begins. Each due time may begin once.
    pub fn begun(&self, due: WallTime) {
        self.count(TICK);
        if !self.entries().begun.insert(due) {
            self.breaks(format!("the tick of {due} began twice"));
        }
    }

    /// Notes that a leader handles a message from a start of an agent.
    pub fn handled(&self, member: usize, start: u64, number: u64) {
        self.count(MESSAGE);
        let (is_new, last) = {
            let mut entries = self.entries();
            let last = entries.last.insert((member, start), number);
            (entries.handled.insert((member, number)), last)
        };
        let agent = agent_of(member);
        if !is_new {
            self.breaks(format!("message {number} of {agent} was handled twice"));
        } else if last > Some(number) {
            self.breaks(format!("message {number} of {agent} was handled late"));
        }
    }

    /// Counts an event inside of a process.
    pub fn count(&self, what: &'static str) {
        *self.entries().counts.entry(what).or_default() += 1;
    }

    /// Notes a broken invariant that a process has found.
    pub fn breaks(&self, broken: Broken) {
        self.entries().broken.get_or_insert(broken);
    }

    /// Returns the counts since the last call.
    pub fn take_counts(&self) -> BTreeMap<&'static str, u64> {
        std::mem::take(&mut self.entries().counts)
    }

    /// Returns the first broken invariant as an error.
    pub fn check(&self) -> Result<(), Broken> {
        self.entries().broken.take().map_or(Ok(()), Err)
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Every message for the agents of a process passes through the ledger, also messages from other hosts.
impl LocalWire<AnyMessage> for Ledger {
    fn carry(
        &self,
        to: &AgentId,
        message: Envelope<AnyMessage>,
        inbox: &Recipient<Envelope<AnyMessage>>,
    ) {
        if self.is_silent(&message.from, to) {
            return;
        }
        if let AnyMessage::Claim(claim) = &message.message
            && claim.successor.is_some()
        {
            let asked = (message.from.clone(), claim.term);
            self.entries().asked_ahead.insert(asked);
        }
        if let AnyMessage::ClaimReply(reply) = &message.message
            && reply.granted
            && !self.entries().is_diskless
        {
            self.answered(&message.from, reply.term, to);
        }
        // The group does the same without the ledger: a message that is repeated anyway may be lost.
        if message.message.is_repeated() {
            inbox.try_send(message).ok();
        } else {
            inbox.do_send(message);
        }
    }
}

/// Names of two counts: a tick that begins, and a message that a leader handles.
pub const TICK: &str = "tick begun";
pub const MESSAGE: &str = "message handled";
