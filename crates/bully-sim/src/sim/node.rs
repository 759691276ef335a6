//! One agent of the world: its machine, its host's clock and disk, and the state of its driver.

use std::{sync::Arc, time::Duration};

use super::{clock::SkewedClock, contract::ContractState, disk::DiskWrite, world::Scheduled};
use crate::faults::SplitMix64;
use bully_core::protocol::{
    AgentId, Election, Event, Incarnation, Leader, MemberKind, Members, MinimumRole, PeerMessage,
    Requirements, Role, Score, Storage, StoreId, Term, Time,
};

/// An agent of the world, and its parameters.
#[derive(Clone, Debug)]
pub struct Participant<E: Election> {
    /// The name of the agent.
    pub id: AgentId,
    /// Voter or observer.
    pub kind: MemberKind,
    /// The agent's score when an incarnation begins.
    pub score: Option<Score>,
    /// The parameters of the rules.
    pub config: E::Config,
    /// Time by which the agent's clock is ahead of the world's time.
    pub clock_offset: Duration,
    /// Deviation of the rate of the agent's clock, in parts in a million.
    pub clock_ppm: i32,
}

impl<E: Election> Participant<E> {
    /// Returns a voter whose clock is right.
    pub fn voter(id: AgentId, score: Option<Score>, config: E::Config) -> Self {
        Self {
            id,
            kind: MemberKind::Voter,
            score,
            config,
            clock_offset: Duration::ZERO,
            clock_ppm: 0,
        }
    }

    /// Returns a voter whose clock is right, or sometimes an observer.
    pub fn drawn(
        id: AgentId,
        score: Option<Score>,
        config: E::Config,
        random: &mut SplitMix64,
    ) -> Self {
        let is_observer = random.chance(80);
        Self {
            kind: if is_observer {
                MemberKind::Observer
            } else {
                MemberKind::Voter
            },
            ..Self::voter(id, score, config)
        }
    }

    /// Returns an observer whose clock is right.
    pub fn observer(id: AgentId, config: E::Config) -> Self {
        Self {
            kind: MemberKind::Observer,
            ..Self::voter(id, None, config)
        }
    }
}

/// The index of an agent in the world's lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NodeIndex(pub(super) usize);

/// The members that a driver knows. Drivers with the same knowledge share one such value.
#[derive(Clone, Debug)]
pub(super) struct KnownMembers {
    pub(super) members: Arc<Members>,
    /// The index of each member in the world's lists.
    pub(super) indices: Arc<[NodeIndex]>,
}

#[derive(Debug)]
pub(super) struct Node<E: Election> {
    pub(super) kind: MemberKind,
    pub(super) config: E::Config,
    /// The requirements of the agent's election; `None` if its configuration has no such participant.
    pub(super) requirements: Option<Requirements>,
    /// Whether the agent's disk was lost, including the record.
    pub(super) is_wiped: bool,
    /// The score when an incarnation begins, and the present score.
    pub(super) first_score: Option<Score>,
    pub(super) score: Option<Score>,
    /// The highest role that the agent was ever allowed to have. A voter that never had a score sends no message that
    /// only a candidate sends.
    pub(super) may_be: MinimumRole,
    pub(super) is_member: bool,
    pub(super) has_started: bool,
    /// `None` before the start, after a crash and after the agent left.
    pub(super) machine: Option<E>,
    pub(super) incarnation: Incarnation,
    pub(super) durable: Option<E::Durable>,
    /// The record when the incarnation began. A backup contains this record.
    pub(super) before: Option<E::Durable>,
    pub(super) store: Option<StoreId>,
    /// Time at which the incarnation began.
    pub(super) began: Time,
    pub(super) clock: SkewedClock,
    pub(super) timers: Vec<RunningTimer<E::Timer>>,
    pub(super) known: KnownMembers,
    /// Inputs that wait while the agent hangs, or its record is written.
    pub(super) hanging: Option<Vec<Scheduled<E>>>,
    /// Time that the disk needs for a record, and the step that waits for a record.
    pub(super) write_time: Duration,
    pub(super) saving: Option<DiskWrite<E>>,
    /// Time since which the disk is measured: since it was slow for the first time.
    pub(super) probed_since: Option<Time>,
    /// Number of commands that are due now: they waited while the agent hung, or were given after such commands.
    pub(super) behind: usize,
    pub(super) role: Role,
    /// The leader that the agent follows, or the agent itself, after its last step.
    pub(super) leader: Option<Leader>,
    /// The term in which the agent believes that it leads, as its application may read it.
    pub(super) published: Option<Term>,
    /// Time until which the agent's view of the leader is valid, by the agent's own clock.
    pub(super) valid_until: Time,
    pub(super) contract: ContractState,
    pub(super) events: Vec<(Time, Event)>,
}

