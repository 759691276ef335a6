//! The tests of the quorum election, role by input: one file for each input.
//!
//! `matrix.txt` has the outcome of every cell. The tests show important rules, and rules that need more than one step.
//!
//! This file connects the machine to the common kit and the common suite ([`crate::elections::fixture`]): the timers
//! that it needs, its roles and its messages. The simulated world tests the properties of whole groups.

mod announce;
mod change;
mod claim;
mod diskless;
mod elect;
mod epoch;
mod epochs;
mod install;
mod kit;
mod late;
mod lease;
mod members;
mod memory;
mod pace;
mod prepare;
mod promise;
mod resign;
mod say;
mod scenes;
mod seal;
mod slow;
mod takeover;
mod vote;

use std::{
    collections::{BTreeSet, VecDeque},
    sync::Arc,
    time::Duration,
};

use say::*;

use super::{
    Ack, BullyTimer, Claim, ClaimReply, Elect, Elected, Heartbeat, Leadership, Nack, Ok,
    QuorumBully, QuorumConfig, QuorumMessage, Refusal, Resign, Takeover, Vote, Yield, state::State,
};
use crate::protocol::{
    AgentId, Effect, Election, Event, Identity, Incarnation, Input, LeaderEnd, LostReason, Member,
    MemberKind, Role, Term, Time, Timings, To, VotersEvent,
    fixture::{EYE, HIGH, LOW, ME, id},
};
use crate::{
    elections::{
        fixture::{
            Dice, MINE, Machine, OLD, STRANGER, Suite, and_other_kinds, common_suite, leader,
            resign, round, yields,
        },
        message::{Behind, Recalled},
        policy::Preemption,
        vote::Heard,
    },
    parts::Participant,
};

/// Last term of the epoch 0.
const LAST_TERM: Term = Term(super::epoch::TERMS);

/// Durations of the preset `in_process`, in milliseconds.
const DELAY: u64 = 2;
const H: u64 = 25;
const S: u64 = 4;
const E: u64 = 5;
const D: u64 = 100;
const P: u64 = 125;
const W: u64 = 18;
/// A leader's grace period and the longest drain, in milliseconds.
const AFTER: u64 = 300;
const DRAIN: u64 = 96;

type Kit = crate::elections::fixture::Kit<QuorumBully>;
type StepEffects = crate::elections::fixture::StepEffects<QuorumBully>;

impl Machine for QuorumBully {
    fn participant(&self) -> &Participant {
        &self.core.me
    }

    fn state(&self) -> String {
        format!("{:?}", self.state)
    }

    fn may_vote(&self) -> bool {
        self.core.has_store
    }

    fn needed_timers(&self) -> BTreeSet<BullyTimer> {
        let mut timers = BTreeSet::new();
        if self.core.voter.recovery.is_some() {
            timers.insert(BullyTimer::Recover);
        }
        match &self.state {
            State::Vacant(vacant) => {
                timers.extend((vacant.due < Time::MAX).then_some(BullyTimer::Election));
            }
            State::Following(_) => timers.extend([BullyTimer::Election]),
            State::Asking(_) | State::Claiming(_) | State::Sealing(_) | State::Telling(_) => {
                timers.extend([BullyTimer::Round]);
            }
            State::Leading(leading) => {
                let lease = if leading.has_lease() {
                    BullyTimer::Lease
                } else {
                    BullyTimer::Round
                };
                timers.extend([BullyTimer::Heartbeat, lease]);
                timers.extend(leading.is_leaving().then_some(BullyTimer::Drain));
            }
        }
        timers
    }

    /// A follower's question has a round. The follower may change its role before it stops the timer of the round.
    fn idle_timers(&self) -> BTreeSet<BullyTimer> {
        [BullyTimer::Round, BullyTimer::Election].into()
    }

    /// A leader resigns after it has lost the leadership.
    fn may_send(&self, leading: Option<Term>, _: &To, message: &QuorumMessage) {
        if let QuorumMessage::Resign(_) = message {
            assert_eq!(leading, None, "the leadership ends first");
        }
    }

    fn may_store(&self, record: &Vote) {
        // An agent that was just removed still writes the list without its name.
        assert!(self.core.has_store && record.term <= self.core.voter.record.term);
    }
}

