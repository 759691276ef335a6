//! The quorum election (lease-bully): at any instant at most one agent considers itself leader.
//!
//! This election uses the questions and answers of the bully, and a majority of the voters decides.
//!
//! Decided here: how an agent is built from its configuration and its record, and which [`View`] it shows.
//!
//! Not here: the rules; the table below shows the file of each rule.
//!
//! # One normal election
//! Three voters; `a` has the highest rank, so its slot comes first. `[..]` is written to the disk.
//!
//! ```text
//!  a                                b, c
//!  ├── Elect ──────────────────────▶│  "would you vote for me?"; nothing durable changes
//!  │◀───────────────────── Yield ───┤  (an agent that outranks it would say Ok: "I object")
//!  ├── Claim ──────────────────────▶│
//!  [term 1, vote a]   [term 1, vote a]  both at once
//!  │◀──────────────── ClaimReply ───┤  Qv votes, its own included: elected
//!  ├── Elected ────────────────────▶│  a does not lead yet
//!  │                       [promise]│  for P from now on b supports no other agent
//!  │◀─────────────────────── Ack ───┤  Ql acknowledgements: a holds a lease, and leads (Acquired)
//!  ├── Heartbeat ──────────────────▶│  every H
//!  │◀─────────────────────── Ack ───┤  the lease lasts D from when that heartbeat was sent
//! ```
//!
//! # One failover
//! ```text
//!  a                                b (next in rank)                  c
//!  ├── Heartbeat ──────────────────▶├ promise until t               ──▶├ promise until t'
//!  ✗ crash, hang, or cut off        │                                  │
//!  │ its lease ends: Lost           │ (before t and t', by any clock)  │
//!  │                                │ t: NoLeader; b's slot comes first│
//!  │                                ├── Elect ─────────────────────────▶│
//!  │                                │◀──────────────────────── Yield ──┤ c's own promise is over too
//!  │                                ├── Claim ─────────────────────────▶│ [term 2, vote b], at both
//!  │                                ├── Elected ── Ack: b leads in term 2
//! ```
//! If a's end is *confirmed* (a was seen to panic or stop, and its leadership was revoked), the promises to that
//! incarnation are void at once, and b asks after a message delay instead of P. If a hands over, it sends `Resign`
//! after its application has ended its work. `Resign` contains a successor, and the successor claims at once.
//!
//! # The promise
//! - While the rates of the voters' clocks differ by no more than the timings allow, at every instant
//!   at most one agent considers itself leader, and the terms of successive leaders strictly increase.
//! - If the rates differ by more, a term still has at most one leader, ever. The term is a *fencing token*: a resource
//!   remembers the highest term that it has seen and refuses a write with a lower term, so a former leader never writes
//!   after a later leader.
//! - If messages take no longer than the delay bound and a majority of the voters can reach each other, the group has
//!   one leader. With preemption, the highest-ranked voter that reaches a majority leads in the end.
//! - If writes or messages take longer than the timings assume, the group still gets a leader, but later. With the
//!   default timings and three voters, the next leader leads 0.9 s after the silent end of the former leader. If the
//!   write of each record takes 500 ms, the next leader leads after 1.4 s; if each write takes 1.8 s, after 2.7 s
//!   (`tests/elections/quorum/slow_voters.rs`).
//!
//! The reasons in short; [`proof`] has the assumptions, the invariants and the argument. A vote is durable before it
//! is given, a voter has one vote in each term, and two quorums share a voter. So a term has one leader. A lease
//! counts from the time when a heartbeat was *sent*, and the promise behind it counts from the time when the
//! heartbeat was *processed*. The promise is longer than the lease by more than the clocks can differ. So when a
//! voter is free again, the lease that depended on its promise has ended. A restart forgets promises, so the voter
//! abstains until the longest promise that it may have given has ended.
//!
//! The page [`clocks`] lists the effects of wrong clocks, and the tests of them.
//!
//! A minority has no leader: the former leader stops itself before another leader can start. A leader that hangs
//! considers itself leader until its lease ends ([`View::valid_until`]), and its next step first reports the loss.
//! Members may have different [`Timings`], for example during a rolling change: no statement above depends on equal
//! timings. Another list of voters is another [`epoch`]; the page of the epochs describes how to change the voters
//! while the group runs.
//!
//! # The rules by name
//! | rule | statement | decided in |
//! |---|---|---|
//! | `abstain-after-restart` | A voter whose record is not empty abstains when it starts: for the length P of a promise, or for the longest promise in the record. | `voter.rs` |
//! | `slot-by-rank` | An agent without a leader campaigns after one step S for each voter that outranks it, and 8 steps later in its cool-down. An agent that becomes eligible takes a slot. | `core.rs`, `vacant.rs` |
//! | `soon-after-end` | An agent that knows of a confirmed end, and is still refused, asks again after one message delay d, but only once: by then the voters that refused have learned of the end. | `candidate.rs`, `vacant.rs` |
//! | `ask-before-claim` | A campaign begins with questions, which change nothing durable. | `candidate.rs`, `consent.rs` |
//! | `object-once` | A voter that is bound to another agent refuses; a voter that outranks the asker objects, once; any other voter consents. | `consent.rs` |
//! | `wait-for-higher-ranked` | A candidate claims when a quorum consents and every voter that outranks it has answered or is late. | `candidate.rs` |
//! | `claim-for-a-reason` | An agent asks for votes because a quorum consented, because the leader's `Resign` has it as successor, because it decided the list of the epoch, to raise its own term, or for its successor. A successor that may not claim asks at once. | `claim.rs` |
//! | `same-term-again` | A claim whose time passed without a refusal is made again for the same term, until two rounds have brought no new vote. A voter gives its vote again. | `candidate.rs` |
//! | `late-vote-counts` | A vote that comes later counts if its candidate has made no other claim, voted for no other agent, and deferred to no other agent. | `candidate.rs` |
//! | `longer-after-late-answer` | If a round of questions ended without a quorum and an answer comes later, the next round is twice as long, up to the deadline T, until one agent has led for a minute. | `pace.rs` |
//! | `slow-waits` | A voter whose writes take longer than a round E asks no live leader to hand over, takes a slot later by one step for each voter, and is a successor only if all voters are slow. It votes and objects like any other voter. | `slow.rs` |
//! | `one-vote-per-term` | A voter gives one vote in a term. The vote is durable before it is sent. | `voter.rs` |
//! | `bound-to-one-incarnation` | A promise, a vote and a raise of the term are for one incarnation. Another incarnation of the name is another agent: it gets no vote while the promise holds, and none in a term in which the former incarnation has the vote. | `voter.rs`, `told.rs` |
//! | `vote-against-no-promise` | A voter gives no vote while a promise to another agent binds it. | `voter.rs` |
//! | `claim-beside-own-vote` | A claim is sent while its candidate's own vote is being written; that vote, like any other, counts when it is durable. | `candidate.rs` |
//! | `answer-the-asker` | An answer counts for the incarnation that asked, and a vote for the incarnation of its candidate. | `answer.rs` |
//! | `persist-before-send` | The record is written before any message that depends on it is sent; a candidate's claim does not depend on it. | `voter.rs` |
//! | `lease-before-leading` | An elected agent announces itself, and leads when a quorum has acknowledged the announcement. | `leader.rs` |
//! | `one-leader-per-term` | A voter that follows one leader in a term, or leads in it, answers `Nack` to another leader of the same term. The other leader gives up, or, with a lease, raises its term. | `told.rs`, `leader.rs` |
//! | `give-up-unacknowledged` | An elected agent gives up if too few voters acknowledge within two rounds (2 E). | `leader.rs` |
//! | `follow-and-promise` | A voter follows an announcement of its own term or a later one, promises its support for the time P, and acknowledges. | `follower.rs` |
//! | `lease-from-send-time` | An acknowledgement prolongs the lease, counted from the time when the answered heartbeat was sent. | `lease.rs` |
//! | `lease-within-promise` | An acknowledgement contains the length of the voter's promise, and the lease never counts on a longer promise. | `leader.rs` |
//! | `record-longest-promise` | The record contains the longest promise that may still hold. | `voter.rs` |
//! | `lease-ends-by-clock` | Every step first checks whether the lease has ended. | `machine.rs` |
//! | `raise-term-without-gap` | A leader that hears a voter with a higher term claims a term above it, and leads on meanwhile. | `leader.rs` |
//! | `prepare-before-drain` | A leader that hands over first asks the others to vote for its successor, for half a lease at most. | `prepare.rs` |
//! | `vote-ahead` | A voter that does not abstain gives that vote, continues to support its leader in the present term, and gives no other agent a vote. | `prepare.rs`, `follower.rs` |
//! | `lead-in-given-term` | The leader's `Resign` says that its successor has the votes; the successor announces itself at once. | `prepare.rs` |
//! | `lose-before-resign` | The leadership ends, then `Resign` is sent. | `resign.rs` |
//! | `resignation-is-final` | `Resign` ends the promises to that leadership, of that incarnation; the successor in it claims at once. | `resign.rs`, `voter.rs` |
//! | `ask-before-takeover` | A follower that outranks its leader asks the voters, then the leader. | `follower.rs` |
//! | `leader-decides-takeover` | Only the leader hands over, after the grace period, and to the highest-ranked voter whose grace period has ended, whichever voter asked. | `resign.rs` |
//! | `drain-when-ineligible` | A leader that becomes ineligible hands over. | `resign.rs` |
//! | `wait-longer-for-flapping` | An agent that loses the leadership again and again waits for a longer grace period. | `flapping.rs` |
//! | `abstain-when-late` … `written-within-a-minute` | The page [`memory`] has the rules that find gaps in a voter's memory. | `memory.rs` |
//! | `lose-before-seal` … `void-seal` | The page [`epoch`] has the rules by which one list of voters follows another. | `change.rs`, `seal.rs`, `install.rs` |
//! | `told-end-is-exact` | If another process or a sentinel reports an end, only promises to exactly the reported incarnation become void, because a second process may have the name. | `core.rs`, `protocol/member.rs` |
//! | `only-confirmed-end-voids` | A promise is void only after the confirmed end of exactly the incarnation to which it was given. | `core.rs`, `told.rs` |
//!
//! # Role × input
//! − is a traced no-op. A voter answers every `Elect` and `Claim`, whatever its role. `machine.rs` has this table as
//! code; `state.rs` has the diagram of the roles.
//!
//! An agent that is elected to seal the epoch answers like a former leader: it votes for a higher term, follows the
//! leader of such a term, counts `Sealed`, and obeys no command ([`epoch`]).
//!
//! | input | following | vacant | asking, claiming | leading (elected) |
//! |---|---|---|---|---|
//! | `Elect` | refuses: the promise holds | consents, refuses, or objects and asks itself | the same, without a new election | refuses while it holds a lease |
//! | `Elect` to take over | consents if it would be free | the same | the same | the grace period decides |
//! | `Ok`, `Yield` | of a takeover | − | of this round: decides | − |
//! | `Behind` of an observer | − | − | − | without disks: raises its term |
//! | `Claim` granted | vacant, or its leader raises its term or asks for its successor | defers for W | defers | without a lease: defers |
//! | `ClaimReply` | − | of a claim that ran out: counts | the same; claiming: counts | counts for the higher term |
//! | `Elected`, `Heartbeat` | newer or same: follows, `Ack` | follows | follows | newer: superseded |
//! | … of its own term, by another | `Nack` | follows | follows | `Nack` |
//! | … of an older term | `Nack` | `Nack`; an observer without disks: `Behind` | `Nack` | `Nack` |
//! | `Ack` | − | − | − | prolongs the lease |
//! | `Nack` of a higher term, or to its own | − | − | − | raises its term; without a lease: vacant |
//! | `Takeover` | − | − | − | drains, if the grace period has ended |
//! | `Resign` | its leader's: leads in the given term, or claims, if named; else defers | defers, or claims if named | asking and named: claims, or asks again | − |
//! | `Recover` | without disks: answers with its memory | the same | the same | the same |
//! | `Recovered` | without disks: takes part if enough remember | the same; own slot | − | − |
//! | `Recall` | answers with its memory of the asker | the same | the same | the same |
//! | `Recalled` | ends, if its own record is older | the same | the same | the same |
//! | `Seal` | seals, and defers for W | the same | the same | the same, if it holds no lease |
//! | … of an older term | `Nack` | `Nack` | `Nack` | `Nack` |
//! | `Sealed` | − (an agent that seals counts it) | − | − | − |
//! | `Install` of a later epoch | enters it | enters it | enters it | enters it: superseded |
//! | of an earlier epoch | `Install`, if its list was decided, and this agent is or was in a list | the same | the same | the same |
//! | of a later epoch | `Behind` with the highest term that it knows | the same | the same | the same |
//! | `AskChange` | − | − | − | refuses, is done, or drains |
//! | `ChangeAnswer` | passes it on, if it asked | the same | the same | the same |
//! | `Enlist` | − | − | − | remembers the sender as a possible voter |
//! | `Members` | leader's confirmed end: own slot, in steps of d | the same, if it is bound to the leader that ended | does not wait for a voter that is down | − |
//! | `TimedOut` | `Election`: own slot; `Round`: no takeover; `Recover`: asks for the others' memory | `Election`: asks | `Round`: decides, or again | `Heartbeat`, `Lease`, `Drain`; `Round`: gives up |
//! | `Campaign` | asks to take over | asks now, unless bound | − | `Heartbeat` |
//! | `SetScore` | the leader learns of it | own slot | asks again | `Heartbeat`; `None`: drains |
//! | `StepDown`, `Drained` | − | − | − | drains; resigns, or seals |
//! | `ChangeVoters` | `AskChange` to its leader | − | − | refuses, is done, or drains |
//!
//! An observer only follows; a learner also sends `Enlist`.
//!
//! Voters may have no disk: [`diskless`] has the rules that replace the disk, and their costs.

