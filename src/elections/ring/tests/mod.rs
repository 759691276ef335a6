//! The ring's cells, role by input: one file per input.
//!
//! The kit is here: one machine among a few named peers, brought into each role by real inputs.
//! [`Kit::step`] returns what came out; assertions consume it in order and end with
//! `nothing_else_happened()`. Whatever a test is about, [`Contract`] checks every step of it.

mod ack;
mod campaign;
mod collect;
mod config;
mod contract;
mod coordinator;
mod members;
mod nominate;
mod probe;
mod random;
mod score;
mod start;
mod step_down;
mod strangers;
mod timer;
mod words;

use std::{collections::VecDeque, sync::Arc, time::Duration};

use contract::Contract;
use words::*;

use super::{
    Answer, Bounded, Collect, Coordinator, ElectionId, Entrant, Following, HopAck, Lap, MOST,
    Nominate, Probe, Ring, RingConfig, RingError, RingMessage, Timer,
    collect::Contest,
    state::{Campaign, State},
};
use crate::protocol::fixture::admits;
use crate::protocol::{
    AgentId, Birth, Effect, EffectOf, Effects, Election, Event, Identity, Incarnation, Input,
    InputOf, Leader, LostReason, Member, MemberKind, Members, PeerMessage, Role, Score, Term, Time,
    Timings, To,
};

/// The ring, in its order: `a` with the score 1, `b` with 9, the machine under test with 5, and
/// `z` with 3. So `z` is next, and messages come from `b`.
const A: &str = "a";
const B: &str = "b";
const ME: &str = "me";
const Z: &str = "z";
/// An observer, whatever score it says it has.
const EYE: &str = "eye";
/// Not a member.
const STRANGER: &str = "stranger";

/// The term of the leader in [`Kit::following`].
const OLD: u64 = 3;
/// The term in which [`Kit::leading`] leads.
const MINE: u64 = 7;

/// The preset `lan`, by its letters, and what follows from it for a ring of four.
const D: u64 = 9;
const H: u64 = 60;
const L: u64 = 250;
const S: u64 = 18;
const HOP: u64 = 45;
const RESEND: u64 = HOP / 2;
const TOKEN: u64 = 4 * 2 * HOP;
const LOST: u64 = L + 4 * HOP;
const PROBE: u64 = 2 * H;
const DRAIN: u64 = 5_000;
const REST: u64 = 60_000;

/// One machine, its clock, and its group as it was last told.
#[derive(Clone)]
struct Kit {
    ring: Ring,
    now: Time,
    members: Members,
    contract: Contract,
}

impl Kit {
    /// Not yet started; all are up.
    fn unborn(config: RingConfig, kind: MemberKind, score: Option<i32>) -> Self {
        let score = score.map(Score::from);
        let voter = |name, score: i32| {
            let score = Some(score.into());
            Member::up(id(name), MemberKind::Voter, score, Incarnation(1))
        };
        let mut members = Members::new(false);
        let eye = Member::up(
            id(EYE),
            MemberKind::Observer,
            Some(99.into()),
            Incarnation(1),
        );
        let me = Member::up(id(ME), kind, score, Incarnation(1));
        members.join([voter(A, 1), voter(B, 9), me, voter(Z, 3), eye]);
        let identity = Identity {
            id: id(ME),
            incarnation: Incarnation(1),
            kind,
            score,
            birth: Birth::Started,
        };
        Self {
            ring: Ring::new(identity, &Arc::new(config), None),
            now: Time::from_millis(1_000),
            members,
            contract: Contract::default(),
        }
    }

    fn voter(config: RingConfig) -> Self {
        Self::unborn(config, MemberKind::Voter, Some(5))
    }

    fn started(mut self) -> Self {
        let members = Arc::new(self.members.clone());
        self.step(Input::Start(members)).whatever();
        self
    }

    /// A follower without a leader, in the second slot: it begins an election after one step.
    fn scheduled() -> Self {
        let kit = Self::voter(lan()).started();
        assert_eq!(
            (kit.role(), kit.ring.campaign != Campaign::Idle),
            (Role::Follower, true)
        );
        kit
    }

    /// A follower of `b`, which leads in the term [`OLD`].
    fn following() -> Self {
        let kit = Self::scheduled().after(B, coordinator(B, OLD, 9));
        kit.acked(Z, Lap::Coordinator, OLD, B, 0)
    }

    fn observer() -> Self {
        Self::unborn(lan(), MemberKind::Observer, Some(5)).started()
    }

    fn witness() -> Self {
        Self::unborn(lan(), MemberKind::Voter, None).started()
    }

    /// Has begun an election for the term 1.
    fn candidate() -> Self {
        let mut kit = Self::scheduled();
        kit.later(S).fire(Timer::Slot).whatever();
        assert_eq!(kit.role(), Role::Candidate);
        kit
    }

    /// Has passed on the election that `b` began for the term 1.
    fn waiting() -> Self {
        let kit = Self::scheduled().after(B, collect(1, (B, 9), &[(B, 9)]));
        assert_eq!(kit.role(), Role::Waiting);
        kit.acked(Z, Lap::Collect, 1, B, 0)
    }

    /// Was nominated for the term [`MINE`], and has announced itself.
    fn announced() -> Self {
        Self::announced_by(lan())
    }

    fn announced_by(config: RingConfig) -> Self {
        let kit = Self::voter(config).started();
        let kit = kit.after(B, nominate(MINE, A, ME, &[A, B]));
        assert_eq!(kit.role(), Role::Candidate);
        kit.acked(Z, Lap::Coordinator, MINE, ME, 0)
    }

