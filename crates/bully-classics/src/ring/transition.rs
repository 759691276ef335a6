//! Carries out the consequences of inputs; only this file writes the state.
//!
//! A role or a stage of an election returns a [`Next`]. [`Ring::go`] carries it out, and then each further consequence.
//! No role calls another role, and every transition from one state to another is in this file.

use super::{
    AgentId, Out, Ring, Score, Term, announce, collect,
    message::LapMessage,
    nominate,
    state::{Campaign, CampaignCause, Contest, Following, Leading, Next, RingTimer, State},
};
use bully_core::protocol::{Leader, LostReason, Role, Time};

impl Ring {
    /// Carries out a consequence, and all consequences that follow from it.
    pub(super) fn go(&mut self, now: Time, mut next: Next, out: &mut Out) {
        loop {
            next = match next {
                Next::Stay => return,
                Next::Ignore(why) => return self.ignore(why),
                Next::Schedule(span, cause) => {
                    let due = now.after(span);
                    out.set_timer(RingTimer::Slot, self.core.jittered(span));
                    self.campaign = Campaign::Scheduled { due, cause };
                    return;
                }
                Next::Begin => collect::begin(&self.core, now),
                Next::Join(id, message) => {
                    self.unschedule(out);
                    let contest = Contest::join(&mut self.core, now, id, message.lap(), out);
                    self.campaign = Campaign::Joined(contest);
                    Next::Pass(message)
                }
                Next::Pass(message) => match self.core.pass(now, message, out) {
                    Some(message) => self.came_home(now, message, out),
                    None => return,
                },
                // The score is checked again: the agent may have lost it while the list went round.
                Next::Announce(id) if self.core.me.eligible().is_some() => {
                    let term = id.term;
                    announce::begin(&mut self.core, out);
                    self.core.closed = self.core.closed.max(term);
                    let announcement = self.core.announcement(term, 0);
                    Next::Join(id, LapMessage::Coordinator(announcement))
                }
                Next::Announce(_) | Next::GiveUp => return self.end_contest(out),
                Next::Lead(term) => {
                    self.end_contest(out);
                    return self.lead(now, term, out);
                }
                Next::Retry => {
                    self.end_contest(out);
                    Next::Begin
                }
                Next::Lose(reason) => {
                    self.lose(reason, out);
                    self.look_again(now)
                }
                Next::Resign(to) => self.resign(now, to, out),
            }
        }
    }

    /// Handles a message for which no other member was found, as if it had gone round the ring.
    fn came_home(&mut self, now: Time, message: LapMessage, out: &mut Out) -> Next {
        match message {
            LapMessage::Collect(m) => match &mut self.campaign {
                Campaign::Joined(contest) if contest.id == m.election => {
                    contest.close(&self.core, m)
                }
                Campaign::Joined(_) | Campaign::Idle | Campaign::Scheduled { .. } => {
                    Next::Ignore("another election is under way")
                }
            },
            LapMessage::Nominate(m) => nominate::came_home(self.campaign.contest(), &m),
            LapMessage::Coordinator(m) if m.leader == self.core.me.id => {
                announce::came_home(&self.core, &mut self.state, &self.campaign, now, &m, out)
            }
            LapMessage::Coordinator(_) => Next::Stay,
        }
    }

    /// If the next member of a message is not in the ring any more, sends the message to the member after it.
    pub(super) fn skip_absent(&mut self, now: Time, out: &mut Out) {
        for lap in self.core.stuck_laps() {
            if let Some(message) = self.core.skip(now, lap, out) {
                let next = self.came_home(now, message, out);
                self.go(now, next, out);
            }
        }
    }

    /// Checks whether there is a reason for an election while no election is under way.
    pub(super) fn look_again(&self, now: Time) -> Next {
        match &self.state {
            _ if self.campaign.contest().is_some() => Next::Stay,
            State::Vacant => self.core.begin_by_rank(now, None),
            State::Follower(f) => f.challenge(&self.core, &self.campaign, now),
            State::Leader(_) => Next::Stay,
        }
    }

    /// Handles a message of a member that knows a leader of a higher term: this agent has missed its announcement.
    pub(super) fn catch_up(&mut self, known: Term, out: &mut Out) -> Next {
        self.core.note_term(known);
        if known <= self.core.closed {
            return Next::Stay;
        }
        if self.state != State::Vacant {
            return self.core.merge(&self.campaign);
        }
        // This agent's election is given up: the members that know the later leader do not pass its token on.
        let is_in_vain = |c: &Contest| c.id.origin == self.core.me.id && c.id.term <= known;
        if self.campaign.contest().is_some_and(is_in_vain) {
            self.end_contest(out);
        }
        self.core.await_heartbeat(&self.campaign)
    }

