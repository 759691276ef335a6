//! Starts a cluster: checks everything first, then starts all agents at once.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex},
    time::Duration,
};

use actix::System;

use super::{
    Cluster, ClusterError,
    error::{refused, taken},
    hub::{Carry, CarryApplication, Hub, ToHub},
    journal::Journal,
    wiring::{AgentPlan, Making},
};
use crate::{
    agent::{
        Basis, Choices, Mode, StartError,
        any::{AnyBully, AnyConfig},
    },
    clock::{RuntimeClock, WallTime},
    elections::quorum::Diskless,
    group::{Group, GroupError},
    protocol::{AgentId, Election, IdError, MemberKind, Preemption, Score, Timings},
    record::{Header, RecordedAgent},
    supervisor::RestartPolicy,
    testkit::{VirtualWallClock, faults::Conditions},
};
use bully_sim::{faults::Network, trace::Trace};

/// A function that makes the rules of an election from the calls of the builder.
type Resolve<E> = fn(&<E as Election>::Config, Basis, &Choices) -> Result<Rules<E>, StartError>;

/// Settings of a cluster.
#[derive(Debug)]
#[must_use = "a builder does nothing until `start` is called"]
pub struct ClusterBuilder<E: Election = AnyBully> {
    config: E::Config,
    basis: Basis,
    /// The calls for a bully election's rules, and the function that turns them into rules.
    choices: Choices,
    resolve: Resolve<E>,
    pub(super) plans: Vec<AgentPlan<E>>,
    conditions: Conditions,
    policy: RestartPolicy,
    seed: u64,
    trace: Trace,
    timeout: Option<Duration>,
    least: Option<usize>,
    /// The member that keeps the lease of all other members; `None` in a cluster without a lease.
    pub(super) register: Option<AgentId>,
    /// Timeout of `settle` if neither the test nor the rules set one.
    pub(super) needed: Duration,
    /// The error of the rules, if they are invalid. `start` returns it.
    pub(super) refused: Option<StartError>,
}

/// The rules that a builder's calls make.
struct Rules<E: Election> {
    config: E::Config,
    /// Default timeout of `settle` under these rules; `None` if the rules have no worst case.
    needed: Option<Duration>,
    /// Number of voters that a side needs to elect a leader.
    least: usize,
}

impl<E: Election> Cluster<E> {
    /// Begins a cluster of any election.
    pub fn with_config(config: E::Config) -> ClusterBuilder<E> {
        ClusterBuilder {
            config,
            basis: Basis::Given,
            choices: Choices::default(),
            resolve: |config, _, _| {
                let config = config.clone();
                Ok(Rules {
                    config,
                    needed: None,
                    least: 0,
                })
            },
            plans: Vec::new(),
            conditions: Conditions::default(),
            policy: RestartPolicy::temporary(),
            seed: 0,
            trace: Trace::new().bounded(REMEMBERED),
            timeout: None,
            least: None,
            register: None,
            needed: TIMEOUT,
            refused: None,
        }
    }
}

impl Cluster {
    /// Begins a cluster of a bully election with its [default rules](bully_core::elections::bully::BullyConfig::default).
    pub fn builder() -> ClusterBuilder {
        let mut builder = Self::with_config(AnyConfig::default());
        builder.basis = Basis::Defaults;
        builder.set(|_| {})
    }
}

impl<E: Election> ClusterBuilder<E> {
    /// Adds agents `agent-1` to `agent-<count>`; the score of each is its number.
    pub fn agents(mut self, count: u32) -> Self {
        for number in 1..=count {
            self = self.agent(&format!("agent-{number}"), number);
        }
        self
    }

    /// Adds an agent.
    pub fn agent(self, name: &str, score: impl Into<Score>) -> Self {
        self.plan(name, MemberKind::Voter, Some(score.into()))
    }

    /// Adds an observer: an agent that never votes, and only learns which agent leads.
    pub fn observer(self, name: &str) -> Self {
        self.plan(name, MemberKind::Observer, None)
    }

    /// Adds a witness: an agent that votes, but is never elected.
    pub fn witness(self, name: &str) -> Self {
        self.plan(name, MemberKind::Voter, None)
    }

    /// Sets the seed of the random numbers of the network and of all agents. Default: 0.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sets the faults of the network. Default: none; then messages arrive at once.
    pub fn network(mut self, conditions: Conditions) -> Self {
        self.conditions = conditions;
        self
    }

    /// Sets the restart policy of crashed agents. Default: they stay down until [`Cluster::restart`].
    pub fn supervised(mut self, policy: RestartPolicy) -> Self {
        self.policy = policy;
        self
    }

