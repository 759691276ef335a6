//! The agents of a node, by its rosters, and whether each of them is a member of its group here.
//!
//! Decided here: how the rosters of another host change a group. If the other host has confirmed the end of an agent,
//! the end is confirmed here; the end of a whole node is only suspected. If the name of an announced agent belongs to
//! another agent, the announced agent is refused and remembered, and gets the name when it becomes free. All changes of
//! a group in one roster are one step of the group. If a link announces a group from the beginning, no member is
//! removed until it is known which agents are gone.

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
    protocol::{AgentId, Incarnation, Member, Time},
    remote::{Limits, LinkId, NodeIncarnation, RosterChange},
};

use super::{Carried, GroupSink, Lost, NodeRoute, Outbox};

/// The agents of one node, in all groups. They outlast the links to the node.
#[derive(Debug)]
pub(crate) struct PeerAgents {
    /// The latest incarnation of the node that ever had a link to this process; `None` before the first link.
    pub(crate) latest: Option<NodeIncarnation>,
    /// The incarnation of the node to which the known agents belong. It is earlier than `latest` until a new
    /// incarnation has announced its agents.
    incarnation: Option<NodeIncarnation>,
    /// The incarnation whose end the node's sentinel reported: later rosters of this incarnation are ignored.
    told: Option<NodeIncarnation>,
    /// The link whose rosters are used: the newest link; `None` while there is no link.
    link: Option<LinkId>,
    /// Time of the last link's loss or, before the first link, of the peer's addition, by the bridge's clock.
    lost: Time,
    pub(crate) outbox: Arc<Outbox>,
    groups: Vec<GroupAgents>,
    /// Whether the node refuses this process because it knows a later process of the same name.
    disowns: bool,
    /// Whether any agent of this node was refused. It is atomic, so that a reader need not lock the record of a node
    /// without refused agents.
    refusals: Arc<AtomicBool>,
}

/// The agents of one node in one group.
#[derive(Debug)]
struct GroupAgents {
    route: Arc<dyn NodeRoute>,
    members: BTreeMap<AgentId, KnownAgent>,
    /// Agents whose names belong to other agents.
    refused: BTreeMap<AgentId, Member>,
    /// Number of times that the node has announced all agents of the group from the beginning.
    round: u64,
    /// Whether this is a companion group (for application messages): the group of the election already counts its
    /// agents.
    is_companion: bool,
}

#[derive(Clone, Copy, Debug)]
struct KnownAgent {
    incarnation: Option<Incarnation>,
    /// The incarnation of the node that reported the agent last.
    #[cfg_attr(
        not(feature = "sentinel"),
        allow(dead_code, reason = "only sentinels ask for it")
    )]
    of: Option<NodeIncarnation>,
    /// The round in which the agent was reported last: an agent of an earlier round may be gone.
    round: u64,
}