    /// Leads in the term [`MINE`].
    fn leading() -> Self {
        Self::leading_by(lan())
    }

    fn leading_by(config: RingConfig) -> Self {
        let kit = Self::announced_by(config).after(B, coordinator(ME, MINE, 5));
        assert_eq!(kit.role(), Role::Leader);
        kit
    }

    /// Leads, and steps down for `z`.
    fn draining() -> Self {
        let mut kit = Self::leading();
        kit.step(Input::StepDown { to: Some(id(Z)) }).whatever();
        kit
    }

    /// Has led, stepped down for `z`, which leads in the next term, and cools down.
    fn cooling_down() -> Self {
        let mut kit = Self::draining();
        kit.step(Input::Drained).whatever();
        let kit = kit.acked(Z, Lap::Nominate, MINE + 1, ME, 0);
        let kit = kit.after(B, coordinator(Z, MINE + 1, 3));
        assert_eq!(kit.role(), Role::Follower);
        kit.acked(Z, Lap::Coordinator, MINE + 1, Z, 0)
    }

    /// Every role, by its name.
    fn roles() -> [(&'static str, Self); 10] {
        [
            ("scheduled", Self::scheduled()),
            ("following", Self::following()),
            ("observer", Self::observer()),
            ("witness", Self::witness()),
            ("candidate", Self::candidate()),
            ("waiting", Self::waiting()),
            ("announced", Self::announced()),
            ("leading", Self::leading()),
            ("draining", Self::draining()),
            ("cooling down", Self::cooling_down()),
        ]
    }

    /// One input; every step is held against the contract.
    fn step(&mut self, input: InputOf<Ring>) -> Seen {
        if !admits(&self.ring.core.me.members, &self.ring.core.me.id, &input) {
            return Seen(VecDeque::new());
        }
        self.contract.before(&input);
        let mut out = Effects::new();
        self.ring.handle(self.now, input, &mut out);
        let effects: VecDeque<_> = out.drain().collect();
        self.contract.after(&self.ring, self.now, &effects);
        let told = |effect: &EffectOf<Ring>| !matches!(effect, Effect::CancelTimer(_));
        Seen(effects.into_iter().filter(told).collect())
    }

    /// A message from that peer's first incarnation.
    fn hear(&mut self, from: &str, message: impl Into<RingMessage>) -> Seen {
        self.hear_incarnation(from, 1, message)
    }

    fn hear_incarnation(
        &mut self,
        from: &str,
        incarnation: u64,
        message: impl Into<RingMessage>,
    ) -> Seen {
        self.step(Input::Received {
            from: id(from),
            incarnation: Incarnation(incarnation),
            message: message.into(),
        })
    }

    /// The same machine after it has heard that.
    fn after(mut self, from: &str, message: impl Into<RingMessage>) -> Self {
        self.hear(from, message).whatever();
        self
    }

    /// The same machine after that peer has acknowledged; it is behind in nothing.
    fn acked(self, from: &str, lap: Lap, term: u64, about: &str, beat: u64) -> Self {
        self.after(from, ack(lap, term, about, beat, 0))
    }

    fn fire(&mut self, timer: Timer) -> Seen {
        self.step(Input::TimedOut(timer))
    }

    /// The group changes, and the machine is told.
    fn told<R>(&mut self, change: impl FnOnce(&mut Members) -> R) -> Seen {
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

    fn role(&self) -> Role {
        self.ring.view(self.now).role
    }

    fn leader(&self) -> Option<String> {
        let leader = self.ring.view(self.now).leader;
        leader.map(|leader| leader.id.to_string())
    }

    fn suspects(&self) -> Vec<&str> {
        self.ring.suspects().map(AgentId::as_str).collect()
    }
}

/// What came out of one step and was not yet asserted. Which timers are stopped is not shown: the
/// contract knows exactly which ones may run.
#[must_use = "end with nothing_else_happened()"]
#[derive(Debug)]
struct Seen(VecDeque<EffectOf<Ring>>);

impl Seen {
    #[track_caller]
    fn next(mut self, expected: &EffectOf<Ring>) -> Self {
        assert_eq!(self.0.pop_front().as_ref(), Some(expected), "then {self:?}");
        self
    }

    #[track_caller]
    fn sent(self, to: &str, message: impl Into<RingMessage>) -> Self {
        let (to, message) = (To::One(id(to)), message.into());
        self.next(&Effect::Send { to, message })
    }

    #[track_caller]
    fn sent_to(self, to: &[&str], message: impl Into<RingMessage>) -> Self {
        let to = To::Set(to.iter().map(|name| id(name)).collect());
        let message = message.into();
        self.next(&Effect::Send { to, message })
    }

    /// Passed on, and the time for the acknowledgement runs.
    #[track_caller]
    fn passed(self, to: &str, lap: Lap, message: impl Into<RingMessage>) -> Self {
        let resend = lan().resend();
        let set = |timer| Effect::SetTimer {
            timer,
            after: resend.into(),
        };
        self.sent(to, message).next(&set(Timer::Hop(lap)))
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

    /// Follows that leader, and watches it.
    #[track_caller]
    fn followed(self, name: &str, term: u64) -> Self {
        self.notified(Event::NewLeader(leader(name, term)))
            .set(Timer::Silence, LOST)
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
}

fn lan() -> RingConfig {
    RingConfig::new(Timings::lan())
}