mod answer;
mod asked;
mod candidate;
mod change;
mod claim;
pub mod clocks;
mod config;
mod consent;
mod core;
pub mod diskless;
pub mod epoch;
mod flapping;
mod follower;
mod install;
mod leader;
mod lease;
mod machine;
pub mod memory;
mod pace;
mod prepare;
pub mod proof;
mod recall;
mod resign;
mod ruling;
mod seal;
mod slow;
mod state;
mod told;
mod turn;
mod vacant;
mod voter;

#[cfg(test)]
mod tests;

use std::{convert::Infallible, sync::Arc, time::Duration};

pub use config::QuorumConfig;

pub use crate::elections::vote::{Heard, SealRecord, Vote, VotersRecord};
pub use diskless::Diskless;

use self::{core::Core, epoch::epoch_of};
#[cfg(any(test, feature = "testkit"))]
pub use crate::elections::{
    message::{
        Ack, AskChange, Behind, Candidate, ChangeAnswer, Claim, ClaimReply, Elect, Elected, Enlist,
        Heartbeat, Install, Leadership, Micros, Nack, Ok, QuorumMessage, Recall, Recalled, Recover,
        Recovered, Refusal, Resign, Seal, Sealed, Takeover, Yield,
    },
    timer::BullyTimer,
};
#[cfg(not(any(test, feature = "testkit")))]
use crate::elections::{
    message::{
        Ack, Claim, ClaimReply, Elect, Elected, Heartbeat, Leadership, Nack, Ok, QuorumMessage,
        Refusal, Resign, Takeover, Yield,
    },
    timer::BullyTimer,
};
use crate::parts::{Participant, check_listed};
use crate::protocol::{
    AgentId, ClockKind, EffectsOf, Election, Epochs, Identity, Incarnation, Input, InputOf, Leader,
    LeaderEnd, Leaders, MemberKind, MembershipError, Prospects, Requirements, Role, Rules, Storage,
    Time, Timings, View,
};
use state::State;
use vacant::Vacant;
use voter::Voter;

