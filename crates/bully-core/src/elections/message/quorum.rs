//! The messages of a quorum election: which agents may send each message, and whether a newer one replaces it.

use super::{
    Ack, AskChange, Behind, ChangeAnswer, Claim, ClaimReply, Elect, Elected, Enlist, Heartbeat,
    Install, Leadership, Nack, Ok, Recall, Recalled, Recover, Recovered, Resign, Seal, Sealed,
    Takeover, Yield,
};
use crate::parts::messages;
use crate::protocol::{AgentId, Leader, MinimumRole, PeerMessage, Term};

messages! {
    /// All messages of a quorum election.
    pub enum QuorumMessage {
        Elect(m) => "elect", elect_term(m);
        Ok(m) => "ok", m.seen;
        Yield(m) => "yield", m.seen.max(m.released.unwrap_or_default());
        Elected(m) => "elected", m.term;
        Heartbeat(m) => "heartbeat", m.term;
        Resign(m) => "resign", m.term;
        Claim(m) => "claim", m.term.max(term_led(m.released.as_ref()));
        ClaimReply(m) => "claim_reply", m.term.max(m.seen);
        Ack(m) => "ack", m.term;
        Nack(m) => "nack", m.term.max(m.of);
        Behind(m) => "behind", m.seen;
        Takeover(m) => "takeover", m.term;
        Recover(m) => "recover", m.seen;
        Recovered(m) => "recovered", m.term;
        Recall(m) => "recall", m.seen;
        Recalled(m) => "recalled", m.seen.max(m.heard.term);
        Seal(m) => "seal", m.term;
        Sealed(m) => "sealed", m.term;
        Install(m) => "install", m.term;
        AskChange(m) => "ask_change", m.term;
        ChangeAnswer(m) => "change_answer", m.term;
        Enlist(m) => "enlist", m.term;
    }
}

impl PeerMessage for QuorumMessage {
    fn kind(&self) -> &'static str {
        self.name()
    }

    fn needs(&self, _: &AgentId) -> MinimumRole {
        match self {
            // An observer never answers, because it is never asked.
            Self::Ok(_)
            | Self::Yield(_)
            | Self::ClaimReply(_)
            | Self::Ack(_)
            | Self::Nack(_)
            | Self::Recover(_)
            | Self::Recovered(_)
            | Self::Recall(_)
            | Self::Recalled(_)
            | Self::Sealed(_)
            | Self::Install(_)
            // An agent whose answers do not count must not choose the voters either.
            | Self::AskChange(_) => MinimumRole::Voter,
            // An observer may send these messages, because they decide nothing: the leader decides.
            Self::Behind(_) | Self::Enlist(_) => MinimumRole::Observer,
            Self::Elect(_)
            | Self::Elected(_)
            | Self::Heartbeat(_)
            | Self::Resign(_)
            | Self::Claim(_)
            | Self::Takeover(_)
            | Self::Seal(_)
            | Self::ChangeAnswer(_) => MinimumRole::Leader,
        }
    }

    fn unentitled(&self) -> Option<Self> {
        let Self::AskChange(ask) = self else {
            return None;
        };
        let mut ask = ask.clone();
        ask.is_unentitled = true;
        Some(Self::AskChange(ask))
    }

    fn is_repeated(&self) -> bool {
        matches!(self, Self::Heartbeat(_) | Self::Ack(_) | Self::Enlist(_))
    }

    fn term(&self) -> Option<Term> {
        Some(self.term())
    }
}

/// Returns the highest term in the message, which a bridge checks.
pub(super) fn elect_term(elect: &Elect) -> Term {
    let (takeover, released) = (elect.takeover.as_ref(), elect.released.as_ref());
    elect.seen.max(term_of(takeover)).max(term_led(released))
}

fn term_of(leadership: Option<&Leadership>) -> Term {
    leadership.map_or(Term::ZERO, |leadership| leadership.term)
}

fn term_led(leader: Option<&Leader>) -> Term {
    leader.map_or(Term::ZERO, |leader| leader.term)
}
