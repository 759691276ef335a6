//! Carries a command out on a cluster.
//!
//! Decided here: which verb of the cluster each command is. What is refused has changed nothing. Not here: commands about
//! time, scenarios and other elections, which are the stage's own (`mod.rs`).

use super::{control::Control, link::StageError};
use crate::{
    protocol::{AgentId, Election},
    testkit::{
        cluster::{Cluster, ClusterError},
        faults::Conditions,
    },
};

/// Does what a command says, if it is about agents or links.
pub(super) async fn perform<E: Election>(
    cluster: &mut Cluster<E>,
    control: &Control,
) -> Result<(), StageError> {
    match control {
        Control::Crash(names) => cluster.crash_all(names).await?,
        Control::Stop(names) => cluster.stop_all(names).await?,
        Control::Restart(name) => cluster.restart(name.as_str())?,
        Control::Hang(name) => cluster.hang(name.as_str()).await?,
        Control::Resume(name) => cluster.resume(name.as_str())?,
        Control::StepDown { agent, to } => {
            cluster.step_down(agent.as_str(), to.as_ref().map(AgentId::as_str))?;
        }
        Control::Campaign(name) => cluster.campaign(name.as_str())?,
        Control::ChangeVoters(change) => cluster.change_voters(change.clone())?,
        Control::Join { agent, score } => cluster.join(agent.as_str(), *score)?,
        Control::Partition(sides) => cluster.partition(sides)?,
        Control::Cut { from, to, one_way } => {
            if *one_way {
                cluster.cut_one_way(from.as_str(), to.as_str())?;
            } else {
                cluster.cut(from.as_str(), to.as_str())?;
            }
        }
        Control::Mend { from, to } => cluster.mend(from.as_str(), to.as_str())?,
        Control::Isolate(name) => cluster.isolate(name.as_str())?,
        Control::Rejoin(name) => cluster.rejoin(name.as_str())?,
        Control::Heal => cluster.heal(),
        Control::Network(change) => {
            let (min, max) = change.delay()?;
            let network = cluster.conditions().to_builder().delay(min..=max);
            let network: Result<Conditions, _> = network.loss(change.loss_per_mille).build();
            cluster.set_network(network.map_err(ClusterError::from)?);
        }
        Control::Scenario(_)
        | Control::Pause
        | Control::Play
        | Control::Step
        | Control::Speed(_)
        | Control::Election(_)
        | Control::Beside(_) => {}
    }
    Ok(())
}
