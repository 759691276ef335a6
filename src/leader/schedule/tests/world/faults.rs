//! The faults of agents, and the changes of the voters.

use std::collections::BTreeSet;

use super::{
    super::super::{
        lists::{QuorumList, VoterLists},
        poll::Audience,
    },
    AGENTS, Flaw, Marks, World, id,
};
use crate::protocol::Term;

impl World {
    pub(in super::super) fn crash(&mut self, host: usize) {
        self.hosts[host].life = None;
    }

    pub(in super::super) fn set_clock(&mut self, host: usize, ahead: i64) {
        self.hosts[host].ahead = ahead;
    }

    pub(in super::super) fn cut(&mut self, cut: BTreeSet<usize>) {
        self.cut = cut;
    }

    pub(super) fn list(&self) -> QuorumList {
        let (few, majority) = (1, self.voters.len() / 2 + 1);
        let of = |flaw, enough| if self.is_broken(flaw) { few } else { enough };
        QuorumList {
            voters: self.voters.iter().copied().map(id).collect(),
            read: of(Flaw::ReadsTooFew, majority),
            write: of(Flaw::WritesToTooFew, self.voters.len() + 1 - majority),
        }
    }

    /// Replaces the voters. Leaders of the former epoch still believe that they lead.
    pub(in super::super) fn change(&mut self, voters: BTreeSet<usize>) {
        self.epoch += 1;
        self.voters = voters;
        let (epoch, list) = (self.epoch, self.list());
        for host in 0..AGENTS {
            if let Some(life) = &mut self.hosts[host].life {
                life.lists.note(epoch, list.clone());
                let step = life.replica.note_lists(life.lists.lists());
                self.replica(host, step);
            }
        }
    }

    /// Returns the agents that the leader of this term asks.
    pub(super) fn audience(&self, host: usize, term: Term) -> Audience {
        if self.setup.marks == Marks::InStore {
            return Audience::Reachable([id(host)].into());
        }
        let lists = self.hosts[host].life.as_ref().map(|life| &life.lists);
        let lists = lists.map(|lists| lists.up_to(term));
        let all = lists.unwrap_or_else(|| VoterLists::only(self.list()));
        let last = all.lists().values().next_back();
        match last.filter(|_| self.is_broken(Flaw::ForgetsFormerVoters)) {
            Some(last) => Audience::Voters(VoterLists::only(last.clone())),
            None => Audience::Voters(all),
        }
    }
}
