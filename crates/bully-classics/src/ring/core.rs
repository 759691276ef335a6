//! The parts that every role of a ring election needs; nothing here calls a role.
//!
//! Decided here: which agents may lead, which let others go first, and when an agent begins an election where no agent
//! leads (`begin-by-rank`). `presence.rs` decides which members are there, `hop.rs` sends the messages of the ring, and
//! `probe.rs` looks after the members that are skipped; all three work on this core.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    AgentId, Hop, Next, Out, Passed, RingConfig,
    message::{Coordinator, Entrant, Lap, RingElectionId},
    presence::seems_there,
    state::{CampaignCause, RingTimer},
};
use bully_core::parts::{Cooldown, Participant, slot};
use bully_core::protocol::{After, Identity, Incarnation, Member, Score, Term, Time, To};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Core {
    pub me: Participant,
    pub config: Arc<RingConfig>,
    /// The observers that a leader informs beside the ring.
    pub observers: Arc<[AgentId]>,
    /// The laps that were passed on and are not acknowledged yet.
    pub hops: BTreeMap<Lap, Hop>,
    /// The members that were silent, each in the incarnation that was.
    pub suspects: BTreeMap<AgentId, Option<Incarnation>>,
    /// When the skipped members are probed. Set by the first suspicion, set again by each probe, and
    /// never cancelled: it ends when it finds no member skipped.
    pub probe: Option<Time>,
    /// The last announcement or heartbeat that went on from here.
    pub passed: Option<Passed>,
    /// The highest term seen.
    pub seen: Term,
    /// The term of the newest leader known: elections up to it are over.
    pub closed: Term,
    /// After a step-down: until when others go first.
    pub cooldown: Cooldown,
    /// The last score that was not `None`: a leader that became ineligible shows it until it has
    /// stepped down.
    pub last_score: Score,
}

impl Core {
    pub(super) fn new(identity: Identity, config: Arc<RingConfig>) -> Self {
        Self {
            last_score: identity.score.unwrap_or_default(),
            me: Participant::new(identity),
            config,
            observers: Arc::default(),
            hops: BTreeMap::new(),
            suspects: BTreeMap::new(),
            probe: None,
            passed: None,
            seen: Term::ZERO,
            closed: Term::ZERO,
            cooldown: Cooldown::default(),
        }
    }

    /// Returns a span with a jitter, so that agents do not all act at the same instant.
    pub(super) fn jittered(&self, span: std::time::Duration) -> After {
        After::jittered(span, self.config.timings.jitter())
    }

    // ---- who may lead -----------------------------------------------------------------------

    /// Returns whether this agent can be elected, and there is a term left to lead in.
    pub(super) fn may_lead(&self) -> bool {
        self.me.eligible().is_some() && self.seen.next().is_some()
    }

    /// Returns whether this agent may lead and need not let others go first.
    pub(super) fn may_challenge(&self, now: Time) -> bool {
        self.may_lead() && !self.defers(now, None)
    }

    /// Returns whether this agent cools down, and another one is there to lead; `gone` is known not to be.
    pub(super) fn defers(&self, now: Time, gone: Option<&AgentId>) -> bool {
        self.cooldown.is_active(now) && self.rivals().any(|m| Some(&m.id) != gone)
    }

    /// Returns the agent to hand the leadership to: the wanted agent if it can lead.
    pub(super) fn successor(&self, wanted: Option<AgentId>) -> Option<AgentId> {
        // Not `Participant::successor`: the nomination would only go round to a silent member.
        wanted
            .filter(|id| self.me.can_succeed(id))
            .or_else(|| self.rivals().next().map(|m| m.id.clone()))
    }

    // ---- when to begin ----------------------------------------------------------------------

    /// Begins an election in order of rank: the highest member at once, each further one a step later. `gone` is known
    /// to be gone.
    pub(super) fn begin_by_rank(&self, now: Time, gone: Option<&AgentId>) -> Next {
        let ahead = self.members_ahead(gone, slot::LAST);
        let Some(ahead) = ahead.filter(|_| self.may_lead()) else {
            return Next::Stay;
        };
        // All members see a leader's end at the same moment. Without an order, n tokens would go round at once, and all
        // but one of them in vain. An agent that cools down has the last slots, but it has a slot: if all remaining
        // agents cool down, no other agent would begin.
        let own = slot::behind(ahead, self.defers(now, gone));
        if own == 0 {
            return Next::Begin;
        }
        Next::Schedule(
            slot::delay(self.config.timings.step(), own),
            CampaignCause::HigherRank,
        )
    }

    // ---- statements of this agent about itself ---------------------------------------------

    /// The name of an election that this agent begins.
    pub(super) fn election(&self, term: Term) -> RingElectionId {
        RingElectionId {
            term,
            score: self.me.eligible(),
            origin: self.me.id.clone(),
            incarnation: self.me.incarnation,
        }
    }

    pub(super) fn entrant(&self, now: Time) -> Entrant {
        Entrant {
            id: self.me.id.clone(),
            incarnation: self.me.incarnation,
            score: self.me.score,
            // The member that closes the list knows whether another member can lead.
            defers: self.cooldown.is_active(now),
        }
    }

    pub(super) fn score(&self) -> Score {
        self.me.score.unwrap_or(self.last_score)
    }

    /// "I lead": the announcement if `beat` is 0, otherwise that heartbeat.
    pub(super) fn announcement(&self, term: Term, beat: u64) -> Coordinator {
        Coordinator {
            leader: self.me.id.clone(),
            incarnation: self.me.incarnation,
            score: self.score(),
            term,
            beat,
        }
    }

    // ---- observers --------------------------------------------------------------------------

    /// An observer passes nothing on, so a leader informs each observer itself.
    pub(super) fn tell_observers(&self, message: &Coordinator, out: &mut Out) {
        if !self.observers.is_empty() {
            out.send_to(To::Set(Arc::clone(&self.observers)), message.clone());
        }
    }

    /// The list is made anew only if it changes: each heartbeat shares it.
    pub(super) fn list_observers(&mut self) {
        let is_told = |m: &&Member| !m.is_voter() && m.id != self.me.id && seems_there(m);
        let told = || self.me.members.iter().filter(is_told).map(|m| &m.id);
        if !told().eq(self.observers.iter()) {
            self.observers = told().cloned().collect();
        }
    }

    /// The time in which an agent that cools down lets others go first is over early.
    pub(super) fn end_cooldown(&mut self, out: &mut Out) -> bool {
        self.cooldown.end(RingTimer::Cooldown, out)
    }
}
