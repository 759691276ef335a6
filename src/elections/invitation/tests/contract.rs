//! What holds after every step, whatever the input was.
//!
//! The events' contract ([`crate::protocol::Event`]), their agreement with the view, the timers
//! that keep a machine alive, that nothing is said of an election that is not durable, and that
//! the words of a coordinator are only said by one.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::elections::invitation::state::State;

/// The events of one incarnation so far, and its running timers.
#[derive(Clone, Debug, Default)]
pub(super) struct Contract {
    leading: Option<Term>,
    leader: Option<Leader>,
    highest: Term,
    armed: BTreeMap<Timer, Time>,
}

impl Contract {
    /// A timer that fires is no longer running.
    pub(super) fn before(&mut self, input: &InputOf<InvitationElection>) {
        if let Input::TimedOut(timer) = input {
            self.armed.remove(timer);
        }
    }

    pub(super) fn after(
        &mut self,
        machine: &InvitationElection,
        now: Time,
        effects: &[EffectOf<InvitationElection>],
    ) {
        for effect in effects {
            match effect {
                Effect::Notify(event) => self.on_event(machine, event),
                Effect::Send { to, message } => self.on_send(machine, to, message),
                Effect::SetTimer { timer, after } => {
                    assert!(after.min <= after.max);
                    self.armed.insert(*timer, now.after(after.min));
                }
                Effect::CancelTimer(timer) => {
                    self.armed.remove(timer);
                }
                Effect::Persist(record) => {
                    assert!(
                        record.count <= machine.core.numbers.record.count
                            && machine.core.me.is_voter()
                    );
                }
            }
        }
        let view = machine.view(now);
        assert_eq!(view.leading, self.leading);
        assert_eq!(view.leader, self.leader);
        assert_eq!(view.role == Role::Leader, view.leading.is_some());
        assert_eq!(
            machine.status() == Status::Normal,
            view.leader.is_some(),
            "an agent that works has a leader"
        );
        assert_eq!(
            machine.coordinator().is_some(),
            machine.status() >= Status::Reorganization
        );
        assert_eq!(
            machine.coordinator(),
            machine.group().map(|group| &group.id)
        );
        let running: BTreeSet<Timer> = self.armed.keys().copied().collect();
        assert_eq!(running, needed(machine), "{:?}", machine.state);
    }

    /// The timers that are running, and when each fires at the earliest.
    pub(super) fn armed(&self) -> Vec<(Timer, Time)> {
        self.armed.iter().map(|(t, due)| (*t, *due)).collect()
    }

    fn on_event(&mut self, machine: &InvitationElection, event: &Event) {
        match event {
            Event::Acquired { term } => {
                assert_eq!(self.leading, None, "acquired twice");
                self.leading = Some(*term);
                self.leader = Some(Leader {
                    id: machine.core.me.id.clone(),
                    incarnation: machine.core.me.incarnation,
                    term: *term,
                });
            }
            Event::Renewed { .. } => panic!("a new term is a new leadership"),
            Event::Draining { term, to } => {
                assert_eq!(self.leading, Some(*term), "{event}");
                assert_ne!(to.as_ref(), Some(&machine.core.me.id));
            }
            Event::Lost { term, .. } => {
                assert_eq!(self.leading, Some(*term), "{event}");
                (self.leading, self.leader) = (None, None);
            }
            Event::NewLeader(leader) => {
                assert_eq!(self.leading, None, "follows while it leads");
                assert_ne!(leader.id, machine.core.me.id, "follows itself");
                assert_ne!(
                    self.leader.as_ref(),
                    Some(leader),
                    "it follows that one already"
                );
                assert!(self.highest <= leader.term, "{event}");
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

    fn on_send(&self, machine: &InvitationElection, to: &To, message: &InvitationMessage) {
        match to {
            To::One(id) => assert_ne!(*id, machine.core.me.id, "to itself: {message}"),
            To::Set(ids) => assert!(!ids.is_empty() && !ids.contains(&machine.core.me.id)),
            To::All => {}
        }
        let told = matches!(message, InvitationMessage::Decline(_));
        assert!(
            machine.core.me.is_voter() || told,
            "an observer says: {message}"
        );
        let durable = message.group().count <= machine.core.numbers.record.count;
        let is_own = message.group().id == machine.core.me.id;
        match message {
            InvitationMessage::AreYouCoordinator(_) | InvitationMessage::Ready(_) => {
                assert!(is_own && durable && self.leading.is_some(), "{message}");
            }
            InvitationMessage::Resign(_) => {
                assert!(
                    is_own && self.leading.is_none(),
                    "the leadership ends first"
                );
            }
            InvitationMessage::Invitation(_) => {
                assert!(durable && self.leading.is_none(), "{message}");
            }
            InvitationMessage::Accept(_) => assert!(durable && !is_own, "{message}"),
            InvitationMessage::Place(_)
            | InvitationMessage::Decline(_)
            | InvitationMessage::AreYouThere(_)
            | InvitationMessage::There(_) => {}
        }
    }
}

/// Exactly the timers that move this machine on.
fn needed(machine: &InvitationElection) -> BTreeSet<Timer> {
    let mut timers = BTreeSet::new();
    match &machine.state {
        State::Free { slot: Some(_) } => timers.extend([Timer::Slot]),
        State::Free { slot: None } => {
            let can_lead = machine.stepped.is_some() && machine.core.me.rank().is_some();
            assert!(
                !can_lead || machine.core.numbers.seen >= LAST_COUNT,
                "it can be elected, and nothing will move it"
            );
        }
        State::Candidate(_) => timers.extend([Timer::Accepts]),
        State::Member(_) => timers.extend([Timer::Watch]),
        State::Leader(leading) => {
            timers.extend([Timer::Check]);
            timers.extend(leading.handover.as_ref().map(|_| Timer::Drain));
        }
    }
    timers.extend(machine.core.cooldown.has_begun().then_some(Timer::Cooldown));
    timers
}
