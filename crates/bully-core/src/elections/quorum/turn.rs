//! The changes of the role. Only this file begins a role.
//!
//! A role returns a [`Next`]. A new role may change again at once (the only voter of a group asks, claims and leads
//! in one step), so [`QuorumBully::proceed`] repeats until a role stays.

use super::{
    Out, QuorumBully,
    candidate::{Asking, Claiming},
    install::enter,
    leader::Leading,
    seal::{Sealing, Telling},
    state::{Next, Start, State},
    vacant::Vacant,
};
use crate::protocol::Time;

impl QuorumBully {
    pub(super) fn proceed(&mut self, now: Time, mut next: Next, out: &mut Out) {
        while let Next::Become(start) = next {
            self.state = State::Vacant(Vacant::IDLE); // because the role before has ended, whatever role begins
            let core = &mut self.core;
            let begun = match start {
                Start::OwnSlot { wait, before } => Vacant::own_slot(core, now, wait, before, out),
                Start::Again { retry, before } => Ok(Vacant::again(core, now, retry, before, out)),
                Start::Defer { before } => Ok(Vacant::defer(core, now, before, out)),
                Start::Ask { before } => Asking::begin(core, now, before, out),
                Start::Claim {
                    term,
                    reason,
                    before,
                } => Claiming::begin(core, now, (term, reason), before, out),
                Start::Lead { term } => Leading::begin(core, now, term, out),
                Start::Seal { term, next } => Sealing::begin(core, now, term, next, out),
                Start::Enter { decree, from } => enter(core, now, &decree, from.as_ref(), out),
                Start::Tell => Telling::begin(core, now, out),
            };
            next = match begun {
                Ok(state) => {
                    self.state = state;
                    self.on_begun(now, out)
                }
                Err(instead) => instead,
            };
        }
    }

    /// Checks the quorum when a role begins, because a quorum of one voter is complete at once.
    fn on_begun(&mut self, now: Time, out: &mut Out) -> Next {
        match &mut self.state {
            State::Asking(asking) => asking.decide(&self.core, now),
            State::Claiming(claiming) => claiming.count(&self.core),
            State::Sealing(sealing) => sealing.conclude(&self.core),
            State::Leading(leading) => {
                leading.renew(&mut self.core, now, out);
                Next::Stay
            }
            State::Vacant(_) | State::Following(_) | State::Telling(_) => Next::Stay,
        }
    }

    pub(super) fn ignore(&self, reason: &'static str) {
        self.core.ignore(self.state.role(), reason);
    }
}
