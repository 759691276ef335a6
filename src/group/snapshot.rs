//! The membership at one moment together with the way to each member: what an agent sends by.
//!
//! Decided here: who receives a letter, and how it is handed over. Shared by all agents: nobody
//! keeps addresses of its own.

use std::{
    ptr, slice,
    sync::{Arc, atomic::Ordering::Relaxed},
};

use actix::{Recipient, prelude::SendError};
use tracing::debug;

use crate::protocol::{AgentId, Incarnation, Member, Members, PeerMessage, Presence, To};

use super::{Incoming, Link, MembersChanged, Wire, counters::Counters};

/// All members of a group at one moment, and the way to each of them.
#[derive(Debug)]
pub struct Snapshot<M: PeerMessage> {
    pub(super) version: u64,
    pub(super) members: Arc<Members>,
    /// Parallel to the members.
    pub(super) routes: Arc<[Arc<Route<M>>]>,
    pub(super) office: Arc<Office<M>>,
}

/// What all snapshots of a group share.
#[derive(Debug)]
pub(super) struct Office<M: PeerMessage> {
    pub(super) wire: Option<Arc<dyn Wire<M>>>,
    pub(super) counters: Counters,
}

/// The way to one member.
#[derive(Debug)]
pub(super) enum Route<M: PeerMessage> {
    /// An actor of this process.
    Local {
        inbox: Recipient<Incoming<M>>,
        pokes: Recipient<MembersChanged>,
    },
    /// A member on another host.
    Remote(Arc<dyn Link<M>>),
}

impl<M: PeerMessage> Snapshot<M> {
    /// Grows with every change of the membership; the hint about the leader does not count.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The members.
    pub fn members(&self) -> &Arc<Members> {
        &self.members
    }

    /// Delivers a letter to each receiver that is not certainly down, the sender excepted.
    ///
    /// One that [is repeated](PeerMessage::is_repeated) is dropped where the mailbox is full; any
    /// other is queued in any case. What is dropped is counted.
    pub fn deliver(&self, from: &AgentId, incarnation: Incarnation, to: &To, message: M) {
        let letter = Incoming {
            from: from.clone(),
            incarnation,
            message,
        };
        let mut far = Far::default();
        match to {
            To::One(id) if id == from => {}
            To::One(id) => {
                if let Some((member, route)) = self.route(id) {
                    return self.post_one(member, route, letter);
                }
            }
            To::Set(ids) => {
                for (member, route) in ids.iter().filter_map(|id| self.route(id)) {
                    if member.id != *from {
                        self.post(member, route, letter.clone(), &mut far);
                    }
                }
            }
            To::All => {
                let sender = self.members.index_of(from);
                for (at, (member, route)) in self.members.iter().zip(&*self.routes).enumerate() {
                    if Some(at) != sender {
                        self.post(member, route, letter.clone(), &mut far);
                    }
                }
            }
        }
        self.office.counters.sent.fetch_add(far.posted, Relaxed);
        for (link, to) in far.links {
            link.carry(&to, letter.clone());
        }
    }

    /// Delivers a letter from another host to members of this process that are not certainly
    /// down, to all of them when none is named. It goes to nobody elsewhere.
    pub fn deliver_here(&self, letter: &Incoming<M>, to: Option<&[AgentId]>) {
        let mut far = Far::default();
        let is_here = |route: &Route<M>| matches!(route, Route::Local { .. });
        let mut post = |member: &Member, route: &Arc<Route<M>>| {
            if is_here(route) {
                self.post(member, route, letter.clone(), &mut far);
            }
        };
        match to {
            Some(ids) => {
                for (member, route) in ids.iter().filter_map(|id| self.route(id)) {
                    post(member, route);
                }
            }
            None => {
                for (member, route) in self.members.iter().zip(&*self.routes) {
                    post(member, route);
                }
            }
        }
        self.office.counters.sent.fetch_add(far.posted, Relaxed);
    }

    /// The members of this process.
    pub fn here(&self) -> impl Iterator<Item = &Member> {
        let routes = self.members.iter().zip(&*self.routes);
        routes
            .filter(|(_, route)| matches!(***route, Route::Local { .. }))
            .map(|(member, _)| member)
    }

    /// Counts a letter that its receiver dropped because the sender is not a member.
    pub fn count_stranger(&self) {
        self.office.counters.strangers.fetch_add(1, Relaxed);
    }

    /// Counts a letter that its receiver dropped because the sender's life is over.
    pub fn count_stale(&self) {
        self.office.counters.stale.fetch_add(1, Relaxed);
    }

    fn route(&self, id: &AgentId) -> Option<(&Member, &Arc<Route<M>>)> {
        let at = self.members.index_of(id)?;
        self.members.at(at).zip(self.routes.get(at))
    }

    fn post(&self, to: &Member, route: &Route<M>, letter: Incoming<M>, far: &mut Far<M>) {
        if to.presence == Presence::Down {
            return;
        }
        far.posted += 1;
        match route {
            Route::Remote(link) => far.add(link, &to.id),
            Route::Local { inbox, .. } => match &self.office.wire {
                Some(wire) => wire.carry(&to.id, letter, inbox),
                None => self.put(&to.id, inbox, letter),
            },
        }
    }

    /// To one receiver: no list is made of it.
    fn post_one(&self, to: &Member, route: &Route<M>, letter: Incoming<M>) {
        let mut far = Far::default();
        match route {
            Route::Remote(link) if to.presence != Presence::Down => {
                far.posted = 1;
                link.carry(slice::from_ref(&to.id), letter);
            }
            Route::Remote(_) | Route::Local { .. } => self.post(to, route, letter, &mut far),
        }
        self.office.counters.sent.fetch_add(far.posted, Relaxed);
    }

    fn put(&self, to: &AgentId, inbox: &Recipient<Incoming<M>>, letter: Incoming<M>) {
        let counters = &self.office.counters;
        let kind = letter.message.kind();
        let lost = if letter.message.is_repeated() {
            match inbox.try_send(letter) {
                Ok(()) => return,
                Err(SendError::Full(_)) => &counters.full,
                Err(SendError::Closed(_)) => &counters.closed,
            }
        } else if inbox.connected() {
            return inbox.do_send(letter);
        } else {
            &counters.closed
        };
        lost.fetch_add(1, Relaxed);
        debug!(peer = %to, kind, "letter dropped: mailbox full or closed");
    }
}

/// What one delivery leaves for the links: named once for all receivers behind the same link.
struct Far<M> {
    posted: u64,
    links: Vec<(Arc<dyn Link<M>>, Vec<AgentId>)>,
}

impl<M> Default for Far<M> {
    fn default() -> Self {
        Self {
            posted: 0,
            links: Vec::new(),
        }
    }
}

impl<M> Far<M> {
    fn add(&mut self, link: &Arc<dyn Link<M>>, to: &AgentId) {
        let same = |known: &Arc<dyn Link<M>>| ptr::addr_eq(Arc::as_ptr(known), Arc::as_ptr(link));
        match self.links.iter_mut().find(|(known, _)| same(known)) {
            Some((_, receivers)) => receivers.push(to.clone()),
            None => self.links.push((Arc::clone(link), vec![to.clone()])),
        }
    }
}
