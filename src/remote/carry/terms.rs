//! The guard against exhausted terms: no single message of a peer can take a group to the end of the numbers.
//!
//! A group can never return from an accepted term to a lower term, so one absurd term would end all elections of the
//! group. Decided here: how far ahead a term may be. Each node has one guard per group, which all links share. The
//! first term that it learns is accepted as it is. The term zero is not compared with the known terms: an agent that
//! has just begun sends it.
//!
//! | rule | what it decides |
//! |---|---|
//! | `one-word-goes-2^20-elections` | a term at most 2^20 above the highest known term is taken from any peer |
//! | `one-word-goes-by-the-clock` | used instead where terms follow the wall clock: a term is taken that is at most 10 s ahead of the clock here, or one above the highest known term |
//! | `a-quorum-vouches` | a term further ahead is taken up to the term that enough voters to elect a leader have named |
//!
//! Why a quorum can vouch: if a group held many elections while this node was cut off, a quorum of voters took part in
//! them, and all of these voters know the term. Lying voters that are fewer than a quorum cannot make the guard accept
//! a term above the highest term that an honest voter sent. Until enough voters have sent the term, it is ignored, and
//! the links stay. Without a list of voters no quorum can vouch: restart such a node within reach of the group, and it
//! learns the group's term first.
//!
//! Not decided here: how many such terms a peer may send. Each accepted term moves the limit, so a permitted peer that
//! sends 2^20 of them in order (`one-word-goes-2^20-elections`) reaches the last term of an epoch of the quorum (2^40).
//! Then an epoch must be configured. The guard stops a wrong number. It cannot stop a peer that does harm on purpose:
//! take its certificate away.

#![cfg_attr(
    feature = "testkit",
    expect(
        unnameable_types,
        reason = "tests read the name and the text of a reason, and no variant"
    )
)]

use std::{collections::BTreeMap, fmt};

use crate::protocol::{AgentId, Term};

/// The known terms of one group here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TermGuard {
    highest: Option<Term>,
    /// For each voter: the highest term that it has sent, among the terms that are too far ahead to be taken from a
    /// single peer. There are at most as many entries as voters in this node's own configuration.
    words: BTreeMap<AgentId, Term>,
    reach: TermReach,
}

/// The limit for a term that a single peer sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum TermReach {
    /// Terms are counted: a term may be up to 2^20 above the highest known term, and the first term is accepted as it
    /// is.
    #[default]
    Steps,
    /// Terms follow the wall clock: a term may be up to the contained term, or one above the highest known term.
    Clock(Term),
    /// As `Clock`, at a node without a voter: it asks no voter, so it never hears a quorum. A term is accepted if
    /// `Steps` or `Clock` allows it.
    ClockOrSteps(Term),
}

impl TermGuard {
    /// Largest distance of a peer's term above the highest known term: 2^20 elections, or one election each second for
    /// 12 days. Chosen: with a thousand, a node that was away would need a quorum; with 2^40, one message could end an
    /// epoch's terms.
    pub const MAX_JUMP: u64 = 1 << 20;
    /// The last term that is ever accepted: 2^32 before the end of the numbers. The size of this reserve does not
    /// matter, because no group reaches such a term.
    pub const LAST: Term = Term(u64::MAX - (1 << 32));

    /// Returns a guard that knows no term.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the highest known term; `None` if no term is known yet.
    #[must_use]
    pub fn highest(&self) -> Option<Term> {
        self.highest
    }

    /// Notes a term that the group has certainly reached.
    pub fn note(&mut self, term: Term) {
        if term > Term::ZERO {
            self.highest = self.highest.max(Some(term));
        }
    }

    /// Sets how far ahead a term of a single peer may be from now on.
    pub(crate) const fn set_reach(&mut self, reach: TermReach) {
        self.reach = reach;
    }

    /// Returns the highest term that is accepted from a single peer; `None` if there is no limit yet.
    fn last_within(&self) -> Option<Term> {
        let known = self.highest;
        let above = |by: u64| known.map(|known| Term(known.0.saturating_add(by)));
        match self.reach {
            TermReach::Steps => above(Self::MAX_JUMP),
            TermReach::Clock(latest) => Some(above(1).map_or(latest, |next| next.max(latest))),
            TermReach::ClockOrSteps(latest) => above(Self::MAX_JUMP).map(|far| far.max(latest)),
        }
    }

