//! The report of an observer about a term that no voter remembers (rule `raise-above-observers`).
//!
//! Decided here: when an observer sends the report, and how a leader reacts. If all voters restart in a time that is
//! shorter than the difference of their clocks, their terms can fall. A voter that remembers a higher term answers a
//! leader with `Nack`, but an observer sends no `Nack`. Without the report, the observer would ignore the leader until
//! the terms exceed the observer's remembered term, possibly until the leader ends.
//!
//! The leader trusts an observer's term as far as any reported term (rule `no-term-ahead`), and continues to lead. So
//! an observer that lies can make the leader claim terms up to 10 s ahead of its clock, but cannot end a leadership.

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
    /// Tells a leader of a lower term that this observer has followed the term `seen`.
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

    /// Returns the term that an observer reports in `Behind`; `None` for another message, or with disks.
    pub(in crate::elections::quorum) fn followed(&self, message: &QuorumMessage) -> Option<Term> {
        let QuorumMessage::Behind(said) = message else {
            return None;
        };
        self.config.diskless().map(|_| said.seen)
    }
}

impl QuorumBully {
    /// Handles the report of an observer: a leader with a lease claims a term above the reported one. An agent
    /// without a lease ignores the report, because the observer sends it again once the agent has its lease.
    pub(in crate::elections::quorum) fn on_followed(
        &mut self,
        now: Time,
        followed: Term,
        message: &QuorumMessage,
        out: &mut Out,
    ) -> Next {
        let core = &mut self.core;
        if core.is_beyond(now, message) {
            core.ignore(self.state.role(), "the term is too far ahead of the clock");
            return Next::Stay;
        }
        if let State::Leading(leading) = &mut self.state
            && leading.has_lease()
            && followed > core.voter.record.term
        {
            return leading.raise(core, now, followed, out);
        }
        self.state
            .ignore(core, "it does not lead, or the term is not higher")
    }
}
