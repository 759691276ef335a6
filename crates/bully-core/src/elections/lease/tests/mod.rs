//! The tests of the lease, state by input: one file for each input.
//!
//! `matrix.txt` has the outcome of every cell, in the words of `in_words.rs`. The tests show important rules, and rules
//! that need more than one step.
//!
//! This file connects the machine to the common kit and the common suite ([`crate::elections::fixture`]).

mod claims;
mod in_words;
mod leading;
mod reading;
mod release;
mod say;
mod scenes;
mod taking;

use std::{collections::BTreeSet, convert::Infallible, sync::Arc, time::Duration};

use say::*;

use super::{
    Answer, BullyTimer, Cell, ClaimRecord, Holder, Lease, LeaseConfig, LeaseName, LeaseRecord,
    Micros, Nonce, Preemption, ReadRegister, RecordError, RegisterQuestion, RegisterShown,
    Successor, SwapRegister, Swapped, Version, state::State,
};
use crate::protocol::{
    Effect, Election, Incarnation, Input, LostReason, Member, MemberKind, Role, Score, Term, Time,
    Timings, To,
    fixture::{HIGH, LOW, ME, id},
};
use crate::{elections::fixture::*, parts::Participant};

/// With the preset `lan`, in milliseconds: D, the pause between two reads, a slot, the longest drain, the cool-down,
/// and D by the slowest clock against the fastest, rounded up.
const LEASE: u64 = 240;
const POLL: u64 = 88;
const SLOT: u64 = POLL;
const DRAIN: u64 = 222;
const COOLDOWN: u64 = 60_000;
const PATIENCE: u64 = 300;
/// Milliseconds between two reads of a test. No renewal of another agent is missed at this pace.
const READ: u64 = 50;
/// Milliseconds after which the outcome of an attempt is read.
const E: u64 = 20;

type Kit = crate::elections::fixture::Kit<Lease>;
type StepEffects = crate::elections::fixture::StepEffects<Lease>;

impl Machine for Lease {
    const MAY_RENEW: bool = false;

    fn participant(&self) -> &Participant {
        &self.core.me
    }

    fn state(&self) -> String {
        format!(
            "{:?} {:?} {:?}",
            self.state, self.core.alarms, self.core.sight
        )
    }

    fn needed_timers(&self) -> BTreeSet<BullyTimer> {
        let core = &self.core;
        let mut timers = BTreeSet::new();
        match &self.state {
            _ if !core.has_started => {}
            State::Leading(leading) => {
                timers.extend([BullyTimer::Heartbeat, BullyTimer::Lease]);
                timers.extend(leading.leaving.as_ref().map(|_| BullyTimer::Drain));
            }
            State::Following(_) => timers.extend([BullyTimer::Detect, BullyTimer::Lease]),
            State::Taking { .. } => timers.extend([BullyTimer::Detect]),
            State::Vacant => {
                timers.insert(BullyTimer::Detect);
                let slot = core.alarms.due(BullyTimer::Campaign);
                timers.extend(slot.map(|_| BullyTimer::Campaign));
            }
        }
        timers.extend(core.cooldown.has_begun().then_some(BullyTimer::Cooldown));
        timers
    }

    fn may_send(&self, _: Option<Term>, _: &To, message: &Infallible) {
        match *message {}
    }

    /// A leader writes a lease only in the term in which it leads. An agent releases a lease or claims it only while it
    /// does not lead.
    fn may_ask(&self, leading: Option<Term>, question: &RegisterQuestion) {
        match question {
            RegisterQuestion::Read(_) => {}
            RegisterQuestion::Swap(swap) => match &swap.record {
                Swapped::Lease(record) if record.holder.is_some() => {
                    assert!(leading.is_none_or(|term| term == record.term), "{record:?}");
                }
                Swapped::Lease(_) => assert_eq!(leading, None, "the leadership ends first"),
                Swapped::Claim(_) => assert_eq!(leading, None, "a leader claims nothing"),
            },
        }
    }

    /// Asserts that exactly an agent that could take the lease has set its timer.
    fn follows(&self, _: &Self, now: Time) {
        if let State::Vacant = self.state
            && self.core.has_started
        {
            let has_slot = self.core.slot(now).is_some();
            let is_set = self.core.alarms.due(BullyTimer::Campaign).is_some();
            assert_eq!(has_slot, is_set, "{self:?}");
        }
    }
}

