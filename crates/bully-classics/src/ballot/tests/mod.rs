//! The tests of the ballot election, state by input.
//!
//! `matrix.txt` has the outcome of every cell. The tests show rules that need more than one step.
//!
//! This file connects the machine to the common kit and the common suite ([`bully_core::elections::fixture`]): the
//! timers that it needs, its states and its messages. The simulated world tests the properties of whole groups.

mod config;
mod members;
mod reply;
mod round;

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use super::{
    Ballot, BallotConfig, BallotMessage, BallotNumber, BallotRecord, BallotTimer, HeartbeatReply,
    HeartbeatRequest, Leads, Nack, Resign, Standing, state::State,
};
use bully_core::protocol::{
    Effect, Election, Event, Incarnation, Input, LostReason, MemberKind, Term, Timings, To,
    fixture::{EYE, HIGH, LOW, ME, id},
};
use bully_core::{elections::fixture::*, parts::Participant};

/// In milliseconds: Δ, the wait before silent voters are asked again, the longest round, the longest drain, the
/// cool-down.
const ROUND: u64 = 40;
const AGAIN: u64 = 10;
const CAP: u64 = 120;
const DRAIN: u64 = 200;
const COOLDOWN: u64 = 1_000;

type Kit = bully_core::elections::fixture::Kit<Ballot>;
type StepEffects = bully_core::elections::fixture::StepEffects<Ballot>;

impl Machine for Ballot {
    fn participant(&self) -> &Participant {
        &self.core.me
    }

    fn state(&self) -> String {
        format!("{:?}", self.state)
    }

    fn needed_timers(&self) -> BTreeSet<BallotTimer> {
        let is_voter = self.core.me.is_voter();
        let rounds = (is_voter && self.core.stepped.is_some()).then_some(BallotTimer::Round);
        let follows = !is_voter && self.state.following().is_some();
        let leaves = self.state.leading().is_some_and(|l| l.leaving.is_some());
        let mut timers: BTreeSet<_> = rounds.into_iter().collect();
        timers.extend(follows.then_some(BallotTimer::Silence));
        timers.extend(leaves.then_some(BallotTimer::Drain));
        timers
    }

    fn idle_timers(&self) -> BTreeSet<BallotTimer> {
        [BallotTimer::Again].into()
    }

    /// A leader's messages name the ballot by which it leads. It resigns after it has lost the leadership.
    fn may_send(&self, leading: Option<Term>, _: &To, message: &BallotMessage) {
        match message {
            BallotMessage::Leads(leads) => assert_eq!(Some(leads.ballot.term()), leading),
            BallotMessage::Resign(_) => assert_eq!(leading, None, "the leadership ends first"),
            BallotMessage::HeartbeatRequest(_)
            | BallotMessage::HeartbeatReply(_)
            | BallotMessage::Nack(_) => {}
        }
    }

    fn may_store(&self, record: &BallotRecord) {
        assert!(self.core.me.is_voter() && record.n <= self.core.voter.record.n);
    }
}

