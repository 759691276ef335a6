//! Reports about members, and the holders of names.
//!
//! Decided here: a report counts only if it comes by the member's own route; which agent holds a name; the consequence
//! when another agent takes the name; and many reports of one node are applied in one step. A report that changes
//! little is applied in place, so that a crash does not require a copy of the group. All other reports are collected
//! until the next snapshot is made.

use bully_core::driver::{MemberReports as _, MembersReports as _};
use std::sync::Arc;

use crate::{
    group::{Holder, Update, snapshot::Route},
    protocol::{AgentId, Leader, Member, PeerMessage, Presence},
};

use super::{Freshness, Hint, MemberEntry, NameRecord, NameState, Registry};

impl<M: PeerMessage> Registry<M> {
    /// Applies a report about a member of this process. Returns whether it changed anything.
    pub(in crate::group) fn report(
        &mut self,
        id: &AgentId,
        mark: impl FnOnce(&mut Member) -> bool,
    ) -> bool {
        let is_change = self.mark(id, None, mark);
        if is_change {
            self.changed();
        }
        is_change
    }

    /// Applies the reports of another node about its agents. Returns the members whose names other agents hold.
    pub(in crate::group) fn apply(
        &mut self,
        by: &Arc<Route<M>>,
        updates: impl IntoIterator<Item = Update>,
    ) -> Vec<Member> {
        let mut refused = Vec::new();
        let mut is_change = false;
        for update in updates {
            is_change |= match update {
                Update::Known(member) => match self.know(member, by) {
                    Ok(is_change) => is_change,
                    Err(member) => {
                        refused.push(*member);
                        false
                    }
                },
                Update::Suspect(id, incarnation) => {
                    self.mark(&id, Some(by), |member| member.mark_suspect(incarnation))
                }
                Update::Disowns(id, is_refused) => {
                    let counts = self.entry(&id).is_some_and(|(_, its)| its.is(by));
                    counts && Arc::make_mut(&mut self.members).disown(&id, is_refused)
                }
                #[cfg(feature = "sentinel")]
                Update::Ended(id, incarnation) => {
                    self.mark(&id, Some(by), |member| member.mark_end_told(incarnation))
                }
                Update::Left(id, ended) => {
                    if let Some(incarnation) = ended {
                        self.mark(&id, Some(by), |member| member.mark_end_told(incarnation));
                    }
                    self.remove(&id, Some(by))
                }
            };
        }
        if is_change {
            self.changed();
        }
        refused
    }

    /// Notes the leader, as reported by the route `by`; `None` is this process.
    pub(in crate::group) fn note_leader(&mut self, leader: Leader, by: Option<&Arc<Route<M>>>) {
        if self
            .entry(&leader.id)
            .is_some_and(|(_, its)| is_by(its, by))
        {
            self.hint(Hint::Leads(leader));
        }
    }

    /// Returns the holder of a name that `by` asks for; `None` if the name is free or `by` has it.
    ///
    /// A member that cannot be reached, or whose end is confirmed, keeps no name: otherwise the name would be lost with
    /// its host. A request for the name makes the link to the holder's node check itself.
    pub(super) fn holder(&self, id: &AgentId, by: Option<&Arc<Route<M>>>) -> Option<Holder> {
        let name = self.names.get(id);
        if name.is_some_and(|name| name.state != NameState::Free) {
            return Some(Holder::Here);
        }
        let (member, route) = self.entry(id)?;
        let is_held = route.is_up() && member.presence != Presence::Down;
        (is_held && !is_by(route, by)).then(|| {
            if let Route::Remote { link, .. } = &**route {
                link.verify();
            }
            route.holder()
        })
    }

