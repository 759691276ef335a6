//! An agent that has won its election and announced itself, while another agent may still lead.
//!
//! Decided here: `lead-after-the-former`. A leader that is outranked leads on until the better agent announces itself,
//! so that scores which change often leave no gap. It stops when it receives the announcement, and reports that; only
//! then the better agent leads. Without a message of the former leader, the better agent leads after one more deadline.
//! By then the former leader has heard the announcement and its own answer has arrived, if the deadline exceeds twice
//! the delay. The new leader announces itself to the former one again.

use super::{
    BullyTimer, Elect, Elected, Resign, Step,
    change::{Change, Next},
};
use crate::elections::message::Announcement;
use crate::protocol::{AgentId, Leader, Score, Term, Time};

/// It does not consider itself leader yet.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Announced {
    pub term: Term,
    pub score: Score,
    /// The leader of before.
    former: Leader,
    due: Time,
}

impl Announced {
    pub(super) fn enter(former: Leader, step: &mut Step<'_>) -> Result<Self, Change> {
        let (term, score) = announce(step)?;
        let wait = step.core.config.timings.deadline();
        step.out.set_timer(BullyTimer::Deadline, wait);
        Ok(Self {
            term,
            score,
            former,
            due: step.now.after(wait),
        })
    }

    pub(super) fn leave(step: &mut Step<'_>) {
        step.out.cancel_timer(BullyTimer::Deadline);
    }

    const fn lead(&self) -> Next {
        Next::Become(Change::Acquire(self.term, self.score))
    }

    /// Answers as a leader: the former leader stops for this agent, and a better agent waits for its message.
    pub(super) fn on_elect(&self, from: &AgentId, elect: &Elect, step: &mut Step<'_>) -> Next {
        answer(self.term, self.score, from, elect, step)
    }

    pub(super) fn on_elected(&self, said: &Announcement<'_>, step: &mut Step<'_>) -> Next {
        if step.outranks(said.score, said.from) {
            step.out
                .send(said.from, Elected::plain(self.term, self.score, None));
            return Next::Stay;
        }
        Next::follow(said)
    }

    /// The former leader has stopped, by its own message or another agent's: for this agent, or for no agent.
    pub(super) fn on_resign(&self, from: &AgentId, resign: &Resign, step: &Step<'_>) -> Next {
        let is_vacant = match &resign.successor {
            Some(successor) => *successor == step.core.me.id,
            None => self.former.id == *from,
        };
        if is_vacant && self.former.term <= resign.term {
            return self.lead();
        }
        Next::ignore(step, "another agent may lead still")
    }

    pub(super) fn on_members(&self, step: &Step<'_>) -> Next {
        if step.core.me.is_gone(&self.former) {
            self.lead()
        } else {
            Next::Stay
        }
    }

    pub(super) fn on_deadline(&self, step: &mut Step<'_>) -> Next {
        if step.now < self.due {
            step.out
                .set_timer(BullyTimer::Deadline, self.due.since(step.now));
            return Next::Stay;
        }
        let again = Elected::plain(self.term, self.score, None);
        step.out.send(&self.former.id, again);
        self.lead()
    }

    /// Others follow it already: they hear of its new score, or that it does not lead.
    pub(super) fn on_score(&mut self, score: Option<Score>, step: &mut Step<'_>) -> Next {
        if let Some(score) = score {
            self.score = score;
            step.out.send_all(Elected::plain(self.term, score, None));
            return Next::Stay;
        }
        step.out.send_all(Resign::plain(self.term, None));
        Next::Become(Change::Idle { slot: None })
    }
}

/// Returns the answer of an agent that has announced itself. A better agent receives it, too: this agent leads on until
/// the better one announces itself. As written, ASTRA's leader says `ok` and is silent then: the asker never learns of
/// it.
pub(super) fn answer(
    term: Term,
    score: Score,
    to: &AgentId,
    elect: &Elect,
    step: &mut Step<'_>,
) -> Next {
    if step.outranks(elect.score, to) {
        step.answer_ok(to, elect);
    }
    step.out
        .send(to, Elected::plain(term, score, Some(elect.round)));
    Next::Stay
}

/// Announces in the next term that this agent leads.
pub(super) fn announce(step: &mut Step<'_>) -> Result<(Term, Score), Change> {
    let (Some(term), Some(score)) = (step.core.highest_term.next(), step.core.me.score) else {
        step.ignore("it cannot be elected, or the terms have come to their end");
        return Err(Change::Idle { slot: None });
    };
    step.end_cooldown();
    step.core.highest_term = term;
    step.out.send_all(Elected::plain(term, score, None));
    Ok((term, score))
}