impl PeerAgents {
    /// Makes the record of the agents of `node` in these groups. `lost` returns, for the number of a group, the callback
    /// that is called when an agent of the node loses its name to another agent.
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
            let route = carried.route(node, sink);
            GroupAgents {
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

    pub(crate) fn routes(&self) -> Vec<Arc<dyn NodeRoute>> {
        let routes = self.groups.iter();
        routes.map(|table| Arc::clone(&table.route)).collect()
    }

    /// Applies the changes of one group; returns the agents whose names were refused.
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
            // An agent that was refused is not a member: the name belongs to another node's agent, which stays.
            let known = table.ended(&id)?;
            Some(Update::Left(id, known.incarnation))
        });
        let mut updates: Vec<Update> = ended.collect();
        let members = change.members.into_iter().map(|(_, member)| member);
        updates.extend(members.map(|member| table.known(member, of)));
        let refused = table.tell(updates);
        // Noted after the members, because the leader may be a new member.
        if let Some(leader) = change.leader {
            table.route.note_leader(leader);
        }
        self.note_refusals();
        refused
    }

    /// Removes the agents that the node has not announced again, after all groups have begun anew over this link. Their
    /// end is confirmed if they belong to the present incarnation of the node.
    pub(crate) fn sweep(&mut self, link: LinkId) {
        if !self.counts(link) {
            return;
        }
        let is_same = self.incarnation == self.latest;
        // The incarnation is set now, and not when the link began, because until now the members were the agents of the
        // former incarnation.
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

    /// Returns whether rosters of the link `link` are used: the link is the newest, and the node's end was not
    /// reported.
    fn counts(&self, link: LinkId) -> bool {
        let is_told = self.told == self.latest; // with a link, `latest` has a value
        self.link == Some(link) && !is_told
    }

    /// Closes the record of a node that is not a peer any more: later reports of its links are ignored.
    pub(crate) fn close(&mut self) {
        self.outbox.close();
        self.unlink(self.lost);
    }

    /// Begins with a ready link: every group begins anew, and only reports of this link are used from now on.
    pub(crate) fn begin(&mut self, incarnation: NodeIncarnation, link: LinkId) {
        if self.latest.is_some_and(|latest| latest != incarnation) {
            // The waiting messages are for a process that has ended. The next process of the node must not receive
            // them. Some of them were sent after the end, to members that are only suspected.
            self.outbox.clear();
        }
        if self.latest.is_some_and(|latest| latest > incarnation) {
            // The node's former incarnation was later, and is forgotten. The agents have earlier incarnations now,
            // which would seem out of date, so the former agents are removed.
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

    /// Returns the incarnation of the node that has the present link; `None` without a link.
    pub(crate) fn linked(&self) -> Option<NodeIncarnation> {
        self.latest.filter(|_| self.link.is_some())
    }

    /// Returns the latest incarnation of the node, so that a link of an earlier incarnation is refused. `None` if the
    /// node had no link for the time `forget`: an incarnation whose number was too high by mistake must not exclude the
    /// node for good.
    pub(crate) fn latest_at(&self, now: Time, forget: Duration) -> Option<NodeIncarnation> {
        let is_long_gone = self.link.is_none() && now.since(self.lost) >= forget;
        self.latest.filter(|_| !is_long_gone)
    }

    /// Notes the loss of the link. While there is no link, agents of other nodes may take the names of this node's
    /// agents. Returns whether there was a link.
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

    /// Notes whether the node refuses this process, since it knows a later process of its name. Returns whether that is
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

    /// Suspects the end of all agents of the node, because the node is suspected to have ended.
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

    /// Notes that the node's sentinel reported the end of this incarnation: the ends of the agents that this
    /// incarnation announced last are confirmed. Agents that a later incarnation announced are not affected.
    #[cfg(feature = "sentinel")]
    pub(crate) fn told_ended(&mut self, incarnation: NodeIncarnation) {
        self.told = self.told.max(Some(incarnation));
        let is_last = self.latest == Some(incarnation);
        for table in &mut self.groups {
            if is_last {
                table.refused.clear(); // these agents must not become members when the names are free
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

    /// Removes the node's agents from this group: the node is not a peer any more, or follows other rules in the group.
    pub(crate) fn remove(&mut self, group: usize) {
        let Some(table) = self.groups.get_mut(group) else {
            return;
        };
        table.refused.clear();
        let members = std::mem::take(&mut table.members).into_keys();
        // No end is confirmed, because the agents may run on without a link.
        table.tell(members.map(|id| Update::Left(id, None)).collect());
        self.note_refusals();
    }

    /// Tries again to add the refused agents of a group, whose names belonged to other agents.
    pub(crate) fn retry(&mut self, group: usize) {
        if self.link.is_none() {
            return; // the next link announces all agents again, and without a link an agent holds no name
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

    /// Returns a flag that shows whether an agent of the node was refused in any group.
    pub(crate) const fn refusals(&self) -> &Arc<AtomicBool> {
        &self.refusals
    }

    fn note_refusals(&self) {
        let any = self.groups.iter().any(|table| !table.refused.is_empty());
        self.refusals.store(any, Relaxed);
    }

    /// Returns the time since the last link ended; `None` while there is a link.
    pub(crate) fn unlinked_for(&self, now: Time) -> Option<Duration> {
        self.link.is_none().then(|| now.since(self.lost))
    }

    /// Returns the node's agents in a group that are not members because other agents have their names.
    pub(crate) fn refused(&self, group: usize) -> Vec<AgentId> {
        let table = self.groups.get(group);
        table.map_or_else(Vec::new, |table| table.refused.keys().cloned().collect())
    }

    /// Returns the number of the node's agents that are members of a group here.
    pub(crate) fn count_members(&self) -> usize {
        let groups = self.groups.iter().filter(|table| !table.is_companion);
        groups.map(|table| table.members.len()).sum()
    }
}

impl GroupAgents {
    /// Puts all agents of the group in doubt, until the node has announced them again.
    fn doubt(&mut self) {
        self.round = self.round.saturating_add(1);
        // The next rosters announce the refused agents again, unless these agents are gone.
        self.refused.clear();
    }

    /// Notes an agent as the node reports it.
    fn known(&mut self, member: Member, of: Option<NodeIncarnation>) -> Update {
        let known = KnownAgent {
            incarnation: member.incarnation,
            of,
            round: self.round,
        };
        self.refused.remove(&member.id);
        self.members.insert(member.id.clone(), known);
        Update::Known(member)
    }

    /// Notes that an agent is gone; returns the known data if it was a member. An agent leaves its group only when its
    /// last incarnation has ended and its end is confirmed.
    fn ended(&mut self, id: &AgentId) -> Option<KnownAgent> {
        self.refused.remove(id);
        self.members.remove(id)
    }

    /// Sends the updates to the group, in one step; returns the agents whose names belong to other agents.
    fn tell(&mut self, updates: Vec<Update>) -> Vec<AgentId> {
        // Often nothing has changed, for example when a new link announces all agents again. Then the lock that all
        // members of the group share is not taken.
        let refused = if updates.is_empty() {
            Vec::new()
        } else {
            self.route.apply(updates)
        };
        let mut names = Vec::with_capacity(refused.len());
        for member in refused {
            self.members.remove(&member.id);
            names.push(member.id.clone());
            self.refused.insert(member.id.clone(), member);
        }
        names
    }
}
