//! Derives the findings from the facts: one pure function, without a clock or a runtime.
//!
//! Decided here: the conditions of most findings. Not here: where the facts come from, the conditions of the other
//! findings (`mod.rs` names their files), and the words (`sentence.rs`).

use std::{cmp::Ordering, sync::Arc, time::Duration};

use crate::{
    group::{PeerReport, ReachableMember},
    protocol::{AgentId, Leader, MemberKind, Preemption, Requirements, Role, Score, Time},
    register::keeper::StoreState,
};

use super::{Finding, NotLeading, VoterCount};
use crate::agent::{
    Lifecycle, Offers, Status, assumptions::Assumptions, vitals::VitalSigns, work::has_to_work,
};

/// All facts about an agent at one moment.
#[derive(Clone, Debug)]
pub(in crate::agent) struct Facts {
    pub(in crate::agent) id: AgentId,
    pub(in crate::agent) now: Time,
    pub(in crate::agent) status: Status,
    pub(in crate::agent) score: Option<Score>,
    pub(in crate::agent) assumed: Assumptions,
    pub(in crate::agent) signs: VitalSigns,
    /// Time at which the agent last did something; `None` before its first step.
    pub(in crate::agent) last_step: Option<Time>,
    pub(in crate::agent) requirements: Option<Requirements>,
    /// The voters that the agent's configuration lists, if it lists any.
    pub(in crate::agent) configured: Option<Arc<[AgentId]>>,
    pub(in crate::agent) members: Vec<ReachableMember>,
    pub(in crate::agent) peers: Vec<PeerReport>,
    pub(in crate::agent) offers: Offers,
    /// The name and the state of the store of the lease, if the lease is in a store.
    pub(in crate::agent) register: Option<(String, StoreState)>,
}

impl Facts {
    /// Returns the findings, the worst finding first.
    pub(super) fn judge(&self) -> Vec<Finding> {
        let mut found = Vec::new();
        self.judge_agent(&mut found);
        found.extend(self.work());
        if let Some(schedules) = &self.signs.schedules {
            schedules.judge(&mut found);
        }
        self.judge_register(&mut found);
        self.judge_peers(&mut found);
        self.judge_timings(&mut found);
        self.judge_voters(&mut found);
        self.judge_lists(&mut found);
        match &self.status.leader {
            Some(leader) => self.judge_leader(leader, &mut found),
            None => self.judge_vacancy(&mut found),
        }
        found.sort_by_key(Finding::order);
        found
    }

    /// Returns the numbers of reachable and of needed voters; `None` while the rules of the group are unknown.
    pub(super) fn voters(&self) -> Option<VoterCount> {
        let requirements = self.requirements.as_ref()?;
        let (all, needed) = match requirements.voters {
            Some(electorate) => (electorate.voters, electorate.vote_quorum),
            // In a group without a list of voters, any side of a partition elects a leader: one voter is enough.
            None => (count(self.voters_known().count()), 1),
        };
        let reachable = self.voters_known().filter(|known| known.is_reachable);
        Some(VoterCount {
            reachable: count(reachable.count()),
            all,
            needed,
        })
    }

    /// Returns the members that vote.
    fn voters_known(&self) -> impl Iterator<Item = &ReachableMember> {
        self.members.iter().filter(|known| self.votes(known))
    }

    fn votes(&self, known: &ReachableMember) -> bool {
        known.member.is_voter()
            && self
                .names()
                .is_none_or(|names| names.contains(&known.member.id))
    }

    /// Returns the names of the voters, if the group has a list of voters.
    pub(super) fn names(&self) -> Option<&[AgentId]> {
        self.requirements.as_ref()?.names.as_deref()
    }

    /// Returns the other voters that cannot be reached. The end of this agent itself has its own finding.
    fn missing(&self) -> Vec<AgentId> {
        let is_here = |id: &AgentId| {
            let mut reachable = self.members.iter().filter(|known| known.is_reachable);
            reachable.any(|known| known.member.id == *id)
        };
        match self.names() {
            Some(names) => {
                let others = names.iter().filter(|id| **id != self.id);
                others.filter(|id| !is_here(id)).cloned().collect()
            }
            None => self
                .voters_known()
                .filter(|known| !known.is_reachable && known.member.id != self.id)
                .map(|known| known.member.id.clone())
                .collect(),
        }
    }

