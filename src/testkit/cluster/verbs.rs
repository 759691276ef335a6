//! The methods of a cluster for its agents, by name.
//!
//! Decided here: each method is a [command](RecordedCommand), and how names become full. Not here: the effects
//! (`apply.rs`), and the methods for the network (`links.rs`).

use super::{Cluster, ClusterError, agent::ClusterAgent, error::refused, settle::listed};
use crate::{
    agent::StartError,
    protocol::{AgentId, Election, MemberKind, Score},
    record::RecordedCommand,
};

impl<E: Election> Cluster<E> {
    // ---- an end, and a new beginning ---------------------------------------------------------

    /// Makes an agent panic; all other agents learn of its end. The agent stays down until [`restart`](Self::restart),
    /// unless the cluster is [supervised](super::ClusterBuilder::supervised). A [wired](super::ClusterBuilder::wired)
    /// agent comes back by its own restart policy. The panic prints nothing.
    ///
    /// # Errors
    /// [`ClusterError`] if no agent of this name runs.
    pub async fn crash(&mut self, name: &str) -> Result<(), ClusterError> {
        self.crash_all([name]).await
    }

    /// Makes several agents panic at the same moment.
    ///
    /// # Errors
    /// The errors of [`crash`](Self::crash), and [`ClusterError::Refused`]. After an error no agent has panicked.
    pub async fn crash_all<N: AsRef<str>>(
        &mut self,
        names: impl IntoIterator<Item = N>,
    ) -> Result<(), ClusterError> {
        self.apply(&RecordedCommand::Crash(self.ids(names)?)).await
    }

    /// Stops an agent at once, without handing over.
    ///
    /// # Errors
    /// The errors of [`crash`](Self::crash); [`ClusterError::Refused`] if the agent hangs.
    pub async fn stop(&mut self, name: &str) -> Result<(), ClusterError> {
        self.apply(&RecordedCommand::Stop(self.ids([name])?)).await
    }

    /// Starts a new incarnation of an agent that is down, with its last score.
    ///
    /// # Errors
    /// [`ClusterError::Refused`] if the agent is not down; [`ClusterError::Unknown`].
    pub fn restart(&mut self, name: &str) -> Result<(), ClusterError> {
        self.at_once(&RecordedCommand::Restart(self.id(name)?))
    }

    /// Makes an agent hang: it handles neither messages nor timers. Returns when the agent hangs.
    ///
    /// # Errors
    /// [`ClusterError`] if no agent of this name runs, or if the agent hangs already.
    pub async fn hang(&mut self, name: &str) -> Result<(), ClusterError> {
        self.apply(&RecordedCommand::Hang(self.id(name)?)).await
    }

    /// Freezes the whole process of an agent, including all actors and tasks that the application has started in it. An
    /// agent that the cluster itself starts only hangs.
    ///
    /// # Errors
    /// The errors of [`hang`](Self::hang).
    pub async fn freeze(&mut self, name: &str) -> Result<(), ClusterError> {
        self.apply(&RecordedCommand::Freeze(self.id(name)?)).await
    }

    /// Ends the process of an agent at once, with all actors and tasks in it, whether the process is frozen or not. An
    /// agent that the cluster itself starts only stops.
    ///
    /// # Errors
    /// The errors of [`crash`](Self::crash).
    pub async fn kill(&mut self, name: &str) -> Result<(), ClusterError> {
        self.apply(&RecordedCommand::Kill(self.id(name)?)).await
    }

    /// Ends the leadership of an agent at this moment by its own clock, as if its host had been suspended for the rest
    /// of the lease: the agent no longer leads, and finds this out at its next step.
    ///
    /// # Errors
    /// [`ClusterError::Refused`] if the agent does not lead, or if its leadership does not end by the clock.
    pub fn expire(&mut self, name: &str) -> Result<(), ClusterError> {
        self.at_once(&RecordedCommand::Expire(self.id(name)?))
    }

    /// Lets a hung or frozen agent continue. Its timers fire late.
    ///
    /// # Errors
    /// [`ClusterError::Refused`], [`ClusterError::Unknown`].
    pub fn resume(&mut self, name: &str) -> Result<(), ClusterError> {
        self.at_once(&RecordedCommand::Resume(self.id(name)?))
    }

    // ---- coming and going --------------------------------------------------------------------