impl Suite for Ballot {
    const FOLDER: &'static str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/ballot/tests");
    const TIMERS: &'static [BallotTimer] = &[
        BallotTimer::Round,
        BallotTimer::Again,
        BallotTimer::Drain,
        BallotTimer::Silence,
    ];
    const DRAIN: (BallotTimer, u64) = (BallotTimer::Drain, DRAIN);
    const VALID: Option<u64> = Some(2 * ROUND);
    const PHASES: &'static [&'static str] = &[
        "follower: cut off, following, without a leader",
        "candidate: cut off, following, without a leader",
        "leader: draining, leading",
    ];
    const INCARNATIONS: u64 = 200;
    /// A leadership is valid for two rounds.
    const LATE: &'static [u64] = &[0, 2 * ROUND - 1, 2 * ROUND];
    const LEADS_BY_THE_CLOCK: bool = true;
    const SETS_AGAIN: bool = false;

    fn configs() -> Vec<Arc<BallotConfig>> {
        vec![Arc::new(listing([LOW, ME, HIGH]))]
    }

    fn broken() -> Vec<Arc<BallotConfig>> {
        let changes: [fn(&mut BallotConfig); 5] = [
            |c| c.voters.clear(),
            |c| c.voters.push(id(ME)),
            |c| (c.timings, c.round) = (Timings::astra(), None),
            |c| c.round = Some(Duration::from_millis(4)), // twice the delay bound
            |c| c.cap = Some(Duration::from_millis(ROUND - 1)),
        ];
        changes.map(changed).into()
    }

    fn sound() -> Vec<Arc<BallotConfig>> {
        let changes: [fn(&mut BallotConfig); 4] = [
            |c| (c.round, c.cap) = (None, None),
            |c| {
                let round = Some(Duration::from_secs(2));
                (c.timings, c.round, c.cap) = (Timings::astra(), round, None);
            },
            |c| c.round = Some(Duration::from_millis(5)),
            |c| c.cap = Some(Duration::from_millis(ROUND)),
        ];
        changes.map(changed).into()
    }

    fn phase(&self) -> &'static str {
        match &self.state {
            State::Vacant if !self.is_connected() => "cut off",
            State::Vacant => "without a leader",
            State::Following(_) => "following",
            State::Leading(leading) if leading.leaving.is_some() => "draining",
            State::Leading(_) => "leading",
        }
    }

    fn roles() -> Vec<(&'static str, Kit)> {
        vec![
            ("fresh", Kit::fresh()),
            ("reborn", Kit::reborn()),
            ("following", Kit::following()),
            ("leading", Kit::leading()),
            ("cut off", Kit::cut_off()),
            ("witness", Kit::witness()),
            ("observer", Kit::observer()),
            ("observing a leader", Kit::observing()),
        ]
    }

    fn leader() -> Kit {
        Kit::leading()
    }

    fn leads_on(me: &mut Kit, millis: u64) {
        for _ in 0..millis / ROUND {
            me.answered(LOW, idle());
            me.over().whatever();
        }
    }

    fn every_message(me: &Kit) -> Vec<BallotMessage> {
        every_message(me)
    }

    /// Draws an answer to the present round in most cases, because no agent leads without a majority of such answers.
    fn any_message(dice: &mut Dice, me: &Kit, _: &str) -> BallotMessage {
        if dice.one_in(4) {
            let all = every_message(me);
            return all[dice.index(all.len())].clone();
        }
        let (n, name) = (
            dice.term_near(me.view().term).0,
            dice.pick(&[LOW, ME, HIGH]),
        );
        let says: [fn(u64, &str) -> Standing; 4] = [|_, _| idle(), standing, leading, hearing];
        HeartbeatReply {
            round: round(me.round()),
            standing: dice.pick(&says)(n, name),
        }
        .into()
    }
}

common_suite!(Ballot, messages);

#[easy_ext::ext(KitOf)]
pub(super) impl Kit {
    /// Returns an agent that has not started yet.
    fn began(kind: MemberKind, score: Option<i32>, record: Option<BallotRecord>) -> Self {
        let voters = match kind {
            MemberKind::Voter => [LOW, ME, HIGH],
            MemberKind::Observer => [LOW, "other", HIGH],
        };
        Self::restored(&Arc::new(listing(voters)), kind, score, record)
    }

    fn round(&self) -> u64 {
        self.machine.core.round
    }

    /// Returns the first incarnation of a voter: a candidate with the ballot 1.me@5, in its first round.
    fn fresh() -> Self {
        Self::began(MemberKind::Voter, Some(5), None).started()
    }

    /// Returns a later incarnation, whose record has the ballot 7.high@9.
    fn reborn() -> Self {
        let max = Some(ballot(7, HIGH));
        let record = BallotRecord { n: 3, max };
        Self::began(MemberKind::Voter, Some(5), Some(record)).started()
    }

    fn witness() -> Self {
        Self::began(MemberKind::Voter, None, None).started()
    }

    fn observer() -> Self {
        Self::began(MemberKind::Observer, Some(5), None).started()
    }

    /// Returns an observer that follows 7.high@9.
    fn observing() -> Self {
        Self::observer().after(HIGH, leads(7, HIGH))
    }

    /// Returns a follower of HIGH by 7.high@9 at the beginning of a round. The follower can be elected.
    fn following() -> Self {
        let mut kit = Self::reborn();
        kit.answered(HIGH, leading(7, HIGH));
        kit.over().whatever();
        assert_eq!(kit.machine.trusted(), Some(&ballot(7, HIGH)));
        kit
    }

    /// Returns a leader by 8.me@5 at the beginning of a round. HIGH has been silent before.
    fn leading() -> Self {
        let mut kit = Self::following();
        kit.answered(LOW, idle());
        kit.over().whatever();
        kit.answered(LOW, idle());
        kit.over().whatever();
        assert_eq!(kit.machine.own(), Some(&ballot(8, ME)));
        kit
    }

