//! A leadership that is being handed over: `Draining`, then `Drained`, then `Resign`.
//!
//! Decided here: the work of a leader has a limited time to end. A leader that steps down first informs its application
//! (`Draining`). It leads until the application reports that its work has ended (`Drained`) or the time has passed.
//! Only then does the leader inform the other agents (`Resign`), so no two agents work at the same time. Not here: the
//! messages of an election, and the choice of the successor
//! ([`Participant::successor`](super::Participant::successor)).

use std::time::Duration;

use crate::protocol::{AgentId, Effects, Event, Term, Time};

/// The end of a leadership, of which the application already knows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Handover {
    /// The named successor; `None` if the command names no successor.
    pub to: Option<AgentId>,
    /// Time at which the leadership ends even if the work has not ended.
    due: Time,
}

/// Result of the check whether a time has come, when a timer fires. A timer is only a hint: the clock decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// The time has come.
    Now,
    /// The timer fired early, or belongs to an earlier setting. It was set again.
    Later,
}

impl Due {
    /// Checks whether the time `due` has come. If it has not come, sets `timer` to the remaining time.
    pub fn check<M, T, D, A>(
        now: Time,
        due: Time,
        timer: T,
        out: &mut Effects<M, T, D, A>,
    ) -> Self {
        if now < due {
            out.set_timer(timer, due.since(now));
            Self::Later
        } else {
            Self::Now
        }
    }
}

impl Handover {
    /// Informs the application that its work must end within `limit`, and sets `timer` to the end of this time.
    pub fn begin<M, T, D, A>(
        now: Time,
        term: Term,
        to: Option<AgentId>,
        limit: Duration,
        timer: T,
        out: &mut Effects<M, T, D, A>,
    ) -> Self {
        // The application learns of the hand-over first, because the time for its work must not begin earlier.
        out.notify(Event::Draining {
            term,
            to: to.clone(),
        });
        out.set_timer(timer, limit);
        let due = now.after(limit);
        Self { to, due }
    }

    /// Checks whether the time for the work has passed. If it has not passed, sets `timer` to the remaining time.
    pub fn on_due<M, T, D, A>(&self, now: Time, timer: T, out: &mut Effects<M, T, D, A>) -> Due {
        Due::check(now, self.due, timer, out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{After, Effect};

    #[test]
    fn the_application_is_told_before_its_time_begins_to_run() {
        let mut out = Effects::<(), u8, ()>::default();
        let (now, limit) = (Time::from_millis(10), Duration::from_millis(50));
        let to = AgentId::new("b").ok();
        let handover = Handover::begin(now, Term(7), to.clone(), limit, 1, &mut out);
        let effects: Vec<_> = out.drain().collect();
        let term = Term(7);
        let expected = [
            Effect::Notify(Event::Draining { term, to }),
            Effect::SetTimer {
                timer: 1,
                after: After::from(limit),
            },
        ];
        assert_eq!(effects, expected);
        let early = Effect::SetTimer {
            timer: 1,
            after: After::from(Duration::from_millis(1)),
        };
        let at = Time::from_millis;
        assert_eq!(handover.on_due(at(59), 1, &mut out), Due::Later);
        assert_eq!(out.drain().collect::<Vec<_>>(), [early]);
        assert_eq!(handover.on_due(at(60), 1, &mut out), Due::Now);
        assert_eq!(out.drain().next(), None);
    }
}
