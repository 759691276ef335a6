//! What the agents are told of each other, and when: the membership that a driver keeps.
//!
//! Decided here: how a crash, a cut or a return becomes known. Not here: what the network does
//! to messages; a network that says nothing about a cut is [`Detection::Silent`].
//!
//! News is looked up when it arrives, not when it is sent: whoever hears late hears the truth of
//! that moment. That a former life has ended is never left out; but whoever has forgotten a member
//! hears nothing of it until it is on the list again, and then how it is.

use std::sync::Arc;

use super::{
    World,
    node::{Known, Place},
    wire::Directory,
    world::Due,
};
use crate::protocol::{After, AgentId, Election, Incarnation, Input, Member, Members};

/// How agents learn that others crash, vanish and return. Joining and leaving is always told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Detection {
    /// As in one process: a crash is known for certain after so long, a return too, and cuts are
    /// not noticed. The group is closed to other hosts.
    Certain(After),
    /// As across hosts: who crashes or is cut off is suspected after so long, and the suspicion
    /// ends as long after the return.
    Suspect(After),
    /// Nobody is told anything: only silence tells. The range is for joining and leaving.
    Silent(After),
}

impl Default for Detection {
    fn default() -> Self {
        Self::Certain(std::time::Duration::ZERO.into())
    }
}

impl Detection {
    pub(super) fn takes(self) -> After {
        match self {
            Self::Certain(after) | Self::Suspect(after) | Self::Silent(after) => after,
        }
    }
}

