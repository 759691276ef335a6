//! A leader's decision on a change of the voters: the next list, or the reason for a refusal.
//!
//! Decided here: the list after a change, and the conditions under which the leader gives up its leadership for the new
//! list. Each refusal prevents a list that would make the group worse: its new voter was not heard, or its voters could
//! elect no agent.
//!
//! Not here: the steps of the change ([`change`](super::change), [`seal`](super::seal)).

use super::{QuorumConfig, core::Core, leader::Leading};
use crate::protocol::{AgentId, ChangeError, Changed, Decree, NewVoter, Time, VoterChange};

pub(super) enum Ruling {
    /// The list already has the change.
    Done(Changed),
    /// The leader has not led for long enough to refuse, because voters that it has not heard yet may be up.
    TooEarly,
    Begin(Box<Decree>),
}

impl Core {
    /// Decides on this change. Only a leader decides, because only a leader knows which voters are up.
    pub(super) fn rule(
        &self,
        now: Time,
        leading: &Leading,
        change: &VoterChange,
    ) -> Result<Ruling, ChangeError> {
        if self.config.diskless().is_some() {
            return Err(ChangeError::Diskless);
        }
        if self.config.has_done(change) {
            return Ok(Ruling::Done(self.config.changed(true)));
        }
        let (new, old) = change.parts();
        if let Some(id) = old.filter(|old| !self.config.voters.contains(old)) {
            return Err(ChangeError::NotAVoter { id: id.clone() });
        }
        if let Some(new) = new {
            let id = new.id.clone();
            if self.config.voters.contains(&id) {
                return Err(ChangeError::AlreadyAVoter { id });
            }
            // A new voter must have reported to this leader before (rule `enlist-before-vote`).
            if !self.me.is_up(&id) || !leading.is_heard(self, now, &id) {
                return Err(ChangeError::NotSeen { id });
            }
        }
        let known = self.voter.record.installed();
        let contact = |id: &AgentId| {
            let voter = known.and_then(|list| list.voters.iter().find(|voter| voter.id == *id));
            voter.and_then(|voter| voter.contact.clone())
        };
        let kept = self.config.voters.iter().filter(|id| Some(*id) != old);
        let kept = kept.map(|id| NewVoter {
            id: id.clone(),
            contact: contact(id),
        });
        let mut voters: Vec<NewVoter> = kept.chain(new.cloned()).collect();
        if voters.is_empty() {
            return Err(ChangeError::LastVoter);
        }
        voters.sort_by(|one, other| one.id.cmp(&other.id));
        let narrow = |n: Option<usize>| n.and_then(|n| u32::try_from(n).ok());
        let decree = Decree {
            epoch: self.config.epoch.saturating_add(1),
            voters,
            vote_quorum: narrow(self.config.vote_quorum),
            lease_quorum: narrow(self.config.lease_quorum),
        };
        self.config.check_decree(&decree)?;
        if let Some(missing) = self.missing_quorum(now, leading, &decree) {
            return if leading
                .supporters
                .are_new(now, self.config.timings.promise())
            {
                Ok(Ruling::TooEarly)
            } else {
                Err(missing)
            };
        }
        Ok(Ruling::Begin(Box::new(decree)))
    }

    /// Returns an error if too few voters are up. A quorum of the present voters has to decide the next list, and a
    /// quorum of the next voters has to elect by it. If one of the two quorums were not up, the leader would end its
    /// leadership, and the group could elect no other leader (rule `leave-a-quorum`).
    fn missing_quorum(&self, now: Time, leading: &Leading, next: &Decree) -> Option<ChangeError> {
        let is_there = |id: &&AgentId| {
            **id == self.me.id
                || leading.supporters.supports(id, now)
                || leading.is_heard(self, now, id)
        };
        let missing = |config: &QuorumConfig| {
            let heard = config.voters.iter().filter(is_there).count();
            // A leader needs both quorums, one to be elected and one for its lease, so the larger quorum counts.
            let needed = config.vote_quorum().max(config.lease_quorum());
            let count = |n| u32::try_from(n).unwrap_or(u32::MAX);
            let (heard, needed) = (count(heard), count(needed));
            (heard < needed).then_some(ChangeError::NoQuorum { heard, needed })
        };
        missing(&self.config).or_else(|| missing(&self.config.of(next)))
    }
}