    /// Adds a new agent that votes. [`apply`](Self::apply) with [`RecordedCommand::Join`] adds a witness, without a
    /// score, or an observer.
    ///
    /// # Errors
    /// [`ClusterError::Refused`]; [`ClusterError::Start`] if the name breaks the rules.
    pub fn join(&mut self, name: &str, score: impl Into<Score>) -> Result<(), ClusterError> {
        let (kind, score) = (MemberKind::Voter, Some(score.into()));
        let agent: AgentId = name
            .parse()
            .map_err(|source| refused(name, StartError::Id(source)))?;
        self.at_once(&RecordedCommand::Join { agent, kind, score })
    }

    /// Lets an agent leave for good. If it leads, it hands over first.
    ///
    /// # Errors
    /// [`ClusterError`] if no agent of this name runs; [`ClusterError::Leave`] if the hand-over took too long; the
    /// agent has left even then.
    pub async fn leave(&mut self, name: &str) -> Result<(), ClusterError> {
        self.apply(&RecordedCommand::Leave(self.id(name)?)).await
    }

    // ---- commands -----------------------------------------------------------------------------

    /// Gives an agent another score. An agent that is down gets the score for its next incarnation.
    ///
    /// # Errors
    /// [`ClusterError::Unknown`].
    pub fn set_score(&mut self, name: &str, score: impl Into<Score>) -> Result<(), ClusterError> {
        self.rate(name, Some(score.into()))
    }

    /// Makes an agent ineligible; if it leads, it hands over.
    ///
    /// # Errors
    /// [`ClusterError::Unknown`].
    pub fn withdraw_score(&mut self, name: &str) -> Result<(), ClusterError> {
        self.rate(name, None)
    }

    fn rate(&mut self, name: &str, score: Option<Score>) -> Result<(), ClusterError> {
        let agent = self.id(name)?;
        self.at_once(&RecordedCommand::Score { agent, score })
    }

    /// Makes the leader hand over, to the agent `to` if it is given. During its cool-down the former leader lets other
    /// agents go first.
    ///
    /// # Errors
    /// [`ClusterError::Refused`] if the agent `name` does not lead, if one of the two agents does not run, or if both
    /// are the same agent.
    pub fn step_down(&mut self, name: &str, to: Option<&str>) -> Result<(), ClusterError> {
        let (agent, to) = (self.id(name)?, to.map(|to| self.id(to)).transpose()?);
        self.at_once(&RecordedCommand::StepDown { agent, to })
    }

    /// Makes an agent hold an election.
    ///
    /// # Errors
    /// [`ClusterError`] if no agent of this name runs.
    pub fn campaign(&mut self, name: &str) -> Result<(), ClusterError> {
        self.at_once(&RecordedCommand::Campaign(self.id(name)?))
    }

    // ---- names -------------------------------------------------------------------------------

    pub(super) fn id(&self, name: &str) -> Result<AgentId, ClusterError> {
        self.find(name).map(|agent| agent.id().clone())
    }

    pub(super) fn find(&self, name: &str) -> Result<&ClusterAgent<E>, ClusterError> {
        let at = self.position_of(name)?;
        self.agents.get(at).ok_or_else(|| self.unknown(name))
    }

    pub(super) fn find_mut(&mut self, name: &str) -> Result<&mut ClusterAgent<E>, ClusterError> {
        let at = self.position_of(name)?;
        let unknown = self.unknown(name);
        self.agents.get_mut(at).ok_or(unknown)
    }

    fn position_of(&self, name: &str) -> Result<usize, ClusterError> {
        let position = |name: &str| self.agents.iter().position(|s| s.id().as_str() == name);
        position(name)
            .or_else(|| position(&full(name)))
            .ok_or_else(|| self.unknown(name))
    }

    fn unknown(&self, name: &str) -> ClusterError {
        ClusterError::Unknown {
            name: name.to_owned(),
            known: listed(self.agents.iter().map(ClusterAgent::id)),
        }
    }

    /// Returns the full names.
    pub(super) fn ids<N: AsRef<str>>(
        &self,
        names: impl IntoIterator<Item = N>,
    ) -> Result<Vec<AgentId>, ClusterError> {
        let names = names.into_iter();
        names.map(|name| self.id(name.as_ref())).collect()
    }
}

/// Returns the full name: a number `n` means `agent-n`.
pub(super) fn full(name: &str) -> String {
    let is_number = !name.is_empty() && name.bytes().all(|digit| digit.is_ascii_digit());
    if is_number {
        format!("agent-{name}")
    } else {
        name.to_owned()
    }
}