type Out = EffectsOf<QuorumBully>;

/// The sender of a message, and the sender's incarnation.
type SenderIncarnation<'a> = (&'a AgentId, Incarnation);

const RULES: Rules = Rules::new("quorum");

/// The part of one agent in a quorum election; see the [module's page](self).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct QuorumBully {
    core: Core,
    /// Only [`machine`] changes this field.
    state: State,
}

impl Election for QuorumBully {
    type Message = QuorumMessage;
    type Timer = BullyTimer;
    type Ask = Infallible;
    type Told = Infallible;
    type Durable = Vote;
    type Config = Arc<QuorumConfig>;

    /// `durable` is `None` only if no record was ever written under this name: never pass `None` for a lost record. A
    /// voter that is not in the configured list takes part as an observer.
    fn new(identity: Identity, config: &Self::Config, durable: Option<Vote>) -> Self {
        let mut record = durable.unwrap_or_default();
        let typed = (config.epoch, config.electorate());
        let was_listed = config.voters.contains(&identity.id);
        let config = match record.installed() {
            // The decided list is newer than the configured one.
            Some(list) if list.epoch >= config.epoch => Arc::new(config.of(list)),
            Some(_) | None => {
                // The configuration has another epoch: the voters were changed while the group was stopped.
                if epoch_of(record.term).is_none_or(|epoch| epoch < config.epoch) {
                    record.voters = None;
                    record.others.clear();
                }
                Arc::clone(config)
            }
        };
        let voter = Voter::new(record, identity.incarnation, config.first_term());
        let has_store = identity.kind == MemberKind::Voter;
        let store = identity.store;
        let mut core = Core::new(Participant::new(identity), &config, voter);
        (core.store, core.has_store) = (store, has_store);
        let kept = core.voter.record.voters.as_ref();
        core.was_listed = was_listed || kept.is_some_and(|voters| voters.tells);
        core.overrules = (config.epoch, config.electorate()) != typed;
        core.adopt(config);
        Self {
            core,
            state: State::Vacant(Vacant::IDLE),
        }
    }

