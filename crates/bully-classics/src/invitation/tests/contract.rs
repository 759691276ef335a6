//! The properties that hold after every step of this election, beside those of every election: the needed timers, an
//! election is durable before a message names it, and only a coordinator sends the messages of coordinators.

use super::*;
use crate::numbered::fixture::{Said, may_idle, works_under_a_leader};

impl Machine for InvitationElection {
    const MAY_RENEW: bool = false;

    fn participant(&self) -> &Participant {
        &self.core.me
    }

    fn state(&self) -> String {
        format!("{:?}", self.state)
    }

    fn needed_timers(&self) -> BTreeSet<InvitationTimer> {
        needed(self)
    }

    fn may_send(&self, leading: Option<Term>, _: &To, message: &InvitationMessage) {
        let said = Said {
            election: message.group(),
            me: &self.core.me,
            numbers: &self.core.numbers,
        };
        match message {
            InvitationMessage::AreYouCoordinator(_) | InvitationMessage::Ready(_) => {
                assert!(
                    said.is_own() && said.is_durable() && leading.is_some(),
                    "{message}"
                );
            }
            InvitationMessage::Resign(_) => {
                assert!(
                    said.is_own() && leading.is_none(),
                    "the leadership ends first"
                );
            }
            InvitationMessage::Invitation(_) => {
                assert!(said.is_durable() && leading.is_none(), "{message}");
            }
            InvitationMessage::Accept(_) => {
                assert!(said.is_durable() && !said.is_own(), "{message}");
            }
            InvitationMessage::CoordinatorReply(_)
            | InvitationMessage::Decline(_)
            | InvitationMessage::AreYouThere(_)
            | InvitationMessage::There(_) => {}
        }
    }

    fn may_store(&self, record: &CountRecord) {
        assert!(record.count <= self.core.numbers.record.count && self.core.me.is_voter());
    }

    fn follows(&self, _: &Self, now: Time) {
        works_under_a_leader(self.status(), self.coordinator(), &self.view(now));
        assert_eq!(self.coordinator(), self.group().map(|group| &group.id));
    }

    fn record(record: &CountRecord) -> String {
        record.count.to_string()
    }
}

fn needed(machine: &InvitationElection) -> BTreeSet<InvitationTimer> {
    let core = &machine.core;
    let mut timers = BTreeSet::new();
    match &machine.state {
        State::Free { slot: Some(_) } => timers.extend([InvitationTimer::Slot]),
        State::Free { slot: None } => may_idle(machine.stepped.is_some(), &core.me, &core.numbers),
        State::Candidate(_) => timers.extend([InvitationTimer::Accepts]),
        State::Member(_) => timers.extend([InvitationTimer::Watch]),
        State::Leader(leading) => {
            timers.extend([InvitationTimer::Check]);
            timers.extend(leading.handover.as_ref().map(|_| InvitationTimer::Drain));
        }
    }
    let cools_down = core.cooldown.has_begun();
    timers.extend(cools_down.then_some(InvitationTimer::Cooldown));
    timers
}
