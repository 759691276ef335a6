//! What all the agents of one history have said and done, and which of it may not be.
//!
//! Decided here: the invariants, by name, from what can be seen outside: inputs, effects, views.
//! The voters' promises are kept a second time, by the rules as they are written, so that a voter
//! that forgets one is noticed at once.

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

/// The record of one history.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    /// `VoteOnce`: the candidate that each voter voted for in each term, in all its incarnations.
    votes: BTreeMap<(AgentId, Term), AgentId>,
    /// The voters of each candidate.
    grants: BTreeMap<(Term, AgentId), BTreeSet<AgentId>>,
    /// `NoRivalElected`: which agent has a quorum of votes in a term.
    elected: BTreeMap<Term, AgentId>,
    last_elected: Term,
    /// `LeaderPerTerm`: which agent announced itself in a term, and in which incarnation.
    announced: BTreeMap<Term, (AgentId, Incarnation)>,
    /// Whether some voter has two memories, or lost one: then only `OneBeliever`, `LeaderPerTerm` and `TokenMonotone` are
    /// owed, and of each leadership only the leaders' own word. Votes and promises of a voter with two memories are not
    /// those of one voter.
    pub(super) is_doubtful: bool,
    /// `TokenMonotone`: the last token.
    token: Term,
    /// Who has that token, and which was the last one before.
    last_token: Option<(AgentId, Term)>,
    /// `ResignFinal`: which agent resigned which term.
    resigned: BTreeSet<(AgentId, Term)>,
    last_resigned: Term,
    /// What each voter wrote and promised.
    voters: Vec<Voter>,
    /// Without disks: who has begun, and not said anything yet that rests on a memory.
    forgetful: BTreeSet<AgentId>,
    /// Without disks: no wall clock is ahead of another, so that terms increase whatever is forgotten.
    pub(super) has_right_clocks: bool,
    /// What was sealed and installed.
    pub(super) decrees: Decrees,
    /// The first broken invariant.
    pub(super) broken: Option<String>,
    /// How many leaderships began.
    pub(super) elections: u64,
}

/// One voter, in all its incarnations.
#[derive(Debug)]
struct Voter {
    id: AgentId,
    /// `TermMonotone`, `DiskFirst`: its durable record.
    disk: Vote,
    /// `LeaseBacked`, `PromiseKept`: what binds it, by its own clock.
    quarantine: Time,
    promise: Option<Promise>,
    /// `record-longest-promise`: no promise that it gave and that may still hold is longer.
    longest: Duration,
    /// `claim-beside-own-vote`: what it claims, while its own vote is not durable.
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
    /// `record-longest-promise`: its incarnation promises no more than this; what earlier ones promised is over when the
    /// quarantine is.
    fn promises(&mut self, now: Time, span: Duration) {
        self.longest = if now < self.quarantine {
            span.max(self.longest)
        } else {
            span
        };
    }
}

impl Ledger {
    /// There are few voters, and their names are told apart by their hashes: a walk is quick.
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

    /// Whatever any voter remembers.
    fn breaks_for_all(&mut self, invariant: &str, what: &str) {
        self.broken
            .get_or_insert_with(|| format!("{invariant}: {what}"));
    }

    /// A voter without a disk begins: it remembers nothing. When so many do not that no quorum remembers, terms
    /// increase only by the clocks.
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

    /// An incarnation begins with this record.
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
                    // What a crash kept from the disk was promised to nobody.
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

    /// `abstain-after-restart`, seen from outside: a voter that may have promised something is bound for P, or for longer if it may
    /// have promised more.
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

    /// A candidate asks for votes. Its own counts when it is durable.
    pub(super) fn claims(&mut self, now: Time, me: &AgentId, claim: &Claim, config: &QuorumConfig) {
        let voter = self
            .voter_mut(me)
            .filter(|voter| voter.disk.term < claim.term);
        match voter.filter(|_| config.diskless.is_none()) {
            Some(voter) => voter.claim = Some(claim.clone()),
            None => self.votes(now, me, me, claim, config),
        }
    }

    /// `DiskFirst`: what is said of a term is said after it is durable.
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

    /// `ElectedFirst`: a quorum has voted for it. The only voter of a group says nothing of its vote.
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

    /// Whether that record says more than the one before of anything but the other voters.
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

    /// `NoDisrupt`: a question, or a claim that is refused, changes nothing durable.
    pub(super) fn disturbs(&mut self, me: &AgentId, kind: &str) {
        let what = format!("{me} writes because of {kind}");
        self.breaks("NoDisrupt", &what);
    }

    /// `Observers`: an observer only listens.
    pub(super) fn meddles(&mut self, me: &AgentId, kind: &str) {
        self.breaks("Observers", &format!("the observer {me} sends {kind}"));
    }

    /// `LeaseBacked`: whether a quorum for the lease supports this leader; `reading` is a voter's own clock, if
    /// it runs. An agent that does not run supports no other.
    ///
    /// # Errors
    /// Says what is wrong.
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
        let mut support = theirs.take(enough).count(); // mostly the first few will do
        if support < enough {
            // Of voters that never ran there is no record.
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

    /// `OneBeliever`, `NoRivalElected`, `ResignFinal`, at this instant. Returns the believer whose lease is to be
    /// checked.
    ///
    /// # Errors
    /// Says what is wrong.
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
        // Mostly neither anything was resigned nor anybody elected in this term or above.
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
