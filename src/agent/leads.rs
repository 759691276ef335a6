//! Who works under this agent's leadership, and whether that work has ended.
//!
//! Decided here, without a clock or a runtime: when a lead future may begin, and when the end of a
//! life is certain. A life is over for others only when nobody acts on its leadership any more.

use crate::protocol::{Incarnation, Term};

/// The books of one agent's leaderships.
#[derive(Debug, Default)]
pub(super) struct Leads {
    /// Numbers the leaderships: one that follows another without a gap has the same number.
    serial: u64,
    reign: Option<Reign>,
    /// The life of each lead future that runs.
    running: Vec<Incarnation>,
    /// A life that has ended while lead futures of it ran.
    unconfirmed: Option<Incarnation>,
    fate: Fate,
}

/// One leadership.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reign {
    pub(super) serial: u64,
    pub(super) incarnation: Incarnation,
    /// The newest term of it.
    pub(super) term: Term,
    pub(super) stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Working,
    /// The work has to end.
    Draining,
}

/// What becomes of the agent's place in the group when its life has ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Fate {
    /// Another life may follow.
    #[default]
    GoesOn,
    /// It was asked to leave; no other life shall follow.
    Leaves,
    /// It has left.
    Left,
    /// It ended for good, without having been asked.
    Retired,
}

impl Leads {
    /// A leadership begins; not after the agent's end, as `Tenure` sees to.
    pub(super) fn begin(&mut self, incarnation: Incarnation, term: Term) {
        self.serial += 1;
        self.reign = Some(Reign {
            serial: self.serial,
            incarnation,
            term,
            stage: Stage::Working,
        });
    }

    /// The leadership goes on in another term.
    pub(super) fn renew(&mut self, term: Term) {
        if let Some(reign) = &mut self.reign {
            reign.term = term;
        }
    }

    /// The work has to end.
    pub(super) fn drain(&mut self) {
        if let Some(reign) = &mut self.reign {
            reign.stage = Stage::Draining;
        }
    }

    /// The leadership is over.
    pub(super) fn end(&mut self) {
        self.reign = None;
    }

    /// A lead future begins to work, unless there is nothing to do, or it is `done` with this
    /// leadership.
    pub(super) fn enter(&mut self, done: Option<u64>) -> Option<Reign> {
        let fresh = |reign: &Reign| reign.stage == Stage::Working && Some(reign.serial) != done;
        let reign = self.reign.filter(fresh)?;
        self.running.push(reign.incarnation);
        Some(reign)
    }

    /// A lead future of that life has been dropped; names a life whose end is certain by that.
    pub(super) fn exit(&mut self, incarnation: Incarnation) -> Option<Incarnation> {
        if let Some(at) = self.running.iter().position(|life| *life == incarnation) {
            self.running.swap_remove(at);
        }
        let ended = self.unconfirmed?;
        if self.is_working(ended) {
            return None;
        }
        self.unconfirmed.take()
    }

    /// A life has ended; says whether that is certain already.
    pub(super) fn life_ended(&mut self, incarnation: Incarnation) -> bool {
        self.reign = None;
        let certain = !self.is_working(incarnation);
        if !certain {
            self.unconfirmed = Some(incarnation);
        }
        certain
    }

    /// The agent was asked to leave.
    pub(super) fn leave(&mut self) {
        if self.fate == Fate::GoesOn {
            self.fate = Fate::Leaves;
        }
    }

    /// No other life follows; `fate` says what for if it was not asked to leave.
    pub(super) fn finish(&mut self) {
        self.fate = match self.fate {
            Fate::GoesOn | Fate::Retired => Fate::Retired,
            Fate::Leaves | Fate::Left => Fate::Left,
        };
    }

    /// The present leadership.
    pub(super) fn reign(&self) -> Option<Reign> {
        self.reign
    }

    /// What becomes of the place.
    pub(super) fn fate(&self) -> Fate {
        self.fate
    }

    /// Whether no other life follows.
    pub(super) fn is_over(&self) -> bool {
        matches!(self.fate, Fate::Left | Fate::Retired)
    }

    /// Whether no lead future runs.
    pub(super) fn is_idle(&self) -> bool {
        self.running.is_empty()
    }

    fn is_working(&self, incarnation: Incarnation) -> bool {
        self.running.iter().any(|life| *life <= incarnation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: Incarnation = Incarnation(1);

    #[test]
    fn a_life_is_over_when_its_last_lead_future_is() {
        let mut leads = Leads::default();
        assert!(leads.enter(None).is_none(), "there is no leadership");
        leads.begin(FIRST, Term(1));
        let reign = leads.enter(None).unwrap();
        assert!(leads.enter(Some(reign.serial)).is_none(), "it is done");
        assert!(leads.enter(None).is_some(), "another one works too");
        assert!(!leads.life_ended(FIRST));
        assert!(leads.enter(None).is_none());
        assert_eq!(leads.exit(FIRST), None, "one is left");
        assert_eq!(leads.exit(FIRST), Some(FIRST));
        assert_eq!(leads.exit(FIRST), None, "said once");
    }

    #[test]
    fn an_end_without_lead_futures_is_certain() {
        let mut leads = Leads::default();
        leads.begin(FIRST, Term(1));
        leads.enter(None);
        leads.exit(FIRST);
        assert!(leads.life_ended(FIRST));
    }

    #[test]
    fn nobody_enters_while_it_drains_and_one_that_was_asked_has_left() {
        let mut leads = Leads::default();
        leads.begin(FIRST, Term(1));
        leads.drain();
        assert!(leads.enter(None).is_none());
        leads.leave();
        assert!(!leads.is_over());
        leads.finish();
        assert_eq!(leads.fate(), Fate::Left);
    }
}