    /// Sets the trace. Default: the latest 100,000 entries of [`Trace::new`].
    pub fn trace(mut self, trace: Trace) -> Self {
        self.trace = trace;
        self
    }

    /// Sets the longest time that [`Cluster::settle`] waits. Default: longer than the worst case of the timings; 30 s
    /// for an election without a worst case.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sets the number of voters that a side of the network needs to elect a leader. A side with fewer voters is
    /// settled if no agent leads on it. Default: 0; in quorum mode the quorum.
    pub fn needs_voters(mut self, least: usize) -> Self {
        self.least = Some(least);
        self
    }

    /// Starts all agents on the current arbiter, in virtual time if its System is virtual.
    ///
    /// # Errors
    /// [`ClusterError`]. Then no agent runs.
    ///
    /// # Panics
    /// Outside of the System's event loop, as every start of an actor does.
    pub fn start(mut self) -> Result<Cluster<E>, ClusterError> {
        self.check()?;
        if let Some(reason) = self.refused.take() {
            return Err(refused("the cluster", reason));
        }
        let rules = (self.resolve)(&self.config, self.basis, &self.choices);
        let rules = rules.map_err(|reason| refused("the cluster", reason))?;
        #[cfg(feature = "dashboard")]
        let begun = self.again();
        let clock = RuntimeClock::new();
        let mut trace = self.trace;
        let order = self
            .plans
            .iter()
            .filter_map(|plan| AgentId::new(&plan.name).ok());
        trace.set_order(order);
        trace.begin(|| {
            header(
                &self.plans,
                self.seed,
                self.conditions,
                E::timings(&rules.config),
            )
        });
        let network = Network::new(self.seed, self.conditions);
        let journal = Arc::new(Mutex::new(Journal::new(clock, network, trace)));
        let hub = Hub::begin(&journal);
        let wire = Arc::new(ToHub(hub.clone().recipient(), Carry));
        let applications = Arc::new(ToHub(hub.clone().recipient(), CarryApplication));
        let group = Group::with_wires(GROUP, wire, applications)
            .map_err(|wrong| refused(GROUP, StartError::Id(id_error(wrong))))?;
        let mut cluster = Cluster {
            config: rules.config,
            policy: self.policy,
            seed: self.seed,
            timeout: self.timeout.or(rules.needed).unwrap_or(self.needed),
            least: self.least.unwrap_or(rules.least),
            register: self.register,
            clock,
            wall: VirtualWallClock::new(DAWN),
            stores: BTreeMap::new(),
            journal,
            hub,
            group,
            agents: Vec::new(),
            #[cfg(feature = "dashboard")]
            begun,
        };
        for plan in self.plans {
            cluster.agent(plan, super::StartKind::First)?;
        }
        Ok(cluster)
    }

    /// Returns a copy of the settings. Called only after all calls of the builder were found valid.
    #[cfg(feature = "dashboard")]
    pub(super) fn again(&self) -> Self {
        Self {
            config: self.config.clone(),
            basis: self.basis,
            choices: self.choices.clone(),
            resolve: self.resolve,
            plans: self.plans.iter().map(AgentPlan::again).collect(),
            conditions: self.conditions,
            policy: self.policy.clone(),
            seed: self.seed,
            trace: self.trace.clone(),
            timeout: self.timeout,
            least: self.least,
            register: self.register.clone(),
            needed: self.needed,
            refused: None,
        }
    }

    fn check(&self) -> Result<(), ClusterError> {
        if self.plans.is_empty() {
            return Err(ClusterError::Empty);
        }
        let mut names = BTreeSet::new();
        for AgentPlan { name, .. } in &self.plans {
            let name = AgentId::new(name).map_err(|wrong| refused(name, wrong.into()))?;
            if let Some(name) = names.replace(name) {
                return Err(taken(&name));
            }
        }
        match System::try_current() {
            Some(_) => Ok(()),
            None => Err(refused("the cluster", StartError::NoSystem)),
        }
    }

    fn plan(mut self, name: &str, kind: MemberKind, score: Option<Score>) -> Self {
        let name = name.to_owned();
        let making = Making::Plain;
        self.plans.push(AgentPlan {
            name,
            kind,
            score,
            making,
        });
        self
    }
}

/// The order of the calls does not matter, except for [`quorum`](Self::quorum), which uses the voters that were added
/// before it. Calls that contradict each other are refused at the start.
impl ClusterBuilder {
    /// Turns the quorum mode on: at most one agent considers itself leader. The voters are the agents that have been
    /// added before this call, including witnesses. An agent that joins later is an observer, or a learner, which
    /// [`change_voters`](Cluster::change_voters) makes a voter.
    pub fn quorum(self) -> Self {
        let voters = self
            .plans
            .iter()
            .filter(|plan| plan.kind == MemberKind::Voter);
        let ids = voters.map(|plan| AgentId::new(&plan.name)).collect();
        self.set(|choices| choices.choose(Mode::Quorum(ids)))
    }

