//! The quorum election (lease-bully): at most one agent believes that it leads, at any instant.
//!
//! The bully's questions and answers, with a majority of the voters holding the pen. `Elect` asks
//! for votes without taking any, `Ok` objects, `Yield` consents; then a `Claim` collects durable votes,
//! and a leader's heartbeats collect the acknowledgements that its lease rests on.
//!
//! **What you can rely on** (the *quorum* mode).
//! - While the rates of the voters' clocks differ by no more than the timings allow: at every instant
//!   at most one agent believes that it leads, and the terms of successive leaders strictly
//!   increase.
//! - Even if they do not: at most one leader per term, ever. The term is a *fencing token*: a resource
//!   that refuses what is older than the newest it has seen is never written by a former leader after
//!   a later one.
//! - Once messages take no longer than the delay bound and a majority of the voters can reach each
//!   other, one leader; with preemption, in the end, the most important voter that reaches a majority.
//!
//! Members may have different [`Timings`](crate::protocol::Timings), as in the midst of a rolling
//! change: none of the above rests on their being equal. Another list of voters is another [`epoch`];
//! its page says how to change them.
//!
//! **A leader that hangs** considers itself leader until its lease ends ([`View::valid_until`]), which
//! was said D after it asked for the acknowledgements that the lease rests on; a step after that begins
//! with the loss (`DUE`).
//!
//! A minority has no leader. Who was the leader stops itself before another can start. See [`proof`] for
//! assumptions, timing, invariants and the argument.
//!
//! # The rules by name
//! | rule | here | decided in |
//! |---|---|---|
//! | S1 | a voter whose record is not empty abstains at the beginning of a life: for P, or the longest promise that the record keeps | `turn.rs` |
//! | E0 | who becomes eligible takes a turn | `command.rs` |
//! | E1 | a turn comes after S per more important voter, and 8 S more for who rests after stepping down; it begins by asking | `campaign.rs` |
//! | E2 | `Elect`: not while bound to another; `Ok` from who outranks the asker, once, and if it rests only while it asks itself; else `Yield` | `elect.rs` |
//! | E3 | enough consent, and all who outrank this agent have spoken or are late: claim | `campaign.rs` |
//! | C1, C2, C3 | `Claim`: one durable vote per voter and term, never against a promise | `campaign.rs`, `vote.rs` |
//! | A1 | elected: announce, and do not believe yet | `campaign.rs` |
//! | A2 | `Elected`, `Heartbeat`: follow, promise, `Ack` | `announce.rs` |
//! | A3, A5, A6, A7 | acknowledgements prolong the lease; belief ends with it, whatever the timers do | `lease.rs` |
//! | L1 | an acknowledgement says what it promises, and a lease counts on no more | `announce.rs`, `lease.rs` |
//! | L2 | the record keeps the longest promise that may still hold | `vote.rs` |
//! | A4 | a voter knows a higher term: a believing leader raises its own without a gap | `lease.rs` |
//! | R1, R2 | `Resign`: the belief ends, then it is said; promises are void, the successor claims | `resign.rs` |
//! | P1, P2, P3, P4 | a better follower asks the voters, then the leader, who drains and resigns | `challenge.rs` |
//! | P5 | who keeps losing the leadership is waited for longer | `challenge.rs` |
//! | F1, F2 | only the *certain* end of the very life that was promised to voids a promise | `membership.rs` |
//! | DUE | every step begins by looking whether the lease has ended | here |
//!
//! # Role × input
//! − is a traced no-op. A voter answers every `Elect` and `Claim`, whatever its role.
//!
//! | input | follower, seat taken | follower, seat vacant | asking, claiming | elected, leader |
//! |---|---|---|---|---|
//! | `Elect` | `Ok`: the promise holds | `Yield`, `Stale`, or `Ok` and own election | the same, without a new election | believing: `Ok` |
//! | `Elect` to take over | consents if it would be free | the same | the same | P2: its patience decides |
//! | `Ok`, `Yield` | of a challenge: P3 | − | E3, this round only | − |
//! | `Claim` granted | the seat is vacant, or its holder raises its term | stand back for W | the same | not believing: steps down |
//! | `ClaimReply` | − | − | C3 | A4: votes for the higher term |
//! | `Elected`, `Heartbeat` | newer or same: follow, `Ack` | the same | the same | newer: superseded |
//! | … of an older term | `Nack` | `Nack` | `Nack` | `Nack` |
//! | `Ack` | − | − | − | A3 |
//! | `Nack` | − | − | − | A4; before belief: steps down |
//! | `Takeover` | − | − | − | P3: drains |
//! | `Resign` | its leader's: claim if named, else stand back | the same | void; asking and named: claim | − |
//! | `Members` | leader's certain end: own turn, in steps of d | the same, if it is bound to the one that ended | who is down is not awaited | − |
//! | `TimedOut` | `Election`: own turn; `Round`: the challenge failed | `Election`: ask | `Round`: decide, or again | `Heartbeat`, `Lease`, `Drain`; `Round`: not believed |
//! | `Campaign` | challenge the leader | ask now, unless bound | − | `Heartbeat` |
//! | `SetScore` | the leader hears of it | own turn | ask again | `Heartbeat`; `None`: drain |
//! | `StepDown`, `Drained` | − | − | − | drain; resign |
//!
//! An observer only follows.

