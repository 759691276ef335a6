//! The running lead futures (the work of [`lead`](super::ElectionHandle::lead)) of one agent, and whether all futures
//! of an incarnation have ended.
//!
//! Decided here, without a clock or a runtime: when the end of an incarnation is confirmed. For other agents it has
//! ended only when no lead future acts on its leadership any more.

use crate::protocol::Incarnation;

#[derive(Debug, Default)]
pub(super) struct LeadFutures {
    /// For each lead future that runs: the incarnation under whose leadership it works.
    running: Vec<Incarnation>,
    /// An incarnation that ended while its lead futures ran, so that its end is not confirmed yet.
    unconfirmed: Option<Incarnation>,
}

impl LeadFutures {
    /// Notes that a lead future begins to work.
    pub(super) fn enter(&mut self, incarnation: Incarnation) {
        self.running.push(incarnation);
    }

    /// Notes that a lead future of `incarnation` was dropped. Returns the incarnation whose end this drop confirms, if
    /// any.
    pub(super) fn exit(&mut self, incarnation: Incarnation) -> Option<Incarnation> {
        if let Some(at) = self.running.iter().position(|of| *of == incarnation) {
            self.running.swap_remove(at);
        }
        let ended = self.unconfirmed?;
        if self.is_working(ended) {
            return None;
        }
        self.unconfirmed.take()
    }

    /// Notes that an incarnation has ended; returns whether the end is confirmed already.
    pub(super) fn incarnation_ended(&mut self, incarnation: Incarnation) -> bool {
        let is_confirmed = !self.is_working(incarnation);
        if !is_confirmed {
            // If an earlier incarnation is unconfirmed too, both are confirmed together: when the work of both has
            // ended.
            self.unconfirmed = Some(incarnation);
        }
        is_confirmed
    }

    pub(super) fn is_empty(&self) -> bool {
        self.running.is_empty()
    }

    /// Returns whether work of `incarnation`, or of an earlier incarnation, still runs.
    fn is_working(&self, incarnation: Incarnation) -> bool {
        self.running.iter().any(|of| *of <= incarnation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_confirmed_once_when_the_last_lead_future_is_dropped() {
        let (mut futures, first) = (LeadFutures::default(), Incarnation(1));
        futures.enter(first);
        futures.enter(first);
        assert!(!futures.incarnation_ended(first));
        let exits = [(); 3].map(|()| futures.exit(first));
        assert_eq!(exits, [None, Some(first), None]);
        assert!(futures.incarnation_ended(first), "none runs");
    }
}
