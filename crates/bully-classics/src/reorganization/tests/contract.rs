//! The properties that hold after every step of this election, beside those of every election: the needed timers, an
//! election is durable before a message names it, and only a coordinator sends the messages of coordinators.

use super::*;
use crate::numbered::fixture::{Said, may_idle, works_under_a_leader};

impl Machine for Reorganization {
    const MAY_RENEW: bool = false;

    fn participant(&self) -> &Participant {
        &self.core.me
    }

    fn state(&self) -> String {
        format!("{:?}", self.state)
    }

    fn needed_timers(&self) -> BTreeSet<ReorganizationTimer> {
        needed(self)
    }

    fn may_send(&self, leading: Option<Term>, _: &To, message: &ReorganizationMessage) {
        let said = Said {
            election: message.election(),
            me: &self.core.me,
            numbers: &self.core.numbers,
        };
        match message {
            ReorganizationMessage::Halt(_)
            | ReorganizationMessage::NewCoordinator(_)
            | ReorganizationMessage::Ready(_) => {
                assert!(
                    said.is_own() && said.is_durable() && leading.is_none(),
                    "{message}"
                );
            }
            ReorganizationMessage::AreYouNormal(_) => {
                assert!(
                    said.is_own() && said.is_durable() && leading.is_some(),
                    "{message}"
                );
            }
            ReorganizationMessage::Resign(_) => {
                assert!(
                    said.is_own() && leading.is_none(),
                    "the leadership ends first"
                );
            }
            ReorganizationMessage::AreYouThere(_) => {
                assert!(said.is_durable() || !said.is_own(), "{message}");
            }
            ReorganizationMessage::There(_)
            | ReorganizationMessage::Normal(_)
            | ReorganizationMessage::NotNormal(_)
            | ReorganizationMessage::Ack(_)
            | ReorganizationMessage::Nack(_) => {}
        }
    }

    fn may_store(&self, record: &CountRecord) {
        assert!(record.count <= self.core.numbers.record.count && self.core.me.is_voter());
    }

    fn follows(&self, _: &Self, now: Time) {
        works_under_a_leader(self.status(), self.coordinator(), &self.view(now));
    }

    fn record(record: &CountRecord) -> String {
        record.count.to_string()
    }
}

fn needed(machine: &Reorganization) -> BTreeSet<ReorganizationTimer> {
    let core = &machine.core;
    let mut timers = BTreeSet::new();
    match &machine.state {
        State::Idle => may_idle(machine.stepped.is_some(), &core.me, &core.numbers),
        State::Candidate(_) => timers.extend([ReorganizationTimer::Answer]),
        State::Waiting(_) => timers.extend([ReorganizationTimer::Takeover]),
        State::Member(_) => timers.extend([ReorganizationTimer::Watch]),
        State::Leader(leading) => {
            timers.extend([ReorganizationTimer::Check]);
            let drains = leading.handover.is_some();
            timers.extend(drains.then_some(ReorganizationTimer::Drain));
        }
    }
    let cools_down = core.cooldown.has_begun();
    timers.extend(cools_down.then_some(ReorganizationTimer::Cooldown));
    timers
}
