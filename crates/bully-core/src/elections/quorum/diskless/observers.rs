//! `raise-above-observers`: what an observer says of a term that no voter remembers.
//!
//! Decided here: when it says so, and what a leader makes of it. Where all voters restart within the difference of their
//! clocks, their terms can fall; a voter that knows better answers a leader with `Nack`, and an observer has no such
//! word. It would ignore that leader until the terms have caught up, which may take as long as the leader lives.
//!
//! The leader believes an observer as far as it believes any hearsay (`no-term-ahead`), and goes on leading meanwhile:
//! so one that lies makes it claim terms up to 10 s ahead of its clock, and ends nothing.

use crate::elections::{
    message::{Behind, QuorumMessage},
    quorum::{
        Out, QuorumBully,
        core::Core,
        state::{Next, State},
    },
};
use crate::protocol::{AgentId, Term, Time};

impl Core {
    /// Tells a leader of a lower term that this observer has followed that one.
    pub(in crate::elections::quorum) fn say_followed(
        &self,
        leader: &AgentId,
        seen: Term,
        out: &mut Out,
    ) {
        if self.config.diskless().is_some() {
            out.send(leader, Behind { seen });
        }
    }

    /// The term that an observer says it has followed.
    pub(in crate::elections::quorum) fn followed(&self, message: &QuorumMessage) -> Option<Term> {
        let QuorumMessage::Behind(said) = message else {
            return None;
        };
        self.config.diskless().map(|_| said.seen)
    }
}

impl QuorumBully {
    /// An observer has followed that term: a leader with a lease claims one above it. Without a lease it has to
    /// win its own one first, and is told again.
    pub(in crate::elections::quorum) fn on_followed(
        &mut self,
        now: Time,
        followed: Term,
        message: &QuorumMessage,
        out: &mut Out,
    ) -> Next {
        let core = &mut self.core;
        if core.is_beyond(now, message) {
            core.ignore(self.state.role(), "a term out of all measure");
            return Next::Stay;
        }
        if let State::Leading(leading) = &mut self.state
            && leading.has_lease()
            && followed > core.voter.record.term
        {
            return leading.raise(core, now, followed, out);
        }
        self.state.ignore(core, "no higher term to lead above")
    }
}
