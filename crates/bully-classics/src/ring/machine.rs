//! The one `match` over roles and inputs.
//!
//! A role (`follower.rs`, `leader.rs`) or a stage of an election (`collect.rs`, `nominate.rs`, `announce.rs`) returns
//! the consequence of an input ([`Next`]), and `transition.rs` carries it out. These files do not call each other.

use std::sync::Arc;

use super::{
    AgentId, Out, RingConfig, Score, announce, collect,
    core::Core,
    message::{Coordinator, LapMessage, RingMessage},
    nominate,
    presence::has_ended,
    state::{Campaign, CampaignCause, Contest, Next, RingTimer, State},
};
use bully_core::{
    parts::Due,
    protocol::{Identity, Incarnation, Input, InputOf, Leader, Member, Members, Time},
};

/// The state machine of one agent in a ring election; see the [module's page](super).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ring {
    pub(super) core: Core,
    pub(super) state: State,
    pub(super) campaign: Campaign,
    /// Time of the last step; `None` before the incarnation has begun.
    pub(super) stepped: Option<Time>,
}

impl Campaign {
    /// Returns whether this agent has won an election, and its announcement is on its way round the ring.
    fn announces(&self) -> bool {
        self.contest().is_some_and(Contest::is_announced)
    }

    /// Returns whether this agent has planned an election that joins two groups.
    const fn merges(&self) -> bool {
        matches!(
            self,
            Self::Scheduled {
                cause: CampaignCause::Merge,
                ..
            }
        )
    }
}

impl Ring {
    pub(super) fn of(identity: Identity, config: Arc<RingConfig>) -> Self {
        Self {
            core: Core::new(identity, config),
            state: State::Vacant,
            campaign: Campaign::Idle,
            stepped: None,
        }
    }

    pub(super) fn step(&mut self, now: Time, input: InputOf<Self>, out: &mut Out) {
        let has_begun = self.stepped.is_some();
        let next = match input {
            Input::Start(members) if !has_begun => self.on_start(now, members, out),
            Input::SetScore(score) if !has_begun => {
                self.core.me.score = score;
                self.core.last_score = score.unwrap_or_default();
                return;
            }
            _ if !has_begun => return self.ignore("its incarnation has not begun"),
            Input::Received {
                from,
                incarnation,
                message,
            } => self.on_message(now, &from, incarnation, message, out),
            Input::TimedOut(timer) => self.on_timer(now, timer, out),
            Input::Members(members) | Input::Start(members) => self.on_members(now, members, out),
            Input::Campaign => self.on_campaign(now, out),
            Input::SetScore(score) => self.on_set_score(now, score, out),
            Input::StepDown { to } => match &mut self.state {
                State::Leader(leading) => leading.on_step_down(&self.core, now, to, out),
                State::Vacant | State::Follower(_) => Next::Ignore("it does not lead"),
            },
            Input::ChangeVoters(_) => Next::Ignore("its voters do not change"),
            Input::Drained => match &self.state {
                State::Leader(leading) => leading.on_drained(),
                State::Vacant | State::Follower(_) => Next::Ignore("it does not lead"),
            },
        };
        self.go(now, next, out);
        if self.state == State::Vacant && self.campaign == Campaign::Idle {
            // While no agent leads, an agent that may lead must have a timer. Otherwise nothing would wake it.
            self.go(now, self.look_again(now), out);
        }
        self.stepped = Some(now);
    }

