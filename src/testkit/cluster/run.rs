//! Runs commands: the same verbs, for those who type them.

use std::fmt;

use actix::clock::sleep;

use super::{Cluster, ClusterError, ClusterStatus, Command, Help, Settled};
use crate::{
    protocol::{After, AgentId, Election},
    testkit::{faults::ConditionsBuilder, trace::Trace},
};

/// What a command has to say.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Answer {
    /// It is done.
    Done,
    /// See [`Cluster::settle`].
    Settled(Settled),
    /// See [`Cluster::status`].
    Status(ClusterStatus),
    /// See [`Cluster::trace`].
    Trace(Trace),
    /// All commands.
    Help(Help),
    /// No more commands shall be run.
    Quit,
}

/// What there is to print; nothing after most commands.
impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Done | Self::Quit => Ok(()),
            Self::Settled(settled) => settled.fmt(f),
            Self::Status(status) => status.fmt(f),
            Self::Trace(trace) => f.write_str(trace.to_text().trim_end()),
            Self::Help(help) => help.fmt(f),
        }
    }
}

impl<E: Election> Cluster<E> {
    /// Runs a command.
    ///
    /// # Errors
    /// [`ClusterError`] of the verb in question; of several agents those before the one that was
    /// refused are done, except for `crash` and `stop`, which are all or nothing.
    pub async fn run(&mut self, command: Command) -> Result<Answer, ClusterError> {
        match command {
            Command::Settle => return Ok(Answer::Settled(self.settle().await?)),
            Command::Status => return Ok(Answer::Status(self.status())),
            Command::Trace => return Ok(Answer::Trace(self.trace())),
            Command::Help => return Ok(Answer::Help(Command::help())),
            Command::Quit => return Ok(Answer::Quit),

            Command::Crash(names) => self.crash_all(names).await?,
            Command::Stop(names) => self.stop_all(names).await?,
            Command::Restart(names) => each(&names, |name| self.restart(name))?,
            Command::Hang(names) => self.hang_each(&names).await?,
            Command::Resume(names) => each(&names, |name| self.resume(name))?,
            Command::Join {
                name,
                score: Some(score),
            } => self.join(name.as_str(), score)?,
            Command::Join { name, score: None } => self.join_witness(name.as_str())?,
            Command::Leave(names) => self.leave_each(&names).await?,

            Command::Score { name, score } => self.rate(name.as_str(), score)?,
            Command::StepDown { name, to } => {
                self.step_down(name.as_str(), to.as_ref().map(AgentId::as_str))?;
            }
            Command::Campaign(name) => self.campaign(name.as_str())?,

            Command::Partition(sides) => self.partition(sides)?,
            Command::Cut { one, other } => self.cut(one.as_str(), other.as_str())?,
            Command::CutOneWay { from, to } => self.cut_one_way(from.as_str(), to.as_str())?,
            Command::Isolate(names) => each(&names, |name| self.isolate(name))?,
            Command::Heal => self.heal(),
            Command::Delay(After { min, max }) => self.change_network(|c| c.delay(min..=max))?,
            Command::Loss { per_mille } => self.change_network(|c| c.loss(per_mille))?,
            Command::Duplicate { per_mille } => {
                self.change_network(|c| c.duplication(per_mille))?;
            }
            Command::Wait(span) => sleep(span).await,
        }
        Ok(Answer::Done)
    }

    async fn hang_each(&mut self, names: &[AgentId]) -> Result<(), ClusterError> {
        for name in names {
            self.hang(name.as_str()).await?;
        }
        Ok(())
    }

    async fn leave_each(&mut self, names: &[AgentId]) -> Result<(), ClusterError> {
        for name in names {
            self.leave(name.as_str()).await?;
        }
        Ok(())
    }

    fn change_network(
        &mut self,
        change: impl FnOnce(ConditionsBuilder) -> ConditionsBuilder,
    ) -> Result<(), ClusterError> {
        let conditions = change(self.conditions().to_builder()).build()?;
        self.set_network(conditions);
        Ok(())
    }
}

fn each(
    names: &[AgentId],
    mut act: impl FnMut(&str) -> Result<(), ClusterError>,
) -> Result<(), ClusterError> {
    names.iter().try_for_each(|name| act(name.as_str()))
}
