//! Role × input: the effect of each input in each role. Only this file changes the role.
//!
//! The result of a whole round ([`core`](super::core)), not a single message, decides which leader an agent trusts. So
//! most inputs have the same effect in all roles. [`Ballot::trust`] publishes each change, and a lost leadership before
//! any other effect of the step, so no message of a former leader is sent after the end of its leadership.

use std::{mem, sync::Arc, time::Duration};

use super::{
    Ballot, BallotRecord, Out,
    message::{BallotMessage, HeartbeatReply, HeartbeatRequest, Leads, Nack, Resign},
    observer,
    state::{LastRound, State},
    timer::BallotTimer,
};
use bully_core::protocol::{
    AgentId, Event, Incarnation, Input, InputOf, Leader, LostReason, Members, Role, Score, Time,
};

// ---- the application, the members and the clock ----------------------------------------------

impl Ballot {
    /// Handles an input before the start. The agent sends nothing.
    pub(super) fn before_start(&mut self, now: Time, input: InputOf<Self>, out: &mut Out) {
        match input {
            Input::Start(members) => self.on_start(now, members, out),
            Input::SetScore(score) => self.core.me.score = score,
            Input::Received { .. }
            | Input::TimedOut(_)
            | Input::Members(_)
            | Input::Campaign
            | Input::StepDown { .. }
            | Input::Drained
            | Input::ChangeVoters(_) => self.ignore("it has not started"),
        }
    }

    /// Handles the start. The first incarnation takes a ballot at once, with the number 1. A later incarnation holds no
    /// ballot until it finds the leadership vacant (rule `come-back-without-ballot`). A new ballot would be above all
    /// ballots that the agent ever used, so a restart alone would end the leadership of a healthy leader.
    fn on_start(&mut self, now: Time, members: Arc<Members>, out: &mut Out) {
        let core = &mut self.core;
        core.meet(members);
        core.round = 1;
        core.stepped = Some(now);
        if !core.me.is_voter() {
            return; // it waits for `Leads`
        }
        if core.voter.record == BallotRecord::default() && core.competes(now) {
            core.take(1, out);
        }
        if core.peers.is_empty() {
            self.check(now, self.core.last_round, out); // this agent alone is the majority
        }
        // This agent asks at once; the original algorithm first waits for one round (rule `first-round-at-once`).
        self.core.ask(now, &self.state, out);
    }

    /// Ends a leadership if this agent took no step for two rounds. During these rounds it heard no majority, and
    /// earlier answers do not describe the present.
    pub(super) fn end_stalled_leadership(&mut self, now: Time, out: &mut Out) {
        if self.state.leading().is_some() && now >= self.core.valid_until() {
            self.core.last_round = LastRound::Minority;
            self.trust(State::Vacant, LostReason::Stalled, out);
        }
        self.core.stepped = Some(now);
    }

    pub(super) fn on_input(&mut self, now: Time, input: InputOf<Self>, out: &mut Out) {
        match input {
            Input::Received {
                from,
                incarnation,
                message,
            } => self.on_message(now, &from, incarnation, message, out),
            Input::TimedOut(timer) => self.on_timer(now, timer, out),
            Input::Members(members) | Input::Start(members) => self.on_members(now, members, out),
            Input::Campaign => self.on_campaign(now, out),
            Input::SetScore(score) => self.on_set_score(now, score, out),
            Input::StepDown { to } => {
                let cooldown = self.core.config.cooldown;
                self.drain(now, to, cooldown, out);
            }
            Input::Drained => self.on_drained(now, out),
            Input::ChangeVoters(_) => self.ignore("its voters do not change"),
        }
    }

    fn on_timer(&mut self, now: Time, timer: BallotTimer, out: &mut Out) {
        match (timer, self.core.me.is_voter()) {
            (BallotTimer::Silence, false) => self.observe_vacancy(out),
            (BallotTimer::Silence, true) => self.ignore("a voter asks for itself"),
            (_, false) => self.ignore("an observer has no rounds"),
            (BallotTimer::Round, true) => self.on_round_over(now, out),
            (BallotTimer::Again, true) => self.core.ask_again(now, &self.state, out),
            (BallotTimer::Drain, true) => self.on_drained(now, out),
        }
    }

