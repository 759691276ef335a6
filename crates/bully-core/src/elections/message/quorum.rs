//! The messages of a quorum election: which agents may send each message, and whether a newer one replaces it.

use super::{
    Ack, AskChange, Behind, ChangeAnswer, Claim, ClaimReply, Elect, Elected, Enlist, Heartbeat,
    Install, Leadership, Nack, Ok, Recall, Recalled, Recover, Recovered, Resign, Seal, Sealed,
    Takeover, Yield,
};
use crate::parts::messages;
use crate::protocol::{Leader, Term};

messages! {
    /// All messages of a quorum election.
    pub enum QuorumMessage {
        Elect(m) => "elect", elect_term(m), by Leader;
        // An observer never answers, because it is never asked.
        Ok(m) => "ok", m.seen, by Voter;
        Yield(m) => "yield", m.seen.max(m.released.unwrap_or_default()), by Voter;
        Elected(m) => "elected", m.term, by Leader;
        Heartbeat(m) => "heartbeat", m.term, by Leader, repeated;
        Resign(m) => "resign", m.term, by Leader;
        Claim(m) => "claim", m.term.max(term_led(m.released.as_ref())), by Leader;
        ClaimReply(m) => "claim_reply", m.term.max(m.seen), by Voter;
        Ack(m) => "ack", m.term, by Voter, repeated;
        Nack(m) => "nack", m.term.max(m.of), by Voter;
        // An observer may send this and `Enlist`, because they decide nothing: the leader decides.
        Behind(m) => "behind", m.seen, by Observer;
        Takeover(m) => "takeover", m.term, by Leader;
        Recover(m) => "recover", m.seen, by Voter;
        Recovered(m) => "recovered", m.term, by Voter;
        Recall(m) => "recall", m.seen, by Voter;
        Recalled(m) => "recalled", m.seen.max(m.heard.term), by Voter;
        Seal(m) => "seal", m.term, by Leader;
        Sealed(m) => "sealed", m.term, by Voter;
        Install(m) => "install", m.term, by Voter;
        // An agent whose answers do not count must not choose the voters either.
        AskChange(m) => "ask_change", m.term, by Voter;
        ChangeAnswer(m) => "change_answer", m.term, by Leader;
        Enlist(m) => "enlist", m.term, by Observer, repeated;
    }

    fn unentitled(&self) -> Option<Self> {
        let Self::AskChange(ask) = self else {
            return None;
        };
        let mut ask = ask.clone();
        ask.is_unentitled = true;
        Some(Self::AskChange(ask))
    }
}

/// Returns the highest term in the message, which a bridge checks.
pub(super) fn elect_term(elect: &Elect) -> Term {
    let (takeover, released) = (elect.takeover.as_deref(), elect.released.as_ref());
    elect.seen.max(term_of(takeover)).max(term_led(released))
}

fn term_of(leadership: Option<&Leadership>) -> Term {
    leadership.map_or(Term::ZERO, |leadership| leadership.term)
}

fn term_led(leader: Option<&Leader>) -> Term {
    leader.map_or(Term::ZERO, |leader| leader.term)
}