    // ---- the state --------------------------------------------------------------------------

    pub(super) fn follow(&mut self, now: Time, leader: Leader, score: Score, out: &mut Out) {
        self.core.closed = self.core.closed.max(leader.term);
        // An election for a later term continues after the announcement, because its outcome is newer.
        let is_over = |c: &Contest| c.id.term <= leader.term;
        if self.campaign.contest().is_some_and(is_over) {
            self.end_contest(out);
        }
        // The application must end its own work before it learns of another leader.
        self.lose(LostReason::Superseded, out);
        let before = match &self.state {
            State::Follower(f) => Some(&f.leader),
            State::Vacant | State::Leader(_) => None,
        };
        let is_new = before != Some(&leader);
        let goes_on = match &self.campaign {
            // A planned merge stays, because the other group still exists. Only a leader of a later term may be the
            // outcome of a merge.
            Campaign::Scheduled {
                cause: CampaignCause::Merge,
                ..
            } => !is_new,
            // A challenge continues only against the leader for which it was planned.
            Campaign::Idle | Campaign::Scheduled { .. } | Campaign::Joined(_) => {
                before.is_some_and(|before| before.id == leader.id)
                    && self.core.me.outranks(score, &leader.id)
            }
        };
        if !goes_on {
            self.unschedule(out);
        }
        let followed = Following::hear(&self.core, now, (leader, score), is_new, out);
        self.state = State::Follower(followed);
    }

    fn lead(&mut self, now: Time, term: Term, out: &mut Out) {
        let renewed = match std::mem::replace(&mut self.state, State::Vacant) {
            State::Leader(leading) => Some(leading),
            State::Vacant | State::Follower(_) => None,
        };
        let leading = Leading::begin(&mut self.core, now, term, renewed, out);
        self.state = State::Leader(leading);
    }

    /// Ends the leadership of this agent, if it leads.
    fn lose(&mut self, reason: LostReason, out: &mut Out) {
        if let State::Leader(leading) = &self.state {
            leading.end(reason, out);
            self.state = State::Vacant;
        }
    }

    /// Stops following a leader that is gone.
    pub(super) fn vacate(&mut self, now: Time, out: &mut Out) {
        let State::Follower(f) = &self.state else {
            return;
        };
        let gone = f.leader.id.clone();
        f.end(out);
        self.state = State::Vacant;
        // An election that is under way has an outcome, or its time-out begins the next election.
        if self.campaign.contest().is_none() {
            self.go(now, self.core.begin_by_rank(now, Some(&gone)), out);
        }
    }

    /// Ends the leadership, and only then nominates the successor, so that no other agent leads meanwhile.
    fn resign(&mut self, now: Time, to: Option<AgentId>, out: &mut Out) -> Next {
        // The successor is chosen again: the agent that was chosen when the step-down began may be gone by now.
        let to = self.core.successor(to);
        self.lose(LostReason::Resigned, out);
        let span = self.core.config.cooldown;
        self.core
            .cooldown
            .begin(now, span, RingTimer::Cooldown, out);
        self.end_contest(out);
        // Without a successor, this agent may lead again.
        nominate::hand_over(&self.core, to).unwrap_or_else(|| self.look_again(now))
    }

    pub(super) fn end_contest(&mut self, out: &mut Out) {
        if self.campaign.contest().is_some() {
            Contest::end(&mut self.core, out);
            self.campaign = Campaign::Idle;
        }
    }

    pub(super) fn unschedule(&mut self, out: &mut Out) {
        if matches!(self.campaign, Campaign::Scheduled { .. }) {
            out.cancel_timer(RingTimer::Slot);
            self.campaign = Campaign::Idle;
        }
    }

    // ---- queries ----------------------------------------------------------------------------

    /// Returns the leader: the followed agent, or this agent itself.
    pub(super) fn leader(&self) -> Option<Leader> {
        match &self.state {
            State::Vacant => None,
            State::Follower(followed) => Some(followed.leader.clone()),
            State::Leader(leading) => Some(self.core.me.as_leader(leading.term)),
        }
    }

    pub(super) fn role(&self) -> Role {
        match (&self.state, self.campaign.contest()) {
            (State::Leader(_), _) => Role::Leader,
            (_, None) => Role::Follower,
            (_, Some(c)) if c.id.origin == self.core.me.id || c.is_announced() => Role::Candidate,
            (_, Some(_)) => Role::Waiting,
        }
    }

    pub(super) fn ignore(&self, why: &'static str) {
        self.core.me.ignore(self.role(), why);
    }
}
