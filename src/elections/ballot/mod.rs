//! Ballot leader election by gossip (BLE): a majority that hears each other ends up with one leader.
//!
//! Every voter asks every other one, round after round, and each says which ballot it stands with.
//! Who has heard a majority trusts the holder of the highest ballot, if it is not below the highest
//! one ever heard of; if it is, the seat is vacant, and whoever notices takes a ballot above all. There
//! is no announcement, no vote, and no message but question and answer.
//!
//! **What you can rely on** (BLE1 to BLE3; *eventual* throughout).
//! - BLE1: once a majority of the voters can hear each other in time, each of them trusts one that
//!   is alive; BLE2: in the end the same one.
//! - BLE3: a process trusts ever higher ballots, over restarts too, and a ballot belongs to one
//!   life of one process. A leader that lost its seat leads again only by a new ballot.
//!
//! **What you cannot.** Until "in the end", two may act as leader at once: use it beneath a protocol
//! that compares ballots (Paxos), or use the quorum mode, which has a lease. Condition: every two
//! voters of the majority reach each other, and an answer comes back within a round. A minority has
//! no leader.
//!
//! The leader is *sticky*: neither a recovery nor a better score moves the seat; the score counts in
//! the next ballot. [`Campaign`](Input::Campaign) takes one.
//!
//! **Term.** The term of a leadership is the number n of its ballot (n, score, name). Ballots compare
//! by n first, so terms never decrease where ballots do not, and of one agent each leadership has a
//! higher term. Two agents may stand with the same n, of whom the larger wins: so a term names a
//! leadership only together with its leader, and is no fencing token.
//!
//! **A leader that hangs** considers itself leader for two rounds without a step, at their present
//! length ([`View::valid_until`]); its next step begins by giving the leadership up.
//!
//! **Cost.** 2 n (n - 1) messages per round while all are well, for ever. A silent death is noticed
//! after one to two rounds, and one more elects ([`BallotConfig::worst_case_failover`]); a death that is
//! certain costs one round.
//!
//! # The rules by number
//! | rule | here | decided in |
//! |---|---|---|
//! | L1 | life begins: the record is read, the first life takes a ballot, a later one does not at once | `start.rs` |
//! | L2 | a round is over: with a majority L3, without one no leadership; ask again | `round.rs` |
//! | L3 | the highest ballot of those heard, and own: not below bmax: trust it; else take a higher one | `check.rs` |
//! | L4 | asked: remember the asker's bmax, answer | `gossip.rs` |
//! | L5 | answered: counts in its own round, by voter; late: longer rounds, once per round, up to a cap, and back | `gossip.rs`, `pace.rs` |
//!
//! # Amendments
//! | to | what is different | why |
//! |---|---|---|
//! | L1 | a later life holds no ballot until the seat is vacant | n + 1 would push a healthy leader off its seat by a restart |
//! | L1 | the first round begins at once | the algorithm waits a round before it asks |
//! | L2 | who did not answer is asked again within the round | the algorithm assumes links that lose nothing |
//! | L2 | a follower that hears neither a majority nor that its leader still leads trusts nobody | else it trusts a dead one for ever |
//! | L3 | nobody takes a ballot while a connected voter says that it hears the leader | in a chain a - b - c the two ends would push each other off for ever |
//! | L3 | a ballot that lost its seat, or is below bmax, is given up | BLE3: each leadership its own |
//! | L4 | the request says the asker's ballot too | a new ballot is known after one delay, not after the next answer |
//! | L4 | bmax is believed only of who heard a majority | the fault of the partly connected, below |
//! | – | `Resign`, and the certain end of a life: the seat is vacant at once | a hand-over need not wait for silence |
//! | – | `Leads` to observers | who is not asked would never know |
//! | – | `Nack` of observers | an observer may be the last to remember a ballot, and would follow no lower one |
//!
//! # Input × state
//! − is a traced no-op.
//!
//! | input | trusts another | trusts nobody | leads | witness | observer |
//! |---|---|---|---|---|---|
//! | `HeartbeatRequest` | L4 | L4 | L4 | L4 | − |
//! | `HeartbeatReply` | L5 | L5 | L5 | L5 | − |
//! | `Leads` | − | − | − | − | follow; older: `Nack` |
//! | `Nack` | L4's bmax | L4's bmax | L4's bmax | L4's bmax | − |
//! | `Resign` | its leader's: named: take a ballot; all: ask | the same if it is not old | − | nobody, ask | nobody |
//! | `Members` | leader's end: take a ballot; no member: ask | − | − | nobody; no member: ask | nobody |
//! | `TimedOut` | `Round`: L2, `Again` | the same | the same, `Drain` | the same | `Silence`: nobody |
//! | `Campaign` | take a ballot, if connected | the same | − | − | − |
//! | `SetScore` | next ballot; `None`: gives it up | the same | next ballot; `None`: drain | may stand | − |
//! | `StepDown`, `Drained` | − | − | drain; resign | − | − |
//!
//! # The algorithm's faults
//! Source: "Gossip Leader Election", implementing `BallotLeaderElector` (KTH's course on distributed
//! algorithms), and what `OmniPaxos` (2023) made of it. As written:
//!
//! | fault | consequence | repair |
//! |---|---|---|
//! | ⌈N/2⌉ is taken for a majority | N = 4 split in halves elects on both sides | ⌊N/2⌋ + 1 |
//! | the event stands outside of the `if` | it is told every round | on change only |
//! | without a quorum nothing is checked | an isolated leader believes for ever | L2: `Lost` |
//! | the delay grows with every late answer | one slow voter makes everybody blind | L5 |
//! | ballots are forgotten in a crash | the same ballot is elected twice | durable before use |
//! | bmax and ballots are believed of anybody | the partly connected push leaders off | `connected`: who heard a majority |
//! | answers are a set of pairs | who answers twice with two ballots counts twice | a map by voter |
//!
//! Not here: leases, votes, and a promise about any one instant.

