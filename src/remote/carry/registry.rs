//! What this side made of a node's rosters: which of its agents are members here.
//!
//! Decided here: how the rosters of another host change a group. An end that is confirmed there is
//! confirmed here; that of a node is suspected. A name that another agent has is refused and
//! kept in mind: when it becomes free, its owner gets it. All that one roster says of a group is one
//! step of the group, and a group that begins anew costs nothing until it is known which agents are gone.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use crate::{
    group::{Update, companion_of},
    protocol::{AgentId, Incarnation, Member, Presence, Time},
    remote::{Limits, LinkId, NodeIncarnation, RosterChange},
};

use super::{Carried, GroupSink, Lost, NodeRoute, Outbox};

/// The agents of one node, in all groups. They outlast the links to it.
#[derive(Debug)]
pub(crate) struct PeerAgents {
    /// The latest incarnation of the node that was ever linked.
    pub(crate) latest: Option<NodeIncarnation>,
    /// The incarnation that the agents belong to.
    incarnation: Option<NodeIncarnation>,
    /// The incarnation whose end its sentinel told: nothing that is still on its way from it counts.
    told: Option<NodeIncarnation>,
    /// The link whose rosters count: the newest.
    link: Option<LinkId>,
    /// When the last one was lost, or the peer was added, by the bridge's clock.
    lost: Time,
    pub(crate) outbox: Arc<Outbox>,
    groups: Vec<GroupAgents>,
    /// The node refuses this process, since it knows a later one of its name.
    disowns: bool,
    /// Whether an agent was refused: no reader needs the lock to learn that none was.
    refusals: Arc<AtomicBool>,
}

/// The agents of one node in one group.
#[derive(Debug)]
struct GroupAgents {
    sink: Arc<GroupSink>,
    route: Arc<dyn NodeRoute>,
    members: BTreeMap<AgentId, KnownAgent>,
    /// Another agent has the name.
    refused: BTreeMap<AgentId, Member>,
    /// How often the group has begun anew.
    round: u64,
    /// Whether they are counted in the group that this one is the companion of.
    is_companion: bool,
}

#[derive(Clone, Copy, Debug)]
struct KnownAgent {
    incarnation: Option<Incarnation>,
    /// The incarnation of the node that named it last.
    #[cfg_attr(
        not(feature = "sentinel"),
        allow(dead_code, reason = "only sentinels ask for it")
    )]
    of: Option<NodeIncarnation>,
    /// When it was last named: before this round, it is in doubt.
    round: u64,
}

impl PeerAgents {
    /// Of the node `node`, in these groups; `lost` makes the callback for names that are lost in one.
    pub(crate) fn new(
        node: &str,
        carried: &[Arc<dyn Carried>],
        limits: &Limits,
        now: Time,
        lost: impl Fn(usize) -> Lost,
    ) -> Self {
        let outbox = Arc::new(Outbox::new(limits));
        let table = |(group, carried): (u32, &Arc<dyn Carried>)| {
            let lost = lost(usize::try_from(group).unwrap_or(usize::MAX));
            let sink = Arc::new(GroupSink::new(group, Arc::clone(&outbox), lost));
            let route = carried.route(node, Arc::clone(&sink));
            GroupAgents {
                sink,
                route,
                members: BTreeMap::new(),
                refused: BTreeMap::new(),
                round: 0,
                is_companion: companion_of(carried.name()).is_some(),
            }
        };
        let groups = (0u32..).zip(carried).map(table).collect();
        Self {
            latest: None,
            incarnation: None,
            told: None,
            link: None,
            lost: now,
            outbox,
            groups,
            disowns: false,
            refusals: Arc::default(),
        }
    }

    /// The node's routes into the groups.
    pub(crate) fn routes(&self) -> Vec<Arc<dyn NodeRoute>> {
        let routes = self.groups.iter();
        routes.map(|table| Arc::clone(&table.route)).collect()
    }

    /// Applies what changed in one group; returns the agents whose names were refused.
    pub(crate) fn apply(&mut self, link: LinkId, change: RosterChange) -> Vec<AgentId> {
        let is_present = self.counts(link);
        let of = self.latest;
        let Some(table) = self.groups.get_mut(change.group).filter(|_| is_present) else {
            return Vec::new();
        };
        if change.is_opening {
            table.doubt();
        }
        let left = change.left.into_iter().map(|(_, id)| id);
        let ended = left.filter_map(|id| {
            // An agent that was refused is no member: the name is another node's, and stays.
            let known = table.ended(&id)?;
            Some(Update::Left(id, known.incarnation))
        });
        let mut updates: Vec<Update> = ended.collect();
        let members = change.members.into_iter().map(|(_, member)| member);
        updates.extend(members.map(|member| table.known(member, of)));
        let refused = table.tell(updates);
        // After the members: the leader may be one that has just come.
        if let Some(leader) = change.leader {
            table.route.note_leader(leader);
        }
        self.note_refusals();
        refused
    }

