//! The tests of the ring, role by input.
//!
//! `matrix.txt` has the outcome of every cell. The tests show rules that need more than one step.
//!
//! This file connects a ring to the common kit and the common suite ([`bully_core::elections::fixture`]): its members,
//! its roles and its messages. `contract` has the properties that hold after every step.

mod ack;
mod collect;
mod config;
mod contract;
mod coordinator;
mod probe;
mod timer;
mod words;

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use words::*;

use super::{
    Bounded, MOST, Ring, RingConfig, RingTimer,
    message::*,
    state::{Campaign, Contest, State},
};
use bully_core::protocol::fixture::{EYE, ME, among, id};
use bully_core::protocol::{
    AgentId, Effect, Identity, Incarnation, Input, Member, MemberKind, Members, MinimumRole,
    PeerMessage, Role, Score, Term, Time, Timings, To,
};
use bully_core::{elections::fixture::*, parts::Participant};

/// The other members. The order of the ring is `a` (score 1), `b` (score 9), the machine under test (score 5), `z`
/// (score 3). So the machine sends to `z`, and hears from `b`.
const A: &str = "a";
const B: &str = "b";
const Z: &str = "z";

/// Durations that follow from the preset `lan` for a ring of four, in milliseconds.
const HOP: u64 = 45;
const RESEND: u64 = HOP / 2;
const TOKEN: u64 = 4 * 2 * HOP;
const LOST: u64 = L + 4 * HOP;
const PROBE: u64 = 2 * H;
const DRAIN: u64 = 5_000;

type Kit = bully_core::elections::fixture::Kit<Ring>;
type StepEffects = bully_core::elections::fixture::StepEffects<Ring>;

impl Machine for Ring {
    fn participant(&self) -> &Participant {
        &self.core.me
    }

    fn state(&self) -> String {
        format!("{:?}, {:?}", self.state, self.campaign)
    }

    fn needed_timers(&self) -> BTreeSet<RingTimer> {
        contract::needed(self)
    }

    fn may_send(&self, _: Option<Term>, to: &To, message: &RingMessage) {
        contract::may_be_sent(self, to, message);
    }

    fn follows(&self, before: &Self, _: Time) {
        contract::is_suppressed(before, self);
        contract::moves_on(self);
    }

    fn group(kind: MemberKind, score: Option<Score>) -> (Identity, Members) {
        let (me, _) = among(kind, score);
        let up = |name, kind, score| Member::up(id(name), kind, score, Incarnation(1));
        let mut members = Members::new(false);
        members.join([
            up(A, MemberKind::Voter, Some(1.into())),
            up(B, MemberKind::Voter, Some(9.into())),
            up(ME, kind, score),
            up(Z, MemberKind::Voter, Some(3.into())),
            up(EYE, MemberKind::Observer, Some(99.into())),
        ]);
        (me, members)
    }
}