mod announce;
mod campaign;
mod challenge;
mod command;
mod config;
mod defect;
mod elect;
pub mod epoch;
mod lease;
mod membership;
pub mod proof;
mod resign;
mod state;
mod timer;
mod turn;
mod vote;

#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

pub use crate::elections::timer::Timer;
pub use crate::elections::vote::Vote;
use announce::Said;
pub use config::{QuorumConfig, QuorumConfigBuilder, QuorumError};
#[doc(hidden)]
pub use defect::Defect;
use state::{Flaps, Promise, Rest, Seat, State, Vacancy};

use crate::elections::message::{
    Ack, BullyMessage, Claim, ClaimReply, Elect, Elected, Heartbeat, Leadership, Nack, Ok, Refusal,
    Resign, Takeover, Yield,
};
use crate::elections::shared::Participant;
use crate::protocol::{
    AgentId, ClockKind, EffectsOf, Election, Identity, Incarnation, Input, InputOf, Leader,
    Leaders, MemberKind, MembershipError, Requirements, Role, Rules, Score, Storage, Term, Time,
    To, View,
};

type Out = EffectsOf<QuorumBully>;

const RULES: Rules = Rules::new("quorum");

/// One agent's side of a quorum election; see the [module's page](self).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct QuorumBully {
    me: Participant,
    config: Arc<QuorumConfig>,
    /// The other voters.
    peers: Arc<[AgentId]>,
    /// What is durable.
    vote: Vote,
    state: State,
    promise: Option<Promise>,
    /// Abstains before this time, because a former life may have promised something (S1); `None`
    /// before life begins.
    quarantine: Option<Time>,
    rest: Rest,
    /// The newest leadership that is known to be resigned.
    resigned: Option<Leadership>,
    /// To whom it objected since there was a leader.
    objected: BTreeSet<AgentId>,
    /// The highest term heard of.
    seen: Term,
    /// What voters last said of their importance, newer than in `members`.
    ranks: BTreeMap<AgentId, Option<Score>>,
    flaps: Flaps,
    last_leader: Option<Leadership>,
    /// When an observer last heard a leader.
    observed: Time,
    /// Rounds asked in this life.
    rounds: u64,
}

impl Election for QuorumBully {
    type Message = BullyMessage;
    type Timer = Timer;
    type Durable = Vote;
    type Config = Arc<QuorumConfig>;

    /// Without a record nothing was ever written under this name: never pass `None` for a record
    /// that was lost. A voter that is not in the configuration's list takes part as an observer.
    fn new(mut identity: Identity, config: &Self::Config, durable: Option<Vote>) -> Self {
        if !config.is_voter(&identity.id) {
            identity.kind = MemberKind::Observer;
        }
        let vote = durable.unwrap_or_default();
        let seen = vote.term.max(config.first_term());
        let peers = config.voters().iter().filter(|id| **id != identity.id);
        Self {
            peers: peers.cloned().collect(),
            me: Participant::new(identity),
            config: Arc::clone(config),
            seen,
            vote,
            state: State::Follower(Seat::Vacant(Vacancy::NONE)),
            promise: None,
            quarantine: None,
            rest: Rest::default(),
            resigned: None,
            objected: BTreeSet::new(),
            ranks: BTreeMap::new(),
            flaps: Flaps::new(),
            last_leader: None,
            observed: Time::ZERO,
            rounds: 0,
        }
    }

    fn handle(&mut self, now: Time, input: InputOf<Self>, out: &mut Out) {
        if self.quarantine.is_none() {
            return self.before_life(now, input, out);
        }
        self.due(now, out);
        match input {
            Input::Received {
                from,
                incarnation,
                message,
            } => {
                self.on_message(now, &from, incarnation, message, out);
            }
            Input::TimedOut(timer) => self.on_timer(now, timer, out),
            Input::Members(members) | Input::Start(members) => self.on_members(now, members, out),
            Input::Campaign => self.on_campaign(now, out),
            Input::SetScore(score) => self.on_set_score(now, score, out),
            Input::StepDown { to } => self.on_step_down(now, to, out),
            Input::Drained => self.on_drained(now, out),
        }
    }

    fn requirements(
        config: &Self::Config,
        who: &AgentId,
        kind: MemberKind,
    ) -> Result<Requirements, MembershipError> {
        config.check(who, kind)?;
        Ok(Requirements {
            // Two quorums of votes meet in a voter, and a voter has one durable vote in each term:
            // I2 and I3 of the [`proof`]. That needs no clock; the lease, which keeps two from
            // leading at one instant in different terms, does.
            leaders: Leaders::PerTerm,
            storage: Storage::of_voters(kind),
            clock: match kind {
                MemberKind::Voter => ClockKind::CountsSuspend,
                MemberKind::Observer => ClockKind::Any, // it promises nothing, and never leads
            },
            epoch: config.epoch(),
            voters: Some(config.electorate()),
            names: Some(config.voters().into()),
            ..Requirements::new(RULES)
        })
    }

