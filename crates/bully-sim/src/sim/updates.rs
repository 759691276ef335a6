//! The facts that agents learn of each other, and when they learn them: the list of members that a driver keeps.
//!
//! Decided here: how a crash, a cut or a return becomes known. Not here: the faults of messages. A network that
//! reports no cut is [`Detection::Silent`].
//!
//! The content of an update is taken when the update arrives, not when it is sent: an agent that learns late learns
//! the state of that moment. The end of a former incarnation is never left out. An agent that has forgotten a member
//! learns nothing of it until the member is in the list again; then it learns the member's state.

use std::sync::Arc;

use super::{
    World,
    node::{KnownMembers, NodeIndex},
    transit::Directory,
    world::Scheduled,
};
use bully_core::{
    driver::MembersReports as _,
    protocol::{After, AgentId, Election, Incarnation, Input, Member, Members},
};

/// The ways in which agents learn that other agents crash, disappear and return. A join or a departure is always
/// reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Detection {
    /// As in one process: a crash is confirmed after this time, and so is a return. Cuts are not noticed. The group
    /// is closed to other hosts.
    Certain(After),
    /// As across hosts: an agent that crashes or is cut off is suspected after this time. The suspicion ends when the
    /// same time has passed after the agent's return.
    Suspect(After),
    /// As across hosts of which some have a sentinel: the crash of every second incarnation is confirmed after this
    /// time. No agent learns of the other crashes, or of cuts.
    Told(After),
    /// Nothing is reported: only silence shows a crash. The range is used for joins and departures.
    Silent(After),
}

impl Default for Detection {
    fn default() -> Self {
        Self::Certain(std::time::Duration::ZERO.into())
    }
}

impl Detection {
    /// Returns whether this incarnation has a sentinel. Half of the agents have a sentinel in every incarnation with an
    /// odd number, the other half in every incarnation with an even number.
    pub(super) const fn has_sentinel(at: NodeIndex, incarnation: Incarnation) -> bool {
        at.0.is_multiple_of(2) != incarnation.0.is_multiple_of(2)
    }

    pub(super) fn takes(self) -> After {
        match self {
            Self::Certain(after)
            | Self::Suspect(after)
            | Self::Told(after)
            | Self::Silent(after) => after,
        }
    }
}

/// A fact about an agent that other agents have to learn.
#[derive(Clone, Copy, Debug)]
pub(super) struct MemberUpdate {
    pub(super) about: NodeIndex,
    pub(super) to: Recipients,
    pub(super) what: MemberChange,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Recipients {
    All,
    /// Only the list that agents get when they start.
    Registry,
    One(NodeIndex),
}

#[derive(Clone, Copy, Debug)]
pub(super) enum MemberChange {
    /// Whether the other agents can see the agent: it is up, or suspected.
    Sight,
    /// The end of this incarnation is confirmed.
    Down(Incarnation),
    /// Another process reports the end of exactly this incarnation.
    EndTold(Incarnation),
    /// The score of the agent.
    Score,
    /// Whether the agent is a member.
    Membership,
    /// The agents that had forgotten this agent have it in their lists again.
    Return,
}

impl KnownMembers {
    /// Returns the members after a change; `None` if the change has no effect.
    fn changed(
        &self,
        directory: &Directory,
        change: impl FnOnce(&mut Members) -> bool,
    ) -> Option<Self> {
        let mut members = Members::clone(&self.members);
        change(&mut members).then(|| Self::of(members, directory))
    }

    pub(super) fn of(members: Members, directory: &Directory) -> Self {
        let indices = members.iter().filter_map(|m| directory.find(m.id.as_str()));
        Self {
            indices: indices.collect(),
            members: Arc::new(members),
        }
    }
}

/// Changes of the lists of members.
impl<E: Election> World<E> {
    /// Removes a running agent from another agent's list of members, without a report of its end. A bridge does this to
    /// the members of a host to which it gives up the connection. Messages of the removed agent are dropped like
    /// messages of a stranger until [`meet_again`](Self::meet_again).
    pub fn forget(&mut self, agent: impl AsRef<str>, member: impl AsRef<str>) -> bool {
        let pair = self.alive(agent.as_ref()).zip(self.alive(member.as_ref()));
        let Some((at, about)) = pair.filter(|(at, about)| at != about) else {
            return false;
        };
        let is_new = self.forgotten.insert((at, about));
        if is_new {
            let (agent, member) = (agent.as_ref(), member.as_ref());
            self.transit
                .trace
                .mark(self.now, || format!("{agent} forgets {member}"));
            self.tell_now(at, about, MemberChange::Membership);
        }
        is_new
    }

