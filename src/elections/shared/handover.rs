//! A leadership that is being handed over: `Draining`, then `Drained`, then `Resign`.
//!
//! Decided here: that the work of a leader has a limited time to end. A leader that steps down first
//! tells its application (`Draining`), goes on leading until the application says that its work has
//! ended (`Drained`) or the time is over, and only then says so to the others (`Resign`): so no two
//! agents work at the same time. Not here: what an election sends, and to whom it hands over
//! ([`Participant::successor`](super::Participant::successor)).

use std::time::Duration;

use crate::protocol::{AgentId, Effects, Event, Term, Time};

/// The end of a leadership that has been announced to the application.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::elections) struct Handover {
    /// The successor, if one is known.
    pub(in crate::elections) to: Option<AgentId>,
    /// The leadership ends at this time even if the work has not.
    due: Time,
}

/// Whether the time of a hand-over is up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::elections) enum Due {
    Now,
    /// A timer came early by that much, or belongs to an earlier hand-over.
    In(Duration),
}

impl Handover {
    /// Tells the application that its work must end within `limit`, and sets `timer` to that.
    pub(in crate::elections) fn begin<M, T, D>(
        now: Time,
        term: Term,
        to: Option<AgentId>,
        limit: Duration,
        timer: T,
        out: &mut Effects<M, T, D>,
    ) -> Self {
        // Told first: the time for the work must not run before the application knows of it.
        out.notify(Event::Draining {
            term,
            to: to.clone(),
        });
        out.set_timer(timer, limit);
        let due = now.after(limit);
        Self { to, due }
    }

    /// Whether the work has had its time.
    pub(in crate::elections) fn due(&self, now: Time) -> Due {
        if now < self.due {
            Due::In(self.due.since(now))
        } else {
            Due::Now
        }
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
        let early = Duration::from_millis(1);
        assert_eq!(handover.due(Time::from_millis(59)), Due::In(early));
        assert_eq!(handover.due(Time::from_millis(60)), Due::Now);
    }
}