    fn judge_agent(&self, found: &mut Vec<Finding>) {
        match self.status.lifecycle {
            Lifecycle::Ended => found.push(Finding::Ended),
            Lifecycle::Down => found.push(Finding::Down),
            Lifecycle::Running => self.judge_progress(found),
        }
        if let Some(failure) = &self.signs.store_failure {
            found.push(Finding::StoreFails {
                reason: failure.reason.clone(),
                since: self.now.since(failure.since),
                is_tried_again: failure.is_tried_again,
            });
        }
        self.judge_records(found);
        if self.signs.is_clock_slow {
            found.push(Finding::ClockIsSlow);
        }
        self.judge_recovery(found);
        if self.assumed.kind == MemberKind::Observer {
            found.push(Finding::Observer);
        } else if let Some(epoch) = self.learns() {
            found.push(Finding::Learner { epoch });
        } else if self.status.tie_broken {
            found.push(Finding::TieBroken);
        } else if self.score.is_none() {
            found.push(Finding::NoScore);
        }
    }

    /// Returns the epoch of the list of voters if this agent is a learner: it has a store, and the list does not name
    /// it.
    fn learns(&self) -> Option<u64> {
        let requirements = self.requirements.as_ref()?;
        let names = requirements.names.as_ref()?;
        let is_behind = self.epoch().is_some_and(|mine| mine < requirements.epoch);
        (!is_behind && !names.contains(&self.id)).then_some(requirements.epoch)
    }

    /// Checks that the agent makes progress, if it should run.
    fn judge_progress(&self, found: &mut Vec<Finding>) {
        let saving = self.signs.saving_since.map(|at| self.now.since(at));
        if let Some(since) = saving.filter(|since| *since >= self.assumed.patience) {
            return found.push(Finding::StoreIsSlow { since });
        }
        let waits = self.signs.waits_for_store();
        // Without a failure detector an agent that follows a leader sets no timers, so its silence proves nothing.
        let has_timers = !waits && (self.assumed.has_detector() || self.status.leader.is_none());
        let silent = self.last_step.map(|at| self.now.since(at));
        let longest = self.assumed.patience.saturating_add(HANGS);
        if let Some(silent_for) = silent.filter(|silent| has_timers && *silent >= longest) {
            found.push(Finding::Hangs { silent_for });
        }
    }

    fn judge_peers(&self, found: &mut Vec<Finding>) {
        for peer in &self.peers {
            if let Some((theirs, mine)) = peer.mismatch.clone() {
                found.push(Finding::RulesDiffer {
                    node: peer.node.clone(),
                    theirs,
                    mine,
                });
            }
            found.extend(peer.refused.iter().map(|agent| Finding::AgentNameTwice {
                node: peer.node.clone(),
                agent: agent.clone(),
            }));
            if let Some(since) = peer.unlinked_for {
                found.push(unlinked(peer, since));
                continue;
            }
            let node = peer.node.clone();
            if peer.has_twin {
                found.push(Finding::NodeNameTwice {
                    node: node.clone(),
                    error: EARLIER.to_owned(),
                });
            }
            if peer.is_contested {
                found.push(Finding::PeerNameTwice { node: node.clone() });
            }
            if peer.is_clock_ahead {
                found.push(Finding::ClockAhead { node: node.clone() });
            }
            // A host may have agents in only some of the groups. So a host without this group is not a fault if a
            // leader is known and the host shares another group.
            if peer.lacks_group && (self.status.leader.is_none() || peer.shares_no_group) {
                let others = peer.other_groups.clone();
                found.push(Finding::PeerLacksGroup { node, others });
            }
        }
    }

    fn judge_voters(&self, found: &mut Vec<Finding>) {
        let Some(voters) = self.voters() else { return };
        let missing = self.missing();
        // If this agent has ended and no other voter is missing, its end is the whole cause, and has its own finding.
        let has_ended = self.status.lifecycle != Lifecycle::Running && missing.is_empty();
        if voters.reachable < voters.needed && !has_ended {
            found.push(Finding::FewVoters {
                reachable: voters.reachable,
                all: voters.all,
                needed: voters.needed,
                missing,
            });
        } else if !missing.is_empty() {
            found.push(Finding::VotersAway { missing });
        }
        if self.names().is_some() && voters.all > 1 && voters.all.is_multiple_of(2) {
            found.push(Finding::EvenVoters { all: voters.all });
        }
        let is_eligible =
            |known: &ReachableMember| known.is_reachable && known.member.score.is_some();
        if voters.reachable > 0
            && !self.may_store_know_another()
            && !self.voters_known().any(is_eligible)
        {
            found.push(Finding::NoneEligible);
        }
    }