mod check;
mod command;
mod config;
mod defect;
mod gossip;
mod membership;
mod message;
mod number;
mod observe;
mod pace;
mod round;
mod start;
mod state;

#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, sync::Arc};

pub use config::{BallotConfig, BallotConfigBuilder, BallotError};
#[doc(hidden)]
pub use defect::Defect;
pub use message::{BallotMessage, HeartbeatReply, HeartbeatRequest, Leads, Nack, Resign, Standing};
pub use number::{BallotNumber, BallotRecord};
pub use round::BallotTimer;

use pace::Pace;
use state::{Heard, Seen, Trust};

use crate::elections::shared::Participant;
use crate::protocol::{
    AgentId, EffectsOf, Election, Identity, Incarnation, Input, InputOf, Leader, Leaders,
    LostReason, MemberKind, MembershipError, Requirements, Role, Rules, Storage, Time, View,
};

type Out = EffectsOf<Ballot>;

const RULES: Rules = Rules::new("ballot");

/// One agent's side of a ballot leader election; see the [module's page](self).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ballot {
    me: Participant,
    config: Arc<BallotConfig>,
    /// The other voters.
    peers: Arc<[AgentId]>,
    /// The members who do not vote and are not down.
    observers: Arc<[AgentId]>,
    /// What is durable.
    record: BallotRecord,
    /// The ballot that this life stands with.
    own: Option<BallotNumber>,
    trust: Trust,
    /// What the last round showed.
    seen: Seen,
    /// The present round; 0 before life begins.
    round: u64,
    /// The last round that ended by its timer.
    ended: u64,
    /// The last words of the other voters.
    heard: BTreeMap<AgentId, Heard>,
    /// A ballot whose holder has resigned, or has ended for certain.
    void: Option<BallotNumber>,
    pace: Pace,
    /// After stepping down: does not stand until then.
    rest: Option<Time>,
    /// When the last step was, in order to notice its own stall.
    stepped: Option<Time>,
}

impl Election for Ballot {
    type Message = BallotMessage;
    type Timer = BallotTimer;
    type Durable = BallotRecord;
    type Config = Arc<BallotConfig>;

    /// Without a record nothing was ever written under this name: never pass `None` for a record
    /// that was lost. A voter that is not in the configuration's list takes part as an observer.
    fn new(mut identity: Identity, config: &Self::Config, durable: Option<BallotRecord>) -> Self {
        if !config.is_voter(&identity.id) {
            identity.kind = MemberKind::Observer;
        }
        let peers = config.voters().iter().filter(|id| **id != identity.id);
        Self {
            peers: peers.cloned().collect(),
            observers: Arc::default(),
            trust: Trust::Nobody,
            seen: Seen::first(durable.is_some()),
            record: durable.unwrap_or_default(),
            own: None,
            round: 0,
            ended: 0,
            heard: BTreeMap::new(),
            void: None,
            pace: Pace::new(config.round()),
            rest: None,
            stepped: None,
            me: Participant::new(identity),
            config: Arc::clone(config),
        }
    }

    fn handle(&mut self, now: Time, input: InputOf<Self>, out: &mut Out) {
        if self.round == 0 {
            return self.before_life(now, input, out);
        }
        self.look_at_the_clock(now, out);
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
            // A minority ends up without a leader, so it is not one per side. But BLE2 (KTH's course,
            // "Gossip Leader Election") is eventual: a leader that is cut off leads for two rounds
            // more while the majority elects. Nor is it one per term: the term is the n of a ballot
            // (n, score, name), and two agents may stand with one n.
            leaders: Leaders::Unpromised,
            // BLE3: a ballot that was forgotten in a crash would be elected twice.
            storage: Storage::of_voters(kind),
            voters: Some(config.electorate()),
            names: Some(config.voters().into()),
            ..Requirements::new(RULES)
        })
    }

    fn view(&self, _now: Time) -> View {
        let leading = self.leads().map(BallotNumber::term);
        let leader = self.leader();
        let heard = self.record.max.as_ref().map(BallotNumber::term);
        View {
            role: self.role(),
            term: leader
                .as_ref()
                .map(|l| l.term)
                .or(heard)
                .unwrap_or_default(),
            leader,
            leading,
            valid_until: self.valid_until(),
        }
    }
}

