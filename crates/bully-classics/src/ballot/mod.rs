//! Ballot leader election by gossip (BLE): a majority that hears each other ends up with one leader.
//!
//! Every voter asks every other one, round after round, and each says which ballot it campaigns with. An
//! agent that has heard a majority trusts the holder of the highest ballot, if it is not below the
//! highest one ever heard of (bmax); if it is, the leadership is vacant, and each agent that notices takes
//! a ballot above all. There is no announcement, no vote, and no message but question and answer.
//!
//! # One normal election
//! Three voters of a new group; `c` has the highest score. `[..]` is written to the disk.
//!
//! ```text
//!  a                          b                          c
//!  [takes ballot 1.a]         [takes 1.b]                [takes 1.c]          round 1 begins
//!  ├── HeartbeatRequest ─────▶├─────────────────────────▶│  each voter asks every other one
//!  │◀────────── HeartbeatReply ┤◀──────── HeartbeatReply ┤  "I stand with 1.c, and hear a majority"
//!  │            the round is over: a majority answered   │
//!  [bmax = 1.c]               [bmax = 1.c]               [bmax = 1.c]
//!  NewLeader(c)               NewLeader(c)               Acquired             round 2 begins
//! ```
//!
//! # One failover
//! ```text
//!  a                          b                          c leads by 1.c
//!  │                          │                          ✗ crash
//!  ├── HeartbeatRequest ─────▶├────────────────────────▶ ·  it may still have answered this round
//!  ├── HeartbeatRequest ─────▶├────────────────────────▶ ·  this round shows: no voter with bmax, and
//!  │                          │                             none that hears it: the leadership is vacant
//!  NoLeader [takes 2.a]       NoLeader [takes 2.b]
//!  ├── HeartbeatRequest ─────▶│                             one more round elects
//!  [bmax = 2.b] NewLeader(b)  [bmax = 2.b] Acquired
//! ```
//! A confirmed end costs one round. A leader that hands over says `Resign` once its application has ended
//! its work, and the successor that it names takes a ballot at once.
//!
//! # The promise
//! BLE1 to BLE3 of the source (KTH's course on distributed algorithms, "Gossip Leader Election");
//! *eventual* throughout:
//! - BLE1: once a majority of the voters can hear each other in time, each of them trusts one that
//!   is alive; BLE2: in the end the same one.
//! - BLE3: an agent trusts ever higher ballots, over restarts too, and a ballot belongs to one
//!   incarnation of one agent. A leader that lost its leadership leads again only by a new ballot.
//!
//! Why: numbers and bmax are durable before they are told, so a ballot is taken once, and an agent
//! trusts none below the highest that it knows of (BLE3). When messages are in time, every voter of the
//! majority hears the same ballots in a round and trusts the highest (BLE2); if its holder is gone, no
//! voter hears it, and a higher one is taken (BLE1).
//!
//! **What you cannot rely on.** Until "in the end", two may act as leader at once: use it beneath a
//! protocol that compares ballots (Paxos), or use the quorum mode, which has a lease. Condition: every
//! two voters of the majority reach each other, and an answer comes back within a round. A minority has
//! no leader.
//!
//! The leader is *sticky*: neither a recovery nor a better score moves the leadership; the score counts
//! in the next ballot. [`Campaign`](bully_core::protocol::Input::Campaign) takes one.
//!
//! **Term.** The term of a leadership is the number n of its ballot (n, score, name). Ballots compare
//! by n first, so terms never decrease where ballots do not, and of one agent each leadership has a
//! higher term. Two agents may have ballots of the same n, of which the larger wins: so a term names a
//! leadership only together with its leader, and is no fencing token.
//!
//! **A leader that hangs** considers itself leader for two rounds without a step, at their present
//! length ([`View::valid_until`]); its next step begins by giving the leadership up.
//!
//! **Cost.** 2 n (n - 1) messages per round while all are well, for ever. A silent death is noticed
//! after one to two rounds, and one more elects ([`BallotConfig::worst_case_failover`]).
//!
//! # The rules by name
//! The first five are the algorithm's. The others amend it.
//!
//! | rule | what it says, and why | decided in |
//! |---|---|---|
//! | `number-never-reused` | A ballot's number is above all that its agent knows of, and durable before it is told. | `voter.rs`, `number.rs` |
//! | `max-never-falls` | bmax rises to what is elected or heard of, durably. | `voter.rs` |
//! | `trust-the-highest` | After a round with a majority: the highest ballot of those heard, and own, if it is not below bmax; else the agent takes a higher one. | `core.rs`, `machine.rs` |
//! | `answer-every-question` | An answer says the voter's standing, and the question says the asker's bmax. | `machine.rs` |
//! | `adapt-the-round` | Late answers make rounds longer, once per round, up to a cap; and back. | `pace.rs` |
//! | `no-majority-no-leader` | An agent that hears no majority does not lead, and follows only a leader that it hears itself; else it would trust a dead one for ever. | `machine.rs` |
//! | `come-back-without-ballot` | A later incarnation holds no ballot until the leadership is vacant: n + 1 would push a healthy leader off by a restart. | `machine.rs` |
//! | `first-round-at-once` | The first round begins at the start; the algorithm waits a round before it asks. | `machine.rs` |
//! | `ask-again` | A voter that did not answer is asked again within the round: the algorithm assumes links that lose nothing. | `core.rs` |
//! | `ask-who-hears-the-leader` | No agent takes a ballot while a connected voter says that it hears the leader: in a chain a - b - c the two ends would push each other off for ever. | `statements.rs`, `machine.rs` |
//! | `one-ballot-per-leadership` | A ballot that lost its leadership, or is below bmax, is given up (BLE3). | `machine.rs`, `voter.rs` |
//! | `tell-a-new-ballot` | The question says the asker's ballot too: it is known after one delay, not after the next answer. | `core.rs` |
//! | `believe-the-connected` | bmax and ballots count only if they come from a voter that heard a majority: else the partly connected push leaders off. | `statements.rs`, `machine.rs` |
//! | `resigned-is-vacant` | `Resign`, and the confirmed end of an incarnation: the leadership is vacant at once; a hand-over need not wait for silence. | `machine.rs` |
//! | `observer-remembers` | `Leads` tells observers who leads, since they are not asked; `Nack` tells a leader that an observer followed a higher ballot, which it may be the last to remember. | `observer.rs` |
//!
//! # Role × input
//! − is a traced no-op. A witness is a voter without a score.
//!
//! | input | following | vacant | leading | witness | observer |
//! |---|---|---|---|---|---|
//! | `HeartbeatRequest` | raises bmax, answers | the same | the same | the same | − |
//! | `HeartbeatReply` | counts, or adapts the round | the same | the same | the same | − |
//! | `Leads` | − | − | − | − | follows; older: `Nack` |
//! | `Nack` | raises bmax | the same | the same | the same | − |
//! | `Resign` | its leader's: named: takes a ballot; all: ask | the same if it is not old | − | vacant, asks | vacant |
//! | `Members` | leader's end: takes a ballot; no member: asks | − | − | vacant; no member: asks | vacant |
//! | `TimedOut` | `Round`: whom to trust; `Again` | the same | the same, `Drain` | the same | `Silence`: vacant |
//! | `Campaign` | takes a ballot, if connected | the same | − | − | − |
//! | `SetScore` | next ballot; `None`: gives it up | the same | next ballot; `None`: drains | becomes eligible | − |
//! | `StepDown`, `Drained` | − | − | drains; resigns | − | − |
//!
//! # The algorithm's faults
//! Source: "Gossip Leader Election", implementing `BallotLeaderElector` (KTH's course on distributed
//! algorithms), and what `OmniPaxos` (2023) made of it. As written:
//!
//! | fault | consequence | repair |
//! |---|---|---|
//! | ⌈N/2⌉ is taken for a majority | N = 4 split in halves elects on both sides | ⌊N/2⌋ + 1 |
//! | the event is outside of the `if` | it is told every round | on change only |
//! | without a quorum nothing is checked | an isolated leader leads for ever | `no-majority-no-leader` |
//! | the delay grows with every late answer | one slow voter makes all others blind | `adapt-the-round` |
//! | ballots are forgotten in a crash | the same ballot is elected twice | `number-never-reused` |
//! | bmax and ballots of any voter count | the partly connected push leaders off | `believe-the-connected` |
//! | answers are a set of pairs | a voter that answers twice with two ballots counts twice | a map by voter |
//!
//! Not here: leases, votes, and a promise about any one instant.