    /// All groups have begun anew over this link: an agent that was not named is gone. The end is
    /// confirmed if the incarnation is the one that named it before.
    pub(crate) fn sweep(&mut self, link: LinkId) {
        if !self.counts(link) {
            return;
        }
        let is_same = self.incarnation == self.latest;
        // Not when the link began: until now the members were those of the former incarnation.
        self.incarnation = self.latest;
        for table in &mut self.groups {
            let round = table.round;
            let doubtful = table
                .members
                .iter()
                .filter(|(_, known)| known.round < round);
            let doubtful: Vec<_> = doubtful.map(|(id, _)| id.clone()).collect();
            let gone = doubtful.into_iter().filter_map(|id| {
                let known = table.ended(&id)?;
                Some(Update::Left(id, known.incarnation.filter(|_| is_same)))
            });
            let gone = gone.collect();
            table.tell(gone);
        }
    }

    /// Whether what that link says counts.
    fn counts(&self, link: LinkId) -> bool {
        let is_told = self.told.is_some() && self.told == self.latest;
        self.link == Some(link) && !is_told
    }

    /// The peer is none any more: nothing that its links may still say counts.
    pub(crate) fn close(&mut self) {
        self.outbox.close();
        self.unlink(self.lost);
    }

    /// A link is ready: every group begins anew, and only this link counts from now on.
    pub(crate) fn begin(&mut self, incarnation: NodeIncarnation, link: LinkId) {
        if self.latest.is_some_and(|latest| latest > incarnation) {
            // Its former number was forgotten: reports of its agents, numbered anew, would seem stale.
            (0..self.groups.len()).for_each(|group| self.remove(group));
            self.incarnation = None;
        }
        self.disown(false);
        self.latest = Some(incarnation);
        self.link = Some(link);
        for table in &mut self.groups {
            table.doubt();
            table.route.set_up(true);
        }
        self.note_refusals();
    }

    /// The incarnation that is linked, if one is.
    pub(crate) fn linked(&self) -> Option<NodeIncarnation> {
        self.latest.filter(|_| self.link.is_some())
    }

    /// The latest incarnation of the node that counts against an earlier one: it is not remembered for ever,
    /// lest a number that was once too high keep the node out.
    pub(crate) fn latest_at(&self, now: Time, forget: Duration) -> Option<NodeIncarnation> {
        let is_long_gone = self.link.is_none() && now.since(self.lost) >= forget;
        self.latest.filter(|_| !is_long_gone)
    }

    /// The link is lost: as long as there is none, others may take the names of the agents there.
    /// Says whether there was one.
    pub(crate) fn unlink(&mut self, now: Time) -> bool {
        let was_linked = self.link.take().is_some();
        if was_linked {
            self.lost = now;
        }
        for table in &self.groups {
            table.route.set_up(false);
        }
        was_linked
    }

    /// Whether the node refuses this process, since it knows a later one of its name, as it said last. Says whether that is
    /// new.
    pub(crate) fn disown(&mut self, is_refused: bool) -> bool {
        if self.disowns == is_refused {
            return false;
        }
        self.disowns = is_refused;
        for table in &self.groups {
            let disowns = |id: &AgentId| Update::Disowns(id.clone(), is_refused);
            table
                .route
                .apply(table.members.keys().map(disowns).collect());
        }
        true
    }

    /// The node is thought to have ended: so are its agents.
    pub(crate) fn suspect(&self) {
        for table in &self.groups {
            let suspect = |(id, known): (&AgentId, &KnownAgent)| {
                let incarnation = known.incarnation?;
                Some(Update::Suspect(id.clone(), incarnation))
            };
            let suspected = table.members.iter().filter_map(suspect).collect();
            table.route.apply(suspected);
        }
    }

