//! The guard of one group against burnt terms, as all links of a bridge share it.
//!
//! Decided here: that a term which is known already takes no lock: most messages name the present
//! one. Not here: which terms are refused; that is [`TermGuard`].

use std::{
    fmt,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use crate::protocol::{AgentId, Requirements, Term};

use crate::{
    elections::quorum::diskless::latest_term,
    remote::{TermFault, TermGuard, bridge::shared::lock},
};

use super::terms::TermReach;

/// A wall clock: milliseconds since 1970 began.
#[derive(Clone)]
pub(crate) struct WallMillis(Arc<dyn Fn() -> u64 + Send + Sync>);

impl WallMillis {
    pub(crate) fn new(now: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    fn now(&self) -> u64 {
        (self.0)()
    }
}

impl fmt::Debug for WallMillis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WallMillis").field(&self.now()).finish()
    }
}

/// Which terms peers may name in a group. Other rules have other terms.
#[derive(Debug)]
pub(crate) struct GroupTermGuard {
    /// Where terms go by it.
    wall: WallMillis,
    known: Mutex<KnownTerms>,
    /// Terms below this one are known; written under the lock only.
    unknown_from: AtomicU64,
}

#[derive(Debug, Default)]
struct KnownTerms {
    /// The rules and the epoch whose terms these are.
    rules: Option<(String, u64)>,
    terms: TermGuard,
    /// The voters whose words count, and how many of them elect a leader; none where none are chosen, or as
    /// long as no agent here says which.
    voters: Option<(Arc<[AgentId]>, usize)>,
    /// Whether an agent here votes, and so asks the others.
    votes: bool,
}

impl KnownTerms {
    /// How far one word goes at this time.
    fn reach(&self, wall: &WallMillis) -> TermReach {
        let by_clock = |(rules, epoch): &(String, u64)| latest_term(rules, *epoch, wall.now());
        match self.rules.as_ref().and_then(by_clock) {
            None => TermReach::Steps,
            Some(latest) if self.votes => TermReach::Clock(latest),
            Some(latest) => TermReach::ClockOrSteps(latest),
        }
    }
}

impl GroupTermGuard {
    /// A guard that knows no term; where terms go by a clock, they go by this one.
    pub(crate) fn new(wall: WallMillis) -> Self {
        Self {
            wall,
            known: Mutex::default(),
            unknown_from: AtomicU64::default(),
        }
    }

    /// The group follows these rules from now on; `votes` says whether an agent here is a voter.
    pub(crate) fn follow(&self, requirements: &Requirements, votes: bool) {
        self.count_from(requirements.rules.name(), requirements.epoch);
        let quorum = requirements.voters.map(|voters| voters.vote_quorum);
        let quorum = quorum.and_then(|quorum| usize::try_from(quorum).ok());
        let mut known = lock(&self.known);
        known.voters = requirements.names.clone().zip(quorum);
        known.votes = votes;
    }

    /// The terms are those of some rules and an epoch from now on: those of the agents here or, as long
    /// as there are none, those of a peer. A node without agents would else take the first term of
    /// its peers' next epoch for an absurd one.
    pub(crate) fn count_from(&self, rules: &str, epoch: u64) {
        let mut known = lock(&self.known);
        let are_same = |(name, of): &(String, u64)| name == rules && *of == epoch;
        if !known.rules.as_ref().is_some_and(are_same) {
            *known = KnownTerms {
                rules: Some((rules.to_owned(), epoch)),
                ..KnownTerms::default()
            };
            self.unknown_from.store(0, Relaxed);
        }
    }

