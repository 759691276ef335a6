//! The quorum election's cells, role by input: one file per input.
//!
//! The kit is here: one machine among a few named peers, brought into each role by real inputs.
//! [`Kit::step`] returns what came out; assertions consume it in order and end with
//! `nothing_else_happened()`. What is true of whole groups is tested in the simulated world.

mod announce;
mod command;
mod config;
mod elect;
mod epoch;
mod lease;
mod members;
mod net;
mod promise;
mod resign;
mod say;
mod start;
mod takeover;
mod vote;

use std::{collections::VecDeque, sync::Arc, time::Duration};

use say::*;

use super::{
    Ack, BullyMessage, Claim, ClaimReply, Defect, Elect, Elected, Heartbeat, Leadership, Nack, Ok,
    QuorumBully, QuorumConfig, QuorumConfigBuilder, Refusal, Resign, Takeover, Timer, Vote, Yield,
    state::State,
};
use crate::elections::policy::Preemption;
use crate::protocol::{
    AgentId, Birth, Effect, EffectOf, Effects, Election, Event, Identity, Incarnation, Input,
    InputOf, Leader, LostReason, Member, MemberKind, Members, Role, Round, Score, Term, Time,
    Timings, To, View,
};

/// The machine under test, with the score 5.
const ME: &str = "me";
/// A voter with the score 1.
const LOW: &str = "low";
/// A voter with the score 9.
const HIGH: &str = "high";
/// An observer.
const EYE: &str = "eye";

/// The last term of the first epoch.
const LAST_TERM: Term = Term(super::epoch::TERMS);

/// The term of the leader in [`Kit::following`].
const OLD: u64 = 3;
/// The term in which [`Kit::leading`] leads.
const MINE: u64 = 7;

/// The preset `in_process`, by its letters.
const DELAY: u64 = 2;
const H: u64 = 25;
const S: u64 = 4;
const E: u64 = 5;
const D: u64 = 100;
const P: u64 = 125;
const W: u64 = 18;
/// A leader's patience, and the longest drain.
const AFTER: u64 = 300;
const DRAIN: u64 = 96;

/// One machine, its clock, and its group as it was last told.
#[derive(Clone)]
struct Kit {
    machine: QuorumBully,
    now: Time,
    members: Members,
}

impl Kit {
    /// Not yet started, with a store that was never written.
    fn unborn(config: QuorumConfig, kind: MemberKind, score: Option<i32>) -> Self {
        Self::reborn(config, kind, score, Vote::default())
    }

    fn reborn(config: QuorumConfig, kind: MemberKind, score: Option<i32>, vote: Vote) -> Self {
        let score = score.map(Score::from);
        let mut members = Members::new(false);
        let first = Incarnation(1);
        members.join([
            Member::up(id(LOW), MemberKind::Voter, Some(1.into()), first),
            Member::up(id(ME), kind, score, first),
            Member::up(id(HIGH), MemberKind::Voter, Some(9.into()), first),
            Member::up(id(EYE), MemberKind::Observer, None, first),
        ]);
        let identity = Identity {
            id: id(ME),
            incarnation: first,
            kind,
            score,
            birth: Birth::Started,
        };
        Self {
            machine: QuorumBully::new(identity, &Arc::new(config), Some(vote)),
            now: Time::from_millis(1_000),
            members,
        }
    }

    fn started(mut self) -> Self {
        let members = Arc::new(self.members.clone());
        self.step(Input::Start(members)).whatever();
        self
    }

    /// A follower without a leader: HIGH goes first.
    fn vacant() -> Self {
        Self::unborn(config(), MemberKind::Voter, Some(5)).started()
    }

    /// A follower of HIGH, which leads in the term [`OLD`].
    fn following() -> Self {
        Self::vacant().after(HIGH, heartbeat(OLD, 9))
    }

    /// A follower of LOW in the term [`OLD`].
    fn following_low() -> Self {
        Self::vacant().after(LOW, heartbeat(OLD, 1))
    }

    fn witness() -> Self {
        Self::unborn(config(), MemberKind::Voter, None).started()
    }

