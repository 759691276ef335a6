//! The guard of one group against exhausted terms, which all links of a bridge share.
//!
//! Decided here: a check of a term that is already known takes no lock, because most messages contain the present term;
//! and where members learn of epochs, terms of other epochs do not change the known terms of this epoch. Not here:
//! which terms are refused; see [`TermGuard`], and [`LaterEpochs`] for later epochs.

use std::{
    fmt,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use crate::protocol::{AgentId, Epochs, Requirements, Term};

use crate::{
    elections::quorum::diskless::latest_term,
    remote::{TermFault, TermGuard, bridge::shared::lock},
};

use super::{epochs::LaterEpochs, terms::TermReach};

/// A wall clock: milliseconds since the beginning of 1970.
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

/// The terms that peers may send in a group. Terms of two elections with different rules are not compared.
#[derive(Debug)]
pub(crate) struct GroupTermGuard {
    /// The clock for rules whose terms follow the wall clock.
    wall: WallMillis,
    known: Mutex<KnownTerms>,
    /// All terms below this number are known. It is written only under the lock.
    unknown_from: AtomicU64,
}

#[derive(Debug, Default)]
struct KnownTerms {
    /// The rules and the epoch to which the terms belong.
    rules: Option<(String, u64)>,
    terms: TermGuard,
    later: LaterEpochs,
    /// Facts about the group's agents in this process; `None` while this process has no agent.
    here: Option<AgentsHere>,
}

#[derive(Debug)]
struct AgentsHere {
    epochs: Epochs,
    /// The voters, and the number of voters that elect a leader; `None` in an election without a list of voters.
    voters: Option<(Arc<[AgentId]>, usize)>,
    /// Whether an agent of this process is a voter, and therefore asks the other voters.
    votes: bool,
}

impl KnownTerms {
    /// Returns the limit for a term that a single peer sends at this time.
    fn reach(&self, wall: &WallMillis) -> TermReach {
        let by_clock = |(rules, epoch): &(String, u64)| latest_term(rules, *epoch, wall.now());
        match self.rules.as_ref().and_then(by_clock) {
            None => TermReach::Steps,
            Some(latest) if self.here.as_ref().is_some_and(|here| here.votes) => {
                TermReach::Clock(latest)
            }
            Some(latest) => TermReach::ClockOrSteps(latest),
        }
    }
}

impl AgentsHere {
    /// Returns the agent if it is a voter, with the number of voters that have to send a term before the term is
    /// accepted.
    fn voter<'a>(&self, from: Option<&'a AgentId>) -> Option<(&'a AgentId, usize)> {
        let (names, quorum) = self.voters.as_ref()?;
        let voter = from.filter(|from| names.contains(from))?;
        Some((voter, *quorum))
    }
}

impl GroupTermGuard {
    /// Creates a guard that knows no term. `wall` is its clock for rules whose terms follow the wall clock.
    pub(crate) fn new(wall: WallMillis) -> Self {
        Self {
            wall,
            known: Mutex::default(),
            unknown_from: AtomicU64::default(),
        }
    }

    /// Sets the rules that the group follows from now on; `votes` means that an agent of this process is a voter.
    pub(crate) fn follow(&self, requirements: &Requirements, votes: bool) {
        self.count_from(requirements.rules.name(), requirements.epoch);
        let quorum = requirements.voters.map(|voters| voters.vote_quorum);
        let quorum = quorum.and_then(|quorum| usize::try_from(quorum).ok());
        lock(&self.known).here = Some(AgentsHere {
            epochs: requirements.epochs,
            voters: requirements.names.clone().zip(quorum),
            votes,
        });
    }

    /// Sets the rules and the epoch to which the terms belong from now on: the rules and the epoch of the agents of
    /// this process or, if this process has no agents, of a peer. Otherwise a node without agents would consider the
    /// first term of its peers' next epoch absurd.
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