impl Suite for Ring {
    const OTHERS: [&'static str; 2] = [Z, B];
    const FOLDER: &'static str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/ring/tests");
    const ECHOES: &'static [(&'static str, &'static str)] = &[
        ("election", "election"),
        ("winner", "winner"),
        ("leader", "leader"),
        ("about", "leader"),
        ("incarnation", "incarnation"),
        ("score", "score"),
        ("term", "term"),
        ("beat", "beat"),
    ];
    const TIMERS: &'static [RingTimer] = &[
        RingTimer::Slot,
        RingTimer::Token,
        RingTimer::Silence,
        RingTimer::Heartbeat,
        RingTimer::Probe,
        RingTimer::Drain,
        RingTimer::Cooldown,
        RingTimer::Hop(Lap::Collect),
        RingTimer::Hop(Lap::Nominate),
        RingTimer::Hop(Lap::Coordinator),
    ];
    const DRAIN: (RingTimer, u64) = (RingTimer::Drain, DRAIN);
    const VALID: Option<u64> = Some(L);
    const FROM_OBSERVERS: &'static [&'static str] = &["coordinator", "beat"];
    const PHASES: &'static [&'static str] = &[
        "follower: following, following with a slot, with a slot, without a slot",
        "candidate: announced, following in an election, in an election",
        "waiting: following in an election, in an election",
        "leader: draining, leading, leading in an election",
    ];
    /// At 0 ms the leader has not been silent. At 500 ms it has been silent for too long.
    const LATE: &'static [u64] = &[0, 500];
    /// At each limit, a stalled agent waits once more or gives up.
    const SLACKS: &'static [u64] = &[0, L, L + 1, 1_000];
    const IS_TOLD_FIRST: bool = true;

    fn configs() -> Vec<Arc<RingConfig>> {
        vec![Arc::new(lan())]
    }

    fn broken() -> Vec<Arc<RingConfig>> {
        let changes: [fn(&mut RingConfig); 5] = [
            |c| c.hop = Some(Duration::from_millis(4 * D)),
            |c| c.sends = 0,
            |c| c.sends = 9,
            |c| c.probe = Some(Duration::ZERO),
            |c| c.timings = Timings::astra(),
        ];
        changes.map(changed).into()
    }

    fn sound() -> Vec<Arc<RingConfig>> {
        let changes: [fn(&mut RingConfig); 2] = [
            |c| c.hop = Some(Duration::from_millis(4 * D + 1)),
            |c| (c.sends, c.hop) = (1, Some(Duration::from_millis(2 * D + 1))),
        ];
        changes.map(changed).into()
    }

    fn phase(&self) -> &'static str {
        match (&self.state, &self.campaign) {
            (State::Leader(leading), _) if leading.handover.is_some() => "draining",
            (State::Leader(_), Campaign::Joined(_)) => "leading in an election",
            (State::Leader(_), _) => "leading",
            (State::Follower(_), Campaign::Joined(_)) => "following in an election",
            (State::Follower(_), Campaign::Scheduled { .. }) => "following with a slot",
            (State::Follower(_), _) => "following",
            (State::Vacant, Campaign::Joined(contest)) if contest.is_announced() => "announced",
            (State::Vacant, Campaign::Joined(_)) => "in an election",
            (State::Vacant, Campaign::Scheduled { .. }) => "with a slot",
            (State::Vacant, Campaign::Idle) => "without a slot",
        }
    }

    fn roles() -> Vec<(&'static str, Kit)> {
        vec![
            ("scheduled", Kit::scheduled()),
            ("following", Kit::following()),
            ("observer", Kit::observer()),
            ("observing a leader", Kit::observing()),
            ("witness", Kit::witness()),
            ("candidate", Kit::candidate()),
            ("waiting", Kit::waiting()),
            ("announced", Kit::announced()),
            ("leading", Kit::leading()),
            ("draining", Kit::draining()),
            ("cooling down", Kit::cooling_down()),
        ]
    }

    fn leader() -> Kit {
        Kit::leading()
    }

    fn every_message(me: &Kit) -> Vec<RingMessage> {
        every_message(me.machine.core.closed.0)
    }

    fn any_message(dice: &mut Dice, _: &Kit, _: &str) -> RingMessage {
        any_message(dice)
    }
}

common_suite!(Ring, messages);

#[easy_ext::ext(KitOf)]
pub(super) impl Kit {
    fn unborn(config: RingConfig, kind: MemberKind, score: Option<i32>) -> Self {
        Self::new(&Arc::new(config), kind, score)
    }

    /// Returns a follower without a leader in the second slot. It begins an election after one step.
    fn scheduled() -> Self {
        let kit = Self::unborn(lan(), MemberKind::Voter, Some(5)).started();
        assert_eq!(
            (kit.role(), kit.machine.campaign != Campaign::Idle),
            (Role::Follower, true)
        );
        kit
    }

    /// Returns a follower of `b`, which leads in the term [`OLD`].
    fn following() -> Self {
        let kit = Self::scheduled().after(B, coordinator(B, OLD, 9));
        kit.acked(Z, Lap::Coordinator, OLD, B, 0)
    }

