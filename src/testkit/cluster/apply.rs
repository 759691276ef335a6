//! Executes the commands of a cluster.
//!
//! Decided here: a command is checked completely before it has any effect; a refused command is not recorded; and the
//! time that [`settle`](Cluster::settle) measures begins at the last command. Not here: the words of a command
//! ([`RecordedCommand`]), and its method (`verbs.rs`, `links.rs`).

use std::{collections::BTreeSet, slice, time::Duration};

use futures::FutureExt;

use super::{
    Cluster, ClusterError,
    agent::{ClusterAgent, end_of},
    error::{refuse, taken},
    journal::open,
    settle::listed,
    start::StartKind,
    verbs::full,
    wiring::{AgentPlan, Making},
};
use crate::{
    protocol::{AgentId, Election, MemberKind, Score},
    record::RecordedCommand,
    supervisor::RestartPolicy,
    testkit::faults::Conditions,
};
use bully_sim::{faults::Network, trace::Happening};

impl<E: Election> Cluster<E> {
    /// Carries out a command, and records it. Each command also has a method: `apply(&"crash 5".parse()?)` is
    /// `crash("5")`. A `settle` after which the cluster is not settled returns no error here.
    ///
    /// # Errors
    /// [`ClusterError`], as documented at the method of the command; [`ClusterError::Refused`] if the command contains an
    /// agent twice.
    pub async fn apply(&mut self, command: &RecordedCommand) -> Result<(), ClusterError> {
        let command = &self.in_full(command)?;
        match command {
            RecordedCommand::Crash(names) => {
                self.must_all(names, ClusterAgent::must_live)?;
                self.end_all(command, names, Happening::Crashed, ClusterAgent::crash)
                    .await?;
            }
            RecordedCommand::Stop(names) => {
                self.must_all(names, ClusterAgent::must_run)?;
                self.end_all(command, names, Happening::Stopped, ClusterAgent::stop)
                    .await?;
            }
            RecordedCommand::Kill(name) => {
                let names = slice::from_ref(name);
                self.must_all(names, ClusterAgent::must_live)?;
                self.end_all(command, names, Happening::Stopped, ClusterAgent::kill)
                    .await?;
            }
            RecordedCommand::Hang(name) => self.pause(command, name)?.hang().await,
            RecordedCommand::Freeze(name) => self.pause(command, name)?.freeze().await,
            RecordedCommand::Resume(name) => self.go_on(command, name)?,
            RecordedCommand::Restart(name) => self.begin_again(command, name)?,
            RecordedCommand::Join { agent, kind, score } => {
                self.add(command, agent, *kind, *score)?;
            }
            RecordedCommand::Leave(name) => self.let_go(command, name).await?,
            RecordedCommand::Settle => drop(self.settle().await),
            RecordedCommand::Expire(name) => self.run_out(command, name)?,
            RecordedCommand::Score { agent, score } => self.put_score(command, agent, *score)?,
            RecordedCommand::StepDown { agent, to } => {
                self.hand_over(command, agent, to.as_ref())?;
            }
            RecordedCommand::ChangeVoters(change) => {
                self.ask_for(change.clone())?;
                self.mark(command);
            }
            RecordedCommand::Campaign(name) => self.hold_election(command, name)?,
            RecordedCommand::Network(record) => {
                let conditions = Conditions::try_from(*record)?;
                self.network(command, |network| network.set_conditions(conditions));
            }
            RecordedCommand::Partition(sides) => {
                self.network(command, |network| network.partition(sides.clone()));
            }
            RecordedCommand::Cut(one, other) => self.network(command, |net| net.cut(one, other)),
            RecordedCommand::CutOneWay(from, to) => {
                self.network(command, |network| network.cut_one_way(from, to));
            }
            RecordedCommand::Isolate(name) => self.network(command, |net| net.isolate(name)),
            RecordedCommand::Mend(one, other) => self.network(command, |net| net.mend(one, other)),
            RecordedCommand::Rejoin(name) => self.network(command, |net| net.rejoin(name)),
            RecordedCommand::Heal => self.network(command, Network::heal),
        }
        Ok(())
    }

    /// Carries out a command that does not wait: its future ends with the first poll.
    pub(super) fn at_once(&mut self, command: &RecordedCommand) -> Result<(), ClusterError> {
        self.apply(command).now_or_never().unwrap_or(Ok(()))
    }

    /// Returns the command with full names. An agent that the command contains twice is an error.
    fn in_full(&self, command: &RecordedCommand) -> Result<RecordedCommand, ClusterError> {
        let mut command = command.clone();
        if let RecordedCommand::Join { agent, .. } = &mut command {
            *agent = full(agent.as_str())
                .parse()
                .unwrap_or_else(|_| agent.clone());
            return Ok(command);
        }
        let mut seen = BTreeSet::new();
        for name in command.agents_mut() {
            *name = self.id(name.as_str())?;
            if !seen.insert(name.clone()) {
                return Err(refuse(name, "is named twice: name each agent once"));
            }
        }
        Ok(command)
    }

    /// Records a command whose effect has no entry of its own in the trace.
    fn mark(&self, command: &RecordedCommand) {
        open(&self.journal).mark(command);
    }

    fn network(&self, command: &RecordedCommand, change: impl FnOnce(&mut Network)) {
        self.mark(command);
        change(&mut open(&self.journal).network);
    }

    /// Records an action on an agent.
    pub(super) fn record(&self, name: &AgentId, what: Happening) {
        let mut journal = open(&self.journal);
        journal.acted();
        journal.happen(name, what);
    }

