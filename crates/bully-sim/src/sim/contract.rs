//! The duties of every machine towards its application and its driver, checked after every step of every run.
//!
//! Decided here: the promises of every election: the order of the events, terms that never decrease, and no leader
//! that is known to be gone. Not here: how many leaders there may be.

use bully_core::protocol::{AgentId, Event, Members, Role, Term, View};

/// Whether the terms of the leaders that one incarnation follows increase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TermOrder {
    /// A later leader never has a lower term. Nearly all rules promise this.
    #[default]
    Rising,
    /// The rules compare no terms, and promise no order.
    Any,
}

/// The events and views of one incarnation so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ContractState {
    leads: Option<Term>,
    followed: Term,
    order: TermOrder,
    /// Whether the members have changed since the last check.
    update: bool,
}

impl ContractState {
    /// Returns the state of an incarnation without events.
    pub(super) fn new(order: TermOrder) -> Self {
        Self {
            order,
            update: true,
            ..Self::default()
        }
    }

    /// Notes that the incarnation has another list of members from now on.
    pub(super) const fn is_told(&mut self) {
        self.update = true;
    }

    /// Returns whether there was an update since the last call.
    pub(super) const fn has_update(&mut self) -> bool {
        std::mem::replace(&mut self.update, false)
    }

    pub(super) fn hears(&mut self, event: &Event) -> Result<(), &'static str> {
        match (event, self.leads) {
            (Event::Acquired { .. }, Some(_)) => Err("Acquired twice without Lost"),
            (Event::Acquired { term }, None) => {
                self.leads = Some(*term);
                Ok(())
            }
            (Event::Renewed { term }, Some(old)) if *term > old => {
                self.leads = Some(*term);
                Ok(())
            }
            (Event::Renewed { .. }, Some(_)) => Err("Renewed without a higher term"),
            (Event::Lost { term, .. }, Some(old)) if *term == old => {
                self.leads = None;
                Ok(())
            }
            (Event::Lost { .. }, Some(_)) => Err("Lost names another term than it led in"),
            (Event::Draining { term, .. }, Some(old)) if *term == old => Ok(()),
            (Event::Renewed { .. } | Event::Lost { .. } | Event::Draining { .. }, _) => {
                Err("Renewed, Lost or Draining without leading in that term")
            }
            (Event::NewLeader(_) | Event::NoLeader { .. }, Some(_)) => {
                Err("NewLeader or NoLeader before Lost")
            }
            (Event::NewLeader(leader), None)
                if leader.term < self.followed && self.order == TermOrder::Rising =>
            {
                Err("NewLeader in a lower term than before")
            }
            (Event::NewLeader(leader), None) => {
                self.followed = leader.term;
                Ok(())
            }
            (Event::Voters(_), _) | (Event::NoLeader { .. }, None) => Ok(()),
            _ => Err("an event that this check does not know"),
        }
    }

    pub(super) fn sees(&self, view: &View) -> Result<(), &'static str> {
        if view.leading != self.leads {
            return Err("view and events differ about the leader");
        }
        if view.leading.is_some() && view.role != Role::Leader {
            return Err("believes that it leads in another role");
        }
        Ok(())
    }

    /// Checks the leader in the view, after each change of the leader or of the known members.
    pub(super) fn follows(me: &AgentId, view: &View, known: &Members) -> Result<(), &'static str> {
        let Some(leader) = &view.leader else {
            return Ok(());
        };
        if view.leading.is_some() && leader.id != *me {
            return Err("leads, and names another leader");
        }
        let gone = known.get(&leader.id);
        if leader.id != *me && gone.is_none_or(|m| m.is_stale(leader.incarnation)) {
            return Err("follows a leader that is known to have ended");
        }
        Ok(())
    }
}
