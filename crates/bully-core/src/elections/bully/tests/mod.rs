//! The tests of the bully election, role by input: one file for each input.
//!
//! `matrix.txt` has the outcome of every cell. The tests show important rules, and rules that need more than one step.
//!
//! This file connects a bully to the common kit and the common suite ([`crate::elections::fixture`]): the timers that
//! it needs, its roles and its messages.

mod elect;
mod in_turn;
mod liveness;
mod members;
mod resign;
mod stall;

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use super::{
    Behind, Bully, BullyConfig, BullyMessage, BullyTimer, Elected, Ok, Preemption, Yield,
    candidate::Asked, machine::State,
};
use crate::protocol::{
    Election as _, Incarnation, Input, LeaderEnd, LostReason, MemberKind, Members, Role, Term,
    Timings, To,
    fixture::{EYE, HIGH, LOW, ME, id},
};
use crate::{driver::MembersReports as _, elections::fixture::*, parts::Participant};

type Kit = crate::elections::fixture::Kit<Bully>;
type StepEffects = crate::elections::fixture::StepEffects<Bully>;

const VICTORY: u64 = 500;
const DRAIN: u64 = 5_000;
const COOLDOWN: u64 = 60_000;

impl Machine for Bully {
    fn participant(&self) -> &Participant {
        &self.core.me
    }

    fn state(&self) -> String {
        format!("{:?}", self.state)
    }

    fn may_send(&self, leading: Option<Term>, _: &To, message: &BullyMessage) {
        may_say(self, leading, message);
    }

    fn needed_timers(&self) -> BTreeSet<BullyTimer> {
        let core = &self.core;
        assert!(core.floor <= core.highest_term.next().unwrap_or(core.highest_term));
        let watches = core.config.timings.detector().is_some();
        let mut timers = BTreeSet::new();
        match &self.state {
            None => {}
            Some(State::Following(following)) => {
                timers.extend(watches.then_some(BullyTimer::Detect));
                timers.extend(following.asks_at.map(|_| BullyTimer::Campaign));
            }
            Some(State::Vacant(vacant)) => {
                let slot = vacant.slot.map(|_| BullyTimer::Campaign);
                let is_stuck = slot.is_none() && core.may_lead(); // cooling down or not
                assert!(!is_stuck, "an eligible agent waits without a timer");
                timers.extend(slot);
            }
            Some(State::Candidate(candidate)) => timers.extend([candidate.asked.timer()]),
            Some(State::Waiting(_)) => timers.extend([BullyTimer::Victory]),
            Some(State::Leading(tenure)) => {
                timers.extend(watches.then_some(BullyTimer::Heartbeat));
                timers.extend(tenure.handover.as_ref().map(|_| BullyTimer::Drain));
                timers.extend(
                    tenure
                        .challengers
                        .is_awaited()
                        .then_some(BullyTimer::Preempt),
                );
            }
        }
        timers.extend(core.cooldown.has_begun().then_some(BullyTimer::Cooldown));
        timers
    }
}