    /// Returns whether the terms of the group follow the wall clock.
    pub(crate) fn goes_by_clock(&self) -> bool {
        lock(&self.known).reach(&self.wall) != TermReach::Steps
    }

    /// Accepts the term that an agent of a peer sends, or refuses it. Returns whether the message may be delivered.
    /// `from` is the sending agent, or `None` if the name belongs to another agent here. See [`TermGuard::hear`]; where
    /// no list of voters exists, see [`TermGuard::admit`].
    pub(crate) fn admit(&self, term: Term, from: Option<&AgentId>) -> Result<bool, TermFault> {
        if term.0 < self.unknown_from.load(Relaxed) {
            return Ok(true); // the term is known: the guard would accept it, and note nothing
        }
        let mut known = lock(&self.known);
        if let Some(is_heard) = known.admit_of_other_epoch(term, from)? {
            return Ok(is_heard);
        }
        let reach = known.reach(&self.wall);
        known.terms.set_reach(reach);
        let KnownTerms { terms, here, .. } = &mut *known;
        let is_heard = match here {
            // No agent here receives the message. The peer may be in another epoch, so an absurd term is not its fault.
            None => terms.hear_other(term)?,
            Some(AgentsHere { voters: None, .. }) => terms.admit(term).map(|()| true)?,
            Some(here) => match here.voter(from) {
                Some((voter, quorum)) => terms.hear(term, voter, quorum)?,
                None => terms.hear_other(term)?,
            },
        };
        let unknown_from = terms.highest().map_or(0, |term| term.0.saturating_add(1));
        self.unknown_from.store(unknown_from, Relaxed);
        Ok(is_heard)
    }
}

impl KnownTerms {
    /// Returns whether a message with a term of another epoch may be delivered, in elections whose members learn of
    /// epochs. Such a term does not change the terms of this epoch. `None` if the term is of this epoch.
    fn admit_of_other_epoch(
        &mut self,
        term: Term,
        from: Option<&AgentId>,
    ) -> Result<Option<bool>, TermFault> {
        let (Some(here), Some((_, present))) = (&self.here, &self.rules) else {
            return Ok(None);
        };
        let Some(epoch) = here.epochs.of(term).filter(|epoch| epoch != present) else {
            return Ok(None);
        };
        if term > TermGuard::LAST {
            return Err(TermFault::Last { term });
        }
        let voter = here.voter(from);
        // A peer in an older epoch learns the newer list of voters. It cannot raise the term of this epoch.
        let is_heard = epoch < *present || self.later.hear(*present, epoch, voter);
        Ok(Some(is_heard))
    }
}

#[cfg(test)]
mod tests {
    use bytes::BytesMut;

    use super::*;
    use crate::{
        elections::{AnyMessage, bully::Elected},
        group::Group,
        protocol::{Electorate, Incarnation, Rules, Score},
        remote::{
            Closed, DropReason, Limits, MayBe, MessageSender,
            carry::{Carried, GroupCarrier, GroupSink, Outbox},
            wire::encode_payload,
        },
    };

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
        // A node whose agents only observe never learns of a quorum.
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

    /// Three voters, of rules that learn of epochs.
    fn learning(epoch: u64) -> (Requirements, [AgentId; 3]) {
        let names = ["a", "b", "c"].map(|name| AgentId::new(name).unwrap());
        let requirements = Requirements {
            epochs: Epochs::Learned { term_bits: 40 },
            voters: Some(Electorate::new(&names, 2, 2)),
            names: Some(names.to_vec().into()),
            ..of_epoch(epoch)
        };
        (requirements, names)
    }

    fn term(epoch: u64, count: u64) -> Term {
        Term(epoch << 40 | count)
    }

