//! An agent that has won its election and announced itself, while another agent may still lead.
//!
//! Decided here: when this agent leads (rule `lead-after-the-former`). An outranked leader continues to lead until the
//! better agent announces itself, so that frequent changes of scores leave no time without a leader. The former leader
//! stops when it receives the announcement, and reports that it stopped; only then does the better agent lead. If no
//! message of the former leader comes, the better agent leads after one more deadline. If the deadline exceeds twice
//! the delay, the former leader has received the announcement by then, and its own answer has arrived. The new leader
//! then announces itself to the former leader again.

use super::{
    BullyTimer, Elect, Elected, Resign, Step,
    change::{Change, Next},
};
use crate::elections::message::Announcement;
use crate::protocol::{AgentId, Leader, Score, Term, Time};

/// The state of an agent that has announced itself and does not consider itself leader yet.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Announced {
    pub term: Term,
    pub score: Score,
    /// The leader that may still lead.
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

    /// Answers a question in the same way as a leader. After the answer a former leader stops for this agent, and a
    /// better agent waits.
    pub(super) fn on_elect(&self, from: &AgentId, elect: &Elect, step: &mut Step<'_>) -> Next {
        answer(self.term, self.score, from, elect, step)
    }

    /// Announces itself again, by command: the announcement may have been lost, for example in a partition that has
    /// healed since.
    pub(super) fn announce_again(&self, step: &mut Step<'_>) -> Next {
        step.out
            .send_all(Elected::plain(self.term, self.score, None));
        Next::Stay
    }

    pub(super) fn on_elected(&self, said: &Announcement<'_>, step: &mut Step<'_>) -> Next {
        if step.competes_above(said.score, said.from) {
            step.out
                .send(said.from, Elected::plain(self.term, self.score, None));
            return Next::Stay;
        }
        Next::follow(said)
    }

    /// Leads if a `Resign` of the former leader has arrived, from the former leader itself or through another agent.
    /// The message must name this agent as successor, or name no agent.
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

    /// Announces the new score to the agents that follow this agent already. Without a score, informs these agents that
    /// this agent does not lead.
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

/// Sends the answer of an agent that has announced itself (rule `lead-on`). An asker that ranks above also gets
/// `Elected`, because this agent continues to lead until that asker announces itself. By ASTRA's original rules the
/// leader sends only `ok`, so the asker never learns of the leader.
pub(super) fn answer(
    term: Term,
    score: Score,
    to: &AgentId,
    elect: &Elect,
    step: &mut Step<'_>,
) -> Next {
    if step.competes_above(elect.score, to) {
        step.answer_ok(to, elect);
    }
    step.out
        .send(to, Elected::plain(term, score, Some(elect.round)));
    Next::Stay
}

/// Announces that this agent leads in the next term.
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
