//! The record of one history: the messages, writes and announcements of all its agents, and the invariants that they
//! break.
//!
//! Decided here: the invariants, by name, from inputs, effects and views. The record computes the voters' promises a
//! second time, by the written rules, so that it notices at once when a voter forgets a promise.

mod change;
mod votes;

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use super::decrees::Decrees;
use bully_core::{
    elections::quorum::{Claim, Micros, QuorumConfig, Vote},
    protocol::{AgentId, Incarnation, Term, Time, Timings},
};

#[derive(Debug, Default)]
pub(super) struct Ledger {
    /// `VoteOnce`: the candidate of each voter's vote in each term, in all its incarnations.
    votes: BTreeMap<(AgentId, Term), AgentId>,
    /// The voters of each candidate.
    grants: BTreeMap<(Term, AgentId), BTreeSet<AgentId>>,
    /// `NoRivalElected`: the agent that has a quorum of votes in each term.
    elected: BTreeMap<Term, AgentId>,
    last_elected: Term,
    /// `LeaderPerTerm`: the agent and incarnation that announced itself in each term.
    announced: BTreeMap<Term, (AgentId, Incarnation)>,
    /// Whether some voter has two memories, or lost its memory. Votes and promises of such a voter are not those of one
    /// voter: then only `OneBeliever`, `LeaderPerTerm` and `TokenMonotone` are checked, and of a leadership only the
    /// leader's own announcements count.
    pub(super) is_doubtful: bool,
    /// `TokenMonotone`: the last token.
    token: Term,
    /// The agent that has the last token, and the token before it.
    last_token: Option<(AgentId, Term)>,
    /// `ResignFinal`: the agents that resigned, with the terms.
    resigned: BTreeSet<(AgentId, Term)>,
    last_resigned: Term,
    /// The records and promises of each voter.
    voters: Vec<Voter>,
    /// Without disks: the voters that have begun, and have not yet voted or acknowledged.
    forgetful: BTreeSet<AgentId>,
    /// Without disks: whether no wall clock is ahead of another, so that terms increase even if all voters forget.
    pub(super) has_right_clocks: bool,
    /// The seals and the lists.
    pub(super) decrees: Decrees,
    /// The first broken invariant.
    pub(super) broken: Option<String>,
    /// Number of leaderships that began.
    pub(super) elections: u64,
}

/// One voter, in all its incarnations.
#[derive(Debug)]
struct Voter {
    id: AgentId,
    /// `TermMonotone`, `DiskFirst`: its durable record.
    disk: Vote,
    /// `LeaseBacked`, `PromiseKept`: the quarantine and the promise that bind the voter, by its own clock.
    quarantine: Time,
    promise: Option<Promise>,
    /// `record-longest-promise`: the longest of the voter's promises that may still hold.
    longest: Duration,
    /// `claim-beside-own-vote`: the voter's claim, while its own vote is not durable.
    claim: Option<Claim>,
}

#[derive(Debug)]
struct Promise {
    holder: AgentId,
    incarnation: Incarnation,
    term: Term,
    until: Time,
}

impl Voter {
    /// `record-longest-promise`: notes a promise of the present incarnation. The promises of earlier incarnations end
    /// with the quarantine.
    fn promises(&mut self, now: Time, span: Duration) {
        self.longest = if now < self.quarantine {
            span.max(self.longest)
        } else {
            span
        };
    }
}

impl Ledger {
    /// A linear search is fast: there are few voters, and their names differ in their hashes.
    fn voter(&self, id: &AgentId) -> Option<&Voter> {
        self.voters.iter().find(|voter| voter.id == *id)
    }

    fn voter_mut(&mut self, id: &AgentId) -> Option<&mut Voter> {
        self.voters.iter_mut().find(|voter| voter.id == *id)
    }

    fn breaks(&mut self, invariant: &str, what: &str) {
        if !self.is_doubtful {
            self.breaks_for_all(invariant, what);
        }
    }

    /// Notes that an invariant is broken which holds also if a voter's memory is doubtful.
    fn breaks_for_all(&mut self, invariant: &str, what: &str) {
        self.broken
            .get_or_insert_with(|| format!("{invariant}: {what}"));
    }

    /// Notes that a voter without a disk begins and remembers nothing. If fewer than a quorum remember, terms increase
    /// only by the clocks.
    fn forgets(&mut self, me: &AgentId, config: &QuorumConfig) {
        self.votes.retain(|(voter, _), _| voter != me);
        if !config.voters.contains(me) {
            return;
        }
        self.forgetful.insert(me.clone());
        let remember = config.voters.len().saturating_sub(self.forgetful.len());
        if remember < config.vote_quorum() && !self.has_right_clocks {
            (self.token, self.last_elected) = (Term::ZERO, Term::ZERO);
            self.announced.clear();
            self.elected.clear();
        }
    }

