//! The ballot election's cells, state by input: one file per input.
//!
//! The kit is here: one machine among a few named peers, brought into each state by real inputs.
//! [`Kit::step`] returns what came out; assertions consume it in order and end with
//! `nothing_else_happened()`. What is true of whole groups is tested in the simulated world.

mod campaign;
mod config;
mod leads;
mod members;
mod reply;
mod request;
mod resign;
mod round;
mod score;
mod start;
mod step_down;
mod words;

use std::{collections::VecDeque, sync::Arc, time::Duration};

use super::{
    Ballot, BallotConfig, BallotConfigBuilder, BallotError, BallotMessage, BallotNumber,
    BallotRecord, BallotTimer, HeartbeatReply, HeartbeatRequest, Leads, Nack, Resign, Standing,
};
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

/// Δ, after how long silent voters are asked again, the cap, the longest drain, the cool-down.
const ROUND: u64 = 40;
const AGAIN: u64 = 10;
const CAP: u64 = 120;
const DRAIN: u64 = 200;
const COOLDOWN: u64 = 1_000;

/// One machine, its clock, and its group as it was last told.
#[derive(Clone)]
struct Kit {
    machine: Ballot,
    now: Time,
    members: Members,
    /// The number of its present round.
    round: u64,
}

impl Kit {
    /// Not yet started.
    fn unborn(kind: MemberKind, score: Option<i32>, record: Option<BallotRecord>) -> Self {
        let score = score.map(Score::from);
        let first = Incarnation(1);
        let mut members = Members::new(false);
        members.join([
            Member::up(id(LOW), MemberKind::Voter, Some(1.into()), first),
            Member::up(id(ME), kind, score, first),
            Member::up(id(HIGH), MemberKind::Voter, Some(9.into()), first),
            Member::up(id(EYE), MemberKind::Observer, None, first),
        ]);
        let me = Identity {
            id: id(ME),
            incarnation: first,
            kind,
            score,
            birth: Birth::Started,
        };
        let voters = match kind {
            MemberKind::Voter => [LOW, ME, HIGH],
            MemberKind::Observer => [LOW, "other", HIGH],
        };
        let config = valid(BallotConfig::builder(voters.map(id)));
        Self {
            machine: Ballot::new(me, &Arc::new(config), record),
            now: Time::from_millis(1_000),
            members,
            round: 0,
        }
    }

    fn started(mut self) -> Self {
        let members = Arc::new(self.members.clone());
        self.step(Input::Start(members)).whatever();
        self.round = 1;
        self
    }

    /// The first incarnation: stands with 1.me@5, in its first round.
    fn fresh() -> Self {
        Self::unborn(MemberKind::Voter, Some(5), None).started()
    }

    /// A later incarnation that has heard of 7.high@9.
    fn reborn() -> Self {
        let max = Some(ballot(7, HIGH));
        let record = BallotRecord { n: 3, max };
        Self::unborn(MemberKind::Voter, Some(5), Some(record)).started()
    }

    fn witness() -> Self {
        Self::unborn(MemberKind::Voter, None, None).started()
    }

    fn observer() -> Self {
        Self::unborn(MemberKind::Observer, Some(5), None).started()
    }

    /// Trusts HIGH, by 7.high@9; it stands itself, and a round has just begun.
    fn following() -> Self {
        let mut kit = Self::reborn();
        kit.answered(HIGH, leading(7, HIGH));
        kit.over().whatever();
        assert_eq!(kit.machine.trusted(), Some(&ballot(7, HIGH)));
        kit
    }

    /// Leads by 8.me@5: HIGH had been silent. A round has just begun.
    fn leading() -> Self {
        let mut kit = Self::following();
        kit.answered(LOW, idle());
        kit.over().whatever();
        kit.answered(LOW, idle());
        kit.over().whatever();
        assert_eq!(kit.machine.own(), Some(&ballot(8, ME)));
        kit
    }

    /// Heard no voter for a round.
    fn cut_off() -> Self {
        let mut kit = Self::following();
        kit.over().whatever();
        assert!(!kit.machine.is_connected());
        kit
    }

    fn states() -> [(&'static str, Self); 7] {
        [
            ("fresh", Self::fresh()),
            ("reborn", Self::reborn()),
            ("following", Self::following()),
            ("leading", Self::leading()),
            ("cut off", Self::cut_off()),
            ("witness", Self::witness()),
            ("observer", Self::observer()),
        ]
    }

    fn step(&mut self, input: InputOf<Ballot>) -> Seen {
        let mut out = Effects::new();
        self.machine.handle(self.now, input, &mut out);
        let told = |effect: &EffectOf<Ballot>| !matches!(effect, Effect::CancelTimer(_));
        Seen(out.drain().filter(told).collect())
    }

    fn hear(&mut self, from: &str, message: impl Into<BallotMessage>) -> Seen {
        self.hear_incarnation(from, 1, message)
    }

    fn hear_incarnation(
        &mut self,
        from: &str,
        incarnation: u64,
        message: impl Into<BallotMessage>,
    ) -> Seen {
        self.step(Input::Received {
            from: id(from),
            incarnation: Incarnation(incarnation),
            message: message.into(),
        })
    }

    /// That voter answers the present round; nothing comes of it at once.
    #[track_caller]
    fn answered(&mut self, from: &str, standing: Standing) {
        let round = round(self.round);
        self.hear(from, HeartbeatReply { round, standing })
            .nothing_else_happened();
    }

    /// The present round ends by its timer.
    fn over(&mut self) -> Seen {
        self.later(ROUND);
        self.round += 1;
        self.step(Input::TimedOut(BallotTimer::Round))
    }

    fn fire(&mut self, timer: BallotTimer) -> Seen {
        self.step(Input::TimedOut(timer))
    }

    fn told<T>(&mut self, change: impl FnOnce(&mut Members) -> T) -> Seen {
        change(&mut self.members);
        let members = Arc::new(self.members.clone());
        self.step(Input::Members(members))
    }

    fn set_score(&mut self, score: impl Into<Option<i32>>) -> Seen {
        self.step(Input::SetScore(score.into().map(Score::from)))
    }

    fn later(&mut self, millis: u64) {
        self.now = self.now.after(Duration::from_millis(millis));
    }

    fn view(&self) -> View {
        self.machine.view(self.now)
    }

    /// What it says of itself when it is asked.
    fn says(&self) -> Standing {
        self.machine.core.standing(self.now, &self.machine.state)
    }
}

/// What came out of one step and was not yet asserted, but for which timers were stopped.
#[must_use = "end with nothing_else_happened()"]
#[derive(Debug)]
struct Seen(VecDeque<EffectOf<Ballot>>);

impl Seen {
    #[track_caller]
    fn next(mut self, expected: &EffectOf<Ballot>) -> Self {
        assert_eq!(self.0.pop_front().as_ref(), Some(expected), "then {self:?}");
        self
    }

