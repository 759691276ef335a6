//! What is said of a member counts if its route is the one it is said by; who has a name.
//!
//! Decided here: whose a name is, what becomes of it when somebody else takes it, and that many
//! reports are one step. A report that changes little is applied in place, so that a crash costs no
//! copy of the group; all others are gathered for the next look.

use std::sync::Arc;

use crate::{
    group::{Holder, Update, snapshot::Route},
    planted::{Defect, has},
    protocol::{AgentId, Leader, Member, PeerMessage, Presence},
};

use super::{Entry, Hint, Registry, Seat, Shows};

impl<M: PeerMessage> Registry<M> {
    /// Applies a report about a member of this process; says whether it was news.
    pub(in crate::group) fn report(
        &mut self,
        id: &AgentId,
        mark: impl FnOnce(&mut Member) -> bool,
    ) -> bool {
        let is_news = self.mark(id, None, mark);
        if is_news {
            self.changed();
        }
        is_news
    }

    /// Applies what another node says of its agents; gives back those whose names others have.
    pub(in crate::group) fn apply(
        &mut self,
        by: &Arc<Route<M>>,
        updates: impl IntoIterator<Item = Update>,
    ) -> Vec<Member> {
        let mut refused = Vec::new();
        let mut is_news = false;
        for update in updates {
            is_news |= match update {
                Update::Known(member) => match self.know(member, by) {
                    Ok(is_news) => is_news,
                    Err(member) => {
                        refused.push(member);
                        false
                    }
                },
                Update::Suspect(id, life) => {
                    self.mark(&id, Some(by), |member| member.mark_suspect(life))
                }
                Update::Left(id, ended) => {
                    if let Some(life) = ended {
                        self.mark(&id, Some(by), |member| member.mark_down(life));
                    }
                    self.remove(&id, Some(by))
                }
            };
        }
        if is_news {
            self.changed();
        }
        refused
    }

    /// Notes who leads, as it is said by that route; `None` is this process.
    pub(in crate::group) fn note_leader(&mut self, leader: Leader, by: Option<&Arc<Route<M>>>) {
        if self
            .entry(&leader.id)
            .is_some_and(|(_, its)| is_by(its, by))
        {
            self.hint(Hint::Leads(leader));
        }
    }

    /// Who has a name that `by` would like; nobody, if it is free or `by` has it.
    ///
    /// Whoever cannot be reached, and whoever has ended for certain, keeps no name: it would be
    /// lost with its host.
    pub(super) fn holder(&self, id: &AgentId, by: Option<&Arc<Route<M>>>) -> Option<Holder> {
        let seat = self.names.get(id);
        if seat.is_some_and(|seat| seat.holder != super::Holder::Gone) {
            return Some(Holder::Here);
        }
        let (member, route) = self.entry(id)?;
        let is_held = route.is_up() && member.presence != Presence::Down;
        (is_held && !is_by(route, by)).then(|| route.holder())
    }

    /// Makes it a member by that route, whoever had its name before.
    pub(super) fn seat(&mut self, mut member: Member, route: &Arc<Route<M>>) {
        let id = member.id.clone();
        if let Some((before, was)) = self.entry(&id).or_else(|| self.former(&id)) {
            // A host that has forgotten its last number counts like another one.
            let goes_on = was.is(route) && before.incarnation <= member.incarnation;
            if goes_on {
                // What is known of the name's former holder stays known.
                member.ended = member.ended.max(before.ended);
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
        self.staged.insert(id, Entry { member, route });
        self.shows = Shows::OtherRoutes;
    }

    /// All that a node knows of one of its agents; says whether it was news. Gives it back if
    /// somebody else has the name.
    fn know(&mut self, member: Member, by: &Arc<Route<M>>) -> Result<bool, Member> {
        let id = &member.id;
        if self.entry(id).is_some_and(|(_, its)| its.is(by)) {
            return Ok(self.mark(id, Some(by), |known| known.bring_up_to_date(&member)));
        }
        if self.holder(id, Some(by)).is_some() {
            return Err(member);
        }
        if let Some(Seat { incarnation, .. }) = self.names.remove(id) {
            // It ended for good here. Whoever has the name here next begins a later life.
            self.floor = self.floor.max(incarnation);
            self.volatile.remove(id);
        }
        self.seat(member, by);
        Ok(true)
    }

    /// Changes what is known of a member whose route it is; says whether anything changed.
    pub(super) fn mark(
        &mut self,
        id: &AgentId,
        by: Option<&Arc<Route<M>>>,
        mark: impl FnOnce(&mut Member) -> bool,
    ) -> bool {
        let Some((known, route)) = self.entry(id).filter(|(_, its)| counts(its, by)) else {
            return false;
        };
        let (mut member, score, route) = (known.clone(), known.score, Arc::clone(route));
        if !mark(&mut member) {
            return false;
        }
        // Who is here takes letters as soon as it is up again.
        if route.is_local() {
            self.shows = Shows::OtherRoutes;
        }
        let at = self.members.index_of(id).filter(|at| {
            let is_ranked_alike = member.score == score;
            is_ranked_alike && !self.staged.contains_key(id) && self.members.has_room(*at)
        });
        if let Some(at) = at {
            Arc::make_mut(&mut self.members).set(at, member);
        } else {
            self.staged.insert(id.clone(), Entry { member, route });
        }
        true
    }

    /// A member leaves, if it is that route's; says whether there was one.
    pub(super) fn remove(&mut self, id: &AgentId, by: Option<&Arc<Route<M>>>) -> bool {
        let Some((member, route)) = self.entry(id).filter(|(_, its)| counts(its, by)) else {
            return false;
        };
        let (member, route) = (member.clone(), Arc::clone(route));
        self.staged.remove(id);
        if self.members.index_of(id).is_some() {
            // Others may come and go between two looks, and leave nothing behind.
            self.left.insert(id.clone(), Entry { member, route });
        }
        self.shows = Shows::OtherRoutes;
        true
    }

    /// What is known of a member, and the way to it.
    fn entry(&self, id: &AgentId) -> Option<(&Member, &Arc<Route<M>>)> {
        if self.left.contains_key(id) {
            return None;
        }
        if let Some(staged) = self.staged.get(id) {
            return Some((&staged.member, &staged.route));
        }
        let at = self.members.index_of(id)?;
        self.members.at(at).zip(self.routes.get(at))
    }

    /// What was known of one that has left since somebody looked.
    fn former(&self, id: &AgentId) -> Option<(&Member, &Arc<Route<M>>)> {
        let left = self.left.get(id)?;
        Some((&left.member, &left.route))
    }
}

/// Whether what is said by that route counts for a member of the other one.
fn counts<M: PeerMessage>(its: &Route<M>, by: Option<&Arc<Route<M>>>) -> bool {
    is_by(its, by) || has(Defect::ReportOfAnyRoute)
}

/// Whether that is the route by which something is said; `None` is this process.
fn is_by<M: PeerMessage>(route: &Route<M>, by: Option<&Arc<Route<M>>>) -> bool {
    match by {
        Some(by) => route.is(by),
        None => route.is_local(),
    }
}