    /// Notes that an incarnation begins with this record.
    pub(super) fn begins(&mut self, me: &AgentId, vote: Vote, config: &QuorumConfig) {
        if config.diskless.is_some() {
            self.forgets(me, config);
        }
        let before = self.voter(me).map(|voter| voter.disk.clone());
        if config.diskless.is_none() && before.is_some_and(|before| before != vote) {
            self.was_cut_short(me, &vote);
        }
        match self.voter_mut(me) {
            Some(voter) => {
                if voter.disk != vote {
                    // The promise of a record that a crash kept from the disk was sent to no agent.
                    voter.longest = vote.promise.into();
                }
                (voter.disk, voter.claim) = (vote, None);
            }
            None => self.voters.push(Voter {
                id: me.clone(),
                disk: vote,
                quarantine: Time::ZERO,
                promise: None,
                longest: Duration::ZERO,
                claim: None,
            }),
        }
    }

    /// `abstain-after-restart`, from the outside: a voter that may have promised is bound for P, or for longer if it
    /// may have given a longer promise.
    pub(super) fn starts(&mut self, now: Time, me: &AgentId, config: &QuorumConfig) {
        let Some(voter) = self.voter_mut(me) else {
            return;
        };
        if config.diskless.is_some() {
            let t = &config.timings;
            voter.quarantine = now.after(Timings::least_promise(t.promise() + t.round()));
            voter.promise = None;
            return;
        }
        let record = voter.disk.term;
        let used = record > Term::ZERO && config.lease_quorum() > 1;
        let bound = used || config.is_arrival(record);
        let span = if bound {
            config.timings.promise().max(voter.longest)
        } else {
            Duration::ZERO
        };
        voter.quarantine = now.after(span);
        voter.promise = None;
    }

    pub(super) fn persists(&mut self, now: Time, me: &AgentId, vote: &Vote, config: &QuorumConfig) {
        if config.diskless.is_some() {
            self.breaks("Diskless", &format!("{me} writes"));
        }
        let Some(voter) = self.voter_mut(me) else {
            return;
        };
        voter.promises(now, config.timings.promise());
        let forgets = vote.promise < Micros::from(voter.longest);
        let before = std::mem::replace(&mut voter.disk, vote.clone());
        let own = voter.claim.take_if(|claim| claim.term <= vote.term);
        if forgets {
            let what = format!("{me} has no record of its longest promise any more");
            self.breaks("DiskFirst", &what);
        }
        if before.term > vote.term {
            self.breaks("TermMonotone", &format!("{me} goes back to {}", vote.term));
        }
        let is_own = vote.voted_for.as_ref().is_some_and(|voted| voted.id == *me);
        let counts = |claim: &Claim| claim.term == vote.term && is_own;
        if let Some(claim) = own.filter(counts) {
            self.votes(now, me, me, &claim, config);
        }
    }

    /// Notes a candidate's claim. Its own vote counts when it is durable.
    pub(super) fn claims(&mut self, now: Time, me: &AgentId, claim: &Claim, config: &QuorumConfig) {
        let voter = self
            .voter_mut(me)
            .filter(|voter| voter.disk.term < claim.term);
        match voter.filter(|_| config.diskless.is_none()) {
            Some(voter) => voter.claim = Some(claim.clone()),
            None => self.votes(now, me, me, claim, config),
        }
    }

    /// Checks `DiskFirst`: a message about a term is sent after the term is durable.
    pub(super) fn speaks(&mut self, me: &AgentId, term: Term, kind: &str) {
        if self.voter(me).is_none_or(|voter| voter.disk.term < term) {
            self.breaks("DiskFirst", &format!("{me} sends {kind} of term {term}"));
        }
    }

    pub(super) fn announces(
        &mut self,
        (me, incarnation): (&AgentId, Incarnation),
        term: Term,
        config: &QuorumConfig,
    ) {
        if config.diskless.is_some() {
            self.last_elected = self.last_elected.max(term);
            self.elected.entry(term).or_insert_with(|| me.clone());
        }
        if config.diskless.is_none() {
            self.speaks(me, term, "the announcement");
            self.is_elected(me, term, config);
        }
        let mine = (me.clone(), incarnation);
        let first = self.announced.entry(term).or_insert_with(|| mine.clone());
        if *first != mine {
            let first = &first.0;
            let what = format!("{first} and {me} lead in term {term}");
            self.breaks_for_all("LeaderPerTerm", &what);
        }
    }

