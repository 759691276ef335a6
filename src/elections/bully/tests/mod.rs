//! The bully's cells, role by input: one file per input.
//!
//! The kit is here: one machine among a few named peers, brought into each role by real inputs.
//! [`Kit::step`] returns what came out; assertions consume it in order and end with
//! `nothing_else_happened()`. Whatever a test is about, [`Contract`] checks every step of it.

mod campaign;
mod contract;
mod elect;
mod elected;
mod liveness;
mod members;
mod ok;
mod random;
mod resign;
mod score;
mod stall;
mod start;
mod step_down;
mod strangers;
mod strict;
mod strict_leaving;
mod terms;
mod timer;
mod together;
mod words;
mod world;
mod yields;

use std::{collections::VecDeque, sync::Arc, time::Duration};

use contract::Contract;
use words::*;

use super::{
    Bully, BullyConfig, BullyMessage, Elect, Elected, Heartbeat, Ok, Preemption, Resign, Timer,
    Yield,
};
use crate::protocol::fixture::{EYE, HIGH, LOW, ME, admits, among, id};
use crate::protocol::{
    AgentId, Birth, Effect, EffectOf, Effects, Election, Event, Identity, Incarnation, Input,
    InputOf, Leader, LostReason, Member, MemberKind, Members, Role, Round, Score, Term, Time,
    Timings, To, View,
};

/// Not a member.
const STRANGER: &str = "stranger";

/// The term of the leader in [`Kit::following`].
const OLD: u64 = 3;
/// The term in which [`Kit::leading`] leads.
const MINE: u64 = 7;

/// The preset `lan`, by its letters.
const D: u64 = 9;
const T: u64 = 200;
const H: u64 = 60;
const L: u64 = 250;
const S: u64 = 18;
const J: u64 = 10;
const VICTORY: u64 = 500;
const DRAIN: u64 = 5_000;
const REST: u64 = 60_000;

/// One machine, its clock, and its group as it was last told.
#[derive(Clone)]
struct Kit {
    bully: Bully,
    now: Time,
    members: Members,
    contract: Contract,
}

impl Kit {
    /// Not yet started: in an open group of LOW, ME, HIGH and the observer EYE, all up.
    fn unborn(config: BullyConfig, kind: MemberKind, score: Option<i32>) -> Self {
        let (identity, members) = among(kind, score.map(Score::from));
        let contract = Contract::new(&config);
        Self {
            bully: Bully::new(identity, &Arc::new(config), None),
            now: Time::from_millis(1_000),
            members,
            contract,
        }
    }

    fn voter(config: BullyConfig) -> Self {
        Self::unborn(config, MemberKind::Voter, Some(5))
    }

    fn started(mut self) -> Self {
        let members = Arc::new(self.members.clone());
        self.step(Input::Start(members)).whatever();
        self
    }

    /// A follower without a leader, second in line: its turn is due after one step.
    fn with_turn() -> Self {
        let kit = Self::voter(lan()).started();
        assert_eq!(kit.role(), Role::Follower);
        kit
    }

    /// A follower of HIGH, which leads in the term [`OLD`].
    fn following() -> Self {
        Self::with_turn().after(HIGH, elected(OLD, 9))
    }

    /// A follower of LOW in the term [`OLD`], where leaders are left alone.
    fn following_low() -> Self {
        Self::voter(never()).started().after(LOW, elected(OLD, 1))
    }

    fn observer() -> Self {
        Self::unborn(lan(), MemberKind::Observer, Some(5)).started()
    }

    fn witness() -> Self {
        Self::unborn(lan(), MemberKind::Voter, None).started()
    }

    /// Has led in the term [`MINE`], stepped down for LOW, and rests.
    fn resting() -> Self {
        let mut kit = Self::draining();
        kit.step(Input::Drained).whatever();
        assert_eq!(kit.role(), Role::Follower);
        kit
    }

    /// A candidate that has asked HIGH, its leader, and goes on following it.
    fn asking_leader() -> Self {
        let mut kit = Self::following();
        kit.step(Input::Campaign).whatever();
        assert_eq!(kit.role(), Role::Candidate);
        kit
    }

    /// A candidate that has asked the leader in the snapshot (LOW), following nobody.
    fn asking_found() -> Self {
        let mut kit = Self::voter(lan());
        kit.members.note_leader(leader(LOW, OLD));
        let kit = kit.started();
        assert_eq!(kit.role(), Role::Candidate);
        kit
    }

    /// A candidate that has asked LOW and HIGH.
    fn asking_voters() -> Self {
        let mut kit = Self::with_turn();
        kit.later(S).fire(Timer::Campaign).whatever();
        assert_eq!(kit.role(), Role::Candidate);
        kit
    }