impl Suite for Lease {
    const FOLDER: &'static str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/elections/lease/tests");
    const TIMERS: &'static [BullyTimer] = &[
        BullyTimer::Detect,
        BullyTimer::Campaign,
        BullyTimer::Heartbeat,
        BullyTimer::Lease,
        BullyTimer::Drain,
        BullyTimer::Cooldown,
    ];
    const DRAIN: (BullyTimer, u64) = (BullyTimer::Drain, DRAIN);
    const VALID: Option<u64> = Some(LEASE);
    const PHASES: &'static [&'static str] = &[
        "follower: following, giving back, vacant, with a slot",
        "candidate: taking",
        "leader: draining, leading",
    ];
    const LATE: &'static [u64] = &[0, E, POLL, DRAIN, LEASE, PATIENCE, 2 * COOLDOWN];
    const SLACKS: &'static [u64] = &[0, E, LEASE];
    const LEADS_BY_THE_CLOCK: bool = true;
    /// `released-for-whom-it-names`: the agents of other processes are in no list of members.
    const NAMES_STRANGERS: bool = true;

    fn configs() -> Vec<Arc<LeaseConfig>> {
        let mut samples = config().samples();
        let mut elsewhere = config();
        elsewhere.name.group = id("other");
        samples.push(elsewhere);
        samples.into_iter().map(Arc::new).collect()
    }

    fn broken() -> Vec<Arc<LeaseConfig>> {
        let changes: [fn(&mut LeaseConfig); 3] = [
            |c| c.timings = Timings::astra(),
            |c| c.margin = Some(Score::from(-1)),
            |c| c.poll = Some(Duration::from_millis(POLL - 1)),
        ];
        changes.map(changed).into()
    }

    fn sound() -> Vec<Arc<LeaseConfig>> {
        let changes: [fn(&mut LeaseConfig); 5] = [
            |c| c.poll = Some(Duration::from_millis(POLL)),
            |c| c.timings = Timings::default(),
            |c| c.timings = Timings::fast(),
            |c| c.timings = Timings::wan(),
            |c| c.timings = Timings::in_process(),
        ];
        changes.map(changed).into()
    }

    fn phase(&self) -> &'static str {
        match &self.state {
            State::Vacant if self.core.releasing.is_some() => "giving back",
            State::Vacant if self.core.alarms.due(BullyTimer::Campaign).is_some() => "with a slot",
            State::Vacant => "vacant",
            State::Following(_) => "following",
            State::Taking { .. } => "taking",
            State::Leading(leading) if leading.leaving.is_some() => "draining",
            State::Leading(_) => "leading",
        }
    }

    fn roles() -> Vec<(&'static str, Kit)> {
        vec![
            ("starting", Kit::starting()),
            ("with a slot", Kit::with_a_slot()),
            ("following", Kit::following()),
            ("taking", Kit::taking()),
            ("leading", Kit::leading()),
            ("renewing", Kit::renewing()),
            ("draining", Kit::draining()),
            ("giving back", Kit::giving_back()),
            ("observer", Kit::observer()),
        ]
    }

    fn leader() -> Kit {
        Kit::leading()
    }

    fn leads_on(me: &mut Kit, millis: u64) {
        for _ in 0..millis / H {
            me.later(H).renewed();
        }
        me.later(millis % H);
    }

    fn every_message(_: &Kit) -> Vec<Infallible> {
        Vec::new()
    }

    fn any_message(_: &mut Dice, _: &Kit, _: &str) -> Infallible {
        unreachable!("it hears its store alone")
    }

    fn every_answer(me: &Kit) -> Vec<Box<RegisterShown>> {
        every_answer(me).collect()
    }

    fn answer_in_words(me: &Kit, answer: &Box<RegisterShown>) -> (String, Vec<(String, String)>) {
        in_words::answer(me, answer)
    }

    fn question_in_words(me: &Kit, question: &RegisterQuestion, terms: &Terms) -> String {
        in_words::question(me, question, terms)
    }

    fn any_answer(dice: &mut Dice, me: &Kit) -> Option<Box<RegisterShown>> {
        Some(any_answer(dice, me))
    }
}

common_suite!(Lease);

impl Kit {
    fn with(config: LeaseConfig) -> Self {
        config.check().unwrap();
        Self::voter(&Arc::new(config)).started()
    }

    /// Returns an agent whose first read has no answer yet.
    fn starting() -> Self {
        Self::with(config())
    }

    fn observer() -> Self {
        Self::new(&Arc::new(config()), MemberKind::Observer, Some(5)).started()
    }

    /// Returns an agent that has seen a lease that was released before the agent's first read.
    fn with_a_slot() -> Self {
        Self::with_a_slot_by(config())
    }

    fn with_a_slot_by(config: LeaseConfig) -> Self {
        let mut me = Self::with(config);
        me.sees(Some(released(MINE - 1, None))).whatever();
        me
    }