    /// Handles a new snapshot of the members. If the leader of this agent has left the snapshot, the agent no longer
    /// follows it. The leader's ballot becomes void only if the end of its process is confirmed: a leader that is only
    /// absent may still run and come back (a bridge forgets a peer and meets it again), and the next round of this
    /// agent shows whether it still runs. A suspicion changes nothing. The snapshot does not change who votes: the
    /// configuration lists the voters.
    fn on_members(&mut self, now: Time, members: Arc<Members>, out: &mut Out) {
        self.core.meet(members);
        let Some(following) = self.state.following() else {
            return;
        };
        let has_ended = match self.core.me.members.get(&following.ballot.id) {
            Some(member) if !member.is_stale(following.incarnation) => return,
            Some(_) => true,
            None => false,
        };
        if has_ended {
            // Other voters may not know of the leader's end yet, and may still report that they hear it. Such
            // statements must not count.
            self.core.voter.void = Some(following.ballot.clone());
        }
        if !self.core.me.is_voter() {
            return self.observe_vacancy(out);
        }
        self.trust(State::Vacant, LostReason::Superseded, out);
        if !self.core.is_connected() {
            return; // the present round shows whether a majority answers
        }
        if !has_ended {
            return self.core.begin_round(now, &self.state, out);
        }
        if self.core.competes(now) {
            self.core.take(1, out);
            self.core.begin_round(now, &self.state, out);
        }
    }

    /// Takes the next ballot. The next round elects this agent, unless another agent takes a higher ballot.
    fn on_campaign(&mut self, now: Time, out: &mut Out) {
        if self.core.me.eligible().is_none() {
            return self.ignore("it is not eligible");
        }
        self.core.cooldown = None;
        match self.role() {
            Role::Leader | Role::Candidate => self.ignore("it leads, or is a candidate already"),
            // Without a majority, no voter would elect the new ballot now, but later it would replace a healthy leader.
            Role::Follower | Role::Waiting if !self.core.is_connected() => {
                self.ignore("it hears no majority");
            }
            Role::Follower | Role::Waiting => {
                self.core.take(1, out);
                self.core.begin_round(now, &self.state, out);
            }
        }
    }

    /// Stores the score, which counts in the next ballot. An agent without a score gives up its ballot.
    fn on_set_score(&mut self, now: Time, score: Option<Score>, out: &mut Out) {
        self.core.me.score = score;
        match (score, &self.state) {
            (Some(_), _) => self.core.cooldown = None,
            (None, State::Leading(_)) => self.drain(now, None, Duration::ZERO, out),
            (None, State::Vacant | State::Following(_)) => self.core.voter.own = None,
        }
    }

    fn drain(&mut self, now: Time, to: Option<AgentId>, cooldown: Duration, out: &mut Out) {
        match &mut self.state {
            State::Leading(leading) if leading.leaving.is_none() => {
                leading.drain(&mut self.core, now, to, cooldown, out);
            }
            State::Leading(_) => return self.ignore("it steps down already"),
            State::Vacant | State::Following(_) => return self.ignore("it does not lead"),
        }
        if self.core.config.drain.is_zero() {
            self.on_drained(now, out);
        }
    }

    /// Resigns, because the work has ended or the time for the work has passed.
    fn on_drained(&mut self, now: Time, out: &mut Out) {
        let leading = self.state.leading();
        let Some((resign, cooldown)) = leading.and_then(|l| l.resignation(&self.core)) else {
            return self.ignore("it does not step down");
        };
        self.core.cool_down(now, cooldown);
        self.core.held_back = Duration::ZERO;
        // The loss is published to the application before the other voters receive `Resign` and one of them takes over.
        self.trust(State::Vacant, LostReason::Resigned, out);
        self.core.voter.void = Some(resign.ballot.clone());
        out.send_all(resign);
    }
}

// ---- messages --------------------------------------------------------------------------------

impl Ballot {
    fn on_message(
        &mut self,
        now: Time,
        from: &AgentId,
        incarnation: Incarnation,
        message: BallotMessage,
        out: &mut Out,
    ) {
        match message {
            BallotMessage::Nack(m) => self.on_nack(from, m, out),
            _ if !self.core.config.voters.contains(from) || *from == self.core.me.id => {
                self.ignore("not from another voter");
            }
            BallotMessage::Leads(m) => self.on_leads(from, incarnation, m, out),
            BallotMessage::Resign(m) => self.on_resign(now, from, m, out),
            _ if !self.core.me.is_voter() => self.ignore("an observer is not asked"),
            BallotMessage::HeartbeatRequest(m) => self.on_request(now, from, incarnation, m, out),
            BallotMessage::HeartbeatReply(m) => self.on_reply(now, from, incarnation, m, out),
        }
    }

