//! The beginning of an epoch that the voters of the one before have decided.
//!
//! Whoever hears of a later epoch enters it, in any role, and may skip epochs. Its promises are over: they
//! were made to leaders of the epoch before, and a quorum has sealed that. What names an earlier epoch is
//! answered with the list; an agent that hears of a later one says that it is behind.

use std::{sync::Arc, time::Duration};

use super::{
    Out, QuorumBully, QuorumMessage,
    claim::Reason,
    core::{CooldownEnds, Core},
    epoch::{epoch_of, first_term},
    flapping::Flapping,
    seal::Telling,
    state::{Next, Start, State},
};
use crate::elections::message::{Behind, Install};
use crate::protocol::{AgentId, Decree, Event, MemberKind, Time, VotersEvent};

impl QuorumBully {
    /// `Install`: that list was decided.
    pub(super) fn on_install(&mut self, from: &AgentId, install: Install, out: &mut Out) -> Next {
        let Install { term, decree } = install;
        let config = &self.core.config;
        let is_known = config.voters.contains(from) || decree.names().any(|id| id == from);
        let is_later = decree.epoch > config.epoch && config.diskless().is_none();
        let is_first = term == first_term(decree.epoch);
        if decree.epoch < config.epoch && self.answers_with_list(from, out) {
            return Next::Stay;
        }
        if !is_known || !is_later || config.check_decree(&decree).is_err() || !is_first {
            let why = "no later list, or not from one of its voters";
            self.core.ignore(self.state.role(), why);
            return Next::Stay;
        }
        self.state.leave(out);
        let from = Some(from.clone());
        Next::Become(Start::Enter { decree, from })
    }

    /// What comes from another epoch than this agent's; says whether that is all there is to it.
    pub(super) fn is_of_another_epoch(
        &self,
        from: &AgentId,
        message: &QuorumMessage,
        out: &mut Out,
    ) -> bool {
        let config = &self.core.config;
        let Some(epoch) = epoch_of(message.term()).filter(|epoch| *epoch != config.epoch) else {
            return false;
        };
        if epoch < config.epoch {
            return self.answers_with_list(from, out);
        }
        if config.diskless().is_none() {
            let seen = self.core.voter.seen;
            out.send(from, Behind { seen }); // this is all that it knows of
        }
        self.core.ignore(self.state.role(), "of a later epoch");
        true
    }

    /// `answer-earlier-epoch`, also to an agent that tells an earlier list: it would go on telling it for ever. Says
    /// whether there was a list to answer with; one that was only typed is nobody else's.
    fn answers_with_list(&self, from: &AgentId, out: &mut Out) -> bool {
        let Some(install) = self.core.installed().filter(|_| self.core.may_tell()) else {
            return false;
        };
        out.send(from, install);
        self.core.ignore(self.state.role(), "of an earlier epoch");
        true
    }
}

/// Enters the epoch of that list. `from` is who told it; nobody for the agent that had it decided.
pub(super) fn enter(
    core: &mut Core,
    now: Time,
    decree: &Decree,
    from: Option<&AgentId>,
    out: &mut Out,
) -> Result<State, Next> {
    core.adopt(Arc::new(core.config.of(decree)));
    core.cooldown = CooldownEnds::default();
    core.objected.clear();
    core.scores.clear();
    core.flapping = Flapping::default();
    let is_durable = core.has_store;
    // Nobody else may know the list yet. The configuration need not name this agent, so that after a restart only
    // the record says that it was a voter.
    let tells = from.is_none() && !core.me.is_voter();
    let asked = core.has_memory().then(|| Arc::clone(&core.peers));
    core.voter
        .forget_others(asked.as_deref().unwrap_or_default());
    core.voter
        .enter(&core.config, now, (decree.clone(), tells), is_durable, out);
    let event = VotersEvent::Installed(decree.clone());
    out.notify(Event::Voters(Box::new(event)));
    core.answer_if_done(out);
    let term = core.config.term_above(core.config.first_term());
    match (from, term) {
        (Some(from), _) if core.config.voters.contains(from) => {
            Err(Next::Become(Start::Defer { before: None }))
        }
        (Some(_), _) => Err(Next::own_slot(None)),
        (None, _) if !core.me.is_voter() => Telling::begin(core, now, out),
        (None, term) => {
            core.tell_all(out);
            let term = term.filter(|_| core.me.eligible().is_some());
            match term.zip(Reason::first_of_epoch(core, from)) {
                Some((term, reason)) => Err(Next::Become(Start::Claim {
                    term,
                    reason,
                    before: None,
                })),
                None => Err(Next::own_slot(None)),
            }
        }
    }
}

impl Core {
    /// Says once, at the start, that the record names other voters than the configuration.
    pub(super) fn tell_overruled(&mut self, out: &mut Out) {
        if let Some(list) = self.voter.record.installed()
            && std::mem::take(&mut self.overrules)
        {
            let event = VotersEvent::Installed(list.clone());
            out.notify(Event::Voters(Box::new(event)));
        }
    }

    /// `tell-while-vacant`: how soon an agent that is not eligible tells the list of its epoch, and tells it again, while
    /// it knows no leader; `None` if it has none to tell. As seldom as a leader's silence is noticed: as a rule
    /// the others know the list, and one of them leads by then.
    pub(super) fn tells_again_after(&self) -> Option<Duration> {
        let list = self.installed().filter(|_| self.may_tell());
        list.map(|_| self.config.timings.promise())
    }

    /// Whether others would take a list from this agent: as a rule a bridge lets nobody say one who may not vote.
    pub(super) const fn may_tell(&self) -> bool {
        self.has_store && self.was_listed
    }

    /// Takes the voters of that configuration for its own.
    pub(super) fn adopt(&mut self, config: Arc<super::QuorumConfig>) {
        let is_listed = config.voters.contains(&self.me.id);
        self.was_listed |= is_listed;
        self.me.kind = if is_listed && self.has_store {
            MemberKind::Voter
        } else {
            MemberKind::Observer
        };
        let peers = config.voters.iter().filter(|id| **id != self.me.id);
        self.peers = peers.cloned().collect();
        self.config = config;
    }
}
