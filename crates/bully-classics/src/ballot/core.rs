//! The data that all roles need: the agent itself, its rounds, the answers that it has received, its ballots.
//!
//! Decided here: the content of an agent's questions and answers, and the result of a round that has ended. The core
//! does not call the code of a role.

use std::{sync::Arc, time::Duration};

use super::{
    BallotConfig, BallotNumber, Out,
    message::{HeartbeatReply, HeartbeatRequest, Leads, Standing},
    pace::Pace,
    state::{Following, LastRound, Leading, State},
    statements::Statements,
    timer::BallotTimer,
    voter::Voter,
};
use bully_core::{
    parts::Participant,
    protocol::{AgentId, Incarnation, Members, Presence, Round, Time, To},
};

/// The data of an agent that it has in every role.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Core {
    pub(super) me: Participant,
    pub(super) config: Arc<BallotConfig>,
    pub(super) peers: Arc<[AgentId]>,
    /// The members that do not vote and are not down.
    pub(super) observers: Arc<[AgentId]>,
    pub(super) voter: Voter,
    pub(super) statements: Statements,
    pub(super) last_round: LastRound,
    /// The present round; 0 before the agent starts.
    pub(super) round: u64,
    /// The last round that ended by its timer.
    pub(super) ended: u64,
    pub(super) pace: Pace,
    /// After a step-down: the time until which the agent lets other agents lead first. No timer runs for it: each rule
    /// compares this time with the clock.
    pub(super) cooldown: Option<Time>,
    /// Least span of the next cool-down, because the work failed.
    pub(super) held_back: Duration,
    /// Time of the last step. If the next step comes too long after it, the agent was stalled.
    pub(super) stepped: Option<Time>,
}

impl Core {
    /// Returns whether the agent takes a ballot when the leadership is vacant.
    pub(super) fn competes(&self, now: Time) -> bool {
        self.me.eligible().is_some() && self.cooldown.is_none_or(|until| now >= until)
    }

    pub(super) fn cool_down(&mut self, now: Time, span: Duration) {
        let span = span.max(self.held_back);
        self.cooldown = (!span.is_zero()).then(|| now.after(span));
    }

    pub(super) fn is_connected(&self) -> bool {
        self.last_round != LastRound::Minority
    }

    /// Returns whether this ballot can be genuine: its number is valid and its holder is a voter.
    pub(super) fn is_sound(&self, ballot: &BallotNumber) -> bool {
        ballot.is_sound() && self.config.voters.contains(&ballot.id)
    }

    /// Returns the earliest round whose answers still count: the last round that has ended.
    pub(super) fn recent(&self) -> u64 {
        self.ended.max(1)
    }

    /// Returns the time until which a leadership holds without another step: two rounds of the present length. At the
    /// end of the second round the other voters find the leadership vacant. A healthy leader takes a step in each
    /// round.
    pub(super) fn valid_until(&self) -> Time {
        let two_rounds = self.pace.span().saturating_mul(2);
        self.stepped.map_or(Time::ZERO, |at| at.after(two_rounds))
    }

    /// Stores the new snapshot of the members.
    pub(super) fn meet(&mut self, members: Arc<Members>) {
        self.me.members = members;
        let (members, config) = (&self.me.members, &self.config);
        self.statements.forget_ended(members);
        let observers = || {
            let up = members.iter().filter(|m| m.presence != Presence::Down);
            let ids = up.map(|member| &member.id);
            ids.filter(|id| !config.voters.contains(id))
        };
        // The messages of all rounds share this list, so the agent builds a new list only when it changes.
        if !observers().eq(self.observers.iter()) {
            self.observers = observers().cloned().collect();
        }
    }

    pub(super) fn take(&mut self, ahead: u64, out: &mut Out) {
        let has_taken = self.me.score.is_some_and(|score| {
            let holder = (score, &self.me.id);
            self.voter.take(holder, ahead, out)
        });
        if !has_taken {
            tracing::debug!(target: "actix_bully", node = %self.me.id, "no higher ballot is left");
        }
    }

    /// Raises bmax (the highest elected ballot) to a ballot that another agent reports as elected.
    pub(super) fn raise(&mut self, max: BallotNumber, out: &mut Out) {
        let is_sound = self.is_sound(&max);
        if is_sound && self.voter.raise(max, out) && self.last_round == LastRound::Missed {
            self.last_round = LastRound::Majority; // now another leader is missing, and the round will show it
        }
    }

    /// Stores a voter's statement about itself, without the parts that cannot be true. The statement replaces the
    /// voter's earlier statement.
    pub(super) fn hear(
        &mut self,
        from: &AgentId,
        incarnation: Incarnation,
        said: Standing,
        answers: Option<u64>,
    ) {
        // A voter may report only its own ballot. With another agent's ballot it could elect an absent agent.
        let ballot = said.ballot.filter(|b| b.id == *from && self.is_sound(b));
        let hears = said.hears.filter(|b| self.is_sound(b));
        let standing = Standing {
            ballot,
            hears,
            ..said
        };
        self.statements.note(from, incarnation, standing, answers);
    }
}