    /// Stores the asker's statement, and answers (rule `answer-every-question`).
    fn on_request(
        &mut self,
        now: Time,
        from: &AgentId,
        incarnation: Incarnation,
        request: HeartbeatRequest,
        out: &mut Out,
    ) {
        // The asker's bmax is ignored if the asker hears no majority: it may report a ballot that no majority ever
        // elected, and could so replace the leader of the other voters (rule `believe-the-connected`).
        if request.standing.connected
            && let Some(max) = request.max
        {
            self.core.raise(max, out);
        }
        self.core.hear(from, incarnation, request.standing, None);
        self.look_again(now, out);
        // The reply comes after `look_again`, which may take a ballot that the asker has to learn.
        let reply = self.core.reply(now, &self.state, request.round);
        out.send(from, reply);
    }

    /// Counts an answer to the present round. If a voter answers an earlier round only now, rounds are too short (rule
    /// `adapt-the-round`).
    fn on_reply(
        &mut self,
        now: Time,
        from: &AgentId,
        incarnation: Incarnation,
        reply: HeartbeatReply,
        out: &mut Out,
    ) {
        let (core, round) = (&mut self.core, reply.round.counter);
        if reply.round.incarnation != core.me.incarnation || round > core.round {
            return self.ignore("an answer to another incarnation");
        }
        if round < core.round {
            // A round after `ended` was cut short by the next round and left no time to answer, so its voter was not
            // late.
            if round <= core.statements.answered(from) || round > core.ended {
                return self.ignore("an answer to a round that does not matter");
            }
            core.pace.is_late();
        }
        core.hear(from, incarnation, reply.standing, Some(round));
        self.look_again(now, out);
    }

    /// Handles a leader's resignation. The named successor takes a ballot above the ballots that other voters may take
    /// now, and every voter begins a round at once.
    fn on_resign(&mut self, now: Time, from: &AgentId, resign: Resign, out: &mut Out) {
        let (core, Resign { ballot, successor }) = (&mut self.core, resign);
        if ballot.id != *from || !core.is_sound(&ballot) {
            return self.ignore("it resigns the leadership of another agent");
        }
        if Some(&ballot) < core.voter.record.max.as_ref() || core.voter.is_void(&ballot) {
            return self.ignore("that leadership is over already");
        }
        // The leadership is vacant at once, so a hand-over need not wait for silence (rule `resigned-is-vacant`).
        core.voter.void = Some(ballot.clone());
        if !core.me.is_voter() {
            return self.observe_vacancy(out);
        }
        // bmax is raised first, because a voter that has not learned of the resigned ballot would take a lower ballot.
        core.raise(ballot, out);
        self.trust(State::Vacant, LostReason::Superseded, out);
        let core = &mut self.core;
        let is_named = successor.as_ref() == Some(&core.me.id);
        if is_named && core.competes(now) && core.is_connected() {
            core.take(2, out); // another agent that campaigns now takes the next number
        }
        core.begin_round(now, &self.state, out);
    }

    fn on_leads(&mut self, from: &AgentId, incarnation: Incarnation, leads: Leads, out: &mut Out) {
        match observer::on_leads(&mut self.core, from, incarnation, leads, out) {
            Some(following) => {
                self.trust(State::Following(following), LostReason::Superseded, out);
                // A leader sends `Leads` each round, and a round takes at most the cap. Three caps allow for two lost
                // messages.
                let silence = self.core.config.cap().saturating_mul(3);
                out.set_timer(BallotTimer::Silence, silence);
            }
            None => self.ignore("an observer does not follow that ballot"),
        }
    }

    /// Handles the message of an observer that followed a higher ballot. At the end of the round this agent finds its
    /// own ballot below the observer's, and takes another ballot.
    fn on_nack(&mut self, from: &AgentId, nack: Nack, out: &mut Out) {
        if !self.core.me.is_voter() || !self.core.observers.contains(from) {
            return self.ignore("not from an observer to a voter");
        }
        self.core.raise(nack.max, out);
    }
}

// ---- rounds, and whom to trust ---------------------------------------------------------------

impl Ballot {
    fn on_round_over(&mut self, now: Time, out: &mut Out) {
        if self.core.end_round() {
            let before = mem::replace(&mut self.core.last_round, LastRound::Majority);
            self.check(now, before, out);
        } else {
            self.is_cut_off(out);
        }
        self.core.begin_round(now, &self.state, out);
    }