impl Suite for Bully {
    const FOLDER: &'static str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/elections/bully/tests");
    const TIMERS: &'static [BullyTimer] = &TIMERS;
    const DRAIN: (BullyTimer, u64) = (BullyTimer::Drain, DRAIN);
    const VALID: Option<u64> = Some(L);
    const FROM_OBSERVERS: &'static [&'static str] = &["ok", "yield", "resign"];
    const PHASES: &'static [&'static str] = &[
        "follower: cooling down, following, following until its turn, with a slot, without a slot",
        "candidate: asking its leader, asking the leader it found, asking the voters",
        "waiting: waiting",
        "leader: challenged, draining, leading",
    ];
    const INCARNATIONS: u64 = 500;
    const LATE: &'static [u64] = &[0, D, S + J, T, L + J, VICTORY, DRAIN, 2 * COOLDOWN];
    const SLACKS: &'static [u64] = &[0, D, D + 1, D + J, D + J + 1, L, L + 1];

    fn configs() -> Vec<Arc<BullyConfig>> {
        BullyConfig::samples().into_iter().map(Arc::new).collect()
    }

    fn broken() -> Vec<Arc<BullyConfig>> {
        let margin = |margin: (i64, i64)| with(|config| config.margin = Some(margin.into()));
        vec![margin((3, -1)), margin((-3, 1))]
    }

    fn phase(&self) -> &'static str {
        match &self.state {
            None => "not started",
            Some(State::Vacant(_)) if self.core.cooldown.has_begun() => "cooling down",
            Some(State::Vacant(vacant)) if vacant.slot.is_some() => "with a slot",
            Some(State::Vacant(_)) => "without a slot",
            Some(State::Following(following)) if following.asks_at.is_some() => {
                "following until its turn"
            }
            Some(State::Following(_)) => "following",
            Some(State::Candidate(candidate)) => match &candidate.asked {
                Asked::Leader { following, .. } if following.is_some() => "asking its leader",
                Asked::Leader { .. } => "asking the leader it found",
                Asked::Voters => "asking the voters",
            },
            Some(State::Waiting(_)) => "waiting",
            Some(State::Leading(tenure)) if tenure.handover.is_some() => "draining",
            Some(State::Leading(tenure)) if tenure.challengers.is_awaited() => "challenged",
            Some(State::Leading(_)) => "leading",
        }
    }

    fn roles() -> Vec<(&'static str, Kit)> {
        let mut roles = Vec::from(Kit::roles());
        roles.extend(Kit::roles_by_other_rules());
        roles
    }

    fn leader() -> Kit {
        Kit::leading()
    }

    fn every_message(me: &Kit) -> Vec<BullyMessage> {
        every_bully_message(me.machine.core.highest_term, me.machine.core.rounds)
    }

    fn any_message(dice: &mut Dice, me: &Kit, _: &str) -> BullyMessage {
        any_bully_message(dice, me.machine.core.highest_term, me.machine.core.rounds)
    }
}

common_suite!(Bully, messages);

impl Kit {
    /// Returns a follower without a leader. It has the second slot, which comes after one step.
    fn with_slot() -> Self {
        let kit = Self::voter(&lan()).started();
        assert_eq!(kit.role(), Role::Follower);
        kit
    }

    /// Returns a follower of HIGH, which leads in the term [`OLD`].
    fn following() -> Self {
        Self::with_slot().after(HIGH, elected(OLD, 9))
    }

    /// Returns a follower of LOW in the term [`OLD`], where leaders are left alone.
    fn following_low() -> Self {
        Self::voter(&never()).started().after(LOW, elected(OLD, 1))
    }

    /// Returns a follower of LOW, which leads in the term [`OLD`] and whose own score fell from 7 to 1. The follower is the
    /// second of the agents that rank above LOW, so it asks LOW for the leadership after one step of a slot.
    fn in_turn() -> Self {
        Self::with_slot()
            .after(LOW, elected(OLD, 7))
            .after(LOW, heartbeat(OLD, 1))
    }

    fn observer() -> Self {
        Self::new(&lan(), MemberKind::Observer, Some(5)).started()
    }

    fn witness() -> Self {
        Self::new(&lan(), MemberKind::Voter, None).started()
    }

    /// Returns an agent that has led in the term [`MINE`], stepped down for LOW, and cools down.
    fn cooling_down() -> Self {
        let mut kit = Self::draining();
        kit.step(Input::Drained).whatever();
        assert_eq!(kit.role(), Role::Follower);
        kit
    }

    /// Returns a candidate that has asked HIGH, its leader, and still follows it.
    fn asking_leader() -> Self {
        let mut kit = Self::following();
        kit.step(Input::Campaign).whatever();
        assert_eq!(kit.role(), Role::Candidate);
        kit
    }

    /// Returns a candidate that has asked LOW, the leader in the snapshot, and follows no agent.
    fn asking_found() -> Self {
        let mut kit = Self::voter(&lan());
        kit.members.note_leader(leader(LOW, OLD));
        let kit = kit.started();
        assert_eq!(kit.role(), Role::Candidate);
        kit
    }

