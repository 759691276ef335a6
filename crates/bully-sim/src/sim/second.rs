//! Second processes with the same name, and replaced stores.
//!
//! Decided here: mistakes of an operator, which no network causes: the same service started twice, a disk that was
//! replaced, a backup that was restored. A message to a name reaches all processes with that name. A call with the
//! name of an agent (`crash`, `isolate`, `view`) concerns its first process.

use super::{
    Participant, World,
    node::{Node, NodeIndex},
    updates::MemberChange,
};
use crate::trace::Happening;
use bully_core::protocol::{Election, Incarnation, StoreId};

/// The store with which a process begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreContents {
    /// A new, empty store.
    New,
    /// A copy of the agent's store.
    Copied,
    /// A backup of the agent's store, made when its incarnation began.
    Old,
}

impl<E: Election> World<E> {
    /// Begins a second process of an agent, with a store of its own and a later incarnation. The first process
    /// continues, if it runs. Returns `false` if the agent has never run, or if a second process runs already.
    pub fn begin_second(&mut self, agent: impl AsRef<str>, contents: StoreContents) -> bool {
        let name = agent.as_ref();
        if self.has_second(name) {
            return false;
        }
        let Some(first) = self.transit.directory.find(name) else {
            return false;
        };
        let (id, incarnation) = (
            self.transit.directory.name(first).cloned(),
            self.last(first),
        );
        let node = self
            .nodes
            .get(first.0)
            .filter(|n| n.has_started && n.is_member);
        let Some((id, node)) = id.zip(node) else {
            return false;
        };
        let participant = Participant {
            id: id.clone(),
            kind: node.kind,
            score: node.first_score,
            config: node.config.clone(),
            clock_offset: std::time::Duration::ZERO,
            clock_ppm: 0,
        };
        let mut second = Node::new(participant, self.now, self.registry.clone());
        (second.clock, second.incarnation) = (node.clock, incarnation.next());
        let (durable, store) = node.contents(contents);
        second.store = self.stored(store, second.keeps_record());
        second.durable = durable;
        let at = self.transit.directory.enter_second(&id);
        self.nodes.push(second);
        self.transit.seconds.push((first, at));
        self.transit.trace.mark(self.now, || {
            format!("a second process of {id} begins, with a store that is {contents:?}")
        });
        self.start(at, Happening::Restarted);
        true
    }

    /// Informs all other agents now that a second process of an agent is up, as a link does before it carries a
    /// message. Without this call each agent learns of the second process from its first message.
    pub fn meet_second(&mut self, agent: impl AsRef<str>) {
        if let Some(second) = self.second_of(agent.as_ref()) {
            for to in (0..self.nodes.len()).map(NodeIndex) {
                self.tell_now(to, second, MemberChange::Sight);
            }
        }
    }

    /// Ends the second process of an agent. If `is_told`, the other agents learn from another process or from a
    /// sentinel that exactly the incarnation of this process has ended.
    pub fn end_second(&mut self, agent: impl AsRef<str>, is_told: bool) -> bool {
        let Some(at) = self.second_of(agent.as_ref()) else {
            return false;
        };
        let Some(incarnation) = self.nodes.get(at.0).map(|node| node.incarnation) else {
            return false;
        };
        self.end(at);
        self.happened(at, Happening::Crashed);
        if is_told {
            self.report(at, MemberChange::EndTold(incarnation));
        }
        true
    }

    /// Returns whether a second process of this agent runs.
    pub fn has_second(&self, agent: impl AsRef<str>) -> bool {
        self.second_of(agent.as_ref()).is_some()
    }

    /// Returns whether this agent has or had a second process.
    pub(super) fn is_doubled(&self, first: NodeIndex) -> bool {
        self.transit.seconds.iter().any(|(of, _)| *of == first)
    }

    /// Replaces a crashed agent's disk by an empty disk, or by a backup. The agent's next incarnation may begin
    /// nevertheless, unlike after [`wipe`](Self::wipe).
    pub fn replace_store(&mut self, agent: impl AsRef<str>, contents: StoreContents) -> bool {
        let Some(at) = self.transit.directory.find(agent.as_ref()) else {
            return false;
        };
        let Some(node) = self.nodes.get(at.0).filter(|node| !node.is_alive()) else {
            return false;
        };
        let ((durable, store), keeps) = (node.contents(contents), node.keeps_record());
        let store = self.stored(store, keeps);
        if let Some(node) = self.nodes.get_mut(at.0) {
            (node.durable, node.store) = (durable, store);
        }
        self.transit.trace.mark(self.now, || {
            format!("the store of {} is {contents:?}", agent.as_ref())
        });
        true
    }

    /// Loses a crashed agent's disk. Returns whether the disk had a record. If the rules depend on the record, no
    /// further incarnation begins under the agent's name.
    pub fn wipe(&mut self, agent: impl AsRef<str>) -> bool {
        let at = self.transit.directory.find(agent.as_ref());
        let node = at.and_then(|at| self.nodes.get_mut(at.0));
        let Some(node) = node.filter(|node| !node.is_alive()) else {
            return false;
        };
        node.is_wiped = true;
        node.durable.take().is_some()
    }

    /// Ends every process of an agent without warning. No process with its name begins again.
    pub fn retire(&mut self, agent: impl AsRef<str>) {
        self.end_second(agent.as_ref(), false);
        self.crash(agent.as_ref());
        self.wipe(agent.as_ref());
    }

    /// Returns the id of this store. Without a store, makes a new id if the election asks for a record.
    pub(super) fn stored(&mut self, store: Option<StoreId>, is_asked: bool) -> Option<StoreId> {
        if is_asked && store.is_none() {
            self.stores += 1;
            return Some(StoreId::new(self.stores));
        }
        store
    }

    /// Returns the last incarnation of any process with this name.
    pub(super) fn last(&self, first: NodeIndex) -> Incarnation {
        let seconds = self.transit.seconds.iter();
        let mine = seconds.filter(|(of, _)| *of == first).map(|(_, at)| *at);
        let all = mine.chain([first]).filter_map(|at| self.nodes.get(at.0));
        all.map(|node| node.incarnation)
            .max()
            .unwrap_or(Incarnation(0))
    }

    fn second_of(&self, name: &str) -> Option<NodeIndex> {
        let first = self.transit.directory.find(name)?;
        let mut seconds = self.transit.seconds.iter();
        let is_up = |at: NodeIndex| self.nodes.get(at.0).is_some_and(Node::is_alive);
        let found = seconds.find(|(of, at)| *of == first && is_up(*at));
        found.map(|(_, at)| *at)
    }
}

impl<E: Election> Node<E> {
    /// Returns the record and the id of a store with the given contents.
    fn contents(&self, contents: StoreContents) -> (Option<E::Durable>, Option<StoreId>) {
        match contents {
            StoreContents::New => (None, None),
            StoreContents::Copied => (self.durable.clone(), self.store),
            StoreContents::Old => (self.before.clone(), self.store),
        }
    }
}
