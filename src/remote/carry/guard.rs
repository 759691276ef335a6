//! The guard of one group against burnt terms, as all links of a bridge share it.
//!
//! Decided here: that a term which is known already takes no lock: most messages name the present
//! one. Not here: which terms are refused; that is [`TermGuard`].

use std::sync::{
    Mutex,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use crate::protocol::{Requirements, Term};

use crate::remote::{TermFault, TermGuard, bridge::shared::lock};

/// Which terms peers may name in a group. Other rules have other terms.
#[derive(Debug, Default)]
pub(crate) struct GroupTermGuard {
    known: Mutex<KnownTerms>,
    /// Terms below this one are known; written under the lock only.
    unknown_from: AtomicU64,
}

#[derive(Debug, Default)]
struct KnownTerms {
    /// The rules and the epoch whose terms these are.
    rules: Option<(String, u64)>,
    terms: TermGuard,
}

impl GroupTermGuard {
    /// The group follows these rules from now on.
    pub(crate) fn follow(&self, requirements: &Requirements) {
        self.count_from(requirements.rules.name(), requirements.epoch);
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
                terms: TermGuard::new(),
            };
            self.unknown_from.store(0, Relaxed);
        }
    }

    /// Takes a peer's term, or refuses it; see [`TermGuard::admit`].
    pub(crate) fn admit(&self, term: Term) -> Result<(), TermFault> {
        if term.0 < self.unknown_from.load(Relaxed) {
            return Ok(()); // what the guard would say, and it would note nothing
        }
        let mut known = lock(&self.known);
        known.terms.admit(term)?;
        let highest = known.terms.highest();
        let unknown_from = highest.map_or(0, |term| term.0.saturating_add(1));
        self.unknown_from.store(unknown_from, Relaxed);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Rules;

    fn of_epoch(epoch: u64) -> Requirements {
        Requirements {
            epoch,
            ..Requirements::new(Rules::new("quorum"))
        }
    }

    #[test]
    fn it_says_what_the_plain_guard_says() {
        let (guard, mut plain) = (GroupTermGuard::default(), TermGuard::new());
        guard.follow(&of_epoch(1));
        let jump = TermGuard::MAX_JUMP;
        let last = TermGuard::LAST.0;
        for term in [0, 7, 7, 3, 8 + jump, 7 + jump, 9, last + 1, 8 + jump, last] {
            let term = Term(term);
            assert_eq!(guard.admit(term), plain.admit(term), "{term}");
            assert_eq!(lock(&guard.known).terms, plain, "{term}");
        }
    }

    #[test]
    fn other_rules_have_other_terms() {
        let guard = GroupTermGuard::default();
        guard.follow(&of_epoch(1));
        assert_eq!(guard.admit(Term(1 << 40)), Ok(()));
        guard.follow(&of_epoch(1));
        assert_eq!(guard.admit(Term(5)), Ok(()), "far below what is known");
        let (term, known) = (Term(1 << 41), Term(1 << 40));
        let fault = TermFault::Jump { term, known };
        assert_eq!(
            guard.admit(term),
            Err(fault),
            "the same rules, the same terms"
        );
        guard.follow(&of_epoch(2));
        assert_eq!(guard.admit(Term(5)), Ok(()));
        let (term, known) = (Term(1 << 40), Term(5));
        assert_eq!(guard.admit(term), Err(TermFault::Jump { term, known }));
    }
}
