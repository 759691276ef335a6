//! The renewals of a leader's lease: the rest of the lease before a renewal, and the warning of late renewals.
//!
//! Not here: when a renewal counts as late ([`strain`](super::strain)).

use tracing::warn;

use crate::protocol::{Leaders, Time, View};

use super::{Finding, phase::Remaining, shared::SharedState, strain::Renewal};

impl SharedState {
    /// Returns the old and the new rest of the lease, if `view` extends a leadership that holds; otherwise, and without
    /// a lease, `None`.
    pub(super) fn renewal(&self, now: Time, view: &View) -> Option<Renewal> {
        let has_lease = matches!(self.leaders(), Leaders::PerTerm | Leaders::PerInstant);
        if !has_lease || view.leading.is_none() {
            return None;
        }
        let Remaining::For(left) = self.leadership.remaining(now) else {
            return None;
        };
        let renewed = view.valid_until.since(now);
        (renewed > left).then_some(Renewal { left, renewed })
    }

    pub(super) fn note_renewal(&self, renewal: Renewal, now: Time) {
        self.meter.renewed(renewal.left);
        if self.vitals().note_renewal(renewal, now) {
            let findings = self.diagnosis().findings;
            let is_it = |found: &&Finding| matches!(found, Finding::RenewsLate { .. });
            if let Some(found) = findings.iter().find(is_it) {
                warn!("{found}"); // the span of the step names the agent
            }
        }
    }
}
