//! What holds after every step of this election, beside what holds for every one: the timers that move it
//! on, that nothing is said of an election that is not durable, and that only a coordinator says what
//! coordinators say.

use super::*;
use crate::elections::numbered::fixture::Said;

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
        let view = self.view(now);
        assert_eq!(
            self.status() == PaperStatus::Normal,
            view.leader.is_some(),
            "an agent that works has a leader"
        );
        assert_eq!(
            self.coordinator().is_some(),
            self.status() >= PaperStatus::Reorganization
        );
    }

    fn record(record: &CountRecord) -> String {
        record.count.to_string()
    }
}

/// Exactly the timers that move this machine on.
fn needed(machine: &Reorganization) -> BTreeSet<ReorganizationTimer> {
    let mut timers = BTreeSet::new();
    match &machine.state {
        State::Idle => {
            let can_lead = machine.stepped.is_some() && machine.core.me.rank().is_some();
            assert!(
                !can_lead || machine.core.numbers.seen >= LAST_COUNT,
                "it can be elected, and nothing will move it"
            );
        }
        State::Candidate(_) => timers.extend([ReorganizationTimer::Answer]),
        State::Waiting(_) => timers.extend([ReorganizationTimer::Takeover]),
        State::Member(_) => timers.extend([ReorganizationTimer::Watch]),
        State::Leader(leading) => {
            timers.extend([ReorganizationTimer::Check]);
            timers.extend(
                leading
                    .handover
                    .as_ref()
                    .map(|_| ReorganizationTimer::Drain),
            );
        }
    }
    timers.extend(
        machine
            .core
            .cooldown
            .has_begun()
            .then_some(ReorganizationTimer::Cooldown),
    );
    timers
}