    fn handle(&mut self, now: Time, input: InputOf<Self>, out: &mut Out) {
        if !self.core.voter.has_started() {
            return self.before_start(now, input, out);
        }
        self.end_expired_lease(now, out);
        if self.core.voter.memory.is_over() {
            return self.ignore("its record is an old copy");
        }
        // The memory of the other voters is written with these messages only. A question or a refused claim must change
        // nothing durable (invariant `NoDisrupt`).
        let is_steady = matches!(
            input,
            Input::Received {
                message: QuorumMessage::Heartbeat(_) | QuorumMessage::Ack(_),
                ..
            }
        );
        self.on_input(now, input, out);
        if is_steady {
            self.core.write_when_due(now, out);
        }
    }

    fn hold_back(&mut self, span: Duration) {
        self.core.cooldown.least = span;
    }

    fn note_write(&mut self, took: Duration) {
        self.core.note_write(took);
    }

    fn requirements(
        config: &Self::Config,
        agent: &AgentId,
        kind: MemberKind,
    ) -> Result<Requirements, MembershipError> {
        config.check().map_err(MembershipError::config)?;
        let is_learner = config.learner && kind == MemberKind::Voter && config.diskless().is_none();
        if !is_learner {
            check_listed(&config.voters, agent, kind)?;
        }
        Ok(Requirements {
            // Two quorums of votes share a voter, and a voter has one durable vote in each term (the [`proof`]). So no
            // clock is needed for one leader in each term. The lease needs a clock: it prevents two leaders at one
            // instant in different terms.
            leaders: match config.diskless() {
                None => Leaders::PerTerm,
                Some(_) => Leaders::PerInstant,
            },
            storage: match config.diskless() {
                None => Storage::of_voters(kind),
                Some(_) => Storage::Refused,
            },
            clock: match kind {
                MemberKind::Voter => ClockKind::CountsSuspend,
                MemberKind::Observer => ClockKind::Any, // because an observer promises nothing, and never leads
            },
            promise: config.timings.longest_promise(),
            epoch: config.epoch,
            epochs: match config.diskless() {
                None => epoch::LEARNED,
                Some(_) => Epochs::Apart, // because voters without disks would forget their decisions
            },
            voters: Some(config.electorate()),
            names: Some(config.voters.as_slice().into()),
            ..Requirements::new(match config.diskless() {
                None => RULES,
                Some(_) => diskless::RULES,
            })
        })
    }

