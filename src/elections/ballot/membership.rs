//! What a new snapshot of the members means.
//!
//! Only an end that is certain makes a ballot void. Who is no member any more is not followed, but
//! its life may go on, and it may be a member again (a bridge forgets a peer, and meets it again): a
//! round shows. A guess changes nothing. Who votes is in the configuration.

use std::sync::Arc;

use super::{
    Ballot, Out,
    state::{Seen, Trust},
};
use crate::protocol::{LostReason, Members, Presence, Time};

impl Ballot {
    pub(super) fn on_members(&mut self, now: Time, members: Arc<Members>, out: &mut Out) {
        self.meet(members);
        let Trust::Other(followed) = &self.trust else {
            return;
        };
        let has_ended = match self.me.members.get(&followed.ballot.id) {
            Some(member) if !member.is_stale(followed.incarnation) => return,
            Some(_) => true,
            None => false,
        };
        if has_ended {
            self.void = Some(followed.ballot.clone());
        }
        if !self.me.is_voter() {
            return self.trust_nobody(out);
        }
        self.set_trust(Trust::Nobody, LostReason::Superseded, out);
        if self.seen == Seen::Minority {
            return; // the round that runs shows whether there is a majority
        }
        if !has_ended {
            return self.begin_round(now, out);
        }
        if self.stands(now) {
            self.take(1, out);
            self.begin_round(now, out);
        }
    }

    /// Takes note of who is there; what was heard of a life that is over is forgotten.
    pub(super) fn meet(&mut self, members: Arc<Members>) {
        self.me.members = members;
        let (members, config) = (&self.me.members, &self.config);
        self.heard.retain(|id, heard| {
            let member = members.get(id);
            member.is_some_and(|m| !m.is_stale(heard.incarnation))
        });
        let observers = || {
            let there = members.iter().filter(|m| m.presence != Presence::Down);
            let ids = there.map(|member| &member.id);
            ids.filter(|id| !config.is_voter(id))
        };
        if !observers().eq(self.observers.iter()) {
            self.observers = observers().cloned().collect();
        }
    }
}
