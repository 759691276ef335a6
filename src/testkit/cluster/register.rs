//! A cluster whose agents hold a lease: their register is one more member, which can be cut off, crash and be
//! restarted.
//!
//! Decided here: the register is an agent that the cluster creates, in memory. The register keeps its records through a
//! crash, as a database does. The agents' questions to the register cross the network like all other messages. Not
//! here: the answers of the register ([`lease::Simulated`](crate::elections::lease::Simulated)), and when such a
//! cluster has settled (`judge.rs`).

use std::sync::Arc;

use super::{Cluster, ClusterBuilder, Wiring, builder::GROUP};
use crate::{
    agent::{Agent, ElectionHandle, StartError},
    elections::lease::{LeaseConfig, RegisterConfig, Simulated, SimulatedConfig},
    protocol::{AgentId, MemberKind},
    supervisor::RestartPolicy,
};

impl Cluster<Simulated> {
    /// Begins a cluster of agents that hold a lease, around a register in memory. `change` receives the rules of
    /// [`LeaseConfig::new`] and may change them. The register is the member `register`, so it can be isolated, cut off
    /// and crashed like an agent. A side of the network that does not reach the register has no leader after the end of
    /// the lease.
    ///
    /// Agents that an application starts ([`wired`](ClusterBuilder::wired)) set their register by themselves:
    /// [`lease`](crate::agent::BullyBuilder::lease).
    ///
    /// ```
    /// use actix_bully::{protocol::Timings, testkit::{cluster::Cluster, virtual_system}};
    ///
    /// virtual_system().block_on(async {
    ///     let cluster = Cluster::around_register(|rules| rules.timings = Timings::lan());
    ///     let mut cluster = cluster.agents(3).start()?;
    ///     assert_eq!(cluster.settle().await?.leader().unwrap(), "agent-3");
    ///     cluster.isolate("register")?;
    ///     assert_eq!(cluster.settle().await?.leader(), None);
    ///     # Ok::<(), actix_bully::testkit::cluster::ClusterError>(())
    /// }).unwrap();
    /// ```
    pub fn around_register(change: impl FnOnce(&mut LeaseConfig)) -> ClusterBuilder<Simulated> {
        let names =
            LeaseConfig::new(GROUP, GROUP).and_then(|rules| Ok((rules, AgentId::new(NAME)?)));
        match names {
            Ok((mut rules, register)) => {
                change(&mut rules);
                around(rules, register)
            }
            // Never reached, because the names are valid constants.
            Err(wrong) => {
                let register = SimulatedConfig::Register(RegisterConfig::default());
                let mut cluster = Self::with_config(register);
                cluster.refused = Some(wrong.into());
                cluster
            }
        }
    }
}

const NAME: &str = "register";

fn around(rules: LeaseConfig, name: AgentId) -> ClusterBuilder<Simulated> {
    let checked = rules.check();
    let longest = rules.worst_case_failover(u32::MAX);
    let config = SimulatedConfig::Agent(Arc::new(rules), name.clone());
    let mut cluster =
        Cluster::with_config(config).wired(name.as_str(), |node| start(node).map_err(Into::into));
    // A recording begins with the planned members, so the plan contains the register too, as an observer.
    if let Some(plan) = cluster.plans.last_mut() {
        plan.kind = MemberKind::Observer;
    }
    cluster.needed = longest.saturating_mul(4);
    cluster.register = Some(name);
    cluster.refused = checked.err().map(StartError::from);
    cluster
}

/// Starts the register. After a crash it stays down until it is restarted, as the agents of a cluster do.
fn start(node: &Wiring<Simulated>) -> Result<ElectionHandle<Simulated>, StartError> {
    let config = SimulatedConfig::Register(RegisterConfig::default());
    let register = Agent::with_config(node.name(), config)
        .observer()
        .ineligible()
        .restart_policy(RestartPolicy::temporary());
    node.prepare(register).start()
}
