//! The settings of an agent of any election.
//!
//! Decided here: the setters and their defaults. A setter only records its call, and checks nothing. Read next:
//! `start.rs` (how an agent starts with these settings), and `bully.rs` (more setters, for a bully election).

use std::{fmt, sync::Arc};

use actix::Recipient;

use crate::{
    clock::{Clock, WallClock},
    group::Group,
    protocol::{AgentId, Birth, Election, MemberKind, Score},
    store::TermStore,
    supervisor::{RestartPolicy, Supervision},
};

use super::{
    Agent, Notice,
    choices::{Basis, Choices, ResolveFn, as_configured},
};

/// Settings of an agent.
///
/// # Time until the first leader
/// The times count from the start of the group's agents, with the default timings. With other [timings](Self::timings)
/// the formula gives the time; [`worst_case_start`](Self::worst_case_start) returns it for voters.
///
/// | mode | longest time | reason | formula |
/// |---|---|---|---|
/// | available (default) | 4.15 s; no wait while the highest-ranked agent is up | agents wait for silent members of a higher rank | [`Timings::worst_case_failover`](crate::protocol::Timings::worst_case_failover) |
/// | [`astra`](Self::astra) | without end, until an agent [campaigns](super::ElectionHandle::campaign); then 2.00 s | the rules have no failure detector, so no agent begins by itself; the winner waits for an answer from above | [`Timings::deadline`](crate::protocol::Timings::deadline) |
/// | [`quorum`](Self::quorum) | 1.47 s; no wait with new stores | a voter that restarts keeps the promise that it may have given before | [`QuorumConfig::worst_case_start`](crate::elections::quorum::QuorumConfig::worst_case_start) |
/// | [`diskless`](Self::diskless) | 2.06 s | each voter waits until its former promises and votes are over | the same |
/// | [`lease`](Self::lease) | 1.81 s, with an empty store too | the lease of a former leader has to run out, even if its record was deleted | [`LeaseConfig::worst_case_failover`](crate::elections::lease::LeaseConfig::worst_case_failover) |
///
/// The quorum modes need a majority of the voters: the time begins when the last voter of a majority starts. Each voter
/// that ranks above the winner and is down adds 80 ms, and in the lease mode 0.31 s. An [observer](Self::observer) and a
/// [learner](Self::learner) learn of the leader, and never lead.
#[must_use = "a builder does nothing until `start` is called"]
pub struct AgentBuilder<E: Election> {
    pub(super) name: String,
    pub(super) kind: MemberKind,
    pub(super) score: Option<Score>,
    pub(super) about: Option<String>,
    pub(super) is_ineligible: bool,
    pub(super) config: E::Config,
    pub(super) basis: Basis,
    /// The calls of the setters that only some elections have. `resolve` makes a configuration from them.
    pub(super) choices: Choices,
    pub(super) resolve: ResolveFn<E>,
    pub(super) group: Option<Group<E::Message>>,
    pub(super) clock: Option<Arc<dyn Clock>>,
    /// The wall clock that was given, in place of the host's.
    pub(super) wall: Option<Arc<dyn WallClock>>,
    pub(super) store: Option<Arc<dyn TermStore<E::Durable>>>,
    /// The store that is used if no other store was given and the election keeps a record.
    pub(super) spare_store: Option<Arc<dyn TermStore<E::Durable>>>,
    pub(super) seed: u64,
    pub(super) birth: Birth,
    pub(super) policy: RestartPolicy,
    pub(super) parent: Option<Recipient<Supervision<AgentId>>>,
    pub(super) subscribers: Vec<Recipient<Notice>>,
}

impl<E: Election> Agent<E> {
    /// Makes the settings of an agent of any election. The name is checked at the start.
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
            wall: None,
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
    /// Sets the group in which the agent takes part. Every agent needs a group.
    pub fn join(mut self, group: &Group<E::Message>) -> Self {
        self.group = Some(group.clone());
        self
    }

    /// Sets the agent's score: the member with the highest score is elected. Default: 0, so that names decide.
    ///
    /// In the available mode a leader yields to a higher score at once. If scores change often, as free memory does,
    /// the leadership moves as often: set a [margin](Self::margin), or let a leader [keep its
    /// leadership](Self::preemption) for some time.
    pub fn score(mut self, score: impl Into<Score>) -> Self {
        self.score = Some(score.into());
        self
    }