    /// Returns a candidate that has asked LOW and HIGH.
    fn asking_voters() -> Self {
        let mut kit = Self::with_slot();
        kit.later(S).fire(BullyTimer::Campaign).whatever();
        assert_eq!(kit.role(), Role::Candidate);
        kit
    }

    /// Returns an agent that defers to HIGH, which has answered `Ok` to the first round.
    fn waiting() -> Self {
        let kit = Self::asking_voters().after(HIGH, ok(1));
        assert_eq!(kit.role(), Role::Waiting);
        kit
    }

    /// Returns a leader in the term [`MINE`]. Both others yielded in its first round.
    fn leading() -> Self {
        Self::leading_by(&lan())
    }

    fn leading_by(config: &Arc<BullyConfig>) -> Self {
        let mut kit = Self::voter(config).started();
        kit.later(S).fire(BullyTimer::Campaign).whatever();
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

    /// Returns a leader that steps down for LOW.
    fn draining() -> Self {
        let mut kit = Self::leading();
        kit.step_down(LOW).whatever();
        kit
    }

    fn roles() -> [(&'static str, Self); 13] {
        [
            ("following", Self::following()),
            ("following one below", Self::following_low()),
            ("following until its turn to ask", Self::in_turn()),
            ("with a slot", Self::with_slot()),
            ("observer", Self::observer()),
            ("witness", Self::witness()),
            ("cooling_down", Self::cooling_down()),
            ("asking the leader it follows", Self::asking_leader()),
            ("asking the leader it found", Self::asking_found()),
            ("asking the voters", Self::asking_voters()),
            ("waiting", Self::waiting()),
            ("leading", Self::leading()),
            ("draining", Self::draining()),
        ]
    }

    /// Returns a leader with a grace period, for whose leadership HIGH asked 40 ms ago.
    fn challenged() -> Self {
        let mut me = Self::leading_by(&after_a_second()).after(HIGH, elect(9));
        me.later(40);
        me
    }

    /// Returns agents whose rules depend on the configuration, by name.
    fn roles_by_other_rules() -> [(&'static str, Self); 5] {
        let margin = with(|config| config.margin = Some(3.into()));
        let no_detector = with(|config| config.timings = Timings::astra());
        let patient = Self::voter(&after_a_second()).started();
        [
            ("challenged", Self::challenged()),
            ("with a slot, where leaders have a grace period", patient),
            ("with a slot, by a margin", Self::voter(&margin).started()),
            (
                "following, without a detector",
                Self::voter(&no_detector)
                    .started()
                    .after(HIGH, elected(OLD, 9)),
            ),
            (
                "released its leadership",
                Self::leading().after(HIGH, elect(9)),
            ),
        ]
    }
}

impl StepEffects {
    /// Asserts that the agent announced itself, began its heartbeat, and then told the application.
    #[track_caller]
    fn led(self, term: u64) -> Self {
        self.sent_all(elected(term, 5))
            .set(BullyTimer::Heartbeat, H)
            .acquired(term)
    }

    /// Asserts that the agent follows the leader `name`, and watches for its silence.
    #[track_caller]
    fn followed(self, name: &str, term: u64) -> Self {
        self.set(BullyTimer::Detect, L).new_leader(name, term)
    }
}

fn lan() -> Arc<BullyConfig> {
    Arc::new(BullyConfig {
        timings: Timings::lan(),
        ..BullyConfig::default()
    })
}

/// Returns a configuration in which leaders are left alone.
fn never() -> Arc<BullyConfig> {
    with(|config| config.preemption = Preemption::Never)
}

/// Returns a configuration in which leaders yield to an agent that was steady for a second.
fn after_a_second() -> Arc<BullyConfig> {
    with(|config| config.preemption = Preemption::After(Duration::from_secs(1)))
}

/// Returns the preset with one change.
fn with(change: impl FnOnce(&mut BullyConfig)) -> Arc<BullyConfig> {
    let mut config = lan();
    change(Arc::make_mut(&mut config));
    config
}
