//! Ballot leader election by gossip (BLE): a majority whose voters hear each other has one leader in the end.
//!
//! Every voter asks every other voter, round after round. Each question and each answer contains the ballot with which
//! the voter campaigns. After a round in which a majority answered, an agent looks at the highest ballot of the round,
//! and at bmax, the highest elected ballot that it knows. If the ballot is not below bmax, the agent trusts its holder.
//! Otherwise the leadership is vacant, and each agent that notices this takes a ballot above all others. The question
//! and the answer are the only messages of an election. There are no announcements and no votes.
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
//! A confirmed end costs one round. A leader that hands over sends `Resign` after its application has ended its work.
//! The named successor takes a ballot at once.
//!
//! # The promise
//! The promises are BLE1 to BLE3 of the source (KTH's course on distributed algorithms, "Gossip Leader Election"); all
//! three are *eventual*:
//! - BLE1: when a majority of the voters can hear each other in time, each of them trusts a living agent. BLE2: in
//!   the end all of them trust the same agent.
//! - BLE3: an agent trusts higher and higher ballots, over restarts too, and a ballot belongs to one incarnation of
//!   one agent. A leader that lost its leadership leads again only by a new ballot.
//!
//! Why: an agent writes its number and bmax to the disk before it sends them. So a ballot is taken only once, and an
//! agent trusts no ballot below the highest that it knows (BLE3). When messages are in time, every voter of the
//! majority hears the same ballots in a round and trusts the highest (BLE2). If the holder of that ballot is gone, no
//! voter hears it, and a voter takes a higher ballot (BLE1).
//!
//! **What you cannot rely on.** The promises hold only in the end; before, two agents may act as leader at once. Use
//! this election below a protocol that compares ballots (Paxos), or use the quorum mode, which has a lease. Condition:
//! every two voters of the majority reach each other, and an answer comes back within a round. A minority has no
//! leader.
//!
//! The leader is *sticky*: neither a recovery nor a better score moves the leadership. A new score counts only in the
//! next ballot. [`Campaign`](bully_core::protocol::Input::Campaign) takes a new ballot.
//!
//! **Term.** The term of a leadership is the number n of its ballot (n, score, name). Ballots compare by n first. So
//! terms never decrease as long as ballots do not, and each leadership of an agent has a higher term than the one
//! before. Two agents may have ballots with the same n, and the larger ballot wins. So only the term and the leader
//! together identify a leadership, and the term cannot serve as a fencing token.
//!
//! **A leader that hangs** considers itself leader for two rounds of the present length after its last step
//! ([`View::valid_until`]). Its next step first gives the leadership up.
//!
//! **Cost.** 2 n (n - 1) messages per round while all voters are up, for ever. The voters notice the death of a silent
//! leader after one to two rounds, and elect in one more round ([`BallotConfig::worst_case_failover`]).
//!
//! # The rules by name
//! The first five rules belong to the algorithm. The others change it.
//!
//! | rule | meaning and reason | decided in |
//! |---|---|---|
//! | `number-never-reused` | A ballot's number is above all numbers that its agent knows, and durable before it is sent. | `voter.rs`, `number.rs` |
//! | `max-never-falls` | bmax rises to the highest ballot that the agent elected or learned of, durably. | `voter.rs` |
//! | `trust-the-highest` | After a round with a majority, an agent trusts the highest of the ballots heard and its own, if that is not below bmax; else the agent takes a higher ballot. | `core.rs`, `machine.rs` |
//! | `answer-every-question` | An answer contains the voter's state, and a question contains the asker's bmax. | `machine.rs` |
//! | `adapt-the-round` | Late answers make rounds longer, once per round, up to a cap; without late answers they become shorter again. | `pace.rs` |
//! | `no-majority-no-leader` | An agent that hears no majority does not lead, and follows only a leader that it hears itself; otherwise it would trust a dead leader for ever. | `machine.rs` |
//! | `come-back-without-ballot` | A later incarnation holds no ballot until the leadership is vacant: with n + 1, a restart would end the leadership of a healthy leader. | `machine.rs` |
//! | `first-round-at-once` | The first round begins at the start; the original algorithm waits for one round before it asks. | `machine.rs` |
//! | `ask-again` | A voter that did not answer is asked again within the round: the original algorithm assumes links that lose no message. | `core.rs` |
//! | `ask-who-hears-the-leader` | No agent takes a ballot while a connected voter reports that it hears the leader: in a chain a - b - c the two ends would replace each other for ever. | `statements.rs`, `machine.rs` |
//! | `one-ballot-per-leadership` | A ballot that lost its leadership, or is below bmax, is given up (BLE3). | `machine.rs`, `voter.rs` |
//! | `tell-a-new-ballot` | The question also contains the asker's ballot: the others know it after one delay, not after the next answer. | `core.rs` |
//! | `believe-the-connected` | bmax and ballots count only if they come from a voter that heard a majority: otherwise partly connected voters replace healthy leaders. | `statements.rs`, `machine.rs` |
//! | `resigned-is-vacant` | `Resign` and the confirmed end of an incarnation make the leadership vacant at once; a hand-over need not wait for silence. | `machine.rs` |
//! | `observer-remembers` | `Leads` tells the leader to observers, which take no part in the rounds. By `Nack` an observer tells a leader that it followed a higher ballot. Perhaps only that observer still remembers that ballot. | `observer.rs` |
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
//! | `TimedOut` | `Round`: trusts the highest ballot; `Again` | the same | the same, `Drain` | the same | `Silence`: vacant |
//! | `Campaign` | takes a ballot, if connected | the same | − | − | − |
//! | `SetScore` | next ballot; `None`: gives it up | the same | next ballot; `None`: drains | becomes eligible | − |
//! | `StepDown`, `Drained` | − | − | drains; resigns | − | − |
//!
//! # The algorithm's faults
//! Source: "Gossip Leader Election", implementing `BallotLeaderElector` (KTH's course on distributed algorithms), and
//! its use in `OmniPaxos` (2023). By the original rules:
//!
//! | fault | consequence | repair |
//! |---|---|---|
//! | ⌈N/2⌉ counts as a majority | with N = 4 split in halves, both sides elect | ⌊N/2⌋ + 1 |
//! | the event is outside of the `if` | the event is sent every round | only when the leader changes |
//! | without a quorum nothing is checked | an isolated leader leads for ever | `no-majority-no-leader` |
//! | the delay grows with every late answer | one slow voter slows the detection of a dead leader for all | `adapt-the-round` |
//! | ballots are forgotten in a crash | the same ballot is elected twice | `number-never-reused` |
//! | bmax and ballots of any voter count | partly connected voters replace healthy leaders | `believe-the-connected` |
//! | answers are a set of pairs | a voter that answers twice with two ballots counts twice | a map by voter |
//!
//! Not here: leases, votes, and a promise about any single instant.

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