impl Suite for QuorumBully {
    const FOLDER: &'static str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/elections/quorum/tests");
    const TIMERS: &'static [BullyTimer] = &[
        BullyTimer::Election,
        BullyTimer::Round,
        BullyTimer::Heartbeat,
        BullyTimer::Lease,
        BullyTimer::Drain,
        BullyTimer::Recover,
    ];
    const DRAIN: (BullyTimer, u64) = (BullyTimer::Drain, DRAIN);
    const VALID: Option<u64> = Some(D);
    const PHASES: &'static [&'static str] = &[
        "follower: following, with a slot, without a slot",
        "candidate: asking, claiming, elected, sealing",
        "waiting: with a slot, without a slot",
        "leader: draining, elected, preparing",
    ];
    /// A lease lasts for D, and a promise for P.
    const LATE: &'static [u64] = &[0, 20, D, P, 300, 5_000, 70_000];
    const LEADS_BY_THE_CLOCK: bool = true;

    fn configs() -> Vec<Arc<QuorumConfig>> {
        let diskless = Some(super::Diskless::default());
        let forgetful = QuorumConfig {
            diskless,
            ..config()
        };
        vec![Arc::new(config()), Arc::new(forgetful)]
    }

    fn broken() -> Vec<Arc<QuorumConfig>> {
        let changes: [fn(&mut QuorumConfig); 11] = [
            |c| c.voters.clear(),
            |c| c.voters.push(id(ME)),
            |c| c.epoch = 1 << 24,
            |c| (c.voters, c.vote_quorum) = ([LOW, ME, HIGH, EYE].map(id).into(), Some(2)),
            |c| c.vote_quorum = Some(4),
            |c| c.lease_quorum = Some(1),
            |c| c.lease_quorum = Some(4),
            |c| c.timings = Timings::astra(),
            |c| c.wait = Some(LEAST_WAIT / 2),
            |c| c.preemption = Preemption::Immediately,
            |c| c.preemption = Preemption::After(Duration::from_millis(300)),
        ];
        changes.map(changed).into()
    }

    fn sound() -> Vec<Arc<QuorumConfig>> {
        let changes: [fn(&mut QuorumConfig); 8] = [
            |c| c.epoch = (1 << 24) - 1,
            |c| c.wait = Some(LEAST_WAIT),
            |c| c.preemption = Preemption::After(Duration::from_millis(301)),
            |c| c.preemption = Preemption::Never,
            |c| (c.vote_quorum, c.lease_quorum) = (Some(3), Some(1)),
            |c| c.timings = Timings::default(),
            |c| c.timings = Timings::wan(),
            |c| c.timings = Timings::in_process(),
        ];
        changes.map(changed).into()
    }

    fn phase(&self) -> &'static str {
        match &self.state {
            State::Vacant(vacant) if vacant.due == Time::MAX => "without a slot",
            State::Vacant(_) => "with a slot",
            State::Following(_) => "following",
            State::Asking(_) => "asking",
            State::Claiming(_) => "claiming",
            State::Telling(_) => "telling",
            State::Sealing(_) => "sealing",
            State::Leading(leading) if leading.preparing.is_some() => "preparing",
            State::Leading(leading) if leading.leaving.is_some() => "draining",
            State::Leading(_) => "elected",
        }
    }

    fn roles() -> Vec<(&'static str, Kit)> {
        vec![
            ("vacant", Kit::vacant()),
            ("following", Kit::following()),
            ("following one below", Kit::following_low()),
            ("witness", Kit::witness()),
            ("observer", Kit::observer()),
            ("asking", Kit::asking()),
            ("claiming", Kit::claiming()),
            ("elected", Kit::elected()),
            ("leading", Kit::leading()),
            ("heard by all", Kit::heard()),
        ]
    }

    fn leader() -> Kit {
        let mut kit = Kit::leading();
        kit.acked(HIGH, 9).whatever();
        kit
    }

    /// The other voters vote in the term that the leader will give its successor.
    fn prepared(me: &mut Kit, effects: StepEffects) -> StepEffects {
        me.prepared(effects)
    }

    fn is_elected(me: &Kit) -> bool {
        matches!(me.machine.state, State::Leading(_))
    }

    fn every_message(me: &Kit) -> Vec<QuorumMessage> {
        every_message(me)
    }

    /// Draws an answer to the last question in most cases, because no agent is elected without such answers.
    fn any_message(dice: &mut Dice, me: &Kit, _: &str) -> QuorumMessage {
        let core = &me.machine.core;
        let term = core.voter.record.term.0;
        match dice.below(7) {
            0 | 1 => yields_at(core.rounds, term).into(),
            2 => grants(term).into(),
            3 => me.votes(core.voter.seen.0).into(),
            4 | 5 => ack(term, me.now, dice.score()).into(),
            _ => {
                let all = every_message(me);
                all[dice.index(all.len())].clone()
            }
        }
    }
}

