//! A leader, which sends heartbeats round the ring until it hands over. The heartbeats come back to the leader.
//!
//! Decided here: a leader whose heartbeats do not come back begins an election, and a leader that was stalled for
//! longer than the other members wait gives up. A leader that steps down first lets its work end, then ends its
//! leadership, and only then nominates its successor. So no two agents work at the same time.

use super::{
    AgentId, Next, Out, Score, Term,
    core::Core,
    message::{Coordinator, LapMessage},
    state::{Leading, RingTimer},
};
use bully_core::{
    parts::{Due, Handover},
    protocol::{Event, LostReason, Time},
};

impl Leading {
    /// Begins to lead. If this agent already led in a lower term, `renewed` is that leadership.
    pub(super) fn begin(
        core: &mut Core,
        now: Time,
        term: Term,
        renewed: Option<Self>,
        out: &mut Out,
    ) -> Self {
        let span = core.config.detector().heartbeat;
        let silence = core.config.silence(core.size());
        out.set_timer(RingTimer::Heartbeat, span);
        out.set_timer(RingTimer::Silence, silence);
        let is_new = renewed.is_none();
        out.notify(if is_new {
            Event::Acquired { term }
        } else {
            Event::Renewed { term }
        });
        let mut leading = Self {
            term,
            // A step-down that has begun continues in the higher term.
            handover: renewed.and_then(|before| before.handover),
            beat: now.after(span),
            count: 0,
            home: now.after(silence),
        };
        core.end_cooldown(out);
        // Observers are informed only now, because members may follow another leader until the announcement has come
        // home.
        core.tell_observers(&core.announcement(term, 0), out);
        if is_new && core.me.score.is_none() {
            leading.drain(core, now, None, out); // this agent became ineligible while it announced itself
        }
        leading
    }

    /// Ends the leadership. The application learns of the end before any other agent.
    pub(super) fn end(&self, reason: LostReason, out: &mut Out) {
        let term = self.term;
        out.notify(Event::Lost { term, reason });
        for timer in [RingTimer::Heartbeat, RingTimer::Silence, RingTimer::Drain] {
            out.cancel_timer(timer);
        }
    }

    // ---- heartbeats -------------------------------------------------------------------------

    /// Sends a heartbeat now. Sends no heartbeat while this agent's announcement of a higher term goes round: the
    /// members that accepted the announcement accept no older term.
    pub(super) fn beat(&mut self, core: &Core, now: Time, announces: bool, out: &mut Out) -> Next {
        let span = core.config.detector().heartbeat;
        self.beat = now.after(span);
        out.set_timer(RingTimer::Heartbeat, span);
        if announces {
            return Next::Stay;
        }
        self.count = self.count.saturating_add(1);
        let heartbeat: Coordinator = core.announcement(self.term, self.count);
        core.tell_observers(&heartbeat, out);
        Next::Pass(LapMessage::Coordinator(heartbeat))
    }

    pub(super) fn on_heartbeat_due(
        &mut self,
        core: &Core,
        now: Time,
        announces: bool,
        out: &mut Out,
    ) -> Next {
        if now < self.beat {
            out.set_timer(RingTimer::Heartbeat, self.beat.since(now));
            return Next::Stay;
        }
        if now.since(self.beat) <= core.config.detector().detection {
            return self.beat(core, now, announces, out);
        }
        // This leader was stalled for longer than the other members wait, so they may follow a successor already. A
        // leader that steps down hands over now; any other leader loses the leadership and may ask for it again.
        match &self.handover {
            Some(handover) => Next::Resign(handover.to.clone()),
            None => Next::Lose(LostReason::Stalled),
        }
    }

    /// Notes that an announcement or a heartbeat of this leader has gone round the ring.
    pub(super) fn is_heard_round(&mut self, core: &Core, now: Time, out: &mut Out) {
        let silence = core.config.silence(core.size());
        self.home = now.after(silence);
        out.set_timer(RingTimer::Silence, silence);
    }

    /// Handles the end of the time in which a heartbeat should have come back. Perhaps a member follows another leader
    /// and stops the heartbeats, so this leader begins an election, which asks all members.
    pub(super) fn on_silence_due(
        &mut self,
        core: &Core,
        now: Time,
        takes_part: bool,
        out: &mut Out,
    ) -> Next {
        if now < self.home {
            out.set_timer(RingTimer::Silence, self.home.since(now));
            return Next::Stay;
        }
        self.is_heard_round(core, now, out); // the next silence has the same effect
        // An election that is under way already asks all members.
        if takes_part || core.is_alone() {
            return Next::Stay;
        }
        Next::Begin
    }

    // ---- hand-over --------------------------------------------------------------------------

    fn drain(&mut self, core: &Core, now: Time, to: Option<AgentId>, out: &mut Out) {
        let (to, limit) = (core.successor(to), core.config.drain);
        let handover = Handover::begin(now, self.term, to, limit, RingTimer::Drain, out);
        self.handover = Some(handover);
    }

    pub(super) fn on_step_down(
        &mut self,
        core: &Core,
        now: Time,
        to: Option<AgentId>,
        out: &mut Out,
    ) -> Next {
        if self.handover.is_some() {
            return Next::Ignore("it steps down already");
        }
        self.drain(core, now, to, out);
        Next::Stay
    }

    /// Sets the score. A member that outranks it will begin an election. Without a score this leader hands over.
    pub(super) fn set_score(
        &mut self,
        core: &Core,
        now: Time,
        score: Option<Score>,
        announces: bool,
        out: &mut Out,
    ) -> Next {
        if score.is_some() {
            return self.beat(core, now, announces, out);
        }
        if self.handover.is_none() {
            self.drain(core, now, None, out);
        }
        Next::Stay
    }

    pub(super) fn on_drained(&self) -> Next {
        match &self.handover {
            Some(handover) => Next::Resign(handover.to.clone()),
            None => Next::Ignore("it does not step down"),
        }
    }

    pub(super) fn on_drain_due(&self, now: Time, out: &mut Out) -> Next {
        match &self.handover {
            Some(handover) if handover.on_due(now, RingTimer::Drain, out) == Due::Later => {
                Next::Stay
            }
            _ => self.on_drained(),
        }
    }
}
