//! The answers of a voter to the question whether it would vote for an agent.
//!
//! Decided here: whether a voter consents, objects (rule `object-once`), or refuses. A voter answers every `Elect`, in
//! every role, and no answer changes anything durable (`ask-before-claim`).
//!
//! Not here: how long a leader keeps its leadership before it hands over ([`leader`](super::leader)).

use std::time::Duration;

use super::{
    Elect, Leadership, Ok, Out, Refusal, SenderIncarnation, Yield,
    core::Core,
    state::{Next, Start, State},
};
use crate::protocol::{AgentId, Leader, Time};

pub(super) enum Verdict {
    Consent,
    /// "I outrank you": the asker has to defer.
    Object,
    Refuse(Refusal),
}

impl Verdict {
    pub(super) fn not_for(wait: Duration) -> Self {
        Self::Refuse(Refusal::NotFree { retry: wait.into() })
    }
}

pub(super) fn on_elect(
    core: &mut Core,
    state: &mut State,
    now: Time,
    sender: SenderIncarnation<'_>,
    elect: &Elect,
    out: &mut Out,
) -> Next {
    let (from, _) = sender;
    core.learn_score(from, Some(elect.score));
    let lease = state.lease(now);
    if let Some(target) = &elect.takeover {
        let verdict = match (&*state, lease) {
            (State::Leading(leading), _) if target.id == core.me.id => leading
                .grace(core, now, from, elect.score, target.term)
                .map_or(Verdict::Consent, Verdict::not_for),
            _ if target.id == core.me.id => {
                Verdict::not_for(core.config.timings.promise()) // it no longer leads
            }
            (_, Some(until)) => Verdict::not_for(until.since(now)),
            (_, None) => core.judge_takeover(now, sender, target),
        };
        core.answer(now, from, elect, verdict, out);
        return Next::Stay;
    }
    let may_object = match state {
        State::Asking(_) | State::Claiming(_) => true,
        // An agent in its cool-down does not compete, so it objects only if its own election has begun.
        State::Vacant(_) | State::Following(_) => !core.is_cooling_down(now),
        State::Sealing(_) | State::Telling(_) | State::Leading(_) => false,
    };
    let verdict = match lease {
        Some(until) => Verdict::not_for(until.since(now)),
        None => core.judge(now, sender, elect, may_object),
    };
    core.voter.hear(elect.seen);
    let objects = matches!(verdict, Verdict::Object);
    core.answer(now, from, elect, verdict, out);
    if !objects {
        return Next::Stay;
    }
    core.objected.insert(from.clone());
    match state {
        State::Vacant(vacant) => vacant.campaign(),
        // The verdict is not a refusal, so this agent's promise has ended: the leader has been silent for too long.
        State::Following(following) => {
            following.leave(core, out);
            Next::Become(Start::Ask { before: None })
        }
        State::Asking(_)
        | State::Claiming(_)
        | State::Sealing(_)
        | State::Telling(_)
        | State::Leading(_) => Next::Stay,
    }
}

impl Core {
    /// Returns this voter's answer to an agent that campaigns, while this voter holds no lease. `may_object` is `true`
    /// if a voter in this role may object to an agent.
    pub(super) fn judge(
        &self,
        now: Time,
        sender: SenderIncarnation<'_>,
        elect: &Elect,
        may_object: bool,
    ) -> Verdict {
        let released = elect.released.as_ref();
        let blocked = self.voter.blocked(&self.config, now, sender, released);
        if !blocked.is_zero() {
            return Verdict::not_for(blocked);
        }
        let (from, _) = sender;
        // The asker would claim a term in which this voter has already taken part.
        if elect.seen < self.voter.record.term {
            return Verdict::Refuse(Refusal::Stale);
        }
        // A high-ranked agent that can object but cannot win must not delay the other agents for ever. An agent that
        // could not campaign at once does not object either (rule `object-once`).
        let objects = may_object
            && self.me.outranks(elect.score, from)
            && self.must_wait(now).is_zero()
            && !self.objected.contains(from);
        if objects {
            Verdict::Object
        } else {
            Verdict::Consent
        }
    }

    /// Returns this voter's verdict on an agent that wants to take over from the leader `target`. The voter consents if
    /// no promise would bind it once that leader had resigned.
    pub(super) fn judge_takeover(
        &self,
        now: Time,
        sender: SenderIncarnation<'_>,
        target: &Leadership,
    ) -> Verdict {
        // The incarnation of the target is not checked, because no guarantee depends on this answer.
        let promise = self.voter.promise.as_ref();
        let released = promise.map(|promise| Leader {
            id: target.id.clone(),
            incarnation: promise.incarnation,
            term: target.term,
        });
        let voter = &self.voter;
        let blocked = voter.blocked(&self.config, now, sender, released.as_ref());
        if !blocked.is_zero() {
            return Verdict::not_for(blocked);
        }
        if self.voter.record.term > target.term {
            return Verdict::Refuse(Refusal::Stale);
        }
        Verdict::Consent
    }

    pub(super) fn answer(
        &self,
        now: Time,
        from: &AgentId,
        elect: &Elect,
        verdict: Verdict,
        out: &mut Out,
    ) {
        let refusal = match verdict {
            Verdict::Consent => {
                return out.send(
                    from,
                    Yield {
                        round: elect.round,
                        seen: self.voter.seen,
                        released: None,
                        clock: self.clock(now),
                    },
                );
            }
            Verdict::Object => None,
            Verdict::Refuse(refusal) => Some(refusal),
        };
        out.send(
            from,
            Ok {
                round: elect.round,
                seen: self.voter.seen,
                refusal,
            },
        );
    }
}