    /// Accepts a peer's term, or refuses it.
    ///
    /// # Errors
    /// `TermFault`: close the link. Nothing has changed.
    pub fn admit(&mut self, term: Term) -> Result<(), TermFault> {
        if term > Self::LAST {
            return Err(TermFault::Last { term });
        }
        if self.last_within().is_some_and(|last| term > last) {
            let known = self.highest.unwrap_or_default();
            return Err(TermFault::Jump { term, known });
        }
        self.note(term);
        Ok(())
    }

    /// Accepts the term that a voter sends, or notes it for this voter until `quorum` voters have sent terms at least
    /// as high. Returns whether the term was accepted. Call it only for voters of this node's own configuration.
    ///
    /// # Errors
    /// `TermFault::Last`: close the link. Nothing has changed.
    pub fn hear(&mut self, term: Term, voter: &AgentId, quorum: usize) -> Result<bool, TermFault> {
        if self.hear_other(term)? {
            return Ok(true);
        }
        let word = self.words.entry(voter.clone()).or_default();
        *word = term.max(*word);
        if let Some(vouched) = self.vouched(quorum) {
            self.note(vouched);
        }
        Ok(self.admit(term).is_ok())
    }

    /// Accepts the term of an agent that does not vouch, because it is not a voter or the voters are not known. Returns
    /// whether the term was accepted.
    ///
    /// # Errors
    /// `TermFault::Last`: close the link. Nothing has changed.
    pub fn hear_other(&mut self, term: Term) -> Result<bool, TermFault> {
        match self.admit(term) {
            Ok(()) => Ok(true),
            Err(TermFault::Jump { .. }) => Ok(false),
            Err(last @ TermFault::Last { .. }) => Err(last),
        }
    }

    /// Returns the highest term that `quorum` voters have reached; `None` if fewer voters have sent terms. If fewer
    /// than `quorum` voters lie, an honest voter has reached the returned term.
    fn vouched(&self, quorum: usize) -> Option<Term> {
        let mut words: Vec<Term> = self.words.values().copied().collect();
        words.sort_unstable_by(|one, other| other.cmp(one));
        words.get(quorum.checked_sub(1)?).copied()
    }
}

/// Reason why a peer's term is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TermFault {
    /// The term is within 2^32 of the end of the numbers.
    Last {
        /// The refused term.
        term: Term,
    },
    /// The term is more than 2^20 above the highest known term, or later than the clock here allows.
    Jump {
        /// The refused term.
        term: Term,
        /// The highest known term.
        known: Term,
    },
}

impl fmt::Display for TermFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Last { term } => write!(f, "{term} is near the largest possible number"),
            Self::Jump { term, known } => write!(
                f,
                "{term} is far above {known}, the highest that is known here"
            ),
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

    fn id(name: &str) -> AgentId {
        AgentId::new(name).unwrap()
    }

    /// A guard that knows term 5, of a group in which two voters elect.
    fn cut_off() -> TermGuard {
        let mut guard = TermGuard::new();
        guard.note(Term(5));
        guard
    }

    const YEARS: Term = Term(TermGuard::MAX_JUMP * 9);

    #[test]
    fn a_term_that_a_quorum_of_voters_names_is_taken_however_far_it_is() {
        let mut guard = cut_off();
        assert_eq!(guard.hear(YEARS, &id("b"), 2), Ok(false));
        assert_eq!(guard.highest(), Some(Term(5)));
        assert_eq!(guard.hear(Term(YEARS.0 + 3), &id("c"), 2), Ok(true));
        assert_eq!(guard.hear(YEARS, &id("b"), 2), Ok(true));
        assert_eq!(guard.highest(), Some(Term(YEARS.0 + 3)));
    }

    #[test]
    fn a_voter_vouches_once_however_often_it_says_so() {
        let mut guard = cut_off();
        for further in 0..100 {
            let term = Term(YEARS.0 + further);
            assert_eq!(guard.hear(term, &id("b"), 2), Ok(false), "{term}");
        }
        assert_eq!(guard.highest(), Some(Term(5)));
    }

    /// A voter may be linked twice for a moment, so a message with a lower term may arrive after one with a higher term.
    #[test]
    fn a_lower_term_of_a_voter_takes_nothing_back_of_what_it_said_before() {
        let mut guard = cut_off();
        let further = Term(YEARS.0 * 2);
        for term in [further, YEARS] {
            assert_eq!(guard.hear(term, &id("b"), 2), Ok(false), "{term}");
        }
        assert_eq!(guard.hear(further, &id("c"), 2), Ok(true));
        assert_eq!(guard.highest(), Some(further));
    }

    #[test]
    fn a_voter_that_lies_is_believed_as_far_as_an_honest_one_goes() {
        let mut guard = cut_off();
        assert_eq!(guard.hear(TermGuard::LAST, &id("liar"), 2), Ok(false));
        assert_eq!(guard.hear(YEARS, &id("b"), 2), Ok(true));
        assert_eq!(guard.highest(), Some(YEARS), "and not what the liar said");
        assert_eq!(guard.hear(TermGuard::LAST, &id("liar"), 2), Ok(false));
        let next = Term(YEARS.0 + 1);
        assert_eq!(guard.hear(next, &id("c"), 2), Ok(true));
        assert_eq!(
            guard.highest(),
            Some(next),
            "nor is its word kept for later"
        );
    }

    #[test]
    fn an_agent_that_is_not_a_voter_vouches_for_no_term() {
        let mut guard = cut_off();
        assert_eq!(guard.hear(YEARS, &id("b"), 2), Ok(false));
        assert_eq!(guard.hear_other(YEARS), Ok(false));
        let (term, known) = (YEARS, Term(5));
        assert_eq!(guard.admit(YEARS), Err(TermFault::Jump { term, known }));
        assert_eq!(guard.highest(), Some(known));
    }

    #[test]
    fn no_quorum_vouches_for_the_last_terms() {
        let mut guard = cut_off();
        let term = Term(TermGuard::LAST.0 + 1);
        for voter in ["b", "c", "d"] {
            assert_eq!(
                guard.hear(term, &id(voter), 2),
                Err(TermFault::Last { term })
            );
        }
        assert_eq!(guard, cut_off());
    }
}

