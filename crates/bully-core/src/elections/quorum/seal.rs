//! The end of an epoch: a quorum of its voters seals it, and so decides the next list.
//!
//! A seal is a voter's durable promise that it supports no leader of this epoch up to a term. The algorithm is
//! single-decree Paxos with terms as ballots: the election is the first phase (a vote reports the voter's seal), and
//! the seal is the second phase.
//!
//! Decided here: how an agent seals, and how a sealed voter answers a leader.
//!
//! Not here: the table of the rules, which is on the page [`epoch`](super::epoch).

use std::collections::BTreeSet;

use super::{
    Out, QuorumBully, SenderIncarnation,
    core::Core,
    state::{Certainty, Next, Start, State},
};
use crate::elections::{
    message::{Candidate, Install, Seal, Sealed},
    timer::BullyTimer,
    vote::SealRecord,
};
use crate::protocol::{AgentId, Decree, Leader, Role, Term, Time};

/// The role of an agent that is elected to seal, and does not lead any more (rule `lose-before-seal`). Such an agent
/// asks the voters only for seals.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Sealing {
    term: Term,
    next: Box<Decree>,
    sealed: BTreeSet<AgentId>,
    due: Time,
}

impl Sealing {
    pub(super) fn begin(
        core: &mut Core,
        now: Time,
        term: Term,
        next: Box<Decree>,
        out: &mut Out,
    ) -> Result<State, Next> {
        if core.voter.record.term != term || !core.me.is_voter() {
            return Err(Next::own_slot(None)); // because it has taken part in a later election since
        }
        let voted_for = core.voter.record.voted_for.clone();
        core.voter
            .seal(&core.config, now, term, voted_for, &next, out);
        let mut sealing = Self {
            term,
            next,
            sealed: [core.me.id.clone()].into(),
            due: now,
        };
        sealing.speak(core, now, out);
        Ok(State::Sealing(sealing))
    }

    fn speak(&mut self, core: &Core, now: Time, out: &mut Out) {
        let (term, next) = (self.term, self.next.clone());
        core.send_to_voters(Seal { term, next }, out);
        let again = core.config.heartbeat();
        self.due = now.after(again);
        out.set_timer(BullyTimer::Round, again);
    }

    pub(super) fn on_round_due(&mut self, core: &Core, now: Time, out: &mut Out) -> Next {
        if now < self.due {
            out.set_timer(BullyTimer::Round, self.due.since(now));
        } else {
            self.speak(core, now, out);
        }
        Next::Stay
    }

    pub(super) fn on_sealed(&mut self, core: &Core, from: &AgentId, sealed: &Sealed) -> Next {
        if sealed.term != self.term {
            core.ignore(Role::Candidate, "a seal of another term");
            return Next::Stay;
        }
        self.sealed.insert(from.clone());
        self.conclude(core)
    }

    /// Enters the next epoch, if a quorum has sealed: then the next list is decided (rule `install-after-quorum`).
    pub(super) fn conclude(&self, core: &Core) -> Next {
        if self.sealed.len() < core.config.vote_quorum() {
            return Next::Stay;
        }
        Next::Become(Start::Enter {
            decree: self.next.clone(),
            from: None,
        })
    }

    /// Gives up after a `Nack`: a voter has taken part in a higher term, so this term can no longer decide a list.
    pub(super) fn give_up(out: &mut Out) -> Next {
        out.cancel_timer(BullyTimer::Round);
        Next::again(std::time::Duration::ZERO, None)
    }
}

/// The role of an agent that is not in the next list. Such an agent sends the list until it hears a leader of the new
/// epoch, because its earlier messages may have been lost.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Telling {
    due: Time,
}

impl Telling {
    pub(super) fn begin(core: &Core, now: Time, out: &mut Out) -> Result<State, Next> {
        if core.voter.record.installed().is_none() {
            return Err(Next::own_slot(None));
        }
        let mut telling = Self { due: now };
        telling.speak(core, now, out);
        Ok(State::Telling(telling))
    }

    pub(super) fn on_round_due(&mut self, core: &Core, now: Time, out: &mut Out) -> Next {
        self.speak(core, now, out);
        Next::Stay
    }