mod config;
mod core;
mod leader;
mod machine;
mod message;
mod number;
mod observer;
mod pace;
mod state;
mod statements;
mod timer;
mod voter;

#[cfg(test)]
mod tests;

use std::{convert::Infallible, sync::Arc};

pub use config::{BallotConfig, BallotError};

pub use number::{BallotNumber, BallotRecord};
#[cfg(not(any(test, feature = "testkit")))]
use {message::BallotMessage, timer::BallotTimer};
#[cfg(any(test, feature = "testkit"))]
pub use {
    message::{BallotMessage, HeartbeatReply, HeartbeatRequest, Leads, Nack, Resign, Standing},
    timer::BallotTimer,
};

use self::core::Core;
use pace::Pace;
use state::{LastRound, State};
use statements::Statements;
use voter::Voter;

use bully_core::parts::{Participant, check_listed};
use bully_core::protocol::{
    AgentId, EffectsOf, Election, Identity, InputOf, Leaders, MemberKind, MembershipError,
    Prospects, Requirements, Rules, Storage, Time, Timings, View,
};

type Out = EffectsOf<Ballot>;

const RULES: Rules = Rules::new("ballot");

/// One agent's side of a ballot leader election; see the [module's page](self).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ballot {
    core: Core,
    /// Written by [`machine`] only.
    state: State,
}

