//! Rules that several roles apply: which announcement an agent follows, and which answers still count.

use super::{
    BullyConfig, Preemption, Step,
    change::{Change, Followed, Next},
};
use crate::elections::message::{Announcement, Behind, Yield};
use crate::parts::slot;
use crate::protocol::{AgentId, Round, Score, Term, Time};

impl BullyConfig {
    /// Returns whether `score` exceeds `than` by the margin; always true without a margin.
    pub(super) fn is_enough(&self, score: Score, than: Score) -> bool {
        self.margin.is_none_or(|margin| score.exceeds(than, margin))
    }
}

impl Step<'_> {
    /// Returns whether this agent may ask the leader `id` to yield: it competes, is better by the margin, and leaders
    /// may yield.
    pub(super) fn challenges(&self, score: Score, id: &AgentId) -> bool {
        let config = &self.core.config;
        config.preemption != Preemption::Never
            && self.competes_above(score, id)
            && self
                .core
                .me
                .score
                .is_some_and(|own| config.is_enough(own, score))
    }

    /// Returns the reaction to an announcement that does not count; `None` if it counts (rule `stale-is-ignored`).
    pub(super) fn refuse(
        &mut self,
        said: &Announcement<'_>,
        followed: Option<&Followed>,
    ) -> Option<Next> {
        match followed {
            Some(followed) if followed.is_newer_than(said) => {
                Some(Next::ignore(self, "an older announcement"))
            }
            None if said.term < self.core.floor => {
                // The announced term has ended, or this agent has followed a higher term. By `Behind` the sender learns
                // which term it has to exceed.
                let seen = self.core.highest_term.max(self.core.floor);
                self.out.send(said.from, Behind { seen });
                Some(Next::Stay)
            }
            Some(_) | None => None,
        }
    }

    /// Follows the announcer, or asks it to yield (rule `yield-on-outranked`): at the time `turn`, or at once without one.
    pub(super) fn accept(
        &self,
        said: &Announcement<'_>,
        followed: Option<&Followed>,
        turn: impl FnOnce(&Self) -> Option<Time>,
    ) -> Next {
        if !self.challenges(said.score, said.from) {
            return Next::Become(Change::follow(said));
        }
        Next::Become(match self.core.config.preemption {
            Preemption::Immediately => {
                if let Some(asks_at) = turn(self) {
                    return Next::Become(Change::FollowUntil(said.leader(), said.score, asks_at));
                }
                // This announcement is newer than the leadership that the agent follows, so the agent no longer
                // follows another agent.
                let is_same = |followed: &&Followed| followed.leader.id == *said.from;
                Change::AskLeader {
                    id: said.from.clone(),
                    following: followed.filter(is_same).cloned(),
                }
            }
            Preemption::After(_) => Change::FollowAndAsk(said.leader(), said.score),
            Preemption::Never => Change::follow(said),
        })
    }

    /// Returns the time at which this agent asks a leader that ranks below it; `None` if this agent is the first in
    /// rank, and asks at once. If all agents asked at once, the leader would leave the leadership to one of them, and
    /// each of the others would ask all agents (rule `ask-in-turn`). The agent `but` is not counted. `slot` is the slot
    /// that this agent already has; it is never postponed.
    pub(super) fn turn(&self, but: &AgentId, slot: Option<Time>) -> Option<Time> {
        let ahead = self.core.me.slot(Some(but), false)?;
        let wait = slot::delay(self.core.config.timings.step(), ahead);
        let asks_at = self.now.after(wait);
        (ahead > 0).then(|| slot.map_or(asks_at, |slot| slot.min(asks_at)))
    }

    /// Returns whether a leader has stopped for this agent, which still waits for an answer in the round `open`. An
    /// answer to an earlier round counts while no later term is known, because the leader's network may be slow.
    pub(super) fn is_release(&self, yielded: &Yield, open: Round) -> bool {
        yielded.released.is_some_and(|term| {
            open == yielded.round
                || open.incarnation == yielded.round.incarnation
                    && (1..open.counter).contains(&yielded.round.counter)
                    && term >= self.core.highest_term
        })
    }

    /// Answers a question of a higher-ranked agent. `released` is the term in which this agent led until the question.
    pub(super) fn answer_yield(&mut self, asker: &AgentId, round: Round, released: Option<Term>) {
        let seen = self.core.highest_term;
        self.out.send(
            asker,
            Yield {
                round,
                seen,
                released,
                clock: None,
            },
        );
    }
}

impl Followed {
    fn is_newer_than(&self, said: &Announcement<'_>) -> bool {
        let leader = &self.leader;
        if leader.id == *said.from {
            // The score is not compared, because a leader whose score fell announces the new score in the same term.
            (leader.term, leader.incarnation) > (said.term, said.incarnation)
        } else {
            (leader.term, self.score, &leader.id) > (said.term, said.score, said.from)
        }
    }
}
