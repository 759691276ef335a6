//! Merges what was gathered into the membership: one sort, however much there is.

use std::{collections::BTreeSet, mem, sync::Arc};

use crate::protocol::{AgentId, Incarnation, Leader, Member, Members, PeerMessage};

use super::{A_FEW, Registry};

impl<M: PeerMessage> Registry<M> {
    /// Merges what was gathered.
    pub(super) fn merge(&mut self) {
        if self.staged.is_empty() && self.left.is_empty() {
            return;
        }
        self.tell_rest(); // places are about to change
        let before = Arc::clone(&self.members);
        let mut staged = mem::take(&mut self.staged);
        let left = mem::take(&mut self.left);

        let members = Arc::make_mut(&mut self.members);
        if left.len() > A_FEW {
            *members = without(&before, &left);
        } else {
            for id in &left {
                members.leave(id);
            }
        }
        members.join(staged.values().map(|staged| staged.member.clone()));

        let mut known = before.iter().zip(&*self.routes).peekable();
        let routes = self.members.iter().filter_map(|member| {
            let fresh = staged.remove(&member.id).and_then(|staged| staged.route);
            fresh.or_else(|| {
                while known.next_if(|(old, _)| old.id < member.id).is_some() {}
                let (_, route) = known.next_if(|(old, _)| old.id == member.id)?;
                Some(Arc::clone(route))
            })
        });
        self.routes = routes.collect();
        debug_assert_eq!(self.routes.len(), self.members.len());
        self.rank();
    }

    fn rank(&mut self) {
        let mut order: Vec<_> = self.members.iter().enumerate().collect();
        let rank = |member: &Member| member.score.filter(|_| member.is_voter());
        order.sort_unstable_by_key(|(at, member)| std::cmp::Reverse((rank(member), *at)));
        self.order = order.into_iter().map(|(at, _)| at).collect();
        self.place.clear();
        self.place.resize(self.order.len(), 0);
        for (place, at) in self.order.iter().enumerate() {
            if let Some(slot) = self.place.get_mut(*at) {
                *slot = place;
            }
        }
        self.quiet.reset(self.order.len());
        self.due.reset(self.order.len());
    }
}

/// The members but those; sorts once, however many they are.
fn without(members: &Members, left: &BTreeSet<AgentId>) -> Members {
    let mut rest = Members::new(members.is_closed());
    rest.join(members.iter().filter(|m| !left.contains(&m.id)).cloned());
    if let Some(id) = left.first() {
        // Notes the term only.
        let (id, incarnation, term) = (id.clone(), Incarnation::default(), members.term());
        rest.note_leader(Leader {
            id,
            incarnation,
            term,
        });
    }
    if let Some(leader) = members.leader() {
        rest.note_leader(leader.clone());
    }
    rest
}