    /// Stands back for HIGH, which has said Ok to its first round.
    fn waiting() -> Self {
        let kit = Self::asking_voters().after(HIGH, ok(1));
        assert_eq!(kit.role(), Role::Waiting);
        kit
    }

    /// Leads in the term [`MINE`]: in its first round both others gave way.
    fn leading() -> Self {
        Self::leading_by(lan())
    }

    fn leading_by(config: BullyConfig) -> Self {
        let mut kit = Self::voter(config).started();
        kit.later(S).fire(Timer::Campaign).whatever();
        let kit = kit.after(LOW, yields(1)).after(
            HIGH,
            Yield {
                seen: Term(MINE - 1),
                ..yields(1)
            },
        );
        assert_eq!(kit.role(), Role::Leader);
        kit
    }

    /// Leads, and steps down for LOW.
    fn draining() -> Self {
        let mut kit = Self::leading();
        kit.step(Input::StepDown { to: Some(id(LOW)) }).whatever();
        kit
    }

    /// Every role, by its name.
    fn roles() -> [(&'static str, Self); 12] {
        [
            ("following", Self::following()),
            ("following one below", Self::following_low()),
            ("with a turn", Self::with_turn()),
            ("observer", Self::observer()),
            ("witness", Self::witness()),
            ("resting", Self::resting()),
            ("asking the leader it follows", Self::asking_leader()),
            ("asking the leader it found", Self::asking_found()),
            ("asking the voters", Self::asking_voters()),
            ("waiting", Self::waiting()),
            ("leading", Self::leading()),
            ("draining", Self::draining()),
        ]
    }

    /// One input; every step is held against the contract.
    fn step(&mut self, input: InputOf<Bully>) -> Seen {
        if !admits(&self.bully.me.members, &self.bully.me.id, &input) {
            return Seen(VecDeque::new());
        }
        self.contract.before(&input);
        let mut out = Effects::new();
        self.bully.handle(self.now, input, &mut out);
        let effects: VecDeque<_> = out.drain().collect();
        self.contract.after(&self.bully, self.now, &effects);
        let told = |effect: &EffectOf<Bully>| !matches!(effect, Effect::CancelTimer(_));
        Seen(effects.into_iter().filter(told).collect())
    }

    /// A message from that peer's first life.
    fn hear(&mut self, from: &str, message: impl Into<BullyMessage>) -> Seen {
        self.hear_life(from, 1, message)
    }

    fn hear_life(&mut self, from: &str, life: u64, message: impl Into<BullyMessage>) -> Seen {
        self.step(Input::Received {
            from: id(from),
            incarnation: Incarnation(life),
            message: message.into(),
        })
    }

    /// The same machine after it has heard that.
    fn after(mut self, from: &str, message: impl Into<BullyMessage>) -> Self {
        self.hear(from, message).whatever();
        self
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
        self.view().role
    }

    fn view(&self) -> View {
        self.bully.view(self.now)
    }
}

/// What came out of one step and was not yet asserted. Which timers are stopped is not shown: the
/// contract knows exactly which ones may run.
#[must_use = "end with nothing_else_happened()"]
#[derive(Debug)]
struct Seen(VecDeque<EffectOf<Bully>>);

impl Seen {
    #[track_caller]
    fn next(mut self, expected: &EffectOf<Bully>) -> Self {
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

    /// Asked these voters, which are not all members.
    #[track_caller]
    fn asked(self, voters: &[&str], elect: Elect) -> Self {
        let to = To::Set(voters.iter().map(|name| id(name)).collect());
        let message = elect.into();
        self.next(&Effect::Send { to, message })
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

    /// Announced itself: the heartbeat begins, then the application is told.
    #[track_caller]
    fn led(self, term: u64) -> Self {
        self.sent_all(elected(term, 5))
            .set(Timer::Heartbeat, H)
            .notified(Event::Acquired { term: Term(term) })
    }

    /// Follows that leader, and watches it.
    #[track_caller]
    fn followed(self, name: &str, term: u64) -> Self {
        self.set(Timer::Detect, L)
            .notified(Event::NewLeader(leader(name, term)))
    }

    #[track_caller]
    fn lost(self, reason: LostReason) -> Self {
        let term = Term(MINE);
        self.notified(Event::Lost { term, reason })
    }

    #[track_caller]
    fn has_no_leader(self, term: u64) -> Self {
        self.notified(Event::NoLeader { term: Term(term) })
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

fn lan() -> BullyConfig {
    BullyConfig {
        timings: Timings::lan(),
        ..BullyConfig::default()
    }
}

/// Leaders are left alone.
fn never() -> BullyConfig {
    BullyConfig {
        preemption: Preemption::Never,
        ..lan()
    }
}

/// Leaders give way to who was steady for a second.
fn after_a_second() -> BullyConfig {
    BullyConfig {
        preemption: Preemption::After(Duration::from_secs(1)),
        ..lan()
    }
}