    fn on_host(mut config: Self::Config, wall_at_zero: i64) -> Self::Config {
        // An agent with a store keeps sharing the configuration, because it needs no wall clock.
        if config.diskless().is_some() {
            Arc::make_mut(&mut config).set_wall_clock(wall_at_zero);
        }
        config
    }

    fn admits(
        config: &Self::Config,
        agent: &AgentId,
        vote: Option<&Vote>,
    ) -> Result<(), MembershipError> {
        let is_decided = |vote: &&Vote| {
            let list = vote.installed();
            list.is_some_and(|list| Some(list.epoch) == epoch_of(vote.term))
        };
        match vote.filter(|vote| !is_decided(vote)) {
            Some(vote) => config.check_term(agent, vote.term),
            None => Ok(()), // the record itself contains the voters of its epoch
        }
    }

    fn prospects(&self) -> Prospects {
        let core = &self.core;
        let waits_until = match &self.state {
            // Only an eligible agent has a slot.
            State::Vacant(vacant) => core.me.eligible().map(|_| vacant.due),
            State::Following(_)
            | State::Asking(_)
            | State::Claiming(_)
            | State::Sealing(_)
            | State::Telling(_)
            | State::Leading(_) => None,
        };
        let following = self.state.following();
        Prospects {
            cooldown_until: Some(core.cooldown.yields).filter(|until| *until > Time::ZERO),
            waits_until: waits_until.filter(|due| *due < Time::MAX),
            takeover_at: following.and_then(|f| f.takes_over_at(core)),
            followed_until: following.map(|f| f.leads_until(core)),
            preemption: Some(core.config.preemption),
            recovers: core.recovering().map(Box::new),
            next_epoch: self.state.next_epoch(core),
            slow_answers: None,
            slow_writes: core.slow_writes(),
            clock_gap: core.clock_gap().map(Box::new),
            probes: core.slow_writes().is_some() || following.is_some_and(|f| f.is_outranked(core)),
        }
    }

    fn last_end(&self) -> Option<(&Leader, LeaderEnd)> {
        self.core.me.last_end()
    }

    fn timings(config: &Self::Config) -> Option<&Timings> {
        Some(&config.timings)
    }

    fn view(&self, now: Time) -> View {
        let lease = self.state.lease(now);
        let leading = if let State::Leading(leading) = &self.state {
            lease.map(|_| leading.term)
        } else {
            None
        };
        let leader = match leading {
            Some(term) => Some(self.core.me.as_leader(term)),
            None => self.state.following().map(|f| f.leader.clone()),
        };
        let role = self.state.role();
        let has_expired = role == Role::Leader && lease.is_none(); // the next step reports the loss
        View {
            about: None,
            role: if has_expired { Role::Follower } else { role },
            term: leader.as_ref().map_or(self.core.voter.seen, |l| l.term),
            leader,
            leading,
            valid_until: lease.unwrap_or(Time::MAX),
        }
    }
}