common_suite!(QuorumBully, messages);

impl StepEffects {
    /// Asserts that the agent sent the message to both other voters.
    #[track_caller]
    fn asked(self, message: impl Into<QuorumMessage>) -> Self {
        let to = To::Set([HIGH, LOW].map(id).into());
        let message = message.into();
        self.next(&Effect::Send { to, message })
    }

    /// Asserts that the agent refused to vote, and asks to wait. The matrix shows the other fields of the answer, so that a
    /// new field changes no test.
    #[track_caller]
    fn refused(mut self, to: &str, term: u64, seen: u64, millis: u64) -> Self {
        let Some(Effect::Send {
            to: To::One(asker),
            message: QuorumMessage::ClaimReply(reply),
        }) = self.0.pop_front()
        else {
            panic!("no answer to a claim, then {self:?}");
        };
        let answer = (reply.granted, reply.term, reply.seen, reply.retry);
        let retry = Duration::from_millis(millis).into();
        assert_eq!(answer, (false, Term(term), Term(seen), retry));
        assert_eq!(asker, to);
        self
    }

    /// Returns whether the application hears of such an event of the voters.
    fn tells(&self, is: impl Fn(&VotersEvent) -> bool) -> bool {
        let is_told = |event: &&Event| matches!(event, Event::Voters(told) if is(told));
        self.events().iter().any(is_told)
    }

    /// Asserts that the agent made a record of this vote durable.
    #[track_caller]
    fn wrote(self, term: u64, voted_for: &str) -> Self {
        self.wrote_record(&vote(term, voted_for, P))
    }

    /// Asserts that the agent made this record durable. The memory of other agents in it is not compared.
    #[track_caller]
    fn wrote_record(mut self, expected: &Vote) -> Self {
        let Some(Effect::Persist(mut record)) = self.0.pop_front() else {
            panic!("no record, then {self:?}");
        };
        record.others.clear();
        assert_eq!(record, *expected, "then {self:?}");
        self
    }
}

/// Returns a record. `promise` is the longest promise in it, in milliseconds.
fn vote<'a>(term: u64, voted_for: impl Into<Option<&'a str>>, promise: u64) -> Vote {
    Vote {
        term: Term(term),
        voted_for: voted_for.into().map(|name| candidate(name, 1)),
        incarnation: Some(Incarnation(1)),
        promise: Duration::from_millis(promise).into(),
        ..Vote::default()
    }
}

fn valid(config: QuorumConfig) -> QuorumConfig {
    let config = QuorumConfig {
        timings: Timings::in_process(),
        preemption: Preemption::After(Duration::from_millis(AFTER)),
        ..config
    };
    config.check().unwrap();
    config
}

fn config() -> QuorumConfig {
    valid(QuorumConfig::new([LOW, ME, HIGH].map(id)))
}

/// Two rounds and four delay bounds of the preset for local networks.
const LEAST_WAIT: Duration = Duration::from_millis(2 * 20 + 4 * 9);

/// Returns the configuration for local networks with one change.
fn changed(change: fn(&mut QuorumConfig)) -> Arc<QuorumConfig> {
    let mut config = QuorumConfig {
        timings: Timings::lan(),
        ..QuorumConfig::new([LOW, ME, HIGH].map(id))
    };
    change(&mut config);
    Arc::new(config)
}
