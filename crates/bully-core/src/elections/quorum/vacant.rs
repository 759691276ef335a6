//! The role of an agent that knows no leader: it waits for its own slot, or defers to another agent.
//!
//! Decided here: when such an agent campaigns. The highest-ranked voter campaigns first (rule `slot-by-rank`). An agent
//! that deferred to another agent waits until the other agent has had its chance.
//!
//! An agent that is not eligible never campaigns. It may still be the only agent that knows the list of its epoch, and
//! it sends no `Elect` that would show the list. So it sends the list as long as no agent leads (rule
//! `tell-while-vacant`).

use std::time::Duration;

use super::{
    Out,
    core::Core,
    state::{Certainty, Next, Predecessor, Start, State},
};
use crate::elections::timer::BullyTimer;
use crate::protocol::{After, Score, Time};

/// The state of a follower without a leader.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Vacant {
    /// Time at which this agent campaigns or, if it is not eligible, sends the list of its epoch; [`Time::MAX`] if it
    /// has no list to send.
    pub(super) due: Time,
    pub(super) posture: Posture,
    pub(super) before: Option<Predecessor>,
}

/// Whether a follower without a leader has deferred to another agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Posture {
    OwnSlot,
    Defers,
}

impl Vacant {
    /// The agent knows no leader, and has no slot yet.
    pub(super) const IDLE: Self = Self {
        due: Time::MAX,
        posture: Posture::OwnSlot,
        before: None,
    };

    /// Campaigns after `wait` and the agent's slot. An eligible agent campaigns at once if no other agent could be
    /// earlier.
    pub(super) fn own_slot(
        core: &Core,
        now: Time,
        wait: Duration,
        before: Option<Predecessor>,
        out: &mut Out,
    ) -> Result<State, Next> {
        let (slot, jitter) = core.slot(now, before.as_ref());
        let wait = wait.max(core.must_wait(now)).saturating_add(slot);
        let is_confirmed =
            before.as_ref().map(|before| before.certainty) == Some(Certainty::Confirmed);
        let is_first = wait.is_zero() && (is_confirmed || core.peers.is_empty());
        if is_first && core.me.eligible().is_some() {
            return Err(Next::Become(Start::Ask { before }));
        }
        let after = After::jittered(wait, jitter);
        Ok(Self::until(core, now, Posture::OwnSlot, after, before, out))
    }

    /// Schedules the next attempt after a failed attempt: after `retry` and the agent's slot, with a random part of a
    /// round that separates rivals. By the rule `soon-after-end`, the first such attempt after a confirmed end comes
    /// after a message delay, because by then every voter has learned of that end.
    pub(super) fn again(
        core: &Core,
        now: Time,
        retry: Duration,
        mut before: Option<Predecessor>,
        out: &mut Out,
    ) -> State {
        let round = core.config.timings.round();
        let (slot, _) = core.slot(now, before.as_ref());
        out.cancel_timer(BullyTimer::Round);
        if let Some(ended) = before.take_if(|before| before.may_ask_soon()) {
            let delay = core.config.timings.delay_bound();
            let after = After::jittered(delay.saturating_add(slot), delay);
            let before = Some(ended.asked_soon());
            return Self::until(core, now, Posture::OwnSlot, after, before, out);
        }
        let retry = match before.as_ref().map(|before| before.certainty) {
            // One round is enough, because a voter that refused for longer may not have known the confirmed end yet.
            Some(Certainty::Confirmed) => retry.min(round),
            Some(Certainty::Suspected) | None => retry,
        };
        let after = After::jittered(retry.saturating_add(slot), round);
        Self::until(core, now, Posture::OwnSlot, after, before, out)
    }

    /// Defers: the agent waits for the announcement of another agent, for the time W (`QuorumConfig::wait`).
    pub(super) fn defer(
        core: &mut Core,
        now: Time,
        before: Option<Predecessor>,
        out: &mut Out,
    ) -> State {
        // An agent that defers counts no more votes for itself (rule `late-vote-counts`).
        core.open_claim = None;
        out.cancel_timer(BullyTimer::Round);
        let after = After::jittered(core.config.wait(), core.config.timings.jitter());
        Self::until(core, now, Posture::Defers, after, before, out)
    }

    fn until(
        core: &Core,
        now: Time,
        posture: Posture,
        after: After,
        before: Option<Predecessor>,
        out: &mut Out,
    ) -> State {
        // An agent that is not eligible uses the timer to send the list of its epoch (rule `tell-while-vacant`).
        let after = if core.me.eligible().is_some() {
            Some(after)
        } else {
            core.tells_again_after().map(After::from)
        };
        let due = if let Some(after) = after {
            out.set_timer(BullyTimer::Election, after);
            now.after(after.min)
        } else {
            out.cancel_timer(BullyTimer::Election);
            Time::MAX
        };
        State::Vacant(Self {
            due,
            posture,
            before,
        })
    }

    pub(super) fn campaign(&mut self) -> Next {
        let before = self.before.take();
        Next::Become(Start::Ask { before })
    }

    pub(super) fn on_election_due(&mut self, core: &Core, now: Time, out: &mut Out) -> Next {
        if now >= self.due && core.me.eligible().is_some() {
            return self.campaign();
        }
        if now >= self.due {
            core.tell_all(out);
            let again = core.tells_again_after();
            self.due = again.map_or(Time::MAX, |again| now.after(again));
        }
        if self.due < Time::MAX {
            out.set_timer(BullyTimer::Election, self.due.since(now));
        }
        Next::Stay
    }

    /// Gives a new slot only to an agent that becomes eligible or stops being eligible. An agent whose score changes
    /// keeps its slot, and then asks with the new score.
    pub(super) fn on_set_score(before: Option<Score>, score: Option<Score>) -> Next {
        if before.is_some() && score.is_some() {
            return Next::Stay;
        }
        Next::own_slot(None)
    }
}