/// A timer that was set. If it is set again for a later time before it fires, it keeps its entry in the queue: when
/// that entry is due, it moves to the new time. So the queue has fewer entries, because a failure detector sets its
/// timer many times, and lets it fire only once.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunningTimer<T> {
    pub(super) timer: T,
    /// Time at which the timer is due, by the agent's own clock.
    pub(super) due: Time,
    /// The time at which the timer fires, and its number among the timers that fire at this time. The two values
    /// distinguish the timer from a replaced timer with the same name.
    pub(super) fires: Time,
    pub(super) setting: u64,
    /// The time and the number of the timer's entry in the queue.
    pub(super) queued_at: Time,
    pub(super) queued: u64,
}

impl<T> RunningTimer<T> {
    /// Returns a timer that has no entry in the queue yet.
    pub(super) const fn new(timer: T, due: Time, fires: Time, setting: u64) -> Self {
        Self {
            timer,
            due,
            fires,
            setting,
            queued_at: fires,
            queued: setting,
        }
    }
}

impl<E: Election> Node<E> {
    pub(super) fn new(participant: Participant<E>, now: Time, known: KnownMembers) -> Self {
        let clock = SkewedClock::new(now, participant.clock_offset, participant.clock_ppm);
        let requirements = E::requirements(&participant.config, &participant.id, participant.kind);
        Self {
            kind: participant.kind,
            config: participant.config,
            requirements: requirements.ok(),
            is_wiped: false,
            first_score: participant.score,
            score: participant.score,
            may_be: may_be(participant.kind, participant.score),
            is_member: true,
            has_started: false,
            machine: None,
            incarnation: Incarnation(1),
            durable: None,
            before: None,
            store: None,
            began: now,
            clock,
            timers: Vec::new(),
            known,
            hanging: None,
            write_time: Duration::ZERO,
            saving: None,
            probed_since: None,
            behind: 0,
            role: Role::default(),
            leader: None,
            published: None,
            valid_until: Time::ZERO,
            contract: ContractState::default(),
            events: Vec::new(),
        }
    }

    /// Returns the reason why no incarnation may begin with the record on the disk; `None` if one may begin.
    pub(super) fn refusal(&self, id: &AgentId) -> Option<&'static str> {
        if self.is_wiped && self.keeps_record() {
            return Some("its record is lost: let it come back under a new name");
        }
        if self.requirements.is_none() {
            return Some("its configuration refuses it");
        }
        let admitted = E::admits(&self.config, id, self.durable.as_ref());
        admitted
            .is_err()
            .then_some("its record does not fit its configuration")
    }

    /// Returns whether the agent's election needs a record.
    pub(super) fn keeps_record(&self) -> bool {
        let requirements = self.requirements.as_ref();
        requirements.is_some_and(|asked| asked.storage == Storage::Record)
    }

    /// Returns the epoch in the agent's messages.
    pub(super) fn epoch(&self) -> u64 {
        self.requirements.as_ref().map_or(0, |asked| asked.epoch)
    }

    /// Sets a timer. Returns whether the timer needs a new entry in the queue.
    pub(super) fn run_timer(&mut self, mut timer: RunningTimer<E::Timer>) -> bool {
        let before = self.timers.iter().position(|t| t.timer == timer.timer);
        let before = before.map(|index| self.timers.remove(index));
        let kept = before.filter(|before| before.queued_at <= timer.fires);
        if let Some(kept) = &kept {
            (timer.queued_at, timer.queued) = (kept.queued_at, kept.queued);
        }
        self.timers.push(timer);
        kept.is_none()
    }

    /// Returns whether the agent runs. An agent that hangs counts, too.
    pub(super) fn is_alive(&self) -> bool {
        self.machine.is_some()
    }

    /// Returns whether the agent runs, does not hang, and does not wait until its disk has written a record.
    pub(super) fn is_running(&self) -> bool {
        self.machine.is_some() && self.hanging.is_none()
    }
}

/// Returns the highest role that an agent of this kind with this score may have.
pub(super) const fn may_be(kind: MemberKind, score: Option<Score>) -> MinimumRole {
    match (kind, score) {
        (MemberKind::Observer, _) => MinimumRole::Observer,
        (MemberKind::Voter, None) => MinimumRole::Voter,
        (MemberKind::Voter, Some(_)) => MinimumRole::Leader,
    }
}

/// Returns the message as a bridge passes it on, for the role that its sender may have. `broken` is set if a bridge
/// would close the link because of the message.
pub(super) fn as_heard<M: PeerMessage>(
    message: M,
    from: &AgentId,
    may_be: MinimumRole,
    broken: &mut Option<&'static str>,
) -> M {
    if message.needs(from) <= may_be {
        return message;
    }
    message.unentitled().unwrap_or_else(|| {
        *broken = Some("said what its role does not allow");
        message
    })
}