    /// Puts each forgotten agent back into the list of the agent that forgot it, with its present state, if it is still
    /// a member.
    pub fn meet_again(&mut self) {
        for (at, about) in std::mem::take(&mut self.forgotten) {
            let directory = &self.transit.directory;
            self.transit.trace.mark(self.now, || {
                let name = |at| directory.name(at).map_or("", AgentId::as_str);
                format!("{} meets {} again", name(at), name(about))
            });
            self.tell_now(at, about, MemberChange::Return);
        }
    }

    /// Tells an agent a fact at once, unless that agent hangs.
    pub(super) fn tell_now(&mut self, to: NodeIndex, about: NodeIndex, what: MemberChange) {
        let to = Recipients::One(to);
        self.spread(MemberUpdate { about, to, what });
    }
}

impl<E: Election> World<E> {
    /// Reports a fact to all other agents, to each after the time that the detection takes.
    pub(super) fn report(&mut self, about: NodeIndex, what: MemberChange) {
        let takes = self.detection.takes();
        let push = |world: &mut Self, to| {
            let at = world.now.after(world.random.span(takes));
            world
                .transit
                .queue
                .push(at, Scheduled::Update(MemberUpdate { about, to, what }));
        };
        // One update goes to all agents, because they learn the fact at the same moment, and so can share one list.
        if takes.min >= takes.max {
            push(self, Recipients::All);
            return;
        }
        push(self, Recipients::Registry);
        for at in (0..self.nodes.len()).map(NodeIndex) {
            push(self, Recipients::One(at));
        }
    }

    /// Reports, for each agent, the other agents that it can no longer see, or sees again. Called when links were cut
    /// or restored.
    pub(super) fn links_changed(&mut self) {
        let Detection::Suspect(takes) = self.detection else {
            return;
        };
        for one in (0..self.nodes.len()).map(NodeIndex) {
            for about in (0..self.nodes.len()).map(NodeIndex).filter(|at| *at != one) {
                let network = &self.transit.network;
                let connected = network.connects(&one, &about) && network.connects(&about, &one);
                let changed = if connected {
                    self.apart.remove(&(one, about))
                } else {
                    self.apart.insert((one, about))
                };
                if changed {
                    let at = self.now.after(self.random.span(takes));
                    let (to, what) = (Recipients::One(one), MemberChange::Sight);
                    self.transit
                        .queue
                        .push(at, Scheduled::Update(MemberUpdate { about, to, what }));
                }
            }
        }
    }

    /// Handles an update that arrives.
    pub(super) fn spread(&mut self, update: MemberUpdate) {
        match update.to {
            Recipients::One(at) => {
                self.tell(at, update, &mut None);
            }
            Recipients::Registry => self.tell_registry(update),
            Recipients::All => {
                self.tell_registry(update);
                let mut same = None;
                for at in (0..self.nodes.len()).map(NodeIndex) {
                    self.tell(at, update, &mut same);
                }
            }
        }
    }

    /// Returns the members that an agent learns at its start.
    pub(super) fn snapshot_for(&self, newcomer: NodeIndex) -> KnownMembers {
        if !matches!(self.detection, Detection::Suspect(_)) {
            return self.registry.clone();
        }
        let hidden = self.registry.changed(&self.transit.directory, |members| {
            let mut changed = false;
            for about in (0..self.nodes.len())
                .map(NodeIndex)
                .filter(|at| *at != newcomer)
            {
                changed |= self.look(newcomer, about, members);
            }
            changed
        });
        hidden.unwrap_or_else(|| self.registry.clone())
    }

    /// Changes the list that agents get when they start, at once.
    pub(super) fn enter(&mut self, change: impl FnOnce(&mut Members) -> bool) -> bool {
        let changed = self.registry.changed(&self.transit.directory, change);
        let any = changed.is_some();
        if let Some(changed) = changed {
            self.registry = changed;
        }
        any
    }

    /// Notes that the sender's incarnation is up, because a message of it arrived.
    pub(super) fn hear_of(&mut self, at: NodeIndex, from: NodeIndex, incarnation: Incarnation) {
        let Some((node, id)) = self.nodes.get(at.0).zip(self.transit.directory.name(from)) else {
            return;
        };
        let directory = &self.transit.directory;
        let sender = self.nodes.get(from.0);
        let store = sender.filter(|sender| sender.incarnation == incarnation);
        let store = store.and_then(|sender| sender.store);
        let changed = node.known.changed(directory, |m| {
            let is_up = m.up(id, incarnation);
            is_up | (store.is_some() && m.set_store(id, store))
        });
        if let Some(known) = changed {
            self.learn(at, known);
        }
    }