/// Something to be known of an agent.
#[derive(Clone, Copy, Debug)]
pub(super) struct News {
    pub(super) about: Place,
    pub(super) to: Audience,
    pub(super) what: Report,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Audience {
    All,
    /// Only the list that those who start are given.
    Registry,
    One(Place),
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Report {
    /// Whether it can be seen.
    Sight,
    /// This life has certainly ended.
    Down(Incarnation),
    /// How important it is.
    Score,
    /// Whether it is a member.
    Membership,
    /// Who had forgotten it has it on the list again.
    Return,
}

impl Known {
    /// What is known after a change; `None` if that changes nothing.
    fn changed(
        &self,
        directory: &Directory,
        change: impl FnOnce(&mut Members) -> bool,
    ) -> Option<Self> {
        let mut members = Members::clone(&self.members);
        change(&mut members).then(|| Self::of(members, directory))
    }

    pub(super) fn of(members: Members, directory: &Directory) -> Self {
        let places = members.iter().filter_map(|m| directory.find(m.id.as_str()));
        Self {
            places: places.collect(),
            members: Arc::new(members),
        }
    }
}

/// What is done to lists of members.
impl<E: Election> World<E> {
    /// An agent's list of members loses one that lives; nothing is said of an end. That is what
    /// becomes of a member whose host a bridge gives up. Its letters are a stranger's there until
    /// [`meet_again`](Self::meet_again).
    pub fn forget(&mut self, agent: impl AsRef<str>, member: impl AsRef<str>) -> bool {
        let pair = self.alive(agent.as_ref()).zip(self.alive(member.as_ref()));
        let Some((at, about)) = pair.filter(|(at, about)| at != about) else {
            return false;
        };
        let is_news = self.forgotten.insert((at, about));
        if is_news {
            let (agent, member) = (agent.as_ref(), member.as_ref());
            self.wire
                .trace
                .mark(self.now, || format!("{agent} forgets {member}"));
            self.tell_now(at, about, Report::Membership);
        }
        is_news
    }

    /// Whoever was forgotten is on all lists again, if it is a member still, and as it is now.
    pub fn meet_again(&mut self) {
        for (at, about) in std::mem::take(&mut self.forgotten) {
            let directory = &self.wire.directory;
            self.wire.trace.mark(self.now, || {
                let name = |at| directory.name(at).map_or("", AgentId::as_str);
                format!("{} meets {} again", name(at), name(about))
            });
            self.tell_now(at, about, Report::Return);
        }
    }

    /// Tells an agent at once, as far as it does not hang.
    fn tell_now(&mut self, to: Place, about: Place, what: Report) {
        let to = Audience::One(to);
        self.spread(News { about, to, what });
    }
}

impl<E: Election> World<E> {
    /// Lets everybody else know, each after the time that detection takes.
    pub(super) fn report(&mut self, about: Place, what: Report) {
        let takes = self.detection.takes();
        let push = |world: &mut Self, to| {
            let at = world.now.after(world.random.span(takes));
            world
                .wire
                .queue
                .push(at, Due::News(News { about, to, what }));
        };
        // All hear it at one moment: those who knew the same then share one list.
        if takes.min >= takes.max {
            push(self, Audience::All);
            return;
        }
        push(self, Audience::Registry);
        for at in (0..self.nodes.len()).map(Place) {
            push(self, Audience::One(at));
        }
    }

    /// Some links were cut or healed: who lost whom from sight?
    pub(super) fn links_changed(&mut self) {
        let Detection::Suspect(takes) = self.detection else {
            return;
        };
        for one in (0..self.nodes.len()).map(Place) {
            for about in (0..self.nodes.len()).map(Place).filter(|at| *at != one) {
                let network = &self.wire.network;
                let connected = network.connects(&one, &about) && network.connects(&about, &one);
                let changed = if connected {
                    self.apart.remove(&(one, about))
                } else {
                    self.apart.insert((one, about))
                };
                if changed {
                    let at = self.now.after(self.random.span(takes));
                    let (to, what) = (Audience::One(one), Report::Sight);
                    self.wire
                        .queue
                        .push(at, Due::News(News { about, to, what }));
                }
            }
        }
    }

    /// News arrives.
    pub(super) fn spread(&mut self, news: News) {
        match news.to {
            Audience::One(at) => {
                self.tell(at, news, &mut None);
            }
            Audience::Registry => self.tell_registry(news),
            Audience::All => {
                self.tell_registry(news);
                let mut same = None;
                for at in (0..self.nodes.len()).map(Place) {
                    self.tell(at, news, &mut same);
                }
            }
        }
    }

    /// What somebody who starts now is told.
    pub(super) fn snapshot_for(&self, newcomer: Place) -> Known {
        if !matches!(self.detection, Detection::Suspect(_)) {
            return self.registry.clone();
        }
        let hidden = self.registry.changed(&self.wire.directory, |members| {
            let mut changed = false;
            for about in (0..self.nodes.len())
                .map(Place)
                .filter(|at| *at != newcomer)
            {
                changed |= self.look(newcomer, about, members);
            }
            changed
        });
        hidden.unwrap_or_else(|| self.registry.clone())
    }

    /// Changes the list that those who start are given, at once.
    pub(super) fn enter(&mut self, change: impl FnOnce(&mut Members) -> bool) -> bool {
        let changed = self.registry.changed(&self.wire.directory, change);
        let any = changed.is_some();
        if let Some(changed) = changed {
            self.registry = changed;
        }
        any
    }

    /// A message shows that its sender's life is up: on a connection, whoever is heard is there.
    pub(super) fn hear_of(&mut self, at: Place, from: Place, incarnation: Incarnation) {
        let Some((node, id)) = self.nodes.get(at.0).zip(self.wire.directory.name(from)) else {
            return;
        };
        let directory = &self.wire.directory;
        let changed = node.known.changed(directory, |m| m.up(id, incarnation));
        if let Some(known) = changed {
            self.learn(at, known);
        }
    }

    /// Whether the one can see the other, as far as the network and the world allow.
    fn look(&self, one: Place, about: Place, members: &mut Members) -> bool {
        let (node, id) = (self.nodes.get(about.0), self.wire.directory.name(about));
        let Some((node, id)) = node.zip(id) else {
            return false;
        };
        if !node.has_started {
            return false;
        }
        if node.is_alive() && !self.apart.contains(&(one, about)) {
            members.up(id, node.incarnation)
        } else if matches!(self.detection, Detection::Suspect(_)) {
            members.suspect(id, node.incarnation)
        } else {
            false
        }
    }

    fn tell_registry(&mut self, news: News) {
        // The registry is no agent: it is never cut off, and forgets nobody.
        let nowhere = Place(usize::MAX);
        if let Some(known) = self.told(&self.registry, nowhere, news) {
            self.registry = known;
        }
    }

    /// Tells one agent. `same` spares work for those who knew the same before.
    fn tell(&mut self, at: Place, news: News, same: &mut Option<(Arc<Members>, Known)>) {
        let Some(node) = self.nodes.get_mut(at.0).filter(|node| node.is_alive()) else {
            return;
        };
        if let Some(waiting) = &mut node.hanging {
            let to = Audience::One(at);
            waiting.push(Due::News(News { to, ..news }));
            return;
        }
        let old = node.known.clone();
        let known = match same {
            Some((before, after)) if Arc::ptr_eq(before, &old.members) => after.clone(),
            _ => {
                let Some(after) = self.told(&old, at, news) else {
                    return;
                };
                let shared = matches!(news.to, Audience::All);
                // Where agents are cut off or forgotten, each of them may see something else.
                let shared = shared && self.apart.is_empty() && self.forgotten.is_empty();
                *same = shared.then(|| (old.members, after.clone()));
                after
            }
        };
        self.learn(at, known);
    }

    fn learn(&mut self, at: Place, known: Known) {
        if let Some(node) = self.nodes.get_mut(at.0) {
            let members = Arc::clone(&known.members);
            node.known = known;
            node.contract.is_told();
            self.feed(at, Input::Members(members));
        }
    }

    /// What is known after this news; `None` if that is nothing new.
    fn told(&self, old: &Known, reader: Place, news: News) -> Option<Known> {
        let about = self.nodes.get(news.about.0)?;
        let id = self.wire.directory.name(news.about)?;
        let known = |members: &Members| {
            let same =
                |m: &Member| m.incarnation >= Some(about.incarnation) && m.kind == about.kind;
            members.get(id).is_some_and(same)
        };
        old.changed(&self.wire.directory, |members| match news.what {
            Report::Sight => reader != news.about && self.look(reader, news.about, members),
            Report::Down(life) => members.down(id, life),
            Report::Score => members.set_score(id, about.score),
            Report::Membership | Report::Return
                if !about.is_member || self.forgotten.contains(&(reader, news.about)) =>
            {
                members.leave(id)
            }
            Report::Membership | Report::Return if known(members) => false,
            Report::Membership => {
                let (kind, score) = (about.kind, about.score);
                members.join([Member::up(id.clone(), kind, score, about.incarnation)]);
                true
            }
            Report::Return => {
                let (kind, score) = (about.kind, about.score);
                members.join([Member::up(id.clone(), kind, score, about.incarnation)]);
                if !about.is_alive() && matches!(self.detection, Detection::Certain(_)) {
                    members.down(id, about.incarnation);
                }
                self.look(reader, news.about, members);
                true
            }
        })
    }
}