    fn on_message(
        &mut self,
        now: Time,
        from: &AgentId,
        incarnation: Incarnation,
        message: RingMessage,
        out: &mut Out,
    ) -> Next {
        let core = &mut self.core;
        // The suspicion of the sender ends: a message with any content proves that its sender is up.
        core.trust(from, incarnation);
        let is_from_voter = core.me.members.get(from).is_some_and(Member::is_voter);
        let is_between_voters = is_from_voter && core.me.is_voter();
        if is_between_voters {
            core.acknowledge(from, &message, out); // before anything else: the sender waits for it
        }
        match message {
            RingMessage::Coordinator(m) => self.on_coordinator(now, from, m, out),
            _ if !core.me.is_voter() => Next::Ignore("an observer is only told who leads"),
            // An observer may also send this message, to inform a former leader that it knows a later term.
            RingMessage::HopAck(m) => {
                core.on_hop_ack(now, from, &m, out);
                self.catch_up(m.known, out)
            }
            _ if !is_between_voters => Next::Ignore("an observer takes no part"),
            RingMessage::Collect(m) => collect::on_collect(core, &mut self.campaign, now, m),
            RingMessage::Nominate(m) => nominate::on_nominate(core, &self.campaign, m),
            RingMessage::Probe(m) => {
                self.core.answer_probe(from, self.leader(), out);
                self.catch_up(m.known, out)
            }
            RingMessage::Answer(m) => {
                // An election that joins two groups has to be above the terms of both groups.
                self.core.note_term(m.known);
                let theirs = m.leader.map(|l| (l.id, l.incarnation));
                let ours = self.leader().map(|l| (l.id, l.incarnation));
                if theirs.is_some() && ours.is_some() && theirs != ours {
                    // The sender was on the other side of a partition.
                    return self.core.merge(&self.campaign);
                }
                self.catch_up(m.known, out)
            }
        }
    }

    fn on_coordinator(&mut self, now: Time, from: &AgentId, m: Coordinator, out: &mut Out) -> Next {
        let core = &mut self.core;
        if m.leader == core.me.id {
            return if m.incarnation == core.me.incarnation {
                announce::came_home(core, &mut self.state, &self.campaign, now, &m, out)
            } else {
                announce::on_former_self(core, &self.campaign, &m)
            };
        }
        if let Err(why) = announce::judge(core, &self.state, &self.campaign, from, &m, out) {
            return Next::Ignore(why);
        }
        let leader = Leader {
            id: m.leader.clone(),
            incarnation: m.incarnation,
            term: m.term,
        };
        self.follow(now, leader, m.score, out);
        if self.core.me.is_voter() {
            // If no other member is left, not even the leader, the message ends here.
            let _ended = self.core.pass(now, LapMessage::Coordinator(m), out);
        }
        self.look_again(now)
    }

    fn on_timer(&mut self, now: Time, timer: RingTimer, out: &mut Out) -> Next {
        let announces = self.campaign.announces();
        let takes_part = self.campaign.contest().is_some();
        match timer {
            RingTimer::Hop(lap) => {
                if self.core.on_hop_due(now, lap, out) {
                    self.skip_absent(now, out);
                }
                Next::Stay
            }
            RingTimer::Token => match self.campaign.contest() {
                Some(contest) if contest.is_lost(now, out) => self.on_lost_election(now, out),
                Some(_) => Next::Stay,
                None => Next::Ignore("no election is under way"),
            },
            RingTimer::Slot => self.on_slot(now, out),
            RingTimer::Heartbeat => match &mut self.state {
                State::Leader(l) => l.on_heartbeat_due(&self.core, now, announces, out),
                State::Vacant | State::Follower(_) => Next::Ignore("only a leader has heartbeats"),
            },
            RingTimer::Silence => match &mut self.state {
                State::Vacant => Next::Ignore("no leader is watched"),
                State::Leader(l) => l.on_silence_due(&self.core, now, takes_part, out),
                State::Follower(f) => {
                    if f.is_silent(&self.core, now, out) {
                        let id = f.leader.id.clone();
                        // The silent leader is suspected before the election begins: otherwise the token would go to
                        // it.
                        self.core.suspect(now, &id, out);
                        self.vacate(now, out);
                        self.skip_absent(now, out);
                    }
                    Next::Stay
                }
            },
            RingTimer::Probe => self.core.on_probe_due(now, out),
            RingTimer::Drain => match &self.state {
                State::Leader(leading) => leading.on_drain_due(now, out),
                State::Vacant | State::Follower(_) => Next::Ignore("it does not lead"),
            },
            RingTimer::Cooldown => match self.core.cooldown.on_due(now, RingTimer::Cooldown, out) {
                Some(Due::Later) => Next::Stay,
                Some(Due::Now) => self.look_again(now),
                None => Next::Ignore("it does not cool down"),
            },
        }
    }