    #[test]
    fn terms_of_other_epochs_are_heard_and_move_none_of_this_one() {
        let guard = GroupTermGuard::new(WallMillis::new(|| 0));
        let (requirements, [a, b, c]) = learning(1);
        guard.follow(&requirements, true);
        // The first statements are about neighbouring epochs: the terms of this epoch are not measured by them.
        for other in [term(0, 1 << 30), term(2, 1 << 30)] {
            assert_eq!(guard.admit(other, Some(&a)), Ok(true), "{other}");
            assert_eq!(lock(&guard.known).terms.highest(), None);
        }
        assert_eq!(guard.admit(term(1, 5), Some(&b)), Ok(true));
        assert_eq!(
            guard.admit(term(2, 7), None),
            Ok(true),
            "a voter that was added"
        );
        let burnt = term(1, 1 << 30);
        assert_eq!(guard.admit(burnt, Some(&c)), Ok(false));
        assert_eq!(lock(&guard.known).terms.highest(), Some(term(1, 5)));
        // The agents here are told of the next epoch: its terms count from its beginning.
        guard.follow(&learning(2).0, true);
        assert_eq!(guard.admit(term(2, 7), Some(&b)), Ok(true));
        assert_eq!(guard.admit(term(2, 1 << 30), Some(&b)), Ok(false));
    }

    #[test]
    fn no_single_peer_can_name_the_last_epoch() {
        let guard = GroupTermGuard::new(WallMillis::new(|| 0));
        let (requirements, [a, b, _]) = learning(1);
        guard.follow(&requirements, true);
        let last = term((1 << 24) - 2, 1);
        for (from, is_heard) in [(None, false), (Some(&a), false), (Some(&a), false)] {
            assert_eq!(guard.admit(last, from), Ok(is_heard));
        }
        assert_eq!(guard.admit(last, Some(&b)), Ok(true));
        let beyond = Term(TermGuard::LAST.0 + 1);
        let fault = TermFault::Last { term: beyond };
        assert_eq!(guard.admit(beyond, Some(&a)), Err(fault));
    }

    #[test]
    fn peers_of_two_epochs_stay_linked_where_no_agent_hears_them() {
        let guard = GroupTermGuard::new(WallMillis::new(|| 0));
        guard.count_from("quorum", 0);
        assert_eq!(guard.admit(term(0, 9), None), Ok(true));
        assert_eq!(guard.admit(term(1, 1), None), Ok(false));
        assert_eq!(guard.admit(term(0, 10), None), Ok(true));
    }

    /// The order of the checks: a term is never undone, so it counts only if its sender may send it.
    #[test]
    fn a_term_counts_only_if_its_sender_may_send_it() {
        let limits = Limits::default();
        let carrier = GroupCarrier::<AnyMessage>::new(Group::new("jobs").unwrap(), &limits);
        let outbox = Arc::new(Outbox::new(&limits));
        let sink = GroupSink::new(0, outbox, Box::new(|_, _| {}));
        let route = carrier.route("other", Arc::new(sink));
        let terms = GroupTermGuard::new(WallMillis::new(|| 0));
        let mut mailboxes = route.mailboxes(&terms);
        let from = AgentId::new("x").unwrap();
        let said = AnyMessage::from(Elected {
            term: Term(50),
            score: Score::from(1),
            ..Elected::default()
        });
        let mut payload = BytesMut::new();
        encode_payload(&said, &mut payload).unwrap();
        let mut deliver = |may_be| {
            let sender = MessageSender {
                group: 0,
                from: &from,
                incarnation: Incarnation(1),
                may_be,
            };
            mailboxes.deliver(&sender, None, &payload)
        };
        for may_be in [MayBe::Observer, MayBe::Voter] {
            assert!(matches!(deliver(may_be), Err(Closed::Role { .. })));
            assert_eq!(lock(&terms.known).terms.highest(), None, "{may_be:?}");
        }
        assert_eq!(
            deliver(MayBe::Leader).unwrap().unwrap_err(),
            DropReason::RefusedName
        );
        assert_eq!(lock(&terms.known).terms.highest(), Some(Term(50)));
    }
}
