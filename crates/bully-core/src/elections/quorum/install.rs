//! The beginning of an epoch that the voters of the former epoch have decided.
//!
//! Decided here: when an agent enters an epoch, and how it answers a message of another epoch. An agent that receives
//! the list of a later epoch enters that epoch, in any role, and may skip epochs. The agent's promises end, because
//! they were made to leaders of the former epoch, which a quorum has sealed. An agent answers a message of an earlier
//! epoch with its list, and a message of a later epoch with `Behind`.

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
    /// Handles an `Install`, which contains a decided list.
    pub(super) fn on_install(&mut self, from: &AgentId, install: Install, out: &mut Out) -> Next {
        let Install { term, decree } = install;
        let config = &self.core.config;
        let is_known = config.voters.contains(from) || decree.names().any(|id| id == from);
        let is_later = decree.epoch > config.epoch && config.diskless().is_none();
        let is_first = term == first_term(decree.epoch);
        if decree.epoch < config.epoch && self.answers_with_list(from, out) {
            return Next::Stay;
        }
        // An agent may enter an epoch only by a list that was decided (invariant `OneListPerEpoch`).
        if !is_known || !is_later || config.check_decree(&decree).is_err() || !is_first {
            let why = "the list is not the next one, or not from one of its voters";
            self.core.ignore(self.state.role(), why);
            return Next::Stay;
        }
        self.state.note_change(&mut self.core, from);
        self.state.leave(&mut self.core, out);
        let from = Some(from.clone());
        Next::Become(Start::Enter { decree, from })
    }

    /// Answers a message of another epoch. Returns whether the message needs no further handling.
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
            out.send(from, Behind { seen }); // the highest term that this agent knows
        }
        self.core.ignore(self.state.role(), "of a later epoch");
        true
    }

    /// Sends the list of this epoch, if it was decided and not only configured. Returns whether this agent has such a
    /// list. An agent that sends an earlier list also gets this answer; otherwise it would repeat its list for ever
    /// (rule `answer-earlier-epoch`).
    fn answers_with_list(&self, from: &AgentId, out: &mut Out) -> bool {
        let Some(install) = self.core.installed().filter(|_| self.core.may_tell()) else {
            return false;
        };
        out.send(from, install);
        self.core.ignore(self.state.role(), "of an earlier epoch");
        true
    }
}

/// Enters the epoch of this list. `from` sent the list; `None` if this agent collected the seals that decided it.
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
    // It may be the only agent that knows the list. The configuration need not name this agent, so after a restart
    // only the record shows that it was a voter.
    let tells = from.is_none() && !core.me.is_voter();
    let asked = core.has_memory().then(|| Arc::clone(&core.peers));
    core.voter
        .forget_others(asked.as_deref().unwrap_or_default());
    core.voter
        .enter(&core.config, now, (decree.clone(), tells), is_durable, out);
    // The record was written above, before any message of the new epoch (rule `epoch-before-word`).
    let event = VotersEvent::Installed(decree.clone());
    out.notify(Event::Voters(Box::new(event)));
    core.answer_if_done(out);
    let term = core.config.term_above(core.config.first_term());
    match (from, term) {
        // This agent defers, because the sender may be claiming the first term of the epoch.
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
    /// Reports once, after the start, that the record contains other voters than the configuration.
    pub(super) fn tell_overruled(&mut self, out: &mut Out) {
        if let Some(list) = self.voter.record.installed()
            && std::mem::take(&mut self.overrules)
        {
            let event = VotersEvent::Installed(list.clone());
            out.notify(Event::Voters(Box::new(event)));
        }
    }

    /// Returns the time after which an agent that is not eligible sends the list of its epoch again, while it knows no
    /// leader; `None` without a decided list. The time is as long as the accepted silence of a leader, because usually
    /// the other agents know the list and elect a leader earlier (rule `tell-while-vacant`).
    pub(super) fn tells_again_after(&self) -> Option<Duration> {
        let list = self.installed().filter(|_| self.may_tell());
        list.map(|_| self.config.timings.promise())
    }

    /// Returns whether other hosts would accept a list from this agent: bridges usually accept a list only from an
    /// agent that may vote.
    pub(super) const fn may_tell(&self) -> bool {
        self.has_store && self.was_listed
    }

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