    /// Checks `ElectedFirst`: a quorum has voted for the agent. The only voter of a group sends no message about its
    /// vote.
    fn is_elected(&mut self, me: &AgentId, term: Term, config: &QuorumConfig) {
        if config.voters.len() > 1 && self.elected.get(&term) != Some(me) {
            let what = format!("{me} announces itself in term {term}, which is not its own");
            self.breaks("ElectedFirst", &what);
        }
    }

    pub(super) fn resigns(&mut self, me: &AgentId, term: Term) {
        self.resigned.insert((me.clone(), term));
        self.last_resigned = self.last_resigned.max(term);
    }

    pub(super) fn acquires(&mut self, me: &AgentId, term: Term) {
        self.elections = self.elections.saturating_add(1);
        if term <= self.token {
            let what = format!("{me} begins term {term} after {}", self.token);
            self.breaks_for_all("TokenMonotone", &what);
        }
        self.last_token = Some((me.clone(), self.token));
        self.token = self.token.max(term);
    }

    /// Returns whether the record differs from the one before in more than the other voters.
    pub(super) fn decides(&self, me: &AgentId, vote: &Vote) -> bool {
        let before = self.voter(me).map(|voter| &voter.disk);
        before.is_none_or(|before| {
            let others = vote.others.clone();
            let alike = Vote {
                others,
                ..before.clone()
            };
            alike != *vote
        })
    }

    /// Notes a broken `NoDisrupt`: a question, or a claim that is refused, changes nothing durable.
    pub(super) fn disturbs(&mut self, me: &AgentId, kind: &str) {
        let what = format!("{me} writes because of {kind}");
        self.breaks("NoDisrupt", &what);
    }

    /// Notes a broken `Observers`: an observer only listens.
    pub(super) fn meddles(&mut self, me: &AgentId, kind: &str) {
        self.breaks("Observers", &format!("the observer {me} sends {kind}"));
    }

    /// Checks `LeaseBacked`: a quorum for the lease supports this leader. `reading` returns the reading of a voter's
    /// own clock; a voter that does not run supports no other agent.
    ///
    /// # Errors
    /// Describes the violation.
    pub(super) fn check_lease(
        &self,
        me: &AgentId,
        config: &QuorumConfig,
        reading: impl Fn(&AgentId) -> Option<Time>,
    ) -> Result<(), String> {
        let supports = |voter: &&Voter| {
            let to_me = voter.promise.as_ref().filter(|p| p.holder == *me);
            let bound = to_me.map_or(voter.quarantine, |p| p.until.max(voter.quarantine));
            reading(&voter.id).is_none_or(|now| now < bound)
        };
        let others = self.voters.iter().filter(|voter| voter.id != *me);
        let theirs = others
            .filter(supports)
            .filter(|v| config.voters.contains(&v.id));
        let enough = config.lease_quorum().saturating_sub(1);
        let mut support = theirs.take(enough).count(); // the first voters are usually enough
        if support < enough {
            // A voter that never ran has no record.
            let unborn = config.voters.iter().filter(|id| self.voter(id).is_none());
            support += unborn.filter(|id| *id != me).count();
        }
        if support >= enough {
            return Ok(());
        }
        let support = support + 1;
        Err(format!(
            "LeaseBacked: {me} believes by the support of {support} of {}",
            config.voters.len()
        ))
    }

    /// Checks `OneBeliever`, `NoRivalElected` and `ResignFinal` at this instant. Returns the believer, whose lease the
    /// caller checks.
    ///
    /// # Errors
    /// Describes the violation.
    pub(super) fn check<'a>(
        &self,
        mut believers: impl Iterator<Item = (&'a AgentId, Term)>,
    ) -> Result<Option<&'a AgentId>, String> {
        if let Some(broken) = &self.broken {
            return Err(broken.clone());
        }
        let Some((me, term)) = believers.next() else {
            return Ok(None);
        };
        if let Some((other, u)) = believers.next() {
            return Err(format!(
                "OneBeliever: {me} in term {term} and {other} in term {u}"
            ));
        }
        if self.is_doubtful {
            return Ok(None);
        }
        // Usually there is no resignation and no election in this term or above.
        if self.last_resigned >= term && self.resigned.contains(&(me.clone(), term)) {
            return Err(format!("ResignFinal: {me} in term {term}"));
        }
        if self.last_elected <= term {
            return Ok(Some(me));
        }
        let mut later = self.elected.range(term..).skip_while(|(t, _)| **t == term);
        match later.find(|(_, id)| *id != me) {
            Some((above, rival)) => Err(format!(
                "NoRivalElected: {me} believes in term {term}, {rival} has a quorum for {above}"
            )),
            None => Ok(Some(me)),
        }
    }
}
