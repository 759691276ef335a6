//! What this side made of a node's rosters: which of its agents are members here.
//!
//! Decided here: how news of another host becomes news of a group. What is certain there is
//! certain here; a node that is gone leaves a guess. A name that somebody else has is refused and
//! kept in mind: when it becomes free, its owner gets it. All that one roster says of a group is one
//! step of the group, and a group that begins anew costs nothing until it is known who is gone.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use crate::{
    group::Update,
    planted::{Defect, has},
    protocol::{AgentId, Incarnation, Member, Presence, Time},
    remote::{Limits, LinkId, News, NodeIncarnation},
};

use super::{Carried, Lost, Outbox, Route, Way};

/// The agents of one node, in all groups. They outlast the links to it.
#[derive(Debug)]
pub(crate) struct Books {
    /// The latest life of the node that was ever linked.
    pub(crate) latest: Option<NodeIncarnation>,
    /// The life that the agents belong to.
    life: Option<NodeIncarnation>,
    /// The link whose rosters count: the newest.
    link: Option<LinkId>,
    /// When the last one was lost, by the bridge's clock.
    lost: Time,
    pub(crate) outbox: Arc<Outbox>,
    groups: Vec<Page>,
    /// Whether somebody was refused: so that nobody needs the lock to learn that nobody was.
    refusals: Arc<AtomicBool>,
}

/// The agents of one node in one group.
#[derive(Debug)]
struct Page {
    way: Arc<Way>,
    route: Arc<dyn Route>,
    members: BTreeMap<AgentId, Known>,
    /// How many of them are not certainly down.
    there: usize,
    /// Somebody else has the name.
    refused: BTreeMap<AgentId, Member>,
    /// How often the group has begun anew.
    round: u64,
}

#[derive(Clone, Copy, Debug)]
struct Known {
    life: Option<Incarnation>,
    is_down: bool,
    /// When it was last named: before this round, it is in doubt.
    round: u64,
}

impl Books {
    /// Of the node `node`, in these groups; `lost` makes who hears of names that are lost in one.
    pub(crate) fn new(
        node: &str,
        carried: &[Arc<dyn Carried>],
        limits: &Limits,
        lost: impl Fn(usize) -> Lost,
    ) -> Self {
        let outbox = Arc::new(Outbox::new(limits));
        let page = |(group, carried): (u32, &Arc<dyn Carried>)| {
            let way = Arc::new(Way::new(group, Arc::clone(&outbox)));
            let lost = lost(usize::try_from(group).unwrap_or(usize::MAX));
            let route = carried.route(node, Arc::clone(&way), lost);
            Page {
                way,
                route,
                members: BTreeMap::new(),
                there: 0,
                refused: BTreeMap::new(),
                round: 0,
            }
        };
        let groups = (0u32..).zip(carried).map(page).collect();
        Self {
            latest: None,
            life: None,
            link: None,
            lost: Time::ZERO,
            outbox,
            groups,
            refusals: Arc::default(),
        }
    }

    /// The node's routes into the groups.
    pub(crate) fn routes(&self) -> Vec<Arc<dyn Route>> {
        let routes = self.groups.iter();
        routes.map(|page| Arc::clone(&page.route)).collect()
    }

    /// Applies news of one group; says whose names were refused.
    pub(crate) fn apply(&mut self, link: LinkId, news: News) -> Vec<AgentId> {
        let is_present = self.counts(link);
        let Some(page) = self.groups.get_mut(news.group).filter(|_| is_present) else {
            return Vec::new();
        };
        if news.is_opening {
            page.doubt();
        }
        let left = news.left.into_iter().map(|(_, id)| id);
        let ended = left.filter_map(|id| {
            let known = page.ended(&id)?;
            Some(Update::Left(id, known.life))
        });
        let mut updates: Vec<Update> = ended.collect();
        let members = news.members.into_iter().map(|(_, member)| member);
        updates.extend(members.map(|member| page.known(member)));
        let refused = page.tell(updates);
        if let Some(leader) = news.leader {
            page.route.note_leader(leader);
        }
        self.note_refusals();
        refused
    }

    /// All groups have begun anew over this link: who was not named is gone. For
    /// certain, if the life is the one that named it before.
    pub(crate) fn sweep(&mut self, link: LinkId) {
        if !self.counts(link) {
            return;
        }
        let is_same = self.life == self.latest;
        self.life = self.latest;
        for page in &mut self.groups {
            let round = page.round;
            let doubtful = page.members.iter().filter(|(_, known)| known.round < round);
            let doubtful: Vec<_> = doubtful.map(|(id, _)| id.clone()).collect();
            let gone = doubtful.into_iter().filter_map(|id| {
                let known = page.ended(&id)?;
                Some(Update::Left(id, known.life.filter(|_| is_same)))
            });
            let gone = gone.collect();
            page.tell(gone);
        }
    }

