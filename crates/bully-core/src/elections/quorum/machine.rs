//! Role × input: which role handles which input.
//!
//! A role owns its data and returns [`Next`]: `Stay`, or the start of the next role. No role calls another role; the
//! role changes in [`turn`](super::turn).
//!
//! Decided here: the duties that a voter has in every role. A voter answers each `Elect` and each `Claim`, and it notes
//! changes of the members and resigned leaderships.

use std::{mem, time::Duration};

use super::{
    Claim, Out, QuorumBully, QuorumMessage, SenderIncarnation,
    candidate::{Asking, Claiming},
    consent,
    core::{CooldownEnds, Core},
    follower::TimedAnnouncement,
    prepare::may_vote_ahead,
    resign,
    seal::Sealing,
    state::{Certainty, Next, Start, State},
    vacant::Vacant,
};
use crate::elections::timer::BullyTimer;
use crate::protocol::{AgentId, Incarnation, Input, InputOf, LeaderEnd, Score, Time};

impl QuorumBully {
    /// Handles an input before the start. Only a start and a score have an effect, and the agent sends nothing before
    /// its start.
    pub(super) fn before_start(&mut self, now: Time, input: InputOf<Self>, out: &mut Out) {
        match input {
            Input::Start(members) => {
                let wait = self.core.start(now, members, out);
                self.core.recall(out);
                self.core.tell_overruled(out);
                let before = None;
                // A former voter may be the only agent that knows the list (rule `tell-after-restart`).
                let is_out = self.core.may_tell() && !self.core.me.is_voter();
                let next = if self.core.installed().is_some() && is_out {
                    Start::Tell
                } else {
                    Start::OwnSlot { wait, before }
                };
                self.proceed(now, Next::Become(next), out);
            }
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

    /// Ends an expired lease. Every step begins with this check, so an agent whose lease has ended does nothing as
    /// leader (rule `lease-ends-by-clock`).
    pub(super) fn end_expired_lease(&mut self, now: Time, out: &mut Out) {
        if let State::Leading(leading) = &self.state
            && leading.has_lease()
            && leading.lease_at(now).is_none()
        {
            if let Some(since) = leading.held_until() {
                let own = self.core.me.as_leader(leading.term);
                self.core.me.note_end(&own, LeaderEnd::Silent { since });
            }
            let next = leading.expire(out);
            self.proceed(now, next, out);
        }
    }

    pub(super) fn on_input(&mut self, now: Time, input: InputOf<Self>, out: &mut Out) {
        let next = match input {
            Input::Received {
                from,
                incarnation,
                message,
            } => return self.on_message(now, &from, incarnation, message, out),
            Input::Members(members) | Input::Start(members) => {
                return self.on_members(now, members, out);
            }
            Input::TimedOut(timer) => self.on_timer(now, timer, out),
            Input::Campaign => self.on_campaign(now, out),
            Input::SetScore(score) => self.on_set_score(now, score, out),
            Input::StepDown { to } => self.on_step_down(now, to, out),
            Input::Drained => self.drained(now, out),
            Input::ChangeVoters(change) => self.on_change(now, change, out),
        };
        self.proceed(now, next, out);
    }
}

// ---- the application and the clock -----------------------------------------------------------

impl QuorumBully {
    /// Campaigns now, if no rule forbids it. If a lower-ranked agent leads, asks the voters for a takeover.
    fn on_campaign(&mut self, now: Time, out: &mut Out) -> Next {
        if self.core.me.eligible().is_none() {
            return self.state.ignore(&self.core, "it is not eligible");
        }
        self.core.cooldown = CooldownEnds::default();
        match &mut self.state {
            State::Vacant(vacant) => return vacant.campaign(),
            State::Following(following) => following.ask_to_take_over(&mut self.core, now, out),
            State::Leading(leading) => leading.tell_score(now, out),
            State::Asking(_) | State::Claiming(_) | State::Sealing(_) | State::Telling(_) => {
                self.ignore("an election is under way");
            }
        }
        Next::Stay
    }

    fn on_set_score(&mut self, now: Time, score: Option<Score>, out: &mut Out) -> Next {
        let core = &mut self.core;
        let before = mem::replace(&mut core.me.score, score);
        if score.is_some() {
            core.cooldown = CooldownEnds::default();
        }
        if before == score || !core.me.is_voter() {
            return Next::Stay;
        }
        core.open_claim = None;
        match &mut self.state {
            State::Vacant(_) => Vacant::on_set_score(before, score),
            State::Asking(_) => Asking::on_set_score(score, out),
            State::Claiming(_) => Claiming::on_set_score(score, out),
            State::Leading(leading) => leading.on_set_score(core, now, score, out),
            State::Following(_) | State::Sealing(_) | State::Telling(_) => {
                self.state.ignore(core, "no election needs it")
            }
        }
    }

    fn on_step_down(&mut self, now: Time, to: Option<AgentId>, out: &mut Out) -> Next {
        let State::Leading(leading) = &mut self.state else {
            return self.state.ignore(&self.core, "it does not lead");
        };
        let least = mem::take(&mut self.core.cooldown.least);
        let cooldown = self.core.config.cooldown.max(least);
        leading.drain(&mut self.core, now, to, cooldown, out)
    }

    fn drained(&mut self, now: Time, out: &mut Out) -> Next {
        let State::Leading(leading) = &self.state else {
            return self.state.ignore(&self.core, "it does not lead");
        };
        leading.on_drained(&mut self.core, now, out)
    }

    /// Handles a timer, which is only a hint: each role compares its time with the clock again.
    fn on_timer(&mut self, now: Time, timer: BullyTimer, out: &mut Out) -> Next {
        let core = &mut self.core;
        match (timer, &mut self.state) {
            (BullyTimer::Election, State::Vacant(vacant)) => vacant.on_election_due(core, now, out),
            (BullyTimer::Election, State::Following(following)) => {
                following.on_election_due(core, now, out)
            }
            (BullyTimer::Round, State::Following(following)) => {
                following.on_round_due(core, now, out);
                Next::Stay
            }
            (BullyTimer::Round, State::Asking(asking)) => asking.on_round_due(core, now, out),
            (BullyTimer::Round, State::Sealing(sealing)) => sealing.on_round_due(core, now, out),
            (BullyTimer::Round, State::Telling(telling)) => telling.on_round_due(core, now, out),
            (BullyTimer::Round, State::Claiming(claiming)) => claiming.on_round_due(core, now, out),
            (BullyTimer::Round, State::Leading(leading)) => leading.on_round_due(core, now, out),
            (BullyTimer::Heartbeat, State::Leading(leading)) => {
                leading.on_heartbeat_due(core, now, out)
            }
            (BullyTimer::Lease, State::Leading(leading)) => leading.on_lease_due(now, out),
            (BullyTimer::Drain, State::Leading(leading)) => leading.on_drain_due(core, now, out),
            (BullyTimer::Recover, _) => self.on_recover_due(now, out),
            (_, state) => state.ignore(core, "its role does not wait for that timer"),
        }
    }
}

// ---- messages --------------------------------------------------------------------------------

impl QuorumBully {
    fn on_message(
        &mut self,
        now: Time,
        from: &AgentId,
        incarnation: Incarnation,
        message: QuorumMessage,
        out: &mut Out,
    ) {
        self.core.recall_from(now, from, out);
        // Heartbeats are checked first, for speed: nearly every message in a healthy group is a heartbeat.
        if let (QuorumMessage::Heartbeat(m), State::Following(following)) =
            (&message, &mut self.state)
            && following.refresh(&mut self.core, now, from, incarnation, m, out)
        {
            return;
        }
        if let QuorumMessage::Install(m) = message {
            let next = self.on_install(from, m, out);
            return self.proceed(now, next, out);
        }
        // The epoch is checked before the sender, because another epoch may have other voters.
        if *from != self.core.me.id && self.is_of_another_epoch(from, &message, out) {
            return;
        }
        if let QuorumMessage::AskChange(ask) = &message {
            let next = self.on_ask_change(now, from, ask, out); // an observer may ask, too
            return self.proceed(now, next, out);
        }
        if let QuorumMessage::Enlist(enlist) = &message {
            let next = self.on_enlist(now, from, enlist);
            return self.proceed(now, next, out);
        }
        // This report is handled before the check of the sender, because an observer sends it.
        if let Some(followed) = self.core.followed(&message) {
            let next = self.on_followed(now, followed, &message, out);
            return self.proceed(now, next, out);
        }
        if !self.core.config.voters.contains(from) || *from == self.core.me.id {
            return self.ignore("not from another voter");
        }
        if self.core.is_beyond(now, &message) {
            let core = &self.core;
            core.refuse_by_clock(now, (from, incarnation), &message, out);
            return self.ignore("the term is too far ahead of the clock");
        }
        if !is_told(&message) && !self.core.me.is_voter() {
            return self.ignore("an observer is told, never asked");
        }
        self.on_voters_message(now, (from, incarnation), &message, out);
    }

    fn on_voters_message(
        &mut self,
        now: Time,
        sender: SenderIncarnation<'_>,
        message: &QuorumMessage,
        out: &mut Out,
    ) {
        let (from, incarnation) = sender;
        if self.is_for_memory(now, sender, message, out) {
            return;
        }
        let next = match message {
            QuorumMessage::Elected(m) => {
                let said = TimedAnnouncement::new(m.term, m.score, m.sent_at);
                return self.on_announcement(now, from, incarnation, said, out);
            }
            QuorumMessage::Heartbeat(m) => {
                let said = TimedAnnouncement::new(m.term, m.score, m.sent_at);
                return self.on_announcement(now, from, incarnation, said, out);
            }
            QuorumMessage::Elect(m) => {
                consent::on_elect(&mut self.core, &mut self.state, now, sender, m, out)
            }
            QuorumMessage::Claim(claim) => return self.on_claim(now, sender, claim, out),
            QuorumMessage::Resign(resign) => {
                resign::on_resign(&mut self.core, &mut self.state, now, sender, resign, out)
            }
            QuorumMessage::Recover(_) | QuorumMessage::Recovered(_) => {
                self.on_recovery(now, sender, message, out)
            }
            QuorumMessage::Seal(seal) => self.on_seal(now, sender, seal, out),
            QuorumMessage::ChangeAnswer(answer) => {
                self.core
                    .answer_change(&answer.change, answer.outcome.clone(), out);
                Next::Stay
            }
            // These messages are handled in `is_for_memory` and `on_message`.
            QuorumMessage::Install(_)
            | QuorumMessage::AskChange(_)
            | QuorumMessage::Enlist(_)
            | QuorumMessage::Recall(_)
            | QuorumMessage::Recalled(_) => Next::Stay,
            QuorumMessage::Behind(_) => self
                .state
                .ignore(&self.core, "it is of this epoch, and not of an observer"),
            QuorumMessage::Ok(_)
            | QuorumMessage::Yield(_)
            | QuorumMessage::ClaimReply(_)
            | QuorumMessage::Ack(_)
            | QuorumMessage::Nack(_)
            | QuorumMessage::Sealed(_)
            | QuorumMessage::Takeover(_) => self.on_answer(now, sender, message, out),
        };
        self.proceed(now, next, out);
    }

    /// Handles an answer to a candidate, a leader, or a follower that asks for a takeover.
    fn on_answer(
        &mut self,
        now: Time,
        sender: SenderIncarnation<'_>,
        message: &QuorumMessage,
        out: &mut Out,
    ) -> Next {
        let (from, core) = (sender.0, &mut self.core);
        if !core.is_asked(message) {
            return self
                .state
                .ignore(core, "an answer to another incarnation, or a vote for it");
        }
        let is_contested = matches!(
            (message, &self.state),
            (QuorumMessage::Nack(nack), State::Leading(leading)) if leading.is_contested(core, nack)
        );
        if !hear_answer(core, now, sender, message) && !is_contested {
            return self.state.ignore(core, "the term is not higher");
        }
        match (message, &mut self.state) {
            (QuorumMessage::Yield(consent), State::Asking(asking)) => {
                return asking.on_yield(core, now, sender, consent);
            }
            (QuorumMessage::Yield(consent), State::Following(following)) => {
                following.on_yield(core, now, from, consent, out);
            }
            (QuorumMessage::Ok(ok), State::Asking(asking)) => {
                return asking.on_ok(core, now, from, ok);
            }
            (QuorumMessage::Ok(ok), State::Following(following)) => following.on_ok(now, from, ok),
            (QuorumMessage::ClaimReply(reply), State::Claiming(claiming)) => {
                return claiming.on_claim_reply(core, now, sender, reply);
            }
            (QuorumMessage::ClaimReply(reply), State::Asking(_) | State::Vacant(_)) => {
                return Claiming::on_late_reply(core, now, sender, reply, out);
            }
            (QuorumMessage::ClaimReply(reply), State::Leading(leading)) => {
                return leading.on_vote(core, now, sender, reply, out);
            }
            (QuorumMessage::Sealed(sealed), State::Sealing(sealing)) => {
                return sealing.on_sealed(core, from, sealed);
            }
            (QuorumMessage::Nack(_), State::Sealing(_)) => return Sealing::give_up(out),
            (QuorumMessage::Ack(ack), State::Leading(leading)) => {
                leading.on_ack(core, now, sender, ack, out);
            }
            (QuorumMessage::Nack(nack), State::Leading(leading)) => {
                return leading.on_nack(core, now, nack, out);
            }
            (QuorumMessage::Takeover(takeover), State::Leading(leading)) => {
                return leading.on_takeover(core, now, from, takeover, out);
            }
            (_, state) => return state.ignore(core, "its role does not wait for that answer"),
        }
        Next::Stay
    }

    /// Answers a `Claim`, in every role. A refused claim changes nothing durable.
    fn on_claim(&mut self, now: Time, sender: SenderIncarnation<'_>, claim: &Claim, out: &mut Out) {
        let (from, _) = sender;
        let core = &mut self.core;
        core.learn_score(from, Some(claim.score));
        let lease = self.state.lease(now);
        let refused = match &claim.successor {
            Some(_) => {
                (!may_vote_ahead(core, &self.state, now, sender, claim)).then_some(Duration::ZERO)
            }
            None => core.voter.refuses(&core.config, now, sender, claim, lease),
        };
        core.voter.hear(claim.term);
        if refused.is_none() {
            // The vote is written first, because a crash after the reply must not undo it.
            core.voter
                .vote(&core.config, now, claim.term, claim.candidate(sender), out);
            core.keep_store(now, sender);
            match self.state.following_mut() {
                Some(following) if claim.successor.is_some() => following.ahead = Some(claim.term),
                Some(_) | None => self.give_way(now, sender, out),
            }
        }
        let reply = match refused {
            None => claim.vote(&self.core, sender),
            Some(retry) => claim.refusal(&self.core, sender, retry, None),
        };
        out.send(from, reply);
    }

    /// Ends this agent's own role after a vote for another agent.
    fn give_way(&mut self, now: Time, to: SenderIncarnation<'_>, out: &mut Out) {
        let core = &self.core;
        let is_bound = core.voter.is_bound_to(to, now);
        let following = self.state.following();
        if is_bound && following.is_some_and(|following| following.leader.id == *to.0) {
            return; // because its leader only raises its term, and the promise to it goes on
        }
        let before = following.map(|following| following.predecessor(Certainty::Suspected));
        self.state.leave(&mut self.core, out);
        if !is_bound {
            self.core.voter.promise = None;
        }
        self.proceed(now, Next::Become(Start::Defer { before }), out);
    }
}

/// Notes the facts in an answer, in every role. Returns `false` for a `Nack` that is out of date.
fn hear_answer(
    core: &mut Core,
    now: Time,
    sender: SenderIncarnation<'_>,
    message: &QuorumMessage,
) -> bool {
    match message {
        QuorumMessage::Ok(ok) => core.hear_reply(ok.seen, ok.round),
        QuorumMessage::Yield(consent) => core.hear_reply(consent.seen, consent.round),
        QuorumMessage::ClaimReply(reply) => {
            core.voter.hear(reply.seen);
            if reply.granted {
                core.keep_word(now, sender, reply.term);
            }
        }
        QuorumMessage::Ack(ack) => {
            core.learn_score(sender.0, ack.score);
            core.keep_word(now, sender, ack.term);
        }
        QuorumMessage::Sealed(sealed) => core.keep_word(now, sender, sealed.term),
        QuorumMessage::Nack(nack) => {
            core.voter.hear(nack.term);
            // A `Nack` is out of date if this agent has since taken part in a term at least as high.
            return nack.term > core.voter.record.term;
        }
        QuorumMessage::Takeover(_)
        | QuorumMessage::Recall(_)
        | QuorumMessage::Recalled(_)
        | QuorumMessage::Behind(_)
        | QuorumMessage::Elect(_)
        | QuorumMessage::Elected(_)
        | QuorumMessage::Heartbeat(_)
        | QuorumMessage::Claim(_)
        | QuorumMessage::Recover(_)
        | QuorumMessage::Recovered(_)
        | QuorumMessage::Seal(_)
        | QuorumMessage::Install(_)
        | QuorumMessage::AskChange(_)
        | QuorumMessage::Enlist(_)
        | QuorumMessage::ChangeAnswer(_)
        | QuorumMessage::Resign(_) => {}
    }
    true
}

/// Returns whether observers handle this message, too.
fn is_told(message: &QuorumMessage) -> bool {
    matches!(
        message,
        QuorumMessage::Elected(_)
            | QuorumMessage::Heartbeat(_)
            | QuorumMessage::Resign(_)
            | QuorumMessage::ChangeAnswer(_)
    )
}
