//! What holds after every step, whatever the input was.
//!
//! The events' contract ([`crate::protocol::Event`]), their agreement with the view, the timers
//! that keep a machine alive, and to whom nothing may be sent.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::*;

/// The events of one incarnation so far, and its running timers.
#[derive(Clone, Debug, Default)]
pub(super) struct Contract {
    leading: Option<Term>,
    highest: Term,
    armed: BTreeMap<Timer, Time>,
    election: Option<ElectionId>,
}

impl Contract {
    /// A timer that fires is no longer running.
    pub(super) fn before(&mut self, input: &InputOf<Ring>) {
        if let Input::TimedOut(timer) = input {
            self.armed.remove(timer);
        }
    }

    pub(super) fn after(&mut self, ring: &Ring, now: Time, effects: &VecDeque<EffectOf<Ring>>) {
        for effect in effects {
            match effect {
                Effect::Notify(event) => self.on_event(event),
                Effect::Send { to, message } => may_be_sent(ring, to, message),
                Effect::SetTimer { timer, after } => {
                    assert!(after.min <= after.max);
                    self.armed.insert(*timer, now.after(after.min));
                }
                Effect::CancelTimer(timer) => drop(self.armed.remove(timer)),
                Effect::Persist(()) => panic!("a ring stores nothing"),
            }
        }
        let view = ring.view(now);
        assert_eq!(view.leading, self.leading, "view and events");
        assert_eq!(view.leading.is_some(), view.role == Role::Leader);
        let running: BTreeSet<Timer> = self.armed.keys().copied().collect();
        assert_eq!(running, needed(ring), "timers of {ring:?}");
        self.is_suppressed(ring);
        is_alive(ring);
    }

    /// The timers that are running, and when each fires at the earliest.
    pub(super) fn armed(&self) -> Vec<(Timer, Time)> {
        self.armed.iter().map(|(t, due)| (*t, *due)).collect()
    }

    fn on_event(&mut self, event: &Event) {
        match event {
            Event::Acquired { term } => {
                assert_eq!(self.leading.replace(*term), None, "acquired twice");
            }
            Event::Renewed { term } => {
                assert!(self.leading.is_some_and(|old| old < *term), "{event}");
                self.leading = Some(*term);
            }
            Event::Draining { term, to } => {
                assert_eq!(self.leading, Some(*term), "{event}");
                assert_ne!(to.as_ref(), Some(&id(ME)));
            }
            Event::Lost { term, .. } => assert_eq!(self.leading.take(), Some(*term), "{event}"),
            Event::NewLeader(leader) => {
                assert_eq!(self.leading, None, "follows while it leads");
                assert_ne!(leader.id, id(ME), "follows itself");
                assert!(self.highest <= leader.term, "{event}");
                self.highest = leader.term;
            }
            Event::NoLeader { .. } => assert_eq!(self.leading, None, "{event}"),
        }
    }

    /// `yield-to-stronger`: a weaker election never takes the place of a stronger one.
    fn is_suppressed(&mut self, ring: &Ring) {
        let now = ring.election().cloned();
        if let (Some(before), Some(now)) = (&self.election, &now) {
            assert!(before <= now, "{before} gave way to {now}");
        }
        self.election = now;
    }
}

/// Nothing goes to itself or to the dead, and to a suspect only a probe.
fn may_be_sent(ring: &Ring, to: &To, message: &RingMessage) {
    let check = |id: &AgentId| {
        assert_ne!(*id, ring.core.me.id, "to itself: {message}");
        let member = ring.core.me.members.get(id).expect("a member");
        let dead = member.presence == crate::protocol::Presence::Down;
        assert!(!dead, "{message} to {id}, which is dead");
        let is_skipped = ring.core.is_skipped(member);
        let on_lap = matches!(
            message,
            RingMessage::Collect(_) | RingMessage::Nominate(_) | RingMessage::Coordinator(_)
        );
        assert!(
            !is_skipped || !on_lap,
            "{message} to {id}, which is skipped"
        );
    };
    match to {
        To::One(id) => check(id),
        To::Set(ids) => {
            assert!(!ids.is_empty());
            ids.iter().for_each(check);
        }
        To::All => panic!("no member of a ring speaks to all"),
    }
}

fn needed(ring: &Ring) -> BTreeSet<Timer> {
    let mut needed: BTreeSet<Timer> = ring.core.hops.keys().map(|lap| Timer::Hop(*lap)).collect();
    let mut if_so = |so: bool, timer| so.then(|| needed.insert(timer));
    if_so(ring.campaign.contest().is_some(), Timer::Token);
    if_so(is_scheduled(ring), Timer::Slot);
    if_so(ring.core.probe.is_some(), Timer::Probe);
    if_so(ring.core.cooldown.has_begun(), Timer::Cooldown);
    match &ring.state {
        State::Vacant => {}
        State::Follower(_) => drop(if_so(true, Timer::Silence)),
        State::Leader(leading) => {
            if_so(true, Timer::Silence);
            if_so(true, Timer::Heartbeat);
            if_so(leading.handover.is_some(), Timer::Drain);
        }
    }
    needed
}

/// An agent that can be elected and has no leader does something about it, now or later.
fn is_alive(ring: &Ring) {
    let idle = ring.state == State::Vacant && ring.campaign == Campaign::Idle;
    assert!(
        !(idle && ring.stepped.is_some() && ring.core.may_lead()),
        "{ring:?}"
    );
    let skipped = |m: &Member| ring.core.is_skipped(m);
    if ring.core.me.members.iter().any(skipped) {
        assert!(ring.core.probe.is_some(), "a member is skipped for ever");
    }
    let is_open = |c: &Contest| c.id.term > ring.core.closed || c.is_announced();
    assert!(
        ring.campaign.contest().is_none_or(is_open),
        "an election that is over"
    );
    for to in ring.awaited() {
        let member = ring.core.me.members.get(to).expect("a member");
        assert!(
            member.presence != crate::protocol::Presence::Down && !ring.core.is_skipped(member)
        );
    }
}

fn is_scheduled(ring: &Ring) -> bool {
    matches!(ring.campaign, Campaign::Scheduled { .. })
}