    fn must_all(
        &self,
        names: &[AgentId],
        check: impl Fn(&ClusterAgent<E>) -> Result<(), ClusterError>,
    ) -> Result<(), ClusterError> {
        let mut names = names.iter();
        names.try_for_each(|name| check(self.find(name.as_str())?))
    }

    async fn end_all(
        &mut self,
        command: &RecordedCommand,
        names: &[AgentId],
        what: Happening,
        end: impl Fn(&mut ClusterAgent<E>),
    ) -> Result<(), ClusterError> {
        open(&self.journal).command(command);
        let mut ending = Vec::new();
        for name in names {
            self.record(name, what);
            let is_supervised = self.policy != RestartPolicy::temporary();
            let agent = self.find_mut(name.as_str())?;
            end(agent);
            // An agent that an application starts has a restart policy of its own, so a supervisor may restart it.
            let returns = is_supervised || matches!(agent.making, Making::Wired(_));
            ending.push((agent.handle.clone(), returns));
        }
        // The wait begins only now, so that all agents end at the same moment.
        for (handle, returns) in ending {
            end_of(&handle, returns).await;
        }
        Ok(())
    }

    /// Records that the command pauses this agent, and returns the agent. The caller then lets it hang, or freezes it.
    fn pause(
        &mut self,
        command: &RecordedCommand,
        name: &AgentId,
    ) -> Result<&mut ClusterAgent<E>, ClusterError> {
        self.find(name.as_str())?.must_run()?;
        open(&self.journal).command(command);
        self.record(name, Happening::Paused);
        self.find_mut(name.as_str())
    }

    fn begin_again(
        &mut self,
        command: &RecordedCommand,
        name: &AgentId,
    ) -> Result<(), ClusterError> {
        let agent = self.find(name.as_str())?;
        agent.must_be_down()?;
        let plan = AgentPlan {
            name: name.to_string(),
            kind: agent.kind,
            score: agent.score,
            making: agent.making.clone(),
        };
        self.agent(plan, StartKind::Again)?;
        open(&self.journal).command(command);
        Ok(())
    }

    fn go_on(&mut self, command: &RecordedCommand, name: &AgentId) -> Result<(), ClusterError> {
        if !self.find_mut(name.as_str())?.resume() {
            return Err(refuse(name, "does not hang: there is nothing to resume"));
        }
        open(&self.journal).command(command);
        self.record(name, Happening::Resumed);
        Ok(())
    }

    fn add(
        &mut self,
        command: &RecordedCommand,
        name: &AgentId,
        kind: MemberKind,
        score: Option<Score>,
    ) -> Result<(), ClusterError> {
        if self.agents.iter().any(|agent| agent.id() == name) {
            return Err(taken(name));
        }
        let plan = AgentPlan {
            name: name.to_string(),
            kind,
            score,
            making: Making::Plain,
        };
        self.agent(plan, StartKind::Late)?;
        open(&self.journal).command(command);
        Ok(())
    }

    async fn let_go(
        &mut self,
        command: &RecordedCommand,
        name: &AgentId,
    ) -> Result<(), ClusterError> {
        let agent = self.find(name.as_str())?;
        agent.must_run()?;
        let handle = agent.handle.clone();
        open(&self.journal).command(command);
        self.record(name, Happening::Left);
        let left = handle.leave(self.timeout).await;
        self.agents.retain(|agent| agent.id() != name);
        let name = name.clone();
        left.map_err(|source| ClusterError::Leave { name, source })
    }

    fn run_out(&self, command: &RecordedCommand, name: &AgentId) -> Result<(), ClusterError> {
        let agent = self.leading(name)?;
        let Some(left) = agent.handle.leadership_left() else {
            return Err(refuse(
                name,
                "leads without an end, because its election has no lease: crash or stop the agent instead",
            ));
        };
        // The skip goes one nanosecond past the last instant of the leadership.
        agent
            .clock
            .skip(left.saturating_add(Duration::from_nanos(1)));
        self.mark(command);
        Ok(())
    }

    fn put_score(
        &mut self,
        command: &RecordedCommand,
        name: &AgentId,
        score: Option<Score>,
    ) -> Result<(), ClusterError> {
        let agent = self.find_mut(name.as_str())?;
        agent.score = score;
        // An agent that has ended gets the score when its next incarnation begins.
        match score {
            Some(score) => agent.handle.set_score(score).ok(),
            None => agent.handle.withdraw_score().ok(),
        };
        self.mark(command);
        Ok(())
    }

    fn hand_over(
        &self,
        command: &RecordedCommand,
        name: &AgentId,
        to: Option<&AgentId>,
    ) -> Result<(), ClusterError> {
        self.find(name.as_str())?.must_run()?;
        if let Some(to) = to {
            self.find(to.as_str())?.must_run()?;
        }
        let agent = self.leading(name)?;
        agent.handle.step_down(to.cloned()).ok();
        self.mark(command);
        Ok(())
    }

    fn hold_election(&self, command: &RecordedCommand, name: &AgentId) -> Result<(), ClusterError> {
        let agent = self.find(name.as_str())?;
        agent.must_run()?;
        agent.handle.campaign().ok();
        self.mark(command);
        Ok(())
    }

    /// Returns the agent if it considers itself leader.
    fn leading(&self, name: &AgentId) -> Result<&ClusterAgent<E>, ClusterError> {
        let agent = self.find(name.as_str())?;
        if agent.handle.is_leader() {
            return Ok(agent);
        }
        let believers = listed(&self.believers());
        let why =
            format!("does not lead: command an agent that considers itself leader ({believers})");
        Err(refuse(name, why))
    }
}
