//! Claims: how a better agent asks a live holder for the lease, and how an agent reports that it has seen a higher
//! term.
//!
//! Decided here: when an agent writes a claim, which claim counts, and when the holder acts on it. The claim is a
//! second record, so it never makes a renewal fail. Not here: the hand-over itself ([`leader`](super::leader)).

use std::time::Duration;

use super::{LeaseConfig, Preemption};
use crate::elections::message::{
    record::{ClaimRecord, Nonce, RecordError},
    register::{Cell, Version},
};
use crate::protocol::{AgentId, Score, Term, Time};

/// The claim as this agent last saw it, and the times that belong to it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Claims {
    seen: Option<SeenClaim>,
    /// Time of this agent's own last claim.
    written: Option<Time>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct SeenClaim {
    version: Version,
    content: Result<Option<ClaimRecord>, RecordError>,
    /// Time at which this agent last saw the claim change.
    changed: Time,
    /// Time since which the claim has been renewed without a gap; `None` before this agent has seen a renewal.
    renewed_since: Option<Time>,
    first: Time,
}

impl Claims {
    pub(super) fn observe(&mut self, cell: Cell<ClaimRecord>, now: Time, config: &LeaseConfig) {
        let Cell { version, content } = cell;
        let Some(seen) = &mut self.seen else {
            self.seen = Some(SeenClaim {
                version,
                content,
                changed: now,
                renewed_since: None,
                first: now,
            });
            return;
        };
        if seen.version == version && seen.content == content {
            return;
        }
        let is_same_agent = match (&seen.content, &content) {
            (Ok(Some(old)), Ok(Some(new))) => {
                (&old.nonce.id, old.nonce.incarnation) == (&new.nonce.id, new.nonce.incarnation)
            }
            _ => false,
        };
        let goes_on = is_same_agent && now.since(seen.changed) <= config.claim_lasts();
        if goes_on {
            // Only a change shows that an agent renews the claim. The claim that this agent saw first may have been
            // written at any time before.
            seen.renewed_since.get_or_insert(seen.first);
        } else {
            (seen.renewed_since, seen.first) = (None, now);
        }
        (seen.version, seen.content, seen.changed) = (version, content, now);
    }

    /// Returns the claim, if this agent saw it change within the last [`LeaseConfig::claim_lasts`]; an older claim
    /// does not count.
    fn fresh(&self, now: Time, config: &LeaseConfig) -> Option<&ClaimRecord> {
        let seen = self.seen.as_ref()?;
        let is_fresh = now.since(seen.changed) <= config.claim_lasts();
        seen.content.as_ref().ok()?.as_ref().filter(|_| is_fresh)
    }

    /// Returns the nonce of the agent that claims the lease, if it is not this agent, and its score. A claim without a
    /// score only reports a term.
    pub(super) fn claimant(
        &self,
        now: Time,
        me: &AgentId,
        config: &LeaseConfig,
    ) -> Option<(&Nonce, Score)> {
        let claim = self.fresh(now, config)?;
        let score = claim.score?;
        (claim.nonce.id != *me).then_some((&claim.nonce, score))
    }

    /// Returns the agent to which the holder hands over, and the time from which [`LeaseConfig::preemption`] allows it;
    /// `None` without a fresh claim of an agent that is better than the holder (rule `heed-the-claim`).
    pub(super) fn heeded(
        &self,
        now: Time,
        holder: (Score, &AgentId),
        config: &LeaseConfig,
    ) -> Option<(AgentId, Time)> {
        let claim = self.fresh(now, config)?;
        let since = self.seen.as_ref()?.renewed_since?;
        let claimant = (claim.score?, &claim.nonce.id);
        let after = match config.preemption {
            Preemption::Immediately => Duration::ZERO,
            Preemption::After(after) => after,
            Preemption::Never => return None,
        };
        let due = since.after(after);
        config
            .is_better(claimant, holder)
            .then(|| (claim.nonce.id.clone(), due))
    }

    /// Returns the version that this agent's claim replaces; `None` if it writes no claim now (rule `claim-if-better`).
    pub(super) fn to_write(
        &self,
        now: Time,
        me: (Score, &AgentId),
        holder: (Score, &AgentId),
        config: &LeaseConfig,
    ) -> Option<&Version> {
        let seen = self.seen.as_ref()?;
        // An agent writes at most one claim in each renewal interval H, because the holder reads the claim only once in
        // each interval.
        let is_due = self
            .written
            .is_none_or(|written| now.since(written) >= config.heartbeat());
        let is_first = self
            .claimant(now, me.1, config)
            .is_none_or(|(nonce, score)| me > (score, &nonce.id));
        let asks = config.preemption != Preemption::Never && config.is_better(me, holder);
        (asks && is_due && is_first && seen.content.is_ok()).then_some(&seen.version)
    }

    /// Returns the version that this agent's report of a higher term replaces; `None` if a claim already contains that
    /// term, or if this agent has just written a claim (rule `exceed-what-was-seen`).
    pub(super) fn to_object(
        &self,
        now: Time,
        highest: Term,
        config: &LeaseConfig,
    ) -> Option<&Version> {
        let seen = self.seen.as_ref()?;
        let is_due = self
            .written
            .is_none_or(|written| now.since(written) >= config.heartbeat());
        let said = seen.content.as_ref().ok()?.as_ref();
        let is_said = said.is_some_and(|claim| claim.seen >= highest);
        (is_due && !is_said).then_some(&seen.version)
    }

    /// Returns the highest term that the present claim reports; `None` without a claim.
    pub(super) fn highest(&self) -> Option<Term> {
        let claim = self.seen.as_ref()?.content.as_ref().ok()?.as_ref();
        claim.map(|claim| claim.seen)
    }

    pub(super) const fn note_written(&mut self, now: Time) {
        self.written = Some(now);
    }

    pub(super) fn applied(&mut self, record: ClaimRecord, version: Version, now: Time) {
        self.seen = Some(SeenClaim {
            version,
            content: Ok(Some(record)),
            changed: now,
            renewed_since: None,
            first: now,
        });
    }
}

impl LeaseConfig {
    /// Returns whether `one` outranks `than`, by more than the margin if the configuration has a margin.
    pub(super) fn is_better(&self, one: (Score, &AgentId), than: (Score, &AgentId)) -> bool {
        let margin = self.margin;
        one > than && margin.is_none_or(|margin| one.0.exceeds(than.0, margin))
    }
}