    /// Adds the member with the route `route`, even if another agent had its name before.
    pub(super) fn enlist(&mut self, mut member: Member, route: &Arc<Route<M>>) {
        let id = member.id.clone();
        if let Some((before, was)) = self.entry(&id).or_else(|| self.former(&id)) {
            // A host that reports an earlier incarnation than before has forgotten the later incarnation, and is
            // treated as another host.
            let goes_on = was.is(route) && before.incarnation <= member.incarnation;
            if goes_on {
                // The known ends of the former holder of the name stay known.
                member.ended = member.ended.max(before.ended);
                member.ends = member.ends.iter().chain(before.ends.iter()).collect();
                member.former = before.former;
            } else {
                member = member.moved(before);
            }
            if let Route::Remote { link, .. } = &**was
                && !was.is(route)
            {
                link.lost(&id, &route.holder());
            }
        }
        self.left.remove(&id);
        let route = Arc::clone(route);
        self.staged.insert(id, MemberEntry { member, route });
        self.freshness = Freshness::OldRoutes;
    }

    /// Applies the report of a node about one of its agents. Returns whether the report changed anything, or the member
    /// itself if another agent has the name.
    fn know(&mut self, member: Member, by: &Arc<Route<M>>) -> Result<bool, Box<Member>> {
        let id = &member.id;
        if self.entry(id).is_some_and(|(_, its)| its.is(by)) {
            return Ok(self.mark(id, Some(by), |known| known.bring_up_to_date(&member)));
        }
        if self.holder(id, Some(by)).is_some() {
            return Err(Box::new(member));
        }
        if let Some(NameRecord { incarnation, .. }) = self.names.remove(id) {
            // This agent ended for good in this process. The next agent with its name in this process begins a later
            // incarnation.
            self.floor = self.floor.max(incarnation);
            self.volatile.remove(id);
        }
        self.enlist(member.told(), by);
        Ok(true)
    }

    /// Changes the known data of a member with the route `by`. Returns whether anything changed.
    pub(super) fn mark(
        &mut self,
        id: &AgentId,
        by: Option<&Arc<Route<M>>>,
        mark: impl FnOnce(&mut Member) -> bool,
    ) -> bool {
        let Some((known, route)) = self.entry(id).filter(|(_, its)| is_by(its, by)) else {
            return false;
        };
        let rank = (known.score, known.kind);
        let (mut member, route) = (known.clone(), Arc::clone(route));
        if !mark(&mut member) {
            return false;
        }
        // Routes are out of date too, because a member of this process receives messages as soon as it is up again.
        if route.is_local() {
            self.freshness = Freshness::OldRoutes;
        }
        let at = self.members.index_of(id).filter(|at| {
            let is_ranked_alike = (member.score, member.kind) == rank;
            is_ranked_alike && !self.staged.contains_key(id) && self.members.has_room(*at)
        });
        if let Some(at) = at {
            Arc::make_mut(&mut self.members).set(at, member);
        } else {
            self.staged
                .insert(id.clone(), MemberEntry { member, route });
        }
        true
    }

    /// Removes a member with the route `by`. Returns whether there was such a member.
    pub(super) fn remove(&mut self, id: &AgentId, by: Option<&Arc<Route<M>>>) -> bool {
        let Some((member, route)) = self.entry(id).filter(|(_, its)| is_by(its, by)) else {
            return false;
        };
        let (member, route) = (member.clone(), Arc::clone(route));
        self.staged.remove(id);
        if self.members.index_of(id).is_some() {
            // A member that came and left between two snapshots leaves no entry.
            self.left.insert(id.clone(), MemberEntry { member, route });
        }
        self.freshness = Freshness::OldRoutes;
        true
    }

    /// Returns a member with its latest known data, and the route to it.
    pub(super) fn entry(&self, id: &AgentId) -> Option<(&Member, &Arc<Route<M>>)> {
        if self.left.contains_key(id) {
            return None;
        }
        if let Some(staged) = self.staged.get(id) {
            return Some((&staged.member, &staged.route));
        }
        let at = self.members.index_of(id)?;
        self.members.at(at).zip(self.routes.get(at))
    }

    /// Returns the last known state and route of a member that has left since the last snapshot.
    fn former(&self, id: &AgentId) -> Option<(&Member, &Arc<Route<M>>)> {
        let left = self.left.get(id)?;
        Some((&left.member, &left.route))
    }
}

/// Returns whether the report came by the member's own route `route`, and so counts; `None` is this process.
fn is_by<M: PeerMessage>(route: &Route<M>, by: Option<&Arc<Route<M>>>) -> bool {
    match by {
        Some(by) => route.is(by),
        None => route.is_local(),
    }
}