    /// Handles a round in which no majority answered: the agent no longer leads, and follows only a leader that it
    /// hears itself (rule `no-majority-no-leader`).
    fn is_cut_off(&mut self, out: &mut Out) {
        let core = &mut self.core;
        core.last_round = LastRound::Minority;
        let stays = match &self.state {
            State::Following(following) => core.statements.confirms(&following.ballot, core.round),
            State::Leading(_) => false,
            State::Vacant => true,
        };
        if !stays {
            self.trust(State::Vacant, LostReason::Isolated, out);
        }
    }

    /// Acts on the result of a round in which a majority answered. `before` is the result of the round before.
    fn check(&mut self, now: Time, before: LastRound, out: &mut Out) {
        let core = &mut self.core;
        if let Some(next) = core.elected(before) {
            if let Some(ballot) = next.ballot() {
                core.voter.elect(ballot, out); // durable before it is trusted
            }
            return self.trust(next, LostReason::Superseded, out);
        }
        // If a voter still hears the missing leader, the agent takes no ballot. Otherwise the two ends of a chain a - b
        // - c would replace each other for ever (rule `ask-who-hears-the-leader`).
        let Some(still) = core.heard_by_others() else {
            return self.campaign(now, out);
        };
        let is_trusted = self.state.ballot() == Some(still);
        core.last_round = LastRound::Missed;
        if !is_trusted {
            self.trust(State::Vacant, LostReason::Superseded, out);
        }
    }

    /// Checks after each statement of a voter whether any voter still hears the missing leader.
    fn look_again(&mut self, now: Time, out: &mut Out) {
        let core = &mut self.core;
        if core.last_round == LastRound::Missed && core.heard_by_others().is_none() {
            core.last_round = LastRound::Majority;
            self.campaign(now, out);
            self.core.begin_round(now, &self.state, out);
        }
    }

    /// Takes a ballot for the vacant leadership, if this agent is eligible. In its cool-down the agent takes a ballot
    /// only if no other voter would take one.
    fn campaign(&mut self, now: Time, out: &mut Out) {
        self.trust(State::Vacant, LostReason::Superseded, out);
        let core = &mut self.core;
        let others = core.statements.others_are_eligible(core.recent());
        if core.competes(now) || core.me.score.is_some() && !others {
            core.take(1, out);
        }
    }

    fn observe_vacancy(&mut self, out: &mut Out) {
        out.cancel_timer(BallotTimer::Silence);
        self.trust(State::Vacant, LostReason::Superseded, out);
    }

    /// Changes to the state `next`, which trusts one agent or no agent, and publishes the change. If this agent led,
    /// its leadership ends for `reason`.
    fn trust(&mut self, next: State, reason: LostReason, out: &mut Out) {
        // The same leader was elected again. The state must stay, because it contains a step-down that has begun.
        if self.state.ballot() == next.ballot() {
            return;
        }
        let before = mem::replace(&mut self.state, next);
        if let State::Leading(leading) = &before {
            let term = leading.ballot.term();
            out.cancel_timer(BallotTimer::Drain);
            out.notify(Event::Lost { term, reason });
            // `one-ballot-per-leadership`: to lead again, the agent takes a new ballot.
            let own = &mut self.core.voter.own;
            own.take_if(|own| *own == leading.ballot);
        }
        match (&self.state, self.leader(), &before) {
            (State::Leading(leading), _, _) => {
                let term = leading.ballot.term();
                out.notify(Event::Acquired { term });
            }
            (State::Following(_), Some(leader), _) => out.notify(Event::NewLeader(leader)),
            (State::Vacant, _, State::Following(following)) => {
                let term = following.ballot.term();
                out.notify(Event::NoLeader { term });
            }
            (State::Vacant | State::Following(_), _, _) => {}
        }
    }

    pub(super) fn role(&self) -> Role {
        match &self.core.voter.own {
            _ if self.state.leading().is_some() => Role::Leader,
            Some(own) if self.core.voter.is_above_max(own) => Role::Candidate,
            Some(_) | None => Role::Follower,
        }
    }

    pub(super) fn leader(&self) -> Option<Leader> {
        let (ballot, incarnation) = match &self.state {
            State::Vacant => return None,
            State::Following(following) => (&following.ballot, following.incarnation),
            State::Leading(leading) => (&leading.ballot, self.core.me.incarnation),
        };
        Some(Leader {
            id: ballot.id.clone(),
            incarnation,
            term: ballot.term(),
        })
    }

    fn ignore(&self, reason: &'static str) {
        self.core.me.ignore(self.role(), reason);
    }
}