    /// Returns an agent that heard no voter for a round.
    fn cut_off() -> Self {
        let mut kit = Self::following();
        kit.over().whatever();
        assert!(!kit.machine.is_connected());
        kit
    }

    /// Gives the agent an answer of the voter `from` to the present round, and asserts that this has no effect yet.
    #[track_caller]
    fn answered(&mut self, from: &str, standing: Standing) {
        let round = round(self.round());
        self.hear(from, HeartbeatReply { round, standing })
            .nothing_else_happened();
    }

    /// Ends the present round by its timer.
    fn over(&mut self) -> StepEffects {
        self.later(ROUND).fire(BallotTimer::Round)
    }

    /// Returns the agent's answer to a question about itself.
    fn says(&self) -> Standing {
        self.machine.core.standing(self.now, &self.machine.state)
    }
}

#[easy_ext::ext(SeenOf)]
pub(super) impl StepEffects {
    /// Asserts that a round began with this number, and that the question has this bmax and this standing of the agent.
    #[track_caller]
    fn asked(self, number: u64, max: Option<BallotNumber>, standing: Standing) -> Self {
        let to = To::Set([HIGH, LOW].map(id).into());
        let message = request(number, max, standing).into();
        self.next(&Effect::Send { to, message })
            .set(BallotTimer::Again, AGAIN)
    }

    /// Asserts that the agent made this record durable.
    #[track_caller]
    fn wrote(self, n: u64, max: Option<BallotNumber>) -> Self {
        self.next(&Effect::Persist(BallotRecord { n, max }))
    }
}

fn listing(voters: [&str; 3]) -> BallotConfig {
    valid(BallotConfig::new(voters.map(id)))
}

fn valid(config: BallotConfig) -> BallotConfig {
    let ms = Duration::from_millis;
    let config = BallotConfig {
        timings: Timings::in_process(),
        round: Some(ms(ROUND)),
        cap: Some(ms(CAP)),
        drain: ms(DRAIN),
        cooldown: ms(COOLDOWN),
        ..config
    };
    config.check().unwrap();
    config
}

/// Returns the usual configuration with one change.
fn changed(change: fn(&mut BallotConfig)) -> Arc<BallotConfig> {
    let mut config = listing([LOW, ME, HIGH]);
    change(&mut config);
    Arc::new(config)
}

/// Returns a ballot of the voter `name`, with the score that the voter has in these tests.
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

fn request(counter: u64, max: Option<BallotNumber>, standing: Standing) -> HeartbeatRequest {
    HeartbeatRequest {
        round: round(counter),
        max,
        standing,
    }
}

fn leads(n: u64, name: &str) -> Leads {
    let ballot = ballot(n, name);
    Leads { ballot }
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

/// "I am a candidate with this number."
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

/// "I hear the leader `name`."
fn hearing(n: u64, name: &str) -> Standing {
    Standing {
        hears: Some(ballot(n, name)),
        ..idle()
    }
}

/// "I heard no majority": the same standing without the connected flag.
fn alone(standing: Standing) -> Standing {
    Standing {
        connected: false,
        ..standing
    }
}

/// Returns each message, with ballots and rounds of the past, the present and the future.
fn every_message(me: &Kit) -> Vec<BallotMessage> {
    let seen = me.view().term.0;
    let mut all: Vec<BallotMessage> = Vec::new();
    let terms = [0, seen.saturating_sub(1), seen, seen + 1, u64::MAX];
    for n in terms {
        for name in [LOW, HIGH, ME, STRANGER] {
            let ballot = ballot(n, name);
            let said = [
                idle(),
                standing(n, name),
                leading(n, name),
                hearing(n, name),
                alone(leading(n, name)),
                Standing {
                    eligible: false,
                    ..idle()
                },
            ];
            for said in said {
                let round_now = me.round();
                for counter in [round_now.saturating_sub(1), round_now, round_now + 1] {
                    let round = round(counter);
                    let standing = said.clone();
                    all.push(HeartbeatReply { round, standing }.into());
                }
                all.push(request(1, Some(ballot.clone()), said).into());
            }
            for successor in [None, Some(ME), Some(LOW)] {
                let (ballot, successor) = (ballot.clone(), successor.map(id));
                all.push(Resign { ballot, successor }.into());
            }
            let max = ballot.clone();
            all.extend([Leads { ballot }.into(), Nack { max }.into()]);
        }
    }
    and_other_kinds(all, &terms, &[HIGH])
}