    /// Makes the voters diskless: each voter loses its record when it restarts. Refused without
    /// [`quorum`](Self::quorum).
    pub fn diskless(self) -> Self {
        self.set(|choices| choices.diskless = Some(Diskless::default()))
    }

    /// Sets the timings. Default: [`Timings::default`], and [`Timings::astra`] for the [ASTRA rules](Self::astra).
    pub fn timings(self, timings: Timings) -> Self {
        self.set(|choices| choices.timings = Some(timings))
    }

    /// Uses the plain ASTRA rules ([`astra`](bully_core::elections::astra)). An agent has to
    /// [`campaign`](Cluster::campaign).
    pub fn astra(self) -> Self {
        self.set(|choices| choices.choose(Mode::Astra))
    }

    /// Sets when an agent of a higher rank replaces a live leader. Default: at once; in quorum mode after 10 s.
    pub fn preemption(self, preemption: Preemption) -> Self {
        self.set(|choices| choices.preemption = Some(preemption))
    }

    /// Sets the amount by which a challenger's score must exceed the leader's score. Default: any amount.
    pub fn margin(self, margin: impl Into<Score>) -> Self {
        let margin = margin.into();
        self.set(|choices| choices.margin = Some(margin))
    }

    fn set(mut self, change: impl FnOnce(&mut Choices)) -> Self {
        change(&mut self.choices);
        self.resolve = resolve;
        self
    }
}

/// Makes the rules of a bully election.
fn resolve(
    config: &AnyConfig,
    basis: Basis,
    choices: &Choices,
) -> Result<Rules<AnyBully>, StartError> {
    let mut config = choices.config((config, basis))?;
    let (needed, least) = match &mut config {
        AnyConfig::Available(config) => {
            let failover = config.worst_case_failover();
            (settles_within(failover, &config.timings), 0)
        }
        AnyConfig::Astra(config) => {
            let failover = config.timings.worst_case_failover(u32::MAX);
            (
                settles_within(failover.unwrap_or_default(), &config.timings),
                0,
            )
        }
        // The application gives its agents the register of the lease. Several elections may fail in a row, so the
        // factor is 4 for a lease and 10 for a quorum. A larger factor costs little, because the time is virtual; with
        // a smaller factor a good run may end early.
        AnyConfig::Lease(config) => (config.worst_case_failover(u32::MAX).saturating_mul(4), 0),
        AnyConfig::Quorum(config) => {
            if basis == Basis::Defaults && config.diskless.is_none() {
                Arc::make_mut(config).learner = true;
            }
            let lapse = config.timings.promise().saturating_add(config.wait());
            let least = config.vote_quorum().max(config.lease_quorum());
            (lapse.saturating_mul(10), least)
        }
    };
    Ok(Rules {
        config,
        needed: Some(needed),
        least,
    })
}

/// Makes the header of a recording.
fn header<E: Election>(
    plans: &[AgentPlan<E>],
    seed: u64,
    conditions: Conditions,
    timings: Option<&Timings>,
) -> Header {
    let agents = plans.iter().filter_map(|plan| {
        Some(RecordedAgent {
            name: AgentId::new(&plan.name).ok()?,
            kind: plan.kind,
            score: plan.score,
        })
    });
    let mut header = Header::of(agents, seed, timings);
    header.network = Some(conditions.into());
    header
}

/// Returns twice the longest failover and election. Cool-downs are left out, because other agents lead during them.
fn settles_within(failover: Duration, timings: &Timings) -> Duration {
    let election = timings.deadline().saturating_add(timings.victory_wait());
    failover.saturating_add(election).saturating_mul(2)
}

/// Only this cluster uses the group, so any name will do.
pub(super) const GROUP: &str = "cluster";
const REMEMBERED: usize = 100_000;
/// Time that the hosts' clocks show at first: the beginning of 2026.
const DAWN: WallTime = WallTime::from_millis(1_767_225_600_000);
const TIMEOUT: Duration = Duration::from_secs(30);

/// Never called, because the name is a valid constant: converts the error of a group's name.
fn id_error(wrong: GroupError) -> IdError {
    match wrong {
        GroupError::Name(wrong) => wrong,
        GroupError::Reserved { .. } => IdError::Forbidden { found: '!' },
    }
}
