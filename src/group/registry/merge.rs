//! Merges all gathered changes into the membership with a single sort.

use std::{collections::BTreeMap, mem, sync::Arc};

use crate::protocol::{AgentId, Incarnation, Leader, Members, PeerMessage};

use super::{A_FEW, MemberEntry, Registry};
use bully_core::driver::MembersReports as _;

impl<M: PeerMessage> Registry<M> {
    pub(super) fn merge(&mut self) {
        if self.staged.is_empty() && self.left.is_empty() {
            return;
        }
        let before = Arc::clone(&self.members);
        let staged = mem::take(&mut self.staged);
        let left = mem::take(&mut self.left);
        let is_new = |(id, entry): (&AgentId, &MemberEntry<M>)| {
            let at = before.index_of(id).and_then(|at| self.routes.get(at));
            !at.is_some_and(|route| Arc::ptr_eq(route, &entry.route))
        };
        let are_routes_same = left.is_empty() && !staged.iter().any(is_new);
        let is_ranked = |(id, entry): (&AgentId, &MemberEntry<M>)| {
            let known = before.get(id);
            known.is_none_or(|known| {
                (known.score, known.kind) != (entry.member.score, entry.member.kind)
            })
        };
        let are_ranks_same = are_routes_same && !staged.iter().any(is_ranked);
        if !are_ranks_same {
            self.notify_remaining(); // positions are about to change
        }

        let members = Arc::make_mut(&mut self.members);
        if left.len() > A_FEW {
            *members = without(&before, &left);
        } else {
            for id in left.keys() {
                members.leave(id);
            }
        }
        members.join(staged.values().map(|entry| entry.member.clone()));
        if !are_routes_same {
            self.reroute(&before, staged);
        }
        if !are_ranks_same {
            self.rank();
        }
    }

    /// Returns the routes to the present members; `routes` has the routes to the members `before`.
    fn reroute(&mut self, before: &Members, mut staged: BTreeMap<AgentId, MemberEntry<M>>) {
        let mut known = before.iter().zip(&*self.routes).peekable();
        let routes = self.members.iter().filter_map(|member| {
            let fresh = staged.remove(&member.id).map(|entry| entry.route);
            fresh.or_else(|| {
                while known.next_if(|(old, _)| old.id < member.id).is_some() {}
                let (_, route) = known.next_if(|(old, _)| old.id == member.id)?;
                Some(Arc::clone(route))
            })
        });
        self.routes = routes.collect();
        debug_assert_eq!(self.routes.len(), self.members.len());
    }

    /// Orders the eligible members by rank, highest first, and then the other members.
    fn rank(&mut self) {
        self.positions.clear();
        self.positions.resize(self.members.len(), NO_POSITION);
        let mut order: Vec<usize> = self.members.places_by_rank().collect();
        for (position, at) in order.iter().enumerate() {
            if let Some(known) = self.positions.get_mut(*at) {
                *known = position;
            }
        }
        for (at, position) in self.positions.iter_mut().enumerate().rev() {
            if *position == NO_POSITION {
                *position = order.len();
                order.push(at);
            }
        }
        self.order = order;
        self.up_to_date.reset(self.order.len());
        self.due.reset(self.order.len());
    }
}

const NO_POSITION: usize = usize::MAX;

/// Returns the members without the members that left. The list is sorted only once, even if many left.
fn without<M: PeerMessage>(members: &Members, left: &BTreeMap<AgentId, MemberEntry<M>>) -> Members {
    let mut others = Members::new(members.is_closed());
    others.join(
        members
            .iter()
            .filter(|m| !left.contains_key(&m.id))
            .cloned(),
    );
    if let Some(id) = left.keys().next() {
        // This member has left, so only the term of its leadership is noted.
        let (id, incarnation, term) = (id.clone(), Incarnation::default(), members.term());
        others.note_leader(Leader {
            id,
            incarnation,
            term,
        });
    }
    others.keep_disowners(members);
    if let Some(leader) = members.leader() {
        others.note_leader(leader.clone());
    }
    others
}
