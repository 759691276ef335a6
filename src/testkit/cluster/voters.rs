//! The voters of a quorum, and changes of them while the agents run.
//!
//! Decided here: which agent gets the request, that the call does not wait for the answer, and which agents are voters
//! now. Not here: the steps of a change ([`epoch`](crate::elections::quorum::epoch)).

use std::time::Duration;

use super::{Cluster, ClusterError, Condition, agent::ClusterAgent};
use crate::{
    agent::member_kind,
    protocol::{Election, Epochs, MemberKind, Requirements, VoterChange},
    record::RecordedCommand,
};

impl<E: Election> Cluster<E> {
    /// Changes the voters of a quorum, one voter at a time: adds an agent that has [joined](Self::join), removes a
    /// voter, or replaces a voter by an agent. The leader is asked or, without a leader, any agent that runs. The
    /// outcome is an event in the trace, and [`settle`](Self::settle) waits for the next leader.
    ///
    /// # Errors
    /// [`ClusterError::NoVoters`] if the election has no list of voters; [`ClusterError::Unknown`];
    /// [`ClusterError::Refused`] if no agent runs.
    pub fn change_voters(&mut self, change: VoterChange) -> Result<(), ClusterError> {
        self.at_once(&RecordedCommand::ChangeVoters(change))
    }

    /// Asks an agent to change the list.
    pub(super) fn ask_for(&self, change: VoterChange) -> Result<(), ClusterError> {
        if self.list().is_none() {
            return Err(ClusterError::NoVoters);
        }
        let up = || {
            self.agents
                .iter()
                .filter(|agent| agent.condition() == Condition::Up)
        };
        let asked = up()
            .find(|agent| agent.handle.is_leader())
            .or_else(|| up().next());
        let Some(asked) = asked.map(|agent| agent.handle.clone()) else {
            let first = self.agents.first().ok_or(ClusterError::Empty)?;
            first.must_run()?;
            return Err(ClusterError::Empty);
        };
        // The agent reports the outcome as an event, and the event is recorded.
        actix::spawn(async move { asked.change_voters(change, WITHIN).await.ok() });
        Ok(())
    }

    /// Returns the present list of voters, if it can be changed.
    pub(super) fn list(&self) -> Option<Requirements> {
        let now = self.group.requirements()?;
        (now.names.is_some() && now.epochs != Epochs::Apart).then_some(now)
    }

    /// Returns the number of voters that a side needs to elect a leader.
    pub(super) fn needed(&self, list: Option<&Requirements>) -> usize {
        let changed = list
            .filter(|list| list.epoch > 0)
            .and_then(|list| list.voters);
        let quorum = changed.map(|voters| voters.vote_quorum.max(voters.lease_quorum));
        quorum
            .and_then(|quorum| usize::try_from(quorum).ok())
            .unwrap_or(self.least)
    }
}

impl<E: Election> ClusterAgent<E> {
    /// Returns the kind of this agent by the list. An agent that is not on the list is an observer.
    pub(super) fn kind_by(&self, list: Option<&Requirements>) -> MemberKind {
        list.map_or(self.kind, |list| member_kind(list, self.id(), self.kind))
    }
}

/// Time for which an answer is awaited: longer than an election takes.
const WITHIN: Duration = Duration::from_secs(30);