    /// Returns a follower of HIGH that has seen HIGH renew the lease.
    fn following() -> Self {
        let mut me = Self::starting();
        me.sees(Some(held(HIGH, OLD, 1))).whatever();
        me.later(READ).sees(Some(held(HIGH, OLD, 2))).whatever();
        assert_eq!(me.leader().as_deref(), Some(HIGH));
        me
    }

    /// Returns an agent that has waited for long enough, and has tried to take the lease.
    fn taking() -> Self {
        Self::taking_with(config())
    }

    fn taking_with(config: LeaseConfig) -> Self {
        let mut me = Self::with_a_slot_by(config);
        me.unchanged(Some(&released(MINE - 1, None)), PATIENCE + SLOT);
        me.fire(BullyTimer::Campaign).whatever();
        assert_eq!(me.role(), Role::Candidate);
        me
    }

    fn leading() -> Self {
        let mut me = Self::taking();
        me.applied().whatever();
        assert_eq!(me.view().leading, Some(Term(MINE)));
        me
    }

    /// Returns a leader that has tried to renew its lease.
    fn renewing() -> Self {
        let mut me = Self::leading();
        me.later(H).fire(BullyTimer::Heartbeat).whatever();
        me
    }

    fn draining() -> Self {
        let mut me = Self::leading();
        me.step_down(LOW).whatever();
        me
    }

    /// Returns an agent that has resigned. The store has not confirmed the release yet.
    fn giving_back() -> Self {
        let mut me = Self::draining();
        me.step(Input::Drained).whatever();
        assert_eq!(me.role(), Role::Follower);
        me
    }

    fn request(&self) -> u64 {
        self.machine.core.requests
    }

    /// Answers a read that is sent now.
    fn sees(&mut self, lease: Option<LeaseRecord>) -> StepEffects {
        self.sees_both(lease, None)
    }

    fn sees_both(&mut self, lease: Option<LeaseRecord>, claim: Option<ClaimRecord>) -> StepEffects {
        let request = self.asks();
        self.shown(Some(request), holds(lease, claim))
    }

    /// Makes the last ten reads slow: each took this number of milliseconds.
    fn with_slow_answers(&mut self, millis: u64) {
        let core = &mut self.machine.core;
        for _ in 0..10 {
            core.requests += 1;
            let took = Duration::from_millis(millis);
            let answered = self.now.after(took);
            core.reads.ask(core.requests, self.now);
            core.reads
                .answer(core.requests, Duration::ZERO, answered, &core.config);
        }
    }

    /// Sends a read now, and returns its number.
    fn asks(&mut self) -> u64 {
        let core = &mut self.machine.core;
        core.requests += 1;
        core.reads.ask(core.requests, self.now);
        core.requests
    }

    fn shown(&mut self, request: Option<u64>, answer: Answer) -> StepEffects {
        self.step(Input::Told(shown(request, answer)))
    }

    /// Lets this number of milliseconds pass, in which every read shows the same lease.
    fn unchanged(&mut self, lease: Option<&LeaseRecord>, millis: u64) {
        for _ in 0..millis / READ {
            self.later(READ).sees(lease.cloned()).whatever();
        }
        self.later(millis % READ);
    }

    /// Returns the number and the record of the last attempt for the lease.
    fn attempt(&self) -> (u64, LeaseRecord) {
        let attempts = self.machine.core.attempts.iter().rev();
        let mut leases = attempts.filter_map(|attempt| match &attempt.record {
            Swapped::Lease(record) => Some((attempt.request, record.clone())),
            Swapped::Claim(_) => None,
        });
        leases.next().unwrap()
    }

    /// Answers that the last attempt was applied.
    fn applied(&mut self) -> StepEffects {
        let (request, record) = self.attempt();
        let version = version(Some(&record.nonce));
        self.shown(Some(request), Answer::Applied(version))
    }

    /// Renews a leader's lease: the timer fires, and the store applies the attempt.
    fn renewed(&mut self) {
        self.fire(BullyTimer::Heartbeat).whatever();
        self.applied().whatever();
    }
}

impl StepEffects {
    #[track_caller]
    fn asked(self, question: RegisterQuestion) -> Self {
        self.next(&Effect::Ask(question))
    }

    #[track_caller]
    fn read(self, request: u64) -> Self {
        self.asked(RegisterQuestion::Read(ReadRegister { request }))
    }
}

/// Returns the milliseconds until the timer is due, rounded up.
fn due(me: &Kit, timer: BullyTimer) -> u64 {
    let due = me.machine.core.alarms.due(timer).unwrap();
    u64::try_from(due.since(me.now).as_nanos().div_ceil(1_000_000)).unwrap()
}

/// Returns the usual configuration with one change.
fn changed(change: fn(&mut LeaseConfig)) -> Arc<LeaseConfig> {
    let mut config = config();
    change(&mut config);
    Arc::new(config)
}
