//! The settings of an agent of any election.
//!
//! Decided here: the setters and their defaults; the setters record their calls, and judge nothing. Next: how an agent
//! starts from them (`start.rs`), and the further setters of a bully election (`bully.rs`).

use std::{fmt, sync::Arc};

use actix::Recipient;

use crate::{
    clock::{Clock, SystemWallClock, WallClock},
    group::Group,
    protocol::{AgentId, Birth, Election, MemberKind, Score},
    store::TermStore,
    supervisor::{RestartPolicy, Supervision},
};

use super::{
    Agent, Notice,
    choices::{Basis, Choices, Resolve, as_configured},
};

/// Settings of an agent.
#[must_use = "a builder does nothing until `start` is called"]
pub struct AgentBuilder<E: Election> {
    pub(super) name: String,
    pub(super) kind: MemberKind,
    pub(super) score: Option<Score>,
    pub(super) about: Option<String>,
    pub(super) is_ineligible: bool,
    pub(super) config: E::Config,
    pub(super) basis: Basis,
    /// The calls, in elections with calls of their own, and the function that makes a configuration of them.
    pub(super) choices: Choices,
    pub(super) resolve: Resolve<E>,
    pub(super) group: Option<Group<E::Message>>,
    pub(super) clock: Option<Arc<dyn Clock>>,
    pub(super) wall: Arc<dyn WallClock>,
    pub(super) store: Option<Arc<dyn TermStore<E::Durable>>>,
    /// The store where none was named, if the election keeps a record.
    pub(super) spare_store: Option<Arc<dyn TermStore<E::Durable>>>,
    pub(super) seed: u64,
    pub(super) birth: Birth,
    pub(super) policy: RestartPolicy,
    pub(super) parent: Option<Recipient<Supervision<AgentId>>>,
    pub(super) subscribers: Vec<Recipient<Notice>>,
}

impl<E: Election> Agent<E> {
    /// Names an agent of any election; its name is checked when it starts.
    pub fn with_config(name: &str, config: E::Config) -> AgentBuilder<E> {
        AgentBuilder {
            name: name.to_owned(),
            kind: MemberKind::Voter,
            score: None,
            about: None,
            is_ineligible: false,
            config,
            basis: Basis::Given,
            choices: Choices::default(),
            resolve: as_configured::<E>,
            group: None,
            clock: None,
            wall: Arc::new(SystemWallClock),
            store: None,
            spare_store: None,
            seed: 0,
            birth: Birth::Started,
            policy: RestartPolicy::default(),
            parent: None,
            subscribers: Vec::new(),
        }
    }
}

impl<E: Election> AgentBuilder<E> {
    /// The group to take part in. There is no default.
    pub fn join(mut self, group: &Group<E::Message>) -> Self {
        self.group = Some(group.clone());
        self
    }

    /// The agent's score: the member with the highest one is elected. Default: 0, so that names
    /// decide.
    ///
    /// Without voters a leader gives way at once. If scores change often, as free memory does, the leadership moves as often:
    /// set a [margin](Self::margin), or let a leader [keep its leadership](Self::preemption) for some time.
    pub fn score(mut self, score: impl Into<Score>) -> Self {
        self.score = Some(score.into());
        self
    }

    /// The agent is never elected, until [it gets a score](super::ElectionHandle::set_score); it still answers and votes.
    /// Refused together with [`score`](Self::score).
    pub fn ineligible(mut self) -> Self {
        self.is_ineligible = true;
        self
    }

    /// What the agent says of itself to all members of its group, such as the URL of its own server: 1 to 256 bytes, see
    /// [`About`](crate::protocol::About). Default: nothing. It can be [changed](super::ElectionHandle::set_about).
    ///
    /// Members read what the [leader says](super::ElectionHandle::leader_about). No election depends on it, and it is no
    /// secret: whoever reads the group's members or the record of its lease reads it.
    pub fn about(mut self, text: impl Into<String>) -> Self {
        self.about = Some(text.into());
        self
    }

    /// The agent hears of each leader, and never votes or leads.
    pub fn observer(mut self) -> Self {
        self.kind = MemberKind::Observer;
        self
    }

    /// The clock that measures the agent's leadership. Default: a [`RuntimeClock`](crate::clock::RuntimeClock), and a
    /// [`BootClock`](crate::clock::BootClock) for elections that keep leases, which accept no clock that stops while the
    /// host is suspended.
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Some(Arc::new(clock));
        self
    }

    /// The wall clock that the agent reads once, at its start. Default: the host's.
    #[cfg(feature = "testkit")]
    pub fn wall_clock(mut self, clock: impl WallClock + 'static) -> Self {
        self.wall = Arc::new(clock);
        self
    }

    /// Where the agent keeps what must survive a crash. Needed only by elections that have such a
    /// record.
    ///
    /// The store outlives the agent: keep it, and give the same one, or a clone of it, to each start
    /// of this name. A start takes it over, so an agent that had it before saves nothing any more; and
    /// a start whose store has no record is refused where an agent of that name has kept one.
    pub fn store(mut self, store: impl TermStore<E::Durable> + 'static) -> Self {
        self.store = Some(Arc::new(store));
        self
    }

    /// The same for tests that do not know the election: it is left out where that keeps no record, or where a store is
    /// named.
    #[cfg(feature = "testkit")]
    pub(crate) fn store_if_kept(mut self, store: impl TermStore<E::Durable> + 'static) -> Self {
        self.spare_store = Some(Arc::new(store));
        self
    }

    /// Begins the agent's random numbers (jitter), together with its name and incarnation. Default: 0.
    #[cfg(feature = "testkit")]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The agent was there before and comes back, as after a crash of its process: in an election
    /// that some agent has to start, this one does.
    pub fn recovering(mut self) -> Self {
        self.birth = Birth::Restarted;
        self
    }

    /// How the agent is restarted after a crash. Default: [`RestartPolicy::transient`].
    ///
    /// A record that the store does not take for a while, as of a full disk, is no crash: the agent waits and tries it
    /// again, and leads, votes and answers nothing meanwhile.
    pub fn restart_policy(mut self, policy: RestartPolicy) -> Self {
        self.policy = policy;
        self
    }

    /// The actor that hears of crashes and restarts. Default: none.
    pub fn parent(mut self, parent: Recipient<Supervision<AgentId>>) -> Self {
        self.parent = Some(parent);
        self
    }

    /// Subscribes to the agent's events from the first one on; may be called for several. The
    /// agent does not keep its subscriber alive.
    pub fn subscribe(mut self, to: Recipient<Notice>) -> Self {
        self.subscribers.push(to);
        self
    }
}

/// Every setting, so that two builders which ask for the same show the same.
impl<E: Election> fmt::Debug for AgentBuilder<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("AgentBuilder");
        shown
            .field("name", &self.name)
            .field("kind", &self.kind)
            .field("score", &self.score)
            .field("is_ineligible", &self.is_ineligible)
            .field("about", &self.about)
            .field("config", &self.config)
            .field("choices", &self.choices)
            .field("group", &self.group.as_ref().map(Group::name))
            .field("has_clock", &self.clock.is_some())
            .field("has_store", &self.store.is_some())
            .field("seed", &self.seed)
            .field("birth", &self.birth)
            .field("policy", &self.policy)
            .field("has_parent", &self.parent.is_some())
            .field("subscribers", &self.subscribers.len())
            .finish_non_exhaustive()
    }
}