    fn speak(&mut self, core: &Core, now: Time, out: &mut Out) {
        if now >= self.due {
            core.tell_all(out);
            self.due = now.after(core.config.heartbeat());
        }
        out.set_timer(BullyTimer::Round, self.due.since(now));
    }
}

impl Core {
    /// Returns the seal of this voter, which its votes report (rule `report-seal`).
    pub(super) fn report(&self) -> Option<Box<SealRecord>> {
        self.voter.record.seal().cloned().map(Box::new)
    }

    /// Returns whether a seal forbids this voter to follow that leader. A leader of a higher term was elected without a
    /// report of the seal, so the seal decided nothing and is deleted (rules `no-support-after-seal` and `void-seal`).
    pub(super) fn is_sealed_against(
        &mut self,
        now: Time,
        (from, incarnation): SenderIncarnation<'_>,
        term: Term,
        out: &mut Out,
    ) -> bool {
        let Some(seal) = self.voter.record.seal() else {
            return false;
        };
        if term <= seal.term {
            return true;
        }
        let led = Leader {
            id: from.clone(),
            incarnation,
            term,
        };
        self.voter.unseal(&self.config, now, &led, out);
        false
    }

    /// Sends the list to every member, if the list was decided.
    pub(super) fn tell_all(&self, out: &mut Out) {
        if let Some(install) = self.installed() {
            out.send_all(install);
        }
    }

    /// Returns the list of this epoch, if the voters of the former epoch decided it.
    pub(super) fn installed(&self) -> Option<Install> {
        let list = self.voter.record.installed();
        let list = list.filter(|list| list.epoch == self.config.epoch)?;
        Some(Install {
            term: self.config.first_term(),
            decree: Box::new(list.clone()),
        })
    }
}

impl QuorumBully {
    /// Handles a `Seal`. The sender was elected in the seal's term to seal, and does not lead.
    pub(super) fn on_seal(
        &mut self,
        now: Time,
        (from, incarnation): SenderIncarnation<'_>,
        seal: &Seal,
        out: &mut Out,
    ) -> Next {
        let term = self.core.voter.record.term;
        if seal.term < term {
            Core::refuse((from, incarnation), seal.term, term, out);
            self.core.ignore(self.state.role(), "an older seal");
            return Next::Stay;
        }
        let config = &self.core.config;
        let is_next = config.epoch.checked_add(1) == Some(seal.next.epoch);
        if !is_next || config.diskless().is_some() || config.check_decree(&seal.next).is_err() {
            self.core
                .ignore(self.state.role(), "the list cannot follow the present one");
            return Next::Stay;
        }
        let sealed = Sealed {
            term: seal.term,
            incarnation,
        };
        let record = &self.core.voter.record;
        if record.seal().is_some_and(|taken| taken.term == seal.term) {
            // The first answer may be lost, so it is sent again. This voter keeps its slot, because a sealing agent
            // that reaches too few voters must not prevent this voter from campaigning.
            self.core.voter.write_promise(&self.core.config, now, out);
            out.send(from, sealed);
            return Next::Stay;
        }
        let following = self.state.following();
        let before = following.map(|following| following.predecessor(Certainty::Suspected));
        self.state.note_change(&mut self.core, from);
        self.state.leave(&mut self.core, out);
        let record = &self.core.voter.record;
        let voted_for = if seal.term > term {
            Some(Candidate::new(from, incarnation))
        } else {
            record.voted_for.clone()
        };
        let core = &mut self.core;
        core.voter
            .seal(&core.config, now, seal.term, voted_for, &seal.next, out);
        out.send(from, sealed);
        Next::Become(Start::Defer { before })
    }
}

/// Returns the seal of the higher term (rule `adopt-highest-seal`).
pub(super) fn higher(
    one: Option<Box<SealRecord>>,
    other: Option<&SealRecord>,
) -> Option<Box<SealRecord>> {
    match (one, other) {
        (Some(one), Some(other)) if one.term < other.term => Some(Box::new(other.clone())),
        (None, Some(other)) => Some(Box::new(other.clone())),
        (one, _) => one,
    }
}