    #[track_caller]
    fn sent(self, to: &str, message: impl Into<BallotMessage>) -> Self {
        let (to, message) = (To::One(id(to)), message.into());
        self.next(&Effect::Send { to, message })
    }

    #[track_caller]
    fn told_observers(self, message: impl Into<BallotMessage>) -> Self {
        let (to, message) = (To::Set([id(EYE)].into()), message.into());
        self.next(&Effect::Send { to, message })
    }

    /// A round began: with this number, this bmax, and this said of itself.
    #[track_caller]
    fn asked(self, number: u64, max: Option<BallotNumber>, standing: Standing) -> Self {
        let to = To::Set([HIGH, LOW].map(id).into());
        let message = request(number, max, standing).into();
        self.next(&Effect::Send { to, message })
            .set(BallotTimer::Again, AGAIN)
    }

    /// Made this durable.
    #[track_caller]
    fn wrote(self, n: u64, max: Option<BallotNumber>) -> Self {
        self.next(&Effect::Persist(BallotRecord { n, max }))
    }

    #[track_caller]
    fn set(mut self, timer: BallotTimer, millis: u64) -> Self {
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
    fn lost(self, n: u64, reason: LostReason) -> Self {
        let term = Term(n);
        self.notified(Event::Lost { term, reason })
    }

    #[track_caller]
    fn follows(self, name: &str, n: u64) -> Self {
        self.notified(Event::NewLeader(Leader {
            id: id(name),
            incarnation: Incarnation(1),
            term: Term(n),
        }))
    }

    #[track_caller]
    fn leaderless(self, n: u64) -> Self {
        self.notified(Event::NoLeader { term: Term(n) })
    }

    #[track_caller]
    fn nothing_else_happened(self) {
        assert!(self.0.is_empty(), "{:?}", self.0);
    }

    /// For the steps on the way to what a test is about.
    fn whatever(self) {
        drop(self);
    }

    /// What it told its application.
    fn events(&self) -> Vec<&Event> {
        let events = self.0.iter().filter_map(|effect| match effect {
            Effect::Notify(event) => Some(event),
            Effect::Persist(_)
            | Effect::Send { .. }
            | Effect::SetTimer { .. }
            | Effect::CancelTimer(_) => None,
        });
        events.collect()
    }
}

fn valid(builder: BallotConfigBuilder) -> BallotConfig {
    let ms = Duration::from_millis;
    let builder = builder.timings(Timings::in_process()).round(ms(ROUND));
    let builder = builder.cap(ms(CAP)).drain(ms(DRAIN)).cooldown(ms(COOLDOWN));
    builder.build().unwrap()
}

fn id(name: &str) -> AgentId {
    AgentId::new(name).unwrap()
}

/// A ballot of that voter, with the score it has in these tests.
fn ballot(n: u64, name: &str) -> BallotNumber {
    let score = match name {
        LOW => 1,
        HIGH => 9,
        _ => 5,
    };
    BallotNumber {
        n,
        score: score.into(),
        id: id(name),
    }
}

fn round(counter: u64) -> Round {
    Round {
        incarnation: Incarnation(1),
        counter,
    }
}

fn request(counter: u64, max: Option<BallotNumber>, standing: Standing) -> HeartbeatRequest {
    HeartbeatRequest {
        round: round(counter),
        max,
        standing,
    }
}

/// "I may be elected, and hold no ballot."
fn idle() -> Standing {
    Standing {
        ballot: None,
        eligible: true,
        connected: true,
        hears: None,
    }
}

/// "I stand with this number."
fn standing(n: u64, name: &str) -> Standing {
    Standing {
        ballot: Some(ballot(n, name)),
        ..idle()
    }
}

/// "I lead by this number."
fn leading(n: u64, name: &str) -> Standing {
    Standing {
        hears: Some(ballot(n, name)),
        ..standing(n, name)
    }
}

/// "I hear that leader."
fn hearing(n: u64, name: &str) -> Standing {
    Standing {
        hears: Some(ballot(n, name)),
        ..idle()
    }
}

/// "I heard no majority."
fn alone(standing: Standing) -> Standing {
    Standing {
        connected: false,
        ..standing
    }
}