    /// Makes the agent ineligible until [it gets a score](super::ElectionHandle::set_score). It still answers and
    /// votes. It is an error to set a [`score`](Self::score) as well.
    pub fn ineligible(mut self) -> Self {
        self.is_ineligible = true;
        self
    }

    /// Sets a text about the agent for all members of its group, such as the URL of its own server: 1 to 256 bytes, see
    /// [`About`](crate::protocol::About). Default: none. It can be [changed](super::ElectionHandle::set_about).
    ///
    /// Members read the [text of the leader](super::ElectionHandle::leader_about). No election depends on it. It is not
    /// secret: everyone who can read the group's members or the records of its lease can read it.
    ///
    /// If the agents only share a store, the record of the lease has the leader's text, and each other agent's text is
    /// in its own row: the [report of a node](crate::operate::AgentReport::contenders) shows them. A row is written and
    /// read every 30 s with or without a text, so the texts cost no additional request.
    pub fn about(mut self, text: impl Into<String>) -> Self {
        self.about = Some(text.into());
        self
    }

    /// Makes the agent an observer: it learns of each leader, but never votes or leads.
    pub fn observer(mut self) -> Self {
        self.kind = MemberKind::Observer;
        self
    }

    /// Sets the clock that measures the agent's leadership. Default: a [`RuntimeClock`](crate::clock::RuntimeClock), or
    /// a [`BootClock`](crate::clock::BootClock) for elections that keep leases. Elections that keep leases refuse a
    /// clock that stops while the host is suspended.
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Some(Arc::new(clock));
        self
    }

    /// Sets the wall clock. The agent reads it once, at its start, and its schedules are due by it. Default: the host's
    /// wall clock.
    #[cfg(feature = "testkit")]
    pub fn wall_clock(mut self, clock: impl WallClock + 'static) -> Self {
        self.wall = Some(Arc::new(clock));
        self
    }

    /// Sets the store for the record that must survive a crash. Only elections with such a record need it.
    ///
    /// Keep the store longer than the agent, and give the same store, or a clone of it, to each start of an agent with
    /// this name. A start takes the store over: an agent that used the store before can save nothing more. If an agent
    /// with this name has kept a record in the group, a start with an empty store is refused.
    pub fn store(mut self, store: impl TermStore<E::Durable> + 'static) -> Self {
        self.store = Some(Arc::new(store));
        self
    }

    /// Like [`store`](Self::store), for tests that run with any election: the store is ignored if the election keeps no
    /// record, or if another store is given.
    #[cfg(feature = "testkit")]
    pub(crate) fn store_if_kept(mut self, store: impl TermStore<E::Durable> + 'static) -> Self {
        self.spare_store = Some(Arc::new(store));
        self
    }

    /// Sets the seed of the agent's random numbers (jitter). The agent's name and incarnation are mixed in. Default: 0.
    #[cfg(feature = "testkit")]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Declares that the agent existed before and comes back, for instance after a crash of its process. In a mode in
    /// which no agent begins an election by itself ([`astra`](Self::astra)), this agent begins one.
    pub fn recovering(mut self) -> Self {
        self.birth = Birth::Restarted;
        self
    }

    /// Sets how the agent is restarted after a crash. Default: [`RestartPolicy::transient`].
    ///
    /// If the store refuses a record for a while, for instance because the disk is full, this does not count as a
    /// crash: the agent tries again, and meanwhile does not lead, vote or answer.
    pub fn restart_policy(mut self, policy: RestartPolicy) -> Self {
        self.policy = policy;
        self
    }

    /// Sets the actor that receives a message about each crash and restart. Default: none.
    pub fn parent(mut self, parent: Recipient<Supervision<AgentId>>) -> Self {
        self.parent = Some(parent);
        self
    }

    /// Subscribes an actor to the agent's events, from the first event on. Each call adds one actor. The agent does not
    /// keep a subscriber alive.
    pub fn subscribe(mut self, to: Recipient<Notice>) -> Self {
        self.subscribers.push(to);
        self
    }
}

/// Shows every setting, so that two builders with the same settings look the same.
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