    /// Marks the agent `about` as up or as suspected, as the agent `one` sees it. Returns whether the list changed.
    fn look(&self, one: NodeIndex, about: NodeIndex, members: &mut Members) -> bool {
        let (node, id) = (self.nodes.get(about.0), self.transit.directory.name(about));
        let Some((node, id)) = node.zip(id) else {
            return false;
        };
        if !node.has_started {
            return false;
        }
        if node.is_alive() && !self.apart.contains(&(one, about)) {
            members.up(id, node.incarnation) && {
                members.set_store(id, node.store);
                true
            }
        } else if matches!(self.detection, Detection::Suspect(_)) {
            members.suspect(id, node.incarnation)
        } else {
            false
        }
    }

    fn tell_registry(&mut self, update: MemberUpdate) {
        // This list belongs to no agent: its owner is never cut off, and forgets no member.
        let nowhere = NodeIndex(usize::MAX);
        if let Some(known) = self.told(&self.registry, nowhere, update) {
            self.registry = known;
        }
    }

    /// Reports a fact to one agent. `same` has the list before and after the last change, so that an agent with the
    /// same list before shares the new list.
    fn tell(
        &mut self,
        at: NodeIndex,
        update: MemberUpdate,
        same: &mut Option<(Arc<Members>, KnownMembers)>,
    ) {
        // A process gets no report about another process with its own name. Processes with one name have the same first
        // process.
        let (me, about) = (
            self.transit.first_of(at),
            self.transit.first_of(update.about),
        );
        let Some(node) = self.nodes.get_mut(at.0).filter(|node| node.is_alive()) else {
            return;
        };
        if me == about && at != update.about {
            return;
        }
        if let Some(waiting) = &mut node.hanging {
            let to = Recipients::One(at);
            waiting.push(Scheduled::Update(MemberUpdate { to, ..update }));
            return;
        }
        let old = node.known.clone();
        let known = match same {
            Some((before, after)) if Arc::ptr_eq(before, &old.members) => after.clone(),
            _ => {
                let Some(after) = self.told(&old, at, update) else {
                    return;
                };
                let shared = matches!(update.to, Recipients::All);
                // The list is not shared while agents are cut off or forgotten, because two agents may then know
                // different members.
                let shared = shared && self.apart.is_empty() && self.forgotten.is_empty();
                *same = shared.then(|| (old.members, after.clone()));
                after
            }
        };
        self.learn(at, known);
    }

    fn learn(&mut self, at: NodeIndex, known: KnownMembers) {
        if let Some(node) = self.nodes.get_mut(at.0) {
            let members = Arc::clone(&known.members);
            node.known = known;
            node.contract.is_told();
            self.feed(at, Input::Members(members));
        }
    }

    /// Returns the members after this update; `None` if nothing changed.
    fn told(
        &self,
        old: &KnownMembers,
        reader: NodeIndex,
        update: MemberUpdate,
    ) -> Option<KnownMembers> {
        let about = self.nodes.get(update.about.0)?;
        let id = self.transit.directory.name(update.about)?;
        let known = |members: &Members| {
            let same =
                |m: &Member| m.incarnation >= Some(about.incarnation) && m.kind == about.kind;
            members.get(id).is_some_and(same)
        };
        old.changed(&self.transit.directory, |members| match update.what {
            MemberChange::Sight => {
                reader != update.about && self.look(reader, update.about, members)
            }
            MemberChange::Down(incarnation) => members.down(id, incarnation),
            MemberChange::EndTold(incarnation) => members.end_told(id, incarnation),
            MemberChange::Score => members.set_score(id, about.score),
            MemberChange::Membership | MemberChange::Return
                if !about.is_member || self.forgotten.contains(&(reader, update.about)) =>
            {
                members.leave(id)
            }
            MemberChange::Membership | MemberChange::Return if known(members) => false,
            MemberChange::Membership => {
                let (kind, score) = (about.kind, about.score);
                members.join([Member {
                    store: about.store,
                    ..Member::up(id.clone(), kind, score, about.incarnation)
                }]);
                true
            }
            MemberChange::Return => {
                let (kind, score) = (about.kind, about.score);
                members.join([Member {
                    store: about.store,
                    ..Member::up(id.clone(), kind, score, about.incarnation)
                }]);
                if !about.is_alive() && matches!(self.detection, Detection::Certain(_)) {
                    if self.is_doubled(update.about) {
                        members.end_told(id, about.incarnation);
                    } else {
                        members.down(id, about.incarnation);
                    }
                }
                self.look(reader, update.about, members);
                true
            }
        })
    }
}