/// What can be seen of a machine beside its view.
impl Ballot {
    /// The ballot of whom it trusts, itself included.
    pub fn trusted(&self) -> Option<&BallotNumber> {
        self.trust.ballot()
    }

    /// The ballot that it stands with.
    pub fn own(&self) -> Option<&BallotNumber> {
        self.own.as_ref()
    }

    /// What is durable.
    pub fn record(&self) -> &BallotRecord {
        &self.record
    }

    /// Whether it heard a majority in its last round.
    pub fn is_connected(&self) -> bool {
        self.seen != Seen::Minority
    }

    /// How many voters, itself included, have answered in its last round that is over, or since.
    pub fn heard(&self) -> usize {
        let answered = self.heard.values().filter(|h| self.is_recent(h));
        answered.count().saturating_add(1)
    }

    /// How long its rounds are at present.
    pub fn round_takes(&self) -> std::time::Duration {
        self.pace.span()
    }
}

impl Ballot {
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
            _ if !self.config.is_voter(from) || *from == self.me.id => {
                self.ignore("not from another voter");
            }
            BallotMessage::Leads(m) => self.on_leads(from, incarnation, m, out),
            BallotMessage::Resign(m) => self.on_resign(now, from, m, out),
            _ if !self.me.is_voter() => self.ignore("an observer is not asked"),
            BallotMessage::HeartbeatRequest(m) => self.on_request(now, from, incarnation, m, out),
            BallotMessage::HeartbeatReply(m) => self.on_reply(now, from, incarnation, m, out),
        }
    }

    /// A leader that had no step for two rounds has heard no majority either: it does not come back
    /// as if nothing had been, and what it heard before says nothing about now.
    fn look_at_the_clock(&mut self, now: Time, out: &mut Out) {
        if self.leads().is_some() && now >= self.valid_until() {
            self.seen = Seen::Minority;
            self.set_trust(Trust::Nobody, LostReason::Stalled, out);
        }
        self.stepped = Some(now);
    }

    // ---- queries ----------------------------------------------------------------------------

    /// Until when a leadership holds without another step: two rounds of the present length, in the
    /// second of which the others find that it is gone. One that is well has a step in each.
    fn valid_until(&self) -> Time {
        let two_rounds = self.pace.span().saturating_mul(2);
        self.stepped.map_or(Time::ZERO, |at| at.after(two_rounds))
    }

    /// Whether it takes a ballot when the seat is vacant.
    fn stands(&self, now: Time) -> bool {
        let rests = self.rest.is_some_and(|until| now < until);
        self.me.eligible().is_some() && !rests
    }

    fn role(&self) -> Role {
        match &self.own {
            _ if self.leads().is_some() => Role::Leader,
            Some(own) if self.is_above_max(own) => Role::Candidate,
            Some(_) | None => Role::Follower,
        }
    }

    fn leads(&self) -> Option<&BallotNumber> {
        match &self.trust {
            Trust::Me(reign) => Some(&reign.ballot),
            Trust::Other(_) | Trust::Nobody => None,
        }
    }

    fn leader(&self) -> Option<Leader> {
        let of = |ballot: &BallotNumber, incarnation| Leader {
            id: ballot.id.clone(),
            incarnation,
            term: ballot.term(),
        };
        match &self.trust {
            Trust::Me(reign) => Some(of(&reign.ballot, self.me.incarnation)),
            Trust::Other(followed) => Some(of(&followed.ballot, followed.incarnation)),
            Trust::Nobody => None,
        }
    }

    fn is_above_max(&self, ballot: &BallotNumber) -> bool {
        Some(ballot) > self.record.max.as_ref()
    }

    /// Whether its holder is known not to lead by it any more.
    fn is_void(&self, ballot: &BallotNumber) -> bool {
        let void = self.void.as_ref();
        void.is_some_and(|void| void.id == ballot.id && void.n >= ballot.n)
    }

    /// Whether somebody may have taken it: a sound number, a voter.
    fn is_sound(&self, ballot: &BallotNumber) -> bool {
        ballot.is_sound() && self.config.is_voter(&ballot.id)
    }

    fn ignore(&self, why: &'static str) {
        self.me.ignore(self.role(), why);
    }
}