#[cfg(test)]
mod clocks {
    //! Where terms go by the wall clock, the clock here says how far one word goes.
    use super::*;

    const LATEST: Term = Term(90_000_000_000);

    fn by_clock() -> TermGuard {
        let mut guard = TermGuard::new();
        guard.set_reach(TermReach::Clock(LATEST));
        guard
    }

    fn hears(guard: &mut TermGuard, term: u64, voter: &str) -> bool {
        let voter = AgentId::new(voter).unwrap();
        guard.hear(Term(term), &voter, 2).unwrap()
    }

    #[test]
    fn one_report_reaches_as_far_as_the_clock_allows_and_one_step_above_the_known_terms() {
        let mut guard = by_clock();
        assert!(!hears(&mut guard, LATEST.0 + 1, "b"), "be it the first");
        assert!(hears(&mut guard, LATEST.0, "b"));
        assert!(
            hears(&mut guard, LATEST.0 + 1, "b"),
            "one more than is known"
        );
        assert!(!hears(&mut guard, LATEST.0 + 3, "b"));
        assert!(
            hears(&mut guard, 7, "b"),
            "old terms are the core's business"
        );
    }

    #[test]
    fn elections_a_day_apart_are_no_jump() {
        let mut guard = by_clock();
        assert!(hears(&mut guard, 1_000, "b"));
        assert!(hears(&mut guard, 1_000 + 86_400_000, "c"), "more than 2^20");
    }

    #[test]
    fn a_quorum_whose_clocks_are_ahead_is_believed() {
        let mut guard = by_clock();
        let ahead = LATEST.0 + 3_600_000;
        assert!(!hears(&mut guard, ahead, "b"));
        assert!(!hears(&mut guard, ahead, "b"), "it vouches once");
        assert!(hears(&mut guard, ahead, "c"));
        assert!(
            hears(&mut guard, ahead + 1, "b"),
            "and elections go on from there"
        );
    }

    #[test]
    fn a_node_without_voters_takes_what_it_hears_first() {
        let mut guard = TermGuard::new();
        guard.set_reach(TermReach::ClockOrSteps(LATEST));
        assert_eq!(guard.admit(Term(LATEST.0 * 2)), Ok(()));
        let mut guard = TermGuard::new();
        guard.set_reach(TermReach::ClockOrSteps(LATEST));
        guard.note(Term(5));
        assert_eq!(guard.admit(LATEST), Ok(()), "by the clock");
        let (term, known) = (Term(LATEST.0 * 2), LATEST);
        assert_eq!(guard.admit(term), Err(TermFault::Jump { term, known }));
    }
}
