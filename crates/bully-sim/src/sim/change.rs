//! A user who asks an agent for another list of voters, and repeats the question until there is an answer.
//!
//! Decided here: how long the user repeats the question. The election decides the outcome.

use std::time::Duration;

use super::{World, node::NodeIndex, world::Scheduled};
use bully_core::protocol::{Election, Event, Incarnation, Input, Time, VoterChange, VotersEvent};

/// A change of the voters for which a user asks again and again.
#[derive(Clone, Debug)]
pub(super) struct PendingChange {
    at: NodeIndex,
    /// The incarnation that was asked. A later incarnation knows nothing of the change.
    incarnation: Incarnation,
    change: Box<VoterChange>,
    since: Time,
    every: Duration,
    until: Time,
}

impl<E: Election> World<E> {
    /// Asks an agent for this change of the voters, and again after each `every`, until the agent answers or ends, or
    /// `within` has passed. A driver does the same.
    pub fn change_voters(
        &mut self,
        agent: impl AsRef<str>,
        change: VoterChange,
        every: Duration,
        within: Duration,
    ) -> bool {
        let Some(at) = self.alive(agent.as_ref()) else {
            return false;
        };
        let Some(incarnation) = self.nodes.get(at.0).map(|node| node.incarnation) else {
            return false;
        };
        self.go_on_asking(PendingChange {
            at,
            incarnation,
            change: Box::new(change),
            since: self.now,
            // The interval is at least 1 ms, so that time passes between two questions.
            every: every.max(Duration::from_millis(1)),
            until: self.now.after(within),
        });
        true
    }

    /// Gives the agent the command to change the voters, again and again until the agent answers, the time has passed
    /// or the agent has ended.
    pub(super) fn go_on_asking(&mut self, asking: PendingChange) {
        let PendingChange {
            at, incarnation, ..
        } = asking;
        let Some(node) = self.nodes.get(at.0) else {
            return;
        };
        let is_over =
            !node.is_alive() || node.incarnation != incarnation || self.now > asking.until;
        let later = node.events.iter().rev();
        let mut later = later.take_while(|(at, _)| *at >= asking.since);
        if is_over || later.any(|(_, event)| answers(event, &asking.change)) {
            return;
        }
        let (next, change) = (self.now.after(asking.every), asking.change.clone());
        let again = Scheduled::Change(Box::new(asking));
        self.transit.queue.push(next, again);
        self.obey(at, incarnation, Input::ChangeVoters(change));
    }
}

fn answers(event: &Event, asked: &VoterChange) -> bool {
    let Event::Voters(event) = event else {
        return false;
    };
    matches!(&**event, VotersEvent::Answered { change, .. } if change == asked)
}