impl Election for Ballot {
    type Message = BallotMessage;
    type Timer = BallotTimer;
    type Ask = Infallible;
    type Told = Infallible;
    type Durable = BallotRecord;
    type Config = Arc<BallotConfig>;

    /// Without a record nothing was ever written under this name: never pass `None` for a record
    /// that was lost. A voter that is not in the configuration's list takes part as an observer.
    fn new(mut identity: Identity, config: &Self::Config, durable: Option<BallotRecord>) -> Self {
        if !config.voters.contains(&identity.id) {
            identity.kind = MemberKind::Observer;
        }
        let peers = config.voters.iter().filter(|id| **id != identity.id);
        let core = Core {
            peers: peers.cloned().collect(),
            observers: Arc::default(),
            last_round: LastRound::first(durable.is_some()),
            voter: Voter::new(durable.unwrap_or_default()),
            statements: Statements::default(),
            round: 0,
            ended: 0,
            pace: Pace::new(config.round()),
            cooldown: None,
            stepped: None,
            me: Participant::new(identity),
            config: Arc::clone(config),
        };
        let state = State::Vacant;
        Self { core, state }
    }

    fn handle(&mut self, now: Time, input: InputOf<Self>, out: &mut Out) {
        if self.core.round == 0 {
            return self.before_start(now, input, out);
        }
        self.end_stalled_leadership(now, out);
        self.on_input(now, input, out);
    }

    fn requirements(
        config: &Self::Config,
        agent: &AgentId,
        kind: MemberKind,
    ) -> Result<Requirements, MembershipError> {
        config.check().map_err(MembershipError::config)?;
        check_listed(&config.voters, agent, kind)?;
        Ok(Requirements {
            // A minority ends up without a leader, so it is not one per side. But BLE2 (KTH's course,
            // "Gossip Leader Election") is eventual: a leader that is cut off leads for two rounds
            // more while the majority elects. Nor is it one per term: the term is the n of a ballot
            // (n, score, name), and two agents may have ballots of one n.
            leaders: Leaders::Unpromised,
            // BLE3: a ballot that was forgotten in a crash would be elected twice.
            storage: Storage::of_voters(kind),
            voters: Some(config.electorate()),
            names: Some(config.voters.as_slice().into()),
            ..Requirements::new(RULES)
        })
    }

    fn prospects(&self) -> Prospects {
        Prospects {
            cooldown_until: self.core.cooldown,
            ..Prospects::default()
        }
    }

    fn timings(config: &Self::Config) -> Option<&Timings> {
        Some(&config.timings)
    }

    fn view(&self, _now: Time) -> View {
        let leader = self.leader();
        let heard = self.core.voter.record.max.as_ref();
        let term = leader.as_ref().map(|leader| leader.term);
        View {
            about: None,
            role: self.role(),
            term: term
                .or_else(|| heard.map(BallotNumber::term))
                .unwrap_or_default(),
            leader,
            leading: self.state.leading().map(|leading| leading.ballot.term()),
            valid_until: self.core.valid_until(),
        }
    }
}

/// What can be seen of a machine beside its view.
#[cfg(any(test, feature = "testkit"))]
impl Ballot {
    /// The ballot of the agent that it trusts, which may be itself.
    pub fn trusted(&self) -> Option<&BallotNumber> {
        self.state.ballot()
    }

    /// The ballot that it campaigns with.
    pub fn own(&self) -> Option<&BallotNumber> {
        self.core.voter.own.as_ref()
    }

    /// What is durable.
    pub fn record(&self) -> &BallotRecord {
        &self.core.voter.record
    }

    /// Whether it heard a majority in its last round.
    pub fn is_connected(&self) -> bool {
        self.core.is_connected()
    }

    /// How many voters, itself included, have answered in its last round that is over, or since.
    pub fn heard(&self) -> usize {
        let answered = self.core.statements.count_since(self.core.recent());
        answered.saturating_add(1)
    }

    /// How long its rounds are at present.
    pub fn round_takes(&self) -> std::time::Duration {
        self.core.pace.span()
    }
}
