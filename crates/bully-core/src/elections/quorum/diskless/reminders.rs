//! The questions of a recovering incarnation to the other voters, and the actions of the machine after its own
//! recovery.

use crate::elections::{
    message::{QuorumMessage, Recover, Recovered},
    quorum::{
        Out, QuorumBully, SenderIncarnation,
        core::Core,
        state::{Next, State},
    },
};
use crate::protocol::{AgentId, Time};

impl QuorumBully {
    /// Handles `Recover` and `Recovered`, in every role.
    pub(in crate::elections::quorum) fn on_recovery(
        &mut self,
        now: Time,
        sender: SenderIncarnation<'_>,
        message: &QuorumMessage,
        out: &mut Out,
    ) -> Next {
        let core = &mut self.core;
        if core.config.diskless().is_none() {
            return self.state.ignore(core, "voters here have disks");
        }
        if let QuorumMessage::Recover(question) = message {
            core.remind(now, sender.0, question, out);
        }
        if let QuorumMessage::Recovered(answer) = message
            && core.on_recovered(now, sender, answer, out)
        {
            return self.takes_part();
        }
        Next::Stay
    }

    pub(in crate::elections::quorum) fn on_recover_due(
        &mut self,
        now: Time,
        out: &mut Out,
    ) -> Next {
        if self.core.on_recover_due(now, out) {
            self.takes_part()
        } else {
            Next::Stay
        }
    }

    /// Begins to take part in the group. If no agent leads, this agent gets a slot.
    fn takes_part(&mut self) -> Next {
        let State::Vacant(vacant) = &mut self.state else {
            return Next::Stay;
        };
        Next::own_slot(vacant.before.take())
    }
}

impl Core {
    /// Answers the question of a voter that recovers. This agent then forgets the clock that an earlier incarnation of
    /// the asker reported.
    fn remind(&mut self, now: Time, from: &AgentId, question: &Recover, out: &mut Out) {
        self.forget_clock(from, Some(question.round.incarnation));
        let answer = Recovered {
            round: question.round,
            term: self.voter.record.term,
            recovering: self.voter.recovery.is_some()
                || self.voter.forgot_with(from, question.round),
            clock: self.config.clock_term(now),
        };
        out.send(from, answer);
    }
}
