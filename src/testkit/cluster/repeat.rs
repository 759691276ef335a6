//! A run as a recording, and a recording as a run.
//!
//! Decided here: that a command is given at the moment at which it was given in the recording, whatever made the time
//! pass then, and that a command of the recording that is refused ends the run. Not here: what a recording says
//! ([`record`](crate::record)).

use actix::clock::sleep;

use super::{Cluster, ClusterError, journal::open};
use crate::{
    clock::Clock,
    protocol::{AgentId, Election, MemberKind, Time},
    record::{RecordedCommand, Recording, What},
    testkit::faults::Conditions,
};

impl<E: Election> Cluster<E> {
    /// The run until now as a recording, under this name of the election. The newest events may be missing until
    /// something is awaited. It is taken for one in virtual time;
    /// [`header_mut`](Recording::header_mut) says otherwise.
    pub fn recording(&self, protocol: &str) -> Recording {
        let journal = open(&self.journal);
        journal.trace.to_recording(protocol, journal.now())
    }

    /// Lets time pass until then, counted from the start of the cluster.
    pub async fn wait_until(&self, at: Time) {
        let left = at.since(self.clock.now());
        if !left.is_zero() {
            sleep(left).await;
        }
    }

    /// Gives the commands of a recorded run, each at its moment, and ends when that run ended. In virtual time, and
    /// with a cluster that begins as the recorded one did, the run is the same.
    ///
    /// # Errors
    /// [`ClusterError`] of a command that is refused; those before it were given.
    pub async fn repeat(&mut self, recording: &Recording) -> Result<(), ClusterError> {
        for entry in recording.entries() {
            if let What::Command(command) = &entry.what {
                self.wait_until(entry.at).await;
                self.obey(command).await?;
            }
        }
        self.wait_until(recording.ended()).await;
        Ok(())
    }

    /// Gives one command. That nothing is settled is no error: it may not have been so in the recording either.
    async fn obey(&mut self, command: &RecordedCommand) -> Result<(), ClusterError> {
        match command {
            RecordedCommand::Crash(agents) => self.crash_all(agents).await?,
            RecordedCommand::Stop(agents) => self.stop_all(agents).await?,
            RecordedCommand::Kill(agent) => self.kill(agent.as_str()).await?,
            RecordedCommand::Restart(agent) => self.restart(agent.as_str())?,
            RecordedCommand::Hang(agent) => self.hang(agent.as_str()).await?,
            RecordedCommand::Freeze(agent) => self.freeze(agent.as_str()).await?,
            RecordedCommand::Resume(agent) => self.resume(agent.as_str())?,
            RecordedCommand::Expire(agent) => self.expire(agent.as_str())?,
            RecordedCommand::Join { agent, kind, score } => match (kind, score) {
                (MemberKind::Observer, _) => self.join_observer(agent.as_str())?,
                (MemberKind::Voter, None) => self.join_witness(agent.as_str())?,
                (MemberKind::Voter, Some(score)) => self.join(agent.as_str(), *score)?,
            },
            RecordedCommand::Leave(agent) => self.leave(agent.as_str()).await?,
            RecordedCommand::Score { agent, score } => match score {
                Some(score) => self.set_score(agent.as_str(), *score)?,
                None => self.withdraw_score(agent.as_str())?,
            },
            RecordedCommand::StepDown { agent, to } => {
                self.step_down(agent.as_str(), to.as_ref().map(AgentId::as_str))?;
            }
            RecordedCommand::ChangeVoters(change) => self.change_voters(change.clone())?,
            RecordedCommand::Campaign(agent) => self.campaign(agent.as_str())?,
            RecordedCommand::Partition(sides) => {
                self.partition(sides.iter().map(|side| side.iter()))?;
            }
            RecordedCommand::Cut(one, other) => self.cut(one.as_str(), other.as_str())?,
            RecordedCommand::CutOneWay(from, to) => self.cut_one_way(from.as_str(), to.as_str())?,
            RecordedCommand::Isolate(agent) => self.isolate(agent.as_str())?,
            RecordedCommand::Mend(one, other) => self.mend(one.as_str(), other.as_str())?,
            RecordedCommand::Rejoin(agent) => self.rejoin(agent.as_str())?,
            RecordedCommand::Heal => self.heal(),
            RecordedCommand::Network(network) => self.set_network(Conditions::try_from(*network)?),
            RecordedCommand::Settle => drop(self.settle().await),
        }
        Ok(())
    }
}