    fn admits(
        config: &Self::Config,
        who: &AgentId,
        vote: Option<&Vote>,
    ) -> Result<(), MembershipError> {
        vote.map_or(Ok(()), |vote| config.check_term(who, vote.term))
    }

    fn view(&self, now: Time) -> View {
        let held = self.believes_until(now);
        let leading = self.reign_term().filter(|_| held.is_some());
        let leader = match leading {
            Some(term) => Some(Leader {
                id: self.me.id.clone(),
                incarnation: self.me.incarnation,
                term,
            }),
            None => self.followed().map(|f| f.leader.clone()),
        };
        let role = self.state.role();
        let expired = role == Role::Leader && leading.is_none();
        View {
            role: if expired { Role::Follower } else { role },
            term: leader.as_ref().map_or(self.seen, |l| l.term),
            leader,
            leading,
            valid_until: held
                .filter(|_| !self.config.has(Defect::BeliefByTimer))
                .unwrap_or(Time::MAX),
        }
    }
}

impl QuorumBully {
    /// Says nothing before life begins.
    fn before_life(&mut self, now: Time, input: InputOf<Self>, out: &mut Out) {
        match input {
            Input::Start(members) => self.on_start(now, members, out),
            Input::SetScore(score) => self.me.score = score,
            Input::Received { .. }
            | Input::TimedOut(_)
            | Input::Members(_)
            | Input::Campaign
            | Input::StepDown { .. }
            | Input::Drained => self.ignore("life has not begun"),
        }
    }

    /// DUE: every step begins by looking whether the lease has ended.
    fn due(&mut self, now: Time, out: &mut Out) {
        if matches!(self.state.role(), Role::Leader) && self.believes_until(now).is_none() {
            self.lease_expired(now, out);
        }
    }

    fn on_message(
        &mut self,
        now: Time,
        from: &AgentId,
        incarnation: Incarnation,
        message: BullyMessage,
        out: &mut Out,
    ) {
        if let BullyMessage::Heartbeat(m) = &message
            && self.refresh(now, from, incarnation, m, out)
        {
            return;
        }
        if !self.config.is_voter(from) || *from == self.me.id {
            return self.ignore("not from another voter");
        }
        if message.term() > self.config.last_term() {
            return self.ignore("a term out of all measure");
        }
        let is_told = matches!(
            message,
            BullyMessage::Elected(_) | BullyMessage::Heartbeat(_) | BullyMessage::Resign(_)
        );
        if !is_told && !self.me.is_voter() {
            return self.ignore("an observer is told, never asked");
        }
        match message {
            BullyMessage::Elected(m) => {
                let said = Said::new(m.term, m.score, m.sent_at);
                self.on_announcement(now, from, incarnation, said, out);
            }
            BullyMessage::Heartbeat(m) => {
                let said = Said::new(m.term, m.score, m.sent_at);
                self.on_announcement(now, from, incarnation, said, out);
            }
            BullyMessage::Resign(resign) => self.on_resign(now, from, &resign, out),
            BullyMessage::Elect(elect) => self.on_elect(now, from, &elect, out),
            BullyMessage::Ok(ok) => self.on_ok(now, from, &ok, out),
            BullyMessage::Yield(consent) => self.on_yield(now, from, &consent, out),
            BullyMessage::Claim(claim) => self.on_claim(now, from, &claim, out),
            BullyMessage::ClaimReply(reply) => self.on_claim_reply(now, from, &reply, out),
            BullyMessage::Ack(ack) => self.on_ack(now, from, &ack, out),
            BullyMessage::Nack(nack) => self.on_nack(now, &nack, out),
            BullyMessage::Takeover(takeover) => self.on_takeover(now, from, &takeover, out),
        }
    }

    fn ask_voters(&self, question: impl Into<BullyMessage>, out: &mut Out) {
        if !self.peers.is_empty() {
            out.send_to(To::Set(Arc::clone(&self.peers)), question);
        }
    }

    fn hear(&mut self, term: Term) {
        self.seen = self.seen.max(term);
    }

    fn learn_score(&mut self, id: &AgentId, score: Option<Score>) {
        match self.ranks.get_mut(id) {
            Some(known) => *known = score,
            None => drop(self.ranks.insert(id.clone(), score)),
        }
    }

    // ---- queries ----------------------------------------------------------------------------

    fn score_of(&self, id: &AgentId) -> Option<Score> {
        match self.ranks.get(id) {
            Some(score) => *score,
            None => self.me.members.get(id).and_then(|m| m.score),
        }
    }

    fn reign_term(&self) -> Option<Term> {
        match &self.state {
            State::Leader(reign) => Some(reign.term),
            State::Follower(_) | State::Probing(_) | State::Claiming(_) => None,
        }
    }

    fn leadership(&self, term: Term) -> Leadership {
        let id = self.me.id.clone();
        Leadership { id, term }
    }

    fn ignore(&self, why: &'static str) {
        self.me.ignore(self.state.role(), why);
    }
}