    fn observer() -> Self {
        let voters = [LOW, HIGH, "other"].map(id);
        let config = valid(QuorumConfig::builder(voters));
        Self::unborn(config, MemberKind::Observer, Some(5)).started()
    }

    /// Asks whether it may claim the term [`MINE`]: it has heard of the one before.
    fn asking() -> Self {
        Self::asking_by(config())
    }

    fn asking_by(config: QuorumConfig) -> Self {
        let mut kit = Self::unborn(config, MemberKind::Voter, Some(5)).started();
        kit.machine.core.voter.seen = Term(MINE - 1);
        kit.later(S).fire(Timer::Election).whatever();
        assert!(matches!(kit.machine.state, State::Asking(_)));
        kit
    }

    /// Has claimed the term [`MINE`].
    fn claiming() -> Self {
        Self::claiming_by(config())
    }

    fn claiming_by(config: QuorumConfig) -> Self {
        let kit = Self::asking_by(config)
            .after(LOW, yields(1))
            .after(HIGH, yields(1));
        assert!(matches!(kit.machine.state, State::Claiming(_)));
        kit
    }

    /// Has been elected, and holds no lease yet.
    fn elected() -> Self {
        Self::elected_by(config())
    }

    fn elected_by(config: QuorumConfig) -> Self {
        let kit = Self::claiming_by(config).after(LOW, grants(MINE));
        assert!(matches!(kit.machine.state, State::Leading(_)));
        assert_eq!(kit.view().leading, None);
        kit
    }

    /// Leads in the term [`MINE`]: LOW has just acknowledged it.
    fn leading() -> Self {
        Self::leading_by(config())
    }

    fn leading_by(config: QuorumConfig) -> Self {
        let mut kit = Self::elected_by(config);
        kit.acked(LOW, 1).whatever();
        assert_eq!(kit.view().leading, Some(Term(MINE)));
        kit
    }

    /// Every role, by its name.
    fn roles() -> [(&'static str, Self); 9] {
        [
            ("vacant", Self::vacant()),
            ("following", Self::following()),
            ("following one below", Self::following_low()),
            ("witness", Self::witness()),
            ("observer", Self::observer()),
            ("asking", Self::asking()),
            ("claiming", Self::claiming()),
            ("elected", Self::elected()),
            ("leading", Self::leading()),
        ]
    }

    fn step(&mut self, input: InputOf<QuorumBully>) -> Seen {
        let mut out = Effects::new();
        self.machine.handle(self.now, input, &mut out);
        let told = |effect: &EffectOf<QuorumBully>| !matches!(effect, Effect::CancelTimer(_));
        Seen(out.drain().filter(told).collect())
    }

    /// A message from that peer's first incarnation.
    fn hear(&mut self, from: &str, message: impl Into<BullyMessage>) -> Seen {
        self.hear_incarnation(from, 1, message)
    }

    fn hear_incarnation(
        &mut self,
        from: &str,
        incarnation: u64,
        message: impl Into<BullyMessage>,
    ) -> Seen {
        self.step(Input::Received {
            from: id(from),
            incarnation: Incarnation(incarnation),
            message: message.into(),
        })
    }

    /// The same machine after it has heard that.
    fn after(mut self, from: &str, message: impl Into<BullyMessage>) -> Self {
        self.hear(from, message).whatever();
        self
    }

    /// An acknowledgement of what is said at this moment.
    fn acked(&mut self, from: &str, score: i32) -> Seen {
        let echo = self.now;
        self.hear(from, ack(MINE, echo, score))
    }

    fn fire(&mut self, timer: Timer) -> Seen {
        self.step(Input::TimedOut(timer))
    }

    /// The group changes, and the machine is told.
    fn told(&mut self, change: impl FnOnce(&mut Members)) -> Seen {
        change(&mut self.members);
        let members = Arc::new(self.members.clone());
        self.step(Input::Members(members))
    }

    fn set_score(&mut self, score: impl Into<Option<i32>>) -> Seen {
        self.step(Input::SetScore(score.into().map(Score::from)))
    }

    /// So many milliseconds pass.
    fn later(&mut self, millis: u64) -> &mut Self {
        self.now = self.now.after(Duration::from_millis(millis));
        self
    }

    fn view(&self) -> View {
        self.machine.view(self.now)
    }

    fn durable(&self) -> (u64, Option<String>) {
        let vote = &self.machine.core.voter.record;
        let voted_for = vote.voted_for.as_ref().map(ToString::to_string);
        (vote.term.0, voted_for)
    }
}

/// What came out of one step and was not yet asserted, but for which timers were stopped.
#[must_use = "end with nothing_else_happened()"]
#[derive(Debug)]
struct Seen(VecDeque<EffectOf<QuorumBully>>);

impl Seen {
    #[track_caller]
    fn next(mut self, expected: &EffectOf<QuorumBully>) -> Self {
        assert_eq!(self.0.pop_front().as_ref(), Some(expected), "then {self:?}");
        self
    }