    /// Takes the term that an agent of a peer names, or refuses it; says whether it may be heard. `from` is that agent,
    /// if the name is its own here. See [`TermGuard::hear`]; where no voters are chosen, [`TermGuard::admit`].
    pub(crate) fn admit(&self, term: Term, from: Option<&AgentId>) -> Result<bool, TermFault> {
        if term.0 < self.unknown_from.load(Relaxed) {
            return Ok(true); // what the guard would say, and it would note nothing
        }
        let mut known = lock(&self.known);
        let reach = known.reach(&self.wall);
        known.terms.set_reach(reach);
        let KnownTerms { terms, voters, .. } = &mut *known;
        let is_heard = match voters {
            None => terms.admit(term).map(|()| true)?,
            Some((names, quorum)) => match from.filter(|from| names.contains(from)) {
                Some(voter) => terms.hear(term, voter, *quorum)?,
                None => terms.hear_other(term)?,
            },
        };
        let unknown_from = terms.highest().map_or(0, |term| term.0.saturating_add(1));
        self.unknown_from.store(unknown_from, Relaxed);
        Ok(is_heard)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{Electorate, Rules};

    fn of_epoch(epoch: u64) -> Requirements {
        Requirements {
            epoch,
            ..Requirements::new(Rules::new("quorum"))
        }
    }

    #[test]
    fn it_says_what_the_plain_guard_says() {
        let (guard, mut plain) = (GroupTermGuard::new(WallMillis::new(|| 0)), TermGuard::new());
        guard.follow(&of_epoch(1), true);
        let jump = TermGuard::MAX_JUMP;
        let last = TermGuard::LAST.0;
        for term in [0, 7, 7, 3, 8 + jump, 7 + jump, 9, last + 1, 8 + jump, last] {
            let term = Term(term);
            let admitted = plain.admit(term).map(|()| true);
            assert_eq!(guard.admit(term, None), admitted, "{term}");
            assert_eq!(lock(&guard.known).terms, plain, "{term}");
        }
    }

    #[test]
    fn other_rules_have_other_terms() {
        let guard = GroupTermGuard::new(WallMillis::new(|| 0));
        guard.follow(&of_epoch(1), true);
        assert_eq!(guard.admit(Term(1 << 40), None), Ok(true));
        guard.follow(&of_epoch(1), true);
        assert_eq!(
            guard.admit(Term(5), None),
            Ok(true),
            "far below what is known"
        );
        let (term, known) = (Term(1 << 41), Term(1 << 40));
        let fault = TermFault::Jump { term, known };
        assert_eq!(
            guard.admit(term, None),
            Err(fault),
            "the same rules, the same terms"
        );
        guard.follow(&of_epoch(2), true);
        assert_eq!(guard.admit(Term(5), None), Ok(true));
        let (term, known) = (Term(1 << 40), Term(5));
        assert_eq!(
            guard.admit(term, None),
            Err(TermFault::Jump { term, known })
        );
    }

    #[test]
    fn voters_without_disks_go_by_the_clock() {
        // Five seconds into 2024.
        let wall = || WallMillis::new(|| 1_704_067_205_000);
        let [a, b, c] = ["a", "b", "c"].map(|name| AgentId::new(name).unwrap());
        let names = [a, b.clone(), c.clone()];
        let requirements = Requirements {
            voters: Some(Electorate::new(&names, 2, 2)),
            names: Some(names.to_vec().into()),
            ..Requirements::new(Rules::new("quorum-diskless"))
        };
        let guard = GroupTermGuard::new(wall());
        guard.follow(&requirements, true);
        assert_eq!(guard.admit(Term(15_001), Some(&b)), Ok(false));
        assert_eq!(guard.admit(Term(15_000), Some(&b)), Ok(true));
        assert_eq!(guard.admit(Term(20_000), Some(&b)), Ok(false));
        assert_eq!(guard.admit(Term(20_000), Some(&c)), Ok(true), "a quorum");
        // A node whose agents only observe never hears of a quorum.
        let observes = GroupTermGuard::new(wall());
        observes.follow(&requirements, false);
        assert_eq!(observes.admit(Term(20_000), Some(&b)), Ok(true));
    }

    #[test]
    fn the_voters_of_the_agents_here_vouch_and_no_others() {
        let names = ["a", "b", "c"].map(|name| AgentId::new(name).unwrap());
        let [_, b, c] = &names;
        let guard = GroupTermGuard::new(WallMillis::new(|| 0));
        let requirements = Requirements {
            voters: Some(Electorate::new(&names, 2, 2)),
            names: Some(names.to_vec().into()),
            ..of_epoch(1)
        };
        guard.follow(&requirements, true);
        assert_eq!(guard.admit(Term(5), Some(b)), Ok(true));
        let term = Term(1 << 40);
        let stranger = AgentId::new("d").unwrap();
        for other in [Some(&stranger), None] {
            assert_eq!(guard.admit(term, other), Ok(false), "{other:?} is no voter");
        }
        assert_eq!(guard.admit(term, Some(b)), Ok(false));
        // The same rules once more, as when another agent joins here.
        guard.follow(&requirements, true);
        assert_eq!(guard.admit(term, Some(c)), Ok(true));
        assert_eq!(guard.admit(term, None), Ok(true), "it is known now");
    }
}