    fn observer() -> Self {
        Self::unborn(lan(), MemberKind::Observer, Some(5)).started()
    }

    fn observing() -> Self {
        Self::observer().after(B, coordinator(B, OLD, 9))
    }

    fn witness() -> Self {
        Self::unborn(lan(), MemberKind::Voter, None).started()
    }

    /// Returns an agent that has begun an election for the term 1.
    fn candidate() -> Self {
        let mut kit = Self::scheduled();
        kit.later(S).fire(RingTimer::Slot).whatever();
        assert_eq!(kit.role(), Role::Candidate);
        kit
    }

    /// Returns an agent that has passed on the election that `b` began for the term 1.
    fn waiting() -> Self {
        let kit = Self::scheduled().after(B, collect(1, (B, 9), &[(B, 9)]));
        assert_eq!(kit.role(), Role::Waiting);
        kit.acked(Z, Lap::Collect, 1, B, 0)
    }

    /// Returns an agent that was nominated for the term [`MINE`], and has announced itself.
    fn announced() -> Self {
        Self::announced_by(lan())
    }

    fn announced_by(config: RingConfig) -> Self {
        let kit = Self::unborn(config, MemberKind::Voter, Some(5)).started();
        let kit = kit.after(B, nominate(MINE, A, ME, &[A, B]));
        assert_eq!(kit.role(), Role::Candidate);
        kit.acked(Z, Lap::Coordinator, MINE, ME, 0)
    }

    fn leading() -> Self {
        Self::leading_by(lan())
    }

    fn leading_by(config: RingConfig) -> Self {
        let kit = Self::announced_by(config).after(B, coordinator(ME, MINE, 5));
        assert_eq!(kit.role(), Role::Leader);
        kit
    }

    /// Returns a leader that steps down for `z`.
    fn draining() -> Self {
        let mut kit = Self::leading();
        kit.step_down(Z).whatever();
        kit
    }

    /// Returns an agent that has led, stepped down for `z`, and cools down. `z` leads in the next term.
    fn cooling_down() -> Self {
        let mut kit = Self::draining();
        kit.step(Input::Drained).whatever();
        let kit = kit.acked(Z, Lap::Nominate, MINE + 1, ME, 0);
        let kit = kit.after(B, coordinator(Z, MINE + 1, 3));
        assert_eq!(kit.role(), Role::Follower);
        kit.acked(Z, Lap::Coordinator, MINE + 1, Z, 0)
    }

    /// Returns the same machine after an acknowledgement of the peer `from`, which knows no later term.
    fn acked(self, from: &str, lap: Lap, term: u64, about: &str, beat: u64) -> Self {
        self.after(from, ack(lap, term, about, beat, 0))
    }

    fn suspects(&self) -> Vec<&str> {
        self.machine.suspects().map(AgentId::as_str).collect()
    }
}

#[easy_ext::ext(SeenOf)]
pub(super) impl StepEffects {
    /// Asserts that the agent passed the message on, and waits for its acknowledgement.
    #[track_caller]
    fn passed(self, to: &str, lap: Lap, message: impl Into<RingMessage>) -> Self {
        let resend = lan().resend();
        let set = |timer| Effect::SetTimer {
            timer,
            after: resend.into(),
        };
        self.sent(to, message).next(&set(RingTimer::Hop(lap)))
    }

    /// Asserts that the agent follows the leader `name`, and watches for its silence.
    #[track_caller]
    fn followed(self, name: &str, term: u64) -> Self {
        self.new_leader(name, term).set(RingTimer::Silence, LOST)
    }
}

fn lan() -> RingConfig {
    RingConfig::new(Timings::lan())
}

/// Returns the usual configuration with one change.
fn changed(change: fn(&mut RingConfig)) -> Arc<RingConfig> {
    let mut config = lan();
    change(&mut config);
    Arc::new(config)
}