    #[track_caller]
    fn sent(self, to: &str, message: impl Into<BullyMessage>) -> Self {
        let (to, message) = (To::One(id(to)), message.into());
        self.next(&Effect::Send { to, message })
    }

    #[track_caller]
    fn sent_all(self, message: impl Into<BullyMessage>) -> Self {
        let (to, message) = (To::All, message.into());
        self.next(&Effect::Send { to, message })
    }

    /// Asked the other voters.
    #[track_caller]
    fn asked(self, message: impl Into<BullyMessage>) -> Self {
        let to = To::Set([HIGH, LOW].map(id).into());
        let message = message.into();
        self.next(&Effect::Send { to, message })
    }

    /// Made this durable.
    #[track_caller]
    fn wrote(self, term: u64, voted_for: &str) -> Self {
        self.next(&Effect::Persist(vote(term, voted_for, P)))
    }

    /// Set a timer; the milliseconds are the earliest.
    #[track_caller]
    fn set(mut self, timer: Timer, millis: u64) -> Self {
        match self.0.pop_front() {
            Some(Effect::SetTimer { timer: set, after }) => {
                assert_eq!((set, after.min), (timer, Duration::from_millis(millis)));
            }
            other => panic!("expected {timer:?} after {millis}, not {other:?}, then {self:?}"),
        }
        self
    }

    #[track_caller]
    fn notified(self, event: Event) -> Self {
        self.next(&Effect::Notify(event))
    }

    #[track_caller]
    fn lost(self, reason: LostReason) -> Self {
        let term = Term(MINE);
        self.notified(Event::Lost { term, reason })
    }

    #[track_caller]
    fn nothing_else_happened(self) {
        assert!(self.0.is_empty(), "{:?}", self.0);
    }

    /// For the steps on the way to what a test is about.
    fn whatever(self) {
        drop(self);
    }

    fn messages(&self) -> Vec<&BullyMessage> {
        let mut messages = Vec::new();
        for effect in &self.0 {
            if let Effect::Send { message, .. } = effect {
                messages.push(message);
            }
        }
        messages
    }

    fn writes(&self) -> bool {
        self.0.iter().any(|e| matches!(e, Effect::Persist(_)))
    }
}

/// A record, with the longest promise that it keeps, in milliseconds.
fn vote<'a>(term: u64, voted_for: impl Into<Option<&'a str>>, promise: u64) -> Vote {
    Vote {
        term: Term(term),
        voted_for: voted_for.into().map(id),
        promise: Duration::from_millis(promise).into(),
        ..Vote::default()
    }
}

fn valid(builder: QuorumConfigBuilder) -> QuorumConfig {
    let builder = builder.timings(Timings::in_process());
    let after = Preemption::After(Duration::from_millis(AFTER));
    builder.preemption(after).build().unwrap()
}

fn config() -> QuorumConfig {
    valid(QuorumConfig::builder([LOW, ME, HIGH].map(id)))
}

fn id(name: &str) -> AgentId {
    AgentId::new(name).unwrap()
}

fn leader(name: &str, term: u64) -> Leader {
    Leader {
        id: id(name),
        incarnation: Incarnation(1),
        term: Term(term),
    }
}
