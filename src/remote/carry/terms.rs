//! The guard against burnt terms: a peer cannot push a group to the end of the numbers.
//!
//! A term that is taken can never be untaken, so one absurd term would end all elections of a
//! group. Decided here: how far ahead a term may be. One guard per group and node, fed by all
//! links; the first term ever learned is taken as it is. The term zero is none: an agent that has just begun
//! says it, and what others know is not measured by that.
//!
//! A node that has known little for long, since it began anew without a record while it was cut
//! off, refuses a group that is 2^20 elections further. Started once more within reach of the
//! group, it learns the group's term first.

use std::fmt;

use crate::protocol::Term;

/// What is known of the terms of one group here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TermGuard {
    highest: Option<Term>,
}

impl TermGuard {
    /// How far above the highest known term a peer's may be: 2^20 elections.
    pub const MAX_JUMP: u64 = 1 << 20;
    /// The last term that is ever taken: 2^32 before the end of the numbers.
    pub const LAST: Term = Term(u64::MAX - (1 << 32));

    /// A guard that knows no term.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The highest term known.
    #[must_use]
    pub fn highest(&self) -> Option<Term> {
        self.highest
    }

    /// Notes a term that is known to be the group's.
    pub fn note(&mut self, term: Term) {
        if term > Term::ZERO {
            self.highest = self.highest.max(Some(term));
        }
    }

    /// Takes a peer's term, or refuses it.
    ///
    /// # Errors
    /// [`TermFault`]: close the link. Nothing has changed.
    pub fn admit(&mut self, term: Term) -> Result<(), TermFault> {
        if term > Self::LAST {
            return Err(TermFault::Last { term });
        }
        if let Some(known) = self.highest
            && term.0.saturating_sub(known.0) > Self::MAX_JUMP
        {
            return Err(TermFault::Jump { term, known });
        }
        self.note(term);
        Ok(())
    }
}

/// Why a peer's term is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TermFault {
    /// It is within 2^32 of the end of the numbers.
    Last {
        /// The term.
        term: Term,
    },
    /// It is more than 2^20 above the highest known.
    Jump {
        /// The term.
        term: Term,
        /// The highest known.
        known: Term,
    },
}

impl fmt::Display for TermFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Last { term } => write!(f, "{term} is near the end of the numbers"),
            Self::Jump { term, known } => write!(f, "{term} is far above {known}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_term_may_be_2_to_the_20_ahead_and_no_more() {
        let mut guard = TermGuard::new();
        guard.note(Term(5));
        let (far, known) = (Term(6 + TermGuard::MAX_JUMP), Term(5));
        assert_eq!(guard.admit(far), Err(TermFault::Jump { term: far, known }));
        assert_eq!(guard.highest(), Some(known), "a refusal changes nothing");
        assert_eq!(guard.admit(Term(5 + TermGuard::MAX_JUMP)), Ok(()));
        assert_eq!(guard.admit(far), Ok(()));
        assert_eq!(
            guard.admit(Term(0)),
            Ok(()),
            "old terms are the core's business"
        );
    }

    #[test]
    fn an_agent_that_has_just_begun_says_nothing_about_the_terms_of_others() {
        let mut guard = TermGuard::new();
        assert_eq!(guard.admit(Term::ZERO), Ok(()));
        assert_eq!(guard.highest(), None);
        let old = Term(TermGuard::MAX_JUMP * 3);
        assert_eq!(
            guard.admit(old),
            Ok(()),
            "a group that has elected for years"
        );
        assert_eq!(guard.highest(), Some(old));
    }

    #[test]
    fn the_first_term_is_taken_as_it_is_but_not_the_last_ones() {
        let term = Term(TermGuard::LAST.0 + 1);
        assert_eq!(TermGuard::new().admit(term), Err(TermFault::Last { term }));
        let mut guard = TermGuard::new();
        assert_eq!(guard.admit(TermGuard::LAST), Ok(()));
        assert_eq!(guard.admit(term), Err(TermFault::Last { term }));
    }
}