    /// Checks which list of voters is in use, and whether it is being changed.
    fn judge_lists(&self, found: &mut Vec<Finding>) {
        let Some(requirements) = &self.requirements else {
            return;
        };
        let mine = self.epoch().unwrap_or(requirements.epoch);
        self.judge_epochs(mine, found);
        let signs = &self.signs;
        let asked = signs.asked.as_ref().map(|asked| asked.since);
        let began = signs
            .changing_since
            .as_deref()
            .copied()
            .into_iter()
            .chain(asked)
            .min();
        if let Some(at) = began {
            found.push(Finding::VotersChange {
                epoch: signs.prospects.get().next_epoch,
                is_asked_here: asked.is_some(),
                since: self.now.since(at),
                refused: signs.asked.as_ref().and_then(|asked| asked.refused.clone()),
            });
        }
        // An agent in an earlier epoch still uses its own list, so that list is not compared with the present list. An
        // agent that reaches too few voters cannot know whether they have decided a later list, perhaps one without
        // this agent.
        let is_behind = mine < requirements.epoch;
        let reaches = self
            .voters()
            .is_some_and(|voters| voters.reachable >= voters.needed);
        let listed = requirements
            .names
            .as_ref()
            .filter(|_| !is_behind && reaches);
        if let (Some(configured), Some(names)) = (&self.configured, listed) {
            let is_in = |names: &[AgentId], id: &AgentId| names.contains(id);
            let is_same =
                configured.len() == names.len() && configured.iter().all(|id| is_in(names, id));
            if !is_same {
                found.push(Finding::ConfigurationOlder {
                    epoch: mine,
                    voters: names.to_vec(),
                });
            }
        }
    }

    /// Finds the nodes and agents that are in another epoch than this agent.
    fn judge_epochs(&self, mine: u64, found: &mut Vec<Finding>) {
        let differs = |node: String, theirs: u64| match theirs.cmp(&mine) {
            Ordering::Greater => Some(Finding::ListOlder { node, theirs, mine }),
            Ordering::Less => Some(Finding::OtherListOlder { node, theirs, mine }),
            Ordering::Equal => None,
        };
        // A peer whose agents cannot learn of a new epoch is already reported as a peer with other rules (`mismatch`).
        // The epoch of a peer without a link may be out of date. So both are left out here.
        let says = |peer: &&PeerReport| peer.mismatch.is_none() && peer.unlinked_for.is_none();
        let peers = self.peers.iter().filter(says);
        found.extend(peers.filter_map(|peer| {
            let theirs = peer.epoch?;
            // A node with an earlier epoch is reported only if it still has an agent. A node with a later epoch is
            // always reported, because this agent's epoch has ended.
            let is_heard = theirs > mine || self.has_agent_at(&peer.node);
            is_heard
                .then(|| differs(peer.node.clone(), theirs))
                .flatten()
        }));
        let here = self.members.iter().filter(|known| known.is_reachable);
        let apart = here.filter_map(|known| differs(known.member.id.to_string(), known.epoch?));
        found.extend(apart.take(A_FEW));
    }

    fn has_agent_at(&self, node: &str) -> bool {
        let mut reachable = self.members.iter().filter(|known| known.is_reachable);
        reachable.any(|known| known.node.as_deref() == Some(node))
    }

    /// Returns the epoch of this agent, which may be earlier than the epoch of the group in this process.
    fn epoch(&self) -> Option<u64> {
        let mut members = self.members.iter();
        members.find(|known| known.member.id == self.id)?.epoch
    }

    fn judge_vacancy(&self, found: &mut Vec<Finding>) {
        if self.status.lifecycle != Lifecycle::Running {
            return;
        }
        let prospects = self.signs.prospects.get();
        if let Some(left) = self.left(prospects.cooldown_until) {
            found.push(Finding::CoolsDown { left });
        } else if prospects.recovers.is_some() {
            // An agent that recovers has no slot (its rank-staggered wait) yet, so it reports only the recovery.
        } else if let Some(left) = self.left(prospects.waits_until) {
            found.push(Finding::Waits { left });
        }
        match (self.last_step, self.status.role) {
            (None, _) => found.push(Finding::Starting),
            (Some(_), role @ (Role::Candidate | Role::Waiting | Role::Leader)) => {
                found.push(Finding::ElectionUnderWay { role });
            }
            (Some(_), Role::Follower) if !self.assumed.has_detector() => {
                if self.assumed.timings.is_some() {
                    found.push(Finding::NotAsked);
                }
            }
            (Some(_), Role::Follower) => {}
        }
    }

