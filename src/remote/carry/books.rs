//! What this side made of a node's rosters: which of its agents are members here.
//!
//! Decided here: how news of another host becomes news of a group. What is certain there is
//! certain here; a node that is gone leaves a guess. A name that somebody else has is refused and
//! kept in mind: when it becomes free, its owner gets it.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use crate::{
    protocol::{AgentId, Incarnation, Member, Presence},
    remote::{Limits, LinkId, News, NodeIncarnation},
};

use super::{Carried, Outbox, Way};

/// The agents of one node, in all groups. They outlast the links to it.
#[derive(Debug)]
pub(crate) struct Books {
    /// The latest life of the node that was ever linked.
    pub(crate) latest: Option<NodeIncarnation>,
    /// The life that the agents belong to.
    life: Option<NodeIncarnation>,
    /// The link whose rosters count: the newest.
    link: Option<LinkId>,
    pub(crate) outbox: Arc<Outbox>,
    groups: Vec<Page>,
    /// Whether somebody was refused: so that nobody needs the lock to learn that nobody was.
    refusals: Arc<AtomicBool>,
}

/// The agents of one node in one group.
#[derive(Debug)]
struct Page {
    way: Arc<Way>,
    members: BTreeMap<AgentId, Known>,
    /// Somebody else has the name.
    refused: BTreeMap<AgentId, Member>,
}

#[derive(Clone, Copy, Debug)]
struct Known {
    life: Option<Incarnation>,
    is_down: bool,
    /// Not yet named since the group began anew.
    is_in_doubt: bool,
}

impl Books {
    pub(crate) fn new(groups: usize, limits: &Limits) -> Self {
        let outbox = Arc::new(Outbox::new(limits));
        let page = |group: u32| Page {
            way: Arc::new(Way::new(group, Arc::clone(&outbox))),
            members: BTreeMap::new(),
            refused: BTreeMap::new(),
        };
        let groups = (0u32..).take(groups).map(page).collect();
        Self {
            latest: None,
            life: None,
            link: None,
            outbox,
            groups,
            refusals: Arc::default(),
        }
    }

    /// Applies news of one group; says whose names were refused.
    pub(crate) fn apply(
        &mut self,
        carried: &dyn Carried,
        link: LinkId,
        news: News,
    ) -> Vec<AgentId> {
        let Some(page) = self
            .groups
            .get_mut(news.group)
            .filter(|_| self.link == Some(link))
        else {
            return Vec::new();
        };
        if news.is_opening {
            page.doubt();
        }
        for (_, id) in &news.left {
            page.leave(carried, id);
        }
        let mut refused = Vec::new();
        for (_, member) in news.members {
            let id = member.id.clone();
            if !page.set(carried, member) {
                refused.push(id);
            }
        }
        if let Some(leader) = news.leader.filter(|l| page.members.contains_key(&l.id)) {
            carried.note_leader(leader);
        }
        page.count();
        self.note_refusals();
        refused
    }

    /// All groups have begun anew over this link: who was not named is gone. For
    /// certain, if the life is the one that named it before.
    pub(crate) fn sweep(&mut self, carried: &[Arc<dyn Carried>], link: LinkId) {
        if self.link != Some(link) {
            return;
        }
        let is_same = self.life == self.latest;
        self.life = self.latest;
        for (page, carried) in self.groups.iter_mut().zip(carried) {
            let doubtful = page.members.iter().filter(|(_, known)| known.is_in_doubt);
            for id in doubtful.map(|(id, _)| id.clone()).collect::<Vec<_>>() {
                if is_same {
                    page.leave(&**carried, &id);
                } else {
                    page.members.remove(&id);
                    carried.leave(&id);
                }
            }
            page.count();
        }
    }

    /// The peer is none any more: nothing that its links may still say counts.
    pub(crate) fn close(&mut self) {
        self.outbox.close();
        self.link = None;
    }