    /// Whether what that link says counts.
    fn counts(&self, link: LinkId) -> bool {
        self.link == Some(link) || has(Defect::ReplacedLinkCounts)
    }

    /// The peer is none any more: nothing that its links may still say counts.
    pub(crate) fn close(&mut self) {
        self.outbox.close();
        self.unlink(self.lost);
    }

    /// A link is ready: every group begins anew, and only this link counts from now on.
    pub(crate) fn begin(&mut self, life: NodeIncarnation, link: LinkId) {
        if self.latest.is_some_and(|latest| latest > life) {
            // A node whose former number was forgotten: what it numbers begins anew as well.
            (0..self.groups.len()).for_each(|group| self.remove(group));
            self.life = None;
        }
        self.latest = Some(life);
        self.link = Some(link);
        for page in &mut self.groups {
            page.doubt();
            page.route.set_up(true);
        }
        self.note_refusals();
    }

    /// The latest life of the node that counts against an earlier one: nobody remembers for ever,
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
        for page in &self.groups {
            page.route.set_up(false);
        }
        was_linked
    }

    /// The node is thought to have ended: so are its agents.
    pub(crate) fn suspect(&self) {
        for page in &self.groups {
            let suspect = |(id, known): (&AgentId, &Known)| {
                let life = known.life?;
                if has(Defect::SilenceIsCertain) {
                    return Some(Update::Left(id.clone(), Some(life)));
                }
                Some(Update::Suspect(id.clone(), life))
            };
            let suspected = page.members.iter().filter_map(suspect).collect();
            page.route.apply(suspected);
        }
    }

    /// The node is none any more, or follows other rules in this group: so its agents are no
    /// members.
    pub(crate) fn remove(&mut self, group: usize) {
        let Some(page) = self.groups.get_mut(group) else {
            return;
        };
        page.refused.clear();
        let members = std::mem::take(&mut page.members).into_keys();
        page.there = 0;
        page.tell(members.map(|id| Update::Left(id, None)).collect());
        self.note_refusals();
    }

    /// Tries again where somebody else had the name.
    pub(crate) fn retry(&mut self, group: usize) {
        if self.link.is_none() {
            return; // it would lose the name again at once
        }
        let Some(page) = self.groups.get_mut(group) else {
            return;
        };
        let refused = std::mem::take(&mut page.refused).into_values();
        let updates: Vec<Update> = refused.map(|member| page.known(member)).collect();
        page.tell(updates);
        self.note_refusals();
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
    /// The group begins anew: all are in doubt until they are named again.
    fn doubt(&mut self) {
        self.round = self.round.saturating_add(1);
        self.refused.clear();
    }

    /// Notes an agent as the node knows it.
    fn known(&mut self, member: Member) -> Update {
        let known = Known {
            life: member.incarnation,
            is_down: member.presence == Presence::Down,
            round: self.round,
        };
        self.refused.remove(&member.id);
        self.there = self.there.saturating_add(usize::from(!known.is_down));
        let before = self.members.insert(member.id.clone(), known);
        self.is_gone(before);
        Update::Known(member)
    }

    /// Notes that an agent is gone; says what was known of it, if it was a member. An agent leaves
    /// its group only when its last life has ended for certain.
    fn ended(&mut self, id: &AgentId) -> Option<Known> {
        self.refused.remove(id);
        let known = self.members.remove(id)?;
        self.is_gone(Some(known));
        Some(known)
    }

    fn is_gone(&mut self, known: Option<Known>) {
        let was_there = known.is_some_and(|known| !known.is_down);
        self.there = self.there.saturating_sub(usize::from(was_there));
    }

    /// Tells the group, in one step; says whose names others have.
    fn tell(&mut self, updates: Vec<Update>) -> Vec<AgentId> {
        let refused = if updates.is_empty() {
            Vec::new()
        } else {
            self.route.apply(updates)
        };
        let mut names = Vec::with_capacity(refused.len());
        for member in refused {
            let known = self.members.remove(&member.id);
            self.is_gone(known);
            names.push(member.id.clone());
            self.refused.insert(member.id.clone(), member);
        }
        self.way.set_there(self.there);
        names
    }
}