use std::{convert::Infallible, sync::Arc, time::Duration};

pub use config::BallotConfig;

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

/// The part of one agent in a ballot leader election; see the [module's page](self).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ballot {
    core: Core,
    /// Only [`machine`] changes this field.
    state: State,
}

impl Election for Ballot {
    type Message = BallotMessage;
    type Timer = BallotTimer;
    type Ask = Infallible;
    type Told = Infallible;
    type Durable = BallotRecord;
    type Config = Arc<BallotConfig>;

    /// `None` states that no record was ever written under this name: do not pass it for a record that was lost. A
    /// voter that is not in the configured list takes part as an observer.
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
            held_back: Duration::ZERO,
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
            // The election does not promise one leader per side of a partition: a leader that is cut off in a minority
            // leads for two more rounds while the majority elects (BLE2 of KTH's course, "Gossip Leader Election", is
            // eventual). Nor does it promise one leader per term: the term is the n of a ballot (n, score, name), and
            // two agents may have ballots with the same n.
            leaders: Leaders::Unpromised,
            // BLE3: a ballot that was forgotten in a crash could be elected twice.
            storage: Storage::of_voters(kind),
            voters: Some(config.electorate()),
            names: Some(config.voters.as_slice().into()),
            ..Requirements::new(RULES)
        })
    }

    fn hold_back(&mut self, span: Duration) {
        self.core.held_back = span;
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

/// Queries for tests.
#[cfg(any(test, feature = "testkit"))]
impl Ballot {
    /// Returns the ballot of the agent that this agent trusts as leader (perhaps itself); `None` if this agent trusts
    /// no leader.
    pub fn trusted(&self) -> Option<&BallotNumber> {
        self.state.ballot()
    }

    /// Returns the ballot with which this agent campaigns.
    pub fn own(&self) -> Option<&BallotNumber> {
        self.core.voter.own.as_ref()
    }

    /// Returns the durable record.
    pub fn record(&self) -> &BallotRecord {
        &self.core.voter.record
    }

    /// Returns whether this agent heard a majority in its last round.
    pub fn is_connected(&self) -> bool {
        self.core.is_connected()
    }

    /// Returns the number of voters that have answered in the last ended round or later. This agent itself counts as
    /// well.
    pub fn heard(&self) -> usize {
        let answered = self.core.statements.count_since(self.core.recent());
        answered.saturating_add(1)
    }

    /// Returns the present length of a round.
    pub fn round_takes(&self) -> Duration {
        self.core.pace.span()
    }
}