    fn judge_leader(&self, leader: &Leader, found: &mut Vec<Finding>) {
        let id = &leader.id;
        let known = self.members.iter().find(|known| known.member.id == *id);
        if self.status.draining {
            found.push(Finding::Drains);
        }
        let is_reachable = known.is_some_and(|known| known.is_reachable);
        if let Some(finding) = self.holder(id, is_reachable) {
            return found.push(finding);
        }
        // With a lease the store shows the leader, so no link is needed.
        if !is_reachable && self.register.is_none() {
            return found.push(Finding::LeaderUnreachable { leader: id.clone() });
        }
        // In an election of the application, another rule than the rank may choose the leader.
        let has_ranks = self.offers.is_by_rank || self.signs.prospects.get().preemption.is_some();
        // A leader that has withdrawn its score leads on for a while, and cannot be compared with other members.
        let ranked = known.filter(|_| is_reachable && has_ranks);
        let Some(score) = ranked.and_then(|known| known.member.score) else {
            return;
        };
        let above = |known: &&ReachableMember| known.member.outranks(score, id);
        let above: Vec<_> = self.voters_known().filter(above).collect();
        if !above.iter().any(|known| known.is_reachable) {
            found.push(Finding::HighestLeads { leader: id.clone() });
        }
        for known in above.into_iter().take(A_FEW) {
            found.push(Finding::Outranked {
                leader: id.clone(),
                by: known.member.id.clone(),
                because: self.why_not(known, id),
            });
        }
    }

    /// Returns the reason why a member that ranks above the leader does not lead.
    fn why_not(&self, above: &ReachableMember, leader: &AgentId) -> NotLeading {
        if !above.is_reachable {
            return NotLeading::Unreachable;
        }
        let prospects = self.signs.prospects.get();
        let is_me = above.member.id == self.id;
        if let Some(left) = self.left(prospects.cooldown_until).filter(|_| is_me) {
            return NotLeading::CoolsDown { left };
        }
        // Only the leader, and the member that ranks above it, know when that member takes over.
        let knows = is_me || *leader == self.id;
        if let Some(left) = self.left(prospects.takeover_at).filter(|_| knows) {
            return NotLeading::TakesOver { left };
        }
        let voters = self.voters();
        if voters.is_some_and(|voters| voters.reachable < voters.needed) {
            return NotLeading::NoMajority;
        }
        match prospects.preemption {
            Some(Preemption::Never) => NotLeading::Never,
            Some(Preemption::Immediately | Preemption::After(_)) | None => NotLeading::Unknown,
        }
    }

    fn work(&self) -> Option<Finding> {
        let leads = has_to_work(&self.status);
        self.signs.work.as_ref()?.judge(leads, self.now)
    }

    /// Returns the time from now to `until`; `None` if it is zero, or if `until` is `None`.
    pub(super) fn left(&self, until: Option<Time>) -> Option<Duration> {
        let left = until?.since(self.now);
        (!left.is_zero()).then_some(left)
    }
}

/// Text of a finding: a peer that is linked to this process refuses an earlier process with the same node name.
const EARLIER: &str = "it refuses an earlier process of that name, which still runs";

fn unlinked(peer: &PeerReport, since: Duration) -> Finding {
    let node = peer.node.clone();
    match peer.last_error.clone() {
        Some(error) if peer.is_name_disputed => Finding::NodeNameTwice { node, error },
        _ if peer.is_contested => Finding::PeerNameTwice { node },
        error => Finding::PeerUnlinked {
            node,
            address: peer.address.clone(),
            error,
            advice: peer.advice,
            since,
        },
    }
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// Time, in addition to the longest election, after which a silent agent is considered to hang. While it knows no
/// leader, an agent does something at least every ten seconds; five seconds more are a chosen margin.
const HANGS: Duration = Duration::from_secs(15);

/// Largest number of members above the leader, and of nodes in other epochs, that a diagnosis reports.
const A_FEW: usize = 5;