// ---- rounds ----------------------------------------------------------------------------------

impl Core {
    pub(super) fn begin_round(&mut self, now: Time, state: &State, out: &mut Out) {
        self.round = self.round.saturating_add(1);
        self.ask(now, state, out);
    }

    /// Asks every other voter, and informs the observers which agent leads.
    pub(super) fn ask(&self, now: Time, state: &State, out: &mut Out) {
        if !self.peers.is_empty() {
            out.send_to(To::Set(Arc::clone(&self.peers)), self.question(now, state));
            out.set_timer(BallotTimer::Again, self.config.again());
        }
        if let Some(leading) = state.leading()
            && !self.observers.is_empty()
        {
            let ballot = leading.ballot.clone();
            out.send_to(To::Set(Arc::clone(&self.observers)), Leads { ballot });
        }
        out.set_timer(BallotTimer::Round, self.pace.span());
    }

    /// Asks once more each voter that has not answered in this round, because links may lose messages (rule
    /// `ask-again`).
    pub(super) fn ask_again(&self, now: Time, state: &State, out: &mut Out) {
        let peers = self.peers.iter();
        let silent = peers.filter(|id| self.statements.answered(id) < self.round);
        let silent: Vec<AgentId> = silent.cloned().collect();
        if silent.is_empty() {
            return;
        }
        out.send_to(To::Set(silent.into()), self.question(now, state));
        out.set_timer(BallotTimer::Again, self.config.again());
    }

    fn question(&self, now: Time, state: &State) -> HeartbeatRequest {
        HeartbeatRequest {
            round: Round {
                incarnation: self.me.incarnation,
                counter: self.round,
            },
            max: self.voter.record.max.clone(),
            // The question contains the asker's ballot, so the other voters know this ballot after one delay (rule
            // `tell-a-new-ballot`).
            standing: self.standing(now, state),
        }
    }

    pub(super) fn reply(&self, now: Time, state: &State, round: Round) -> HeartbeatReply {
        let standing = self.standing(now, state);
        HeartbeatReply { round, standing }
    }

    /// Returns the statement of this agent about itself.
    pub(super) fn standing(&self, now: Time, state: &State) -> Standing {
        let heard = state.ballot();
        // The agent reports only a leader that it heard itself. Otherwise two voters could repeat each other's
        // statement, and follow a dead leader for ever.
        let heard = heard.filter(|_| self.last_round == LastRound::Majority);
        Standing {
            ballot: self.voter.own.clone(),
            eligible: self.competes(now),
            connected: self.is_connected(),
            hears: heard.cloned(),
        }
    }

    /// Ends a round. Returns whether a majority answered in it.
    pub(super) fn end_round(&mut self) -> bool {
        self.ended = self.round;
        self.pace.next(self.config.round(), self.config.cap());
        let answered = self.statements.count_since(self.round);
        answered.saturating_add(1) >= self.config.majority()
    }

    /// Returns the state in which this agent trusts the holder of the highest ballot of the round, which may be itself
    /// (rule `trust-the-highest`). `None` without a ballot, or if the highest one is below bmax, the highest ballot
    /// that was ever elected. `before` is the result of the round before.
    pub(super) fn elected(&self, before: LastRound) -> Option<State> {
        let best = self
            .statements
            .highest(self.round, |b| self.voter.is_void(b));
        // Like the ballots of the other voters, this agent's own ballot counts only after a round with a majority. When
        // a partition heals, no voter has heard a majority yet, and each voter would count only its own ballot.
        let own = self.voter.own.as_ref();
        let own = own.filter(|_| before != LastRound::Minority);
        let top = match (own, best) {
            (Some(own), best) if best.is_none_or(|(ballot, _)| own > ballot) => {
                State::Leading(Leading {
                    ballot: own.clone(),
                    leaving: None,
                })
            }
            (_, Some((ballot, incarnation))) => State::Following(Following {
                ballot: ballot.clone(),
                incarnation,
            }),
            (_, None) => return None,
        };
        let is_below_max = top.ballot() < self.voter.record.max.as_ref();
        (!is_below_max).then_some(top)
    }

    /// Returns a ballot whose holder another voter still hears. The ballot is not below bmax (the highest elected
    /// ballot).
    pub(super) fn heard_by_others(&self) -> Option<&BallotNumber> {
        let max = self.voter.record.max.as_ref();
        self.statements.heard_by_others(self.recent(), |ballot| {
            ballot.id != self.me.id && !self.voter.is_void(ballot) && Some(ballot) >= max
        })
    }
}