    /// The sentinel of the node told the end of this incarnation: the ends of the agents that it named last are
    /// confirmed. Those that a later incarnation named go on, whenever the notice comes.
    #[cfg(feature = "sentinel")]
    pub(crate) fn told_ended(&mut self, incarnation: NodeIncarnation) {
        self.told = self.told.max(Some(incarnation));
        let is_last = self.latest == Some(incarnation);
        if is_last {
            // What waits is for a process that has ended: its successor must not hear it.
            self.outbox.clear();
        }
        for table in &mut self.groups {
            if is_last {
                table.refused.clear(); // they must not become members when the names are free
            }
            let of_it = |(id, known): (&AgentId, &KnownAgent)| {
                let its = known.of == Some(incarnation);
                Some(Update::Ended(
                    id.clone(),
                    known.incarnation.filter(|_| its)?,
                ))
            };
            table
                .route
                .apply(table.members.iter().filter_map(of_it).collect());
        }
    }

    /// The node is none any more, or follows other rules in this group: so its agents are no
    /// members.
    pub(crate) fn remove(&mut self, group: usize) {
        let Some(table) = self.groups.get_mut(group) else {
            return;
        };
        table.refused.clear();
        let members = std::mem::take(&mut table.members).into_keys();
        table.sink.there().clear();
        // No end is confirmed: the agents may live on, out of sight.
        table.tell(members.map(|id| Update::Left(id, None)).collect());
        self.note_refusals();
    }

    /// Tries again where another agent had the name.
    pub(crate) fn retry(&mut self, group: usize) {
        if self.link.is_none() {
            return; // it would lose the name again at once
        }
        let of = self.latest;
        let Some(table) = self.groups.get_mut(group) else {
            return;
        };
        let refused = std::mem::take(&mut table.refused).into_values();
        let updates: Vec<Update> = refused.map(|member| table.known(member, of)).collect();
        table.tell(updates);
        self.note_refusals();
    }

    /// Shows whether an agent of the node was refused in any group.
    pub(crate) const fn refusals(&self) -> &Arc<AtomicBool> {
        &self.refusals
    }

    fn note_refusals(&self) {
        let any = self.groups.iter().any(|table| !table.refused.is_empty());
        self.refusals.store(any, Relaxed);
    }

    /// For how long there has been no link; `None` while there is one.
    pub(crate) fn unlinked_for(&self, now: Time) -> Option<Duration> {
        self.link.is_none().then(|| now.since(self.lost))
    }

    /// The node's agents whose names others have in a group.
    pub(crate) fn refused(&self, group: usize) -> Vec<AgentId> {
        let table = self.groups.get(group);
        table.map_or_else(Vec::new, |table| table.refused.keys().cloned().collect())
    }

    /// How many of the node's agents are members of a group here.
    pub(crate) fn count_members(&self) -> usize {
        let groups = self.groups.iter().filter(|table| !table.is_companion);
        groups.map(|table| table.members.len()).sum()
    }
}

impl GroupAgents {
    /// The group begins anew: all are in doubt until they are named again.
    fn doubt(&mut self) {
        self.round = self.round.saturating_add(1);
        // The rosters to come name them again, or they are gone.
        self.refused.clear();
    }

    /// Notes an agent as the node knows it.
    fn known(&mut self, member: Member, of: Option<NodeIncarnation>) -> Update {
        let known = KnownAgent {
            incarnation: member.incarnation,
            of,
            round: self.round,
        };
        self.refused.remove(&member.id);
        if member.presence == Presence::Down {
            self.sink.there().remove(&member.id);
        } else {
            self.sink.there().insert(member.id.clone());
        }
        self.members.insert(member.id.clone(), known);
        Update::Known(member)
    }

    /// Notes that an agent is gone; says what was known of it, if it was a member. An agent leaves
    /// its group only when its last incarnation has ended and its end is confirmed.
    fn ended(&mut self, id: &AgentId) -> Option<KnownAgent> {
        self.refused.remove(id);
        self.sink.there().remove(id);
        self.members.remove(id)
    }

    /// Tells the group, in one step; says whose names others have.
    fn tell(&mut self, updates: Vec<Update>) -> Vec<AgentId> {
        // Often nothing has changed, as when a new link names all agents again: that must not take the
        // lock that all members of the group share.
        let refused = if updates.is_empty() {
            Vec::new()
        } else {
            self.route.apply(updates)
        };
        let mut names = Vec::with_capacity(refused.len());
        for member in refused {
            self.members.remove(&member.id);
            self.sink.there().remove(&member.id);
            names.push(member.id.clone());
            self.refused.insert(member.id.clone(), member);
        }
        names
    }
}
