//! The data and decisions that every role of a ring election needs. This file does not call the code of a role.
//!
//! Decided here: which agents may lead, which agents let other agents lead first, and when an agent begins an election
//! if no agent leads (rule `begin-by-rank`). `presence.rs` decides which members are up, `hop.rs` sends the messages of
//! the ring, and `probe.rs` probes the skipped members; all three use this core.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    AgentId, Hop, Next, Out, Passed, RingConfig,
    message::{Coordinator, Entrant, Lap, RingElectionId},
    state::{CampaignCause, RingTimer},
};
use bully_core::{
    parts::{Cooldown, Participant, slot},
    protocol::{After, Identity, Incarnation, Member, Presence, Score, Term, Time, To},
};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Core {
    pub me: Participant,
    pub config: Arc<RingConfig>,
    /// The observers, which are not in the ring: a leader sends them messages of their own.
    pub observers: Arc<[AgentId]>,
    /// For each lap: the message that was passed on and is not acknowledged yet.
    pub hops: BTreeMap<Lap, Hop>,
    /// The members that did not acknowledge, each with the incarnation that was silent.
    pub suspects: BTreeMap<AgentId, Option<Incarnation>>,
    /// Time at which the skipped members are probed. The first suspicion sets it, each probe sets it again, and it is
    /// never cancelled: the probes end when no member is skipped.
    pub probe: Option<Time>,
    /// The last announcement or heartbeat that this agent passed on. A follower always has one of its leader.
    pub passed: Option<Passed>,
    /// The highest term of which this agent has heard; see [`note_term`](Self::note_term).
    pub seen: Term,
    /// The term of the newest known leader. Elections up to this term have ended.
    pub closed: Term,
    /// After a step-down: the time until which this agent lets other agents lead first.
    pub cooldown: Cooldown,
    /// This agent's last score. A leader that lost its score reports its last score until it has stepped down.
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

    /// Notes a term of which this agent has heard. Every election that it begins has a higher term.
    pub(super) fn note_term(&mut self, term: Term) {
        self.seen = self.seen.max(term);
    }

    /// Returns the time `span` with a random jitter, so that agents do not all act at the same instant.
    pub(super) fn jittered(&self, span: std::time::Duration) -> After {
        After::jittered(span, self.config.timings.jitter())
    }

    // ---- who may lead -----------------------------------------------------------------------

    /// Returns whether this agent can be elected, and a term above all seen terms exists.
    pub(super) fn may_lead(&self) -> bool {
        self.me.eligible().is_some() && self.seen.next().is_some()
    }

    /// Returns whether this agent may lead and does not let other agents lead first.
    pub(super) fn competes(&self, now: Time) -> bool {
        self.may_lead() && !self.defers(now, None)
    }

    /// Returns whether this agent lets other agents lead first: it cools down, and another agent can lead. The agent
    /// `gone` is not counted, because it is known not to be up.
    pub(super) fn defers(&self, now: Time, gone: Option<&AgentId>) -> bool {
        self.cooldown.is_active(now) && self.rivals().any(|m| Some(&m.id) != gone)
    }

    /// Returns the agent to which the leadership should go: the wanted agent if it can lead, else the highest-ranked
    /// rival.
    pub(super) fn successor(&self, wanted: Option<AgentId>) -> Option<AgentId> {
        // `Participant::successor` is not used, because it may return a member that is skipped, and the nomination
        // would not reach that member.
        wanted
            .filter(|id| self.me.can_succeed(id))
            .or_else(|| self.rivals().next().map(|m| m.id.clone()))
    }

    // ---- when to begin ----------------------------------------------------------------------

    /// Begins an election in order of rank: the highest-ranked member at once, each further member a step later.
    /// `gone` is an agent that is known to be gone.
    pub(super) fn begin_by_rank(&self, now: Time, gone: Option<&AgentId>) -> Next {
        let ahead = self.members_ahead(gone, slot::LAST);
        let Some(ahead) = ahead.filter(|_| self.may_lead()) else {
            return Next::Stay;
        };
        // All members learn of a leader's end at the same moment. Without an order, a token of each member would go
        // round, and all but one of them would be useless. An agent that cools down has one of the last slots, so that
        // some agent begins even if all remaining agents cool down.
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
            // The cool-down is reported even if no other member can lead: only the member that closes the list knows
            // that.
            defers: self.cooldown.is_active(now),
        }
    }

    pub(super) fn score(&self) -> Score {
        self.me.score.unwrap_or(self.last_score)
    }

    /// Returns the message "I lead": the announcement if `beat` is 0, otherwise the heartbeat with this number.
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

    /// Informs each observer, because an observer passes no message on.
    pub(super) fn tell_observers(&self, message: &Coordinator, out: &mut Out) {
        if !self.observers.is_empty() {
            out.send_to(To::Set(Arc::clone(&self.observers)), message.clone());
        }
    }

    /// Makes a new list of observers if they changed; all heartbeats share the list.
    pub(super) fn list_observers(&mut self) {
        let is_told = |m: &&Member| !m.is_voter() && m.id != self.me.id && seems_there(m);
        let told = || self.me.members.iter().filter(is_told).map(|m| &m.id);
        if !told().eq(self.observers.iter()) {
            self.observers = told().cloned().collect();
        }
    }

    /// Ends the cool-down early. Returns whether the agent cooled down before.
    pub(super) fn end_cooldown(&mut self, out: &mut Out) -> bool {
        self.cooldown.end(RingTimer::Cooldown, out)
    }
}

/// Returns whether the snapshot shows the member neither as suspected nor as down.
pub(super) fn seems_there(member: &Member) -> bool {
    match member.presence {
        Presence::Up | Presence::Unseen => true,
        Presence::Suspect | Presence::Down => false,
    }
}