    /// Handles an election without an outcome: begins another election if this agent still has a reason (rule
    /// `restart-lost-election`).
    fn on_lost_election(&mut self, now: Time, out: &mut Out) -> Next {
        self.end_contest(out);
        match &self.state {
            // This leader's announcement of a higher term was lost on its way. The members that accepted it accept no
            // older term, so the leader's heartbeats no longer count.
            State::Leader(leading) if leading.term < self.core.closed => Next::Begin,
            State::Leader(_) | State::Follower(_) | State::Vacant => self.look_again(now),
        }
    }

    /// Begins the planned election if its time has come and its reason still holds.
    fn on_slot(&mut self, now: Time, out: &mut Out) -> Next {
        let Campaign::Scheduled { due, cause } = self.campaign else {
            return Next::Ignore("no election is planned");
        };
        if now < due {
            out.set_timer(RingTimer::Slot, due.since(now));
            return Next::Stay;
        }
        self.unschedule(out);
        let has_reason = match (&self.state, cause) {
            // The rank does not matter: two groups join only by an election in which both take part.
            (_, CampaignCause::Merge) => true,
            (State::Vacant, CampaignCause::HigherRank) => self.core.may_lead(),
            (State::Follower(f), CampaignCause::HigherRank) => {
                f.is_outranked_by(&self.core) && self.core.competes(now)
            }
            (State::Leader(_), CampaignCause::HigherRank) => false,
        };
        if has_reason { Next::Begin } else { Next::Stay }
    }

    fn on_start(&mut self, now: Time, members: Arc<Members>, out: &mut Out) -> Next {
        let core = &mut self.core;
        core.note_term(members.term());
        core.me.members = members;
        core.list_observers();
        core.watch_skipped(now, out);
        let leader = core.me.members.leader();
        if leader.is_some_and(|leader| leader.id != core.me.id) {
            // The snapshot shows a leader. The leader's heartbeat will show whether this agent outranks it.
            return core.await_heartbeat(&self.campaign);
        }
        self.look_again(now)
    }

    fn on_members(&mut self, now: Time, members: Arc<Members>, out: &mut Out) -> Next {
        let core = &mut self.core;
        core.note_term(members.term());
        let before = std::mem::replace(&mut core.me.members, members);
        core.list_observers();
        core.review_suspects(&before);
        core.watch_skipped(now, out);
        if let State::Follower(f) = &self.state
            && has_ended(&f.leader, &before, &core.me.members)
        {
            self.vacate(now, out);
        }
        self.skip_absent(now, out);
        // Members that ranked above this agent may be gone, so it may be the first to begin now.
        let waits = matches!(self.campaign, Campaign::Scheduled { .. });
        let waits = waits && self.state == State::Vacant && self.core.competes(now);
        if waits && self.core.is_first() {
            return self.core.begin_by_rank(now, None);
        }
        Next::Stay
    }

    fn on_campaign(&mut self, now: Time, out: &mut Out) -> Next {
        if self.core.me.eligible().is_none() {
            return Next::Ignore("it cannot be elected");
        }
        self.core.end_cooldown(out);
        let announces = self.campaign.announces();
        match &mut self.state {
            State::Leader(leading) => leading.beat(&self.core, now, announces, out),
            _ if self.campaign.contest().is_some() => Next::Ignore("an election is under way"),
            State::Vacant | State::Follower(_) => Next::Begin,
        }
    }

    fn on_set_score(&mut self, now: Time, score: Option<Score>, out: &mut Out) -> Next {
        let before = std::mem::replace(&mut self.core.me.score, score);
        self.core.last_score = score.unwrap_or(self.core.last_score);
        // A new score means that the agent is ready to lead again.
        let has_cooled_down = score.is_some() && self.core.end_cooldown(out);
        if before == score && !has_cooled_down || !self.core.me.is_voter() {
            return Next::Stay;
        }
        let announces = self.campaign.announces();
        let merges = self.campaign.merges();
        match &mut self.state {
            State::Leader(l) => l.set_score(&self.core, now, score, announces, out),
            // A planned merge stays: the other group still exists after a change of this agent's score.
            State::Vacant | State::Follower(_) if merges => Next::Stay,
            State::Vacant | State::Follower(_) if score.is_none() => {
                self.unschedule(out);
                Next::Stay
            }
            State::Vacant => self.look_again(now),
            State::Follower(f) => {
                if !f.is_outranked_by(&self.core) {
                    self.unschedule(out);
                }
                self.look_again(now)
            }
        }
    }
}
