//! What holds after every step, whatever the input was.
//!
//! The events' contract ([`crate::protocol::Event`]), their agreement with the view, the timers
//! that keep a machine alive, and the words that only who believes may say.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::super::{
    Bully, BullyConfig, BullyMessage, Elected, Heartbeat, Profile, Resign, Timer, Yield,
    state::{Asked, Seat, State},
};
use crate::protocol::{
    Effect, EffectOf, Election, Event, Input, InputOf, Leader, Role, Term, Time, To,
};

/// The events of one life so far, and its running timers.
#[derive(Clone, Debug)]
pub(super) struct Contract {
    strict: bool,
    leading: Option<Term>,
    leader: Option<Leader>,
    highest: Term,
    armed: BTreeMap<Timer, Time>,
}

impl Contract {
    pub(super) fn new(config: &BullyConfig) -> Self {
        Self {
            strict: config.profile == Profile::Strict,
            leading: None,
            leader: None,
            highest: Term::ZERO,
            armed: BTreeMap::new(),
        }
    }

    /// A timer that fires is no longer running.
    pub(super) fn before(&mut self, input: &InputOf<Bully>) {
        if let Input::TimedOut(timer) = input {
            self.armed.remove(timer);
        }
    }

    pub(super) fn after(&mut self, bully: &Bully, now: Time, effects: &VecDeque<EffectOf<Bully>>) {
        for effect in effects {
            match effect {
                Effect::Notify(event) => self.on_event(bully, event),
                Effect::Send { to, message } => self.on_send(bully, to, message),
                Effect::SetTimer { timer, after } => {
                    assert!(after.min <= after.max);
                    self.armed.insert(*timer, now.after(after.min));
                }
                Effect::CancelTimer(timer) => {
                    self.armed.remove(timer);
                }
                Effect::Persist(_) => panic!("the bully stores nothing"),
            }
        }
        self.agrees_with_the_view(bully, now, effects);
        let running: BTreeSet<Timer> = self.armed.keys().copied().collect();
        assert_eq!(running, needed(bully), "timers of {:?}", bully.state);
    }

    /// The timers that are running, and when each fires at the earliest.
    pub(super) fn armed(&self) -> Vec<(Timer, Time)> {
        self.armed.iter().map(|(t, due)| (*t, *due)).collect()
    }

    fn on_event(&mut self, bully: &Bully, event: &Event) {
        match event {
            Event::Acquired { term } => {
                assert_eq!(self.leading, None, "acquired twice");
                self.leading = Some(*term);
                self.leader = Some(bully.me.as_leader(*term));
            }
            Event::Renewed { term } => {
                assert!(self.leading.is_some_and(|old| old < *term), "{event}");
                self.leading = Some(*term);
                self.leader = Some(bully.me.as_leader(*term));
            }
            Event::Draining { term, to } => {
                assert_eq!(self.leading, Some(*term), "{event}");
                assert_ne!(to.as_ref(), Some(&bully.me.id));
            }
            Event::Lost { term, .. } => {
                assert_eq!(self.leading, Some(*term), "{event}");
                (self.leading, self.leader) = (None, None);
            }
            Event::NewLeader(leader) => {
                assert_eq!(self.leading, None, "follows while it leads");
                assert_ne!(leader.id, bully.me.id, "follows itself");
                assert_ne!(self.leader.as_ref(), Some(leader), "no news");
                assert!(self.strict || self.highest <= leader.term, "{event}");
                self.highest = leader.term;
                self.leader = Some(leader.clone());
            }
            Event::NoLeader { term } => {
                assert_eq!(self.leading, None, "{event}");
                let old = self.leader.take();
                assert_eq!(old.map(|l| l.term), Some(*term), "{event}");
            }
        }
    }

    fn on_send(&self, bully: &Bully, to: &To, message: &BullyMessage) {
        match to {
            To::One(id) => assert_ne!(*id, bully.me.id, "to itself: {message}"),
            To::Set(ids) => assert!(!ids.is_empty() && !ids.contains(&bully.me.id)),
            To::All => {}
        }
        match message {
            BullyMessage::Yield(Yield {
                released: Some(_), ..
            })
            | BullyMessage::Resign(Resign { .. }) => {
                assert_eq!(self.leading, None, "the belief ends first");
            }
            BullyMessage::Elect(_)
            | BullyMessage::Ok(_)
            | BullyMessage::Yield(_)
            | BullyMessage::Elected(_)
            | BullyMessage::Heartbeat(_) => {}
            BullyMessage::Claim(_)
            | BullyMessage::ClaimReply(_)
            | BullyMessage::Ack(_)
            | BullyMessage::Nack(_)
            | BullyMessage::Takeover(_) => panic!("not in this mode: {message}"),
        }
    }

    fn agrees_with_the_view(&self, bully: &Bully, now: Time, effects: &VecDeque<EffectOf<Bully>>) {
        let view = bully.view(now);
        assert_eq!(view.leading, self.leading);
        assert_eq!(view.leader, self.leader);
        assert_eq!(view.role == Role::Leader, view.leading.is_some());
        if let Some(term) = self.leading {
            assert_eq!(view.term, term);
        }
        assert!(bully.floor <= bully.seen.next().unwrap_or(bully.seen));
        for effect in effects {
            if let Effect::Send {
                message:
                    BullyMessage::Elected(Elected { term, .. })
                    | BullyMessage::Heartbeat(Heartbeat { term, .. }),
                ..
            } = effect
            {
                assert_eq!(Some(*term), self.leading, "says so, and believes it");
            }
        }
    }
}

/// Exactly the timers that move this machine on.
fn needed(bully: &Bully) -> BTreeSet<Timer> {
    let watches = bully.config.timings.detector().is_some();
    let mut timers = BTreeSet::new();
    match &bully.state {
        State::Follower(Seat::Taken(_)) => timers.extend(watches.then_some(Timer::Detect)),
        State::Follower(Seat::Vacant(Some(_))) => timers.extend([Timer::Campaign]),
        State::Follower(Seat::Vacant(None)) => {
            let stands = bully.has_begun() && bully.may_stand(); // who rests has the last turn
            assert!(
                bully.is_strict() || !stands,
                "it stands, and nothing will move it"
            );
        }
        State::Candidate(candidacy) => timers.extend([match candidacy.asked {
            Asked::Leader { .. } => Timer::Widen,
            Asked::Voters => Timer::Deadline,
        }]),
        State::Waiting(_) => timers.extend([Timer::Victory]),
        State::Leader(reign) => {
            timers.extend(watches.then_some(Timer::Heartbeat));
            timers.extend(reign.handover.as_ref().map(|_| Timer::Drain));
            let awaited = reign.challengers.values().any(|c| c.due.is_some());
            timers.extend(awaited.then_some(Timer::Preempt));
        }
    }
    timers.extend(bully.cooldown.has_begun().then_some(Timer::Rest));
    timers
}