    /// A link is ready: every group begins anew, and only this link counts from now on.
    pub(crate) fn begin(&mut self, life: NodeIncarnation, link: LinkId) {
        self.latest = Some(life);
        self.link = Some(link);
        self.groups.iter_mut().for_each(Page::doubt);
        self.note_refusals();
    }

    /// The node is thought to have ended: so are its agents.
    pub(crate) fn suspect(&self, carried: &[Arc<dyn Carried>]) {
        for (page, carried) in self.groups.iter().zip(carried) {
            for (id, known) in &page.members {
                if let Some(life) = known.life {
                    carried.suspect(id, life);
                }
            }
        }
    }

    /// The node is none any more, or follows other rules in this group: so its agents are no
    /// members.
    pub(crate) fn remove(&mut self, group: usize, carried: &dyn Carried) {
        let Some(page) = self.groups.get_mut(group) else {
            return;
        };
        page.refused.clear();
        for id in std::mem::take(&mut page.members).into_keys() {
            carried.leave(&id);
        }
        page.count();
        self.note_refusals();
    }

    /// Tries again where somebody else had the name; says who is a member now.
    pub(crate) fn retry(&mut self, group: usize, carried: &dyn Carried) -> Vec<AgentId> {
        let Some(page) = self.groups.get_mut(group) else {
            return Vec::new();
        };
        let mut welcome = Vec::new();
        for (id, member) in std::mem::take(&mut page.refused) {
            if page.set(carried, member) {
                welcome.push(id);
            }
        }
        page.count();
        self.note_refusals();
        welcome
    }

    /// Whether an agent of the node was refused.
    pub(crate) fn has_refused(&self, group: usize, id: &AgentId) -> bool {
        let page = self.groups.get(group);
        page.is_some_and(|page| page.refused.contains_key(id))
    }

    /// Shows whether an agent of the node was refused in any group.
    pub(crate) const fn refusals(&self) -> &Arc<AtomicBool> {
        &self.refusals
    }

    fn note_refusals(&self) {
        let any = self.groups.iter().any(|page| !page.refused.is_empty());
        self.refusals.store(any, Relaxed);
    }

    /// How many of the node's agents are members of a group here.
    pub(crate) fn agents(&self) -> usize {
        self.groups.iter().map(|page| page.members.len()).sum()
    }
}

impl Page {
    fn doubt(&mut self) {
        for known in self.members.values_mut() {
            known.is_in_doubt = true;
        }
        self.refused.clear();
    }

    /// Says whether the name is this node's.
    fn set(&mut self, carried: &dyn Carried, member: Member) -> bool {
        let known = Known {
            life: member.incarnation,
            is_down: member.presence == Presence::Down,
            is_in_doubt: false,
        };
        let id = member.id.clone();
        if let Some(before) = self.members.get_mut(&id) {
            *before = known;
            update(carried, &member);
            return true;
        }
        if carried.join(member.clone(), &self.way).is_err() {
            self.refused.insert(id, member);
            return false;
        }
        self.refused.remove(&id);
        self.members.insert(id, known);
        true
    }

    /// An agent leaves its group only when its last life has ended for certain.
    fn leave(&mut self, carried: &dyn Carried, id: &AgentId) {
        self.refused.remove(id);
        if let Some(known) = self.members.remove(id) {
            if let Some(life) = known.life {
                carried.down(id, life);
            }
            carried.leave(id);
        }
    }

    fn count(&self) {
        let there = self.members.values().filter(|known| !known.is_down);
        self.way.set_there(there.count());
    }
}

/// What is new of a member.
fn update(carried: &dyn Carried, member: &Member) {
    carried.set_score(&member.id, member.score);
    if let Some(ended) = member.ended {
        carried.down(&member.id, ended);
    }
    let Some(life) = member.incarnation else {
        return;
    };
    match member.presence {
        Presence::Up => carried.up(&member.id, life),
        Presence::Suspect => {
            carried.up(&member.id, life);
            carried.suspect(&member.id, life);
        }
        Presence::Unseen | Presence::Down => {}
    }
}
