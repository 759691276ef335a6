//! What can be done to agents.
//!
//! Decided here: that everything is checked before anything is done, and that what is measured by
//! [`settle`](Cluster::settle) begins at the last of these.

use std::{collections::BTreeSet, time::Duration};

use super::{
    AgentNames, Cluster, ClusterError,
    agent::{ClusterAgent, end_of},
    builder::AgentPlan,
    journal::open,
    start::StartKind,
    wiring::Making,
};
use crate::{
    protocol::{AgentId, Election, MemberKind, Score},
    record::RecordedCommand,
    supervisor::RestartPolicy,
    testkit::trace::Happening,
};

impl<E: Election> Cluster<E> {
    // ---- an end, and a new beginning ---------------------------------------------------------

    /// An agent panics, and all others learn of it. It stays down until [`restart`](Self::restart),
    /// unless the cluster is [supervised](super::ClusterBuilder::supervised). The panic makes no
    /// noise.
    ///
    /// # Errors
    /// [`ClusterError`] when no agent of that name runs.
    pub async fn crash(&mut self, name: &str) -> Result<(), ClusterError> {
        self.crash_all([name]).await
    }

    /// Several agents panic at the same moment.
    ///
    /// # Errors
    /// As [`crash`](Self::crash), and no agent has panicked; [`ClusterError::Twice`].
    pub async fn crash_all<N: AsRef<str>>(
        &mut self,
        names: impl IntoIterator<Item = N>,
    ) -> Result<(), ClusterError> {
        self.end_all(
            names,
            Happening::Crashed,
            RecordedCommand::Crash,
            ClusterAgent::must_live,
            ClusterAgent::crash,
        )
        .await
    }

    /// An agent stops at once, without handing over.
    ///
    /// # Errors
    /// As [`crash`](Self::crash); [`ClusterError::Hung`].
    pub async fn stop(&mut self, name: &str) -> Result<(), ClusterError> {
        self.stop_all([name]).await
    }

    /// Several agents stop at the same moment.
    ///
    /// # Errors
    /// As [`stop`](Self::stop), and no agent has stopped; [`ClusterError::Twice`].
    pub async fn stop_all<N: AsRef<str>>(
        &mut self,
        names: impl IntoIterator<Item = N>,
    ) -> Result<(), ClusterError> {
        self.end_all(
            names,
            Happening::Stopped,
            RecordedCommand::Stop,
            ClusterAgent::must_run,
            ClusterAgent::stop,
        )
        .await
    }

    async fn end_all<N: AsRef<str>>(
        &mut self,
        names: impl IntoIterator<Item = N>,
        what: Happening,
        command: impl FnOnce(Vec<AgentId>) -> RecordedCommand,
        check: impl Fn(&ClusterAgent<E>) -> Result<(), ClusterError>,
        end: impl Fn(&mut ClusterAgent<E>),
    ) -> Result<(), ClusterError> {
        let names = self.resolve(names)?;
        for name in &names {
            check(self.find(name.as_str())?)?;
        }
        self.command(|| command(names.clone()));
        let mut ending = Vec::new();
        for name in &names {
            self.record(name, what);
            let is_supervised = self.policy != RestartPolicy::temporary();
            let agent = self.find_mut(name.as_str())?;
            end(agent);
            // An application's agent has a policy of its own.
            let returns = is_supervised || matches!(agent.making, Making::Wired(_));
            ending.push((agent.handle.clone(), returns));
        }
        // Waited for only now: all of them are to end at the same moment.
        for (handle, returns) in ending {
            end_of(&handle, returns).await;
        }
        Ok(())
    }

    /// An agent that is down begins a new incarnation, with the score it had last.
    ///
    /// # Errors
    /// [`ClusterError::Up`], [`ClusterError::Restarting`], [`ClusterError::Unknown`].
    pub fn restart(&mut self, name: &str) -> Result<(), ClusterError> {
        let agent = self.find(name)?;
        agent.must_be_down()?;
        let plan = AgentPlan {
            name: agent.id().to_string(),
            kind: agent.kind,
            score: agent.score,
            making: agent.making.clone(),
        };
        let name = agent.id().clone();
        self.agent(plan, StartKind::Again)?;
        self.command(|| RecordedCommand::Restart(name));
        Ok(())
    }

    /// An agent hangs: it handles neither messages nor timers. Returns when it does.
    ///
    /// # Errors
    /// [`ClusterError`] when no agent of that name runs; [`ClusterError::Hung`].
    pub async fn hang(&mut self, name: &str) -> Result<(), ClusterError> {
        let id = self.find(name)?.id().clone();
        self.find(name)?.must_run()?;
        self.command(|| RecordedCommand::Hang(id.clone()));
        self.record(&id, Happening::Paused);
        self.find_mut(name)?.hang().await;
        Ok(())
    }

    /// All of an agent's process stands still, what the application has started in it as well. An agent
    /// of the cluster's own making hangs.
    ///
    /// # Errors
    /// As [`hang`](Self::hang).
    pub async fn freeze(&mut self, name: &str) -> Result<(), ClusterError> {
        let id = self.find(name)?.id().clone();
        self.find(name)?.must_run()?;
        self.command(|| RecordedCommand::Freeze(id.clone()));
        self.record(&id, Happening::Paused);
        self.find_mut(name)?.freeze().await;
        Ok(())
    }

    /// An agent's process ends at once with all that runs in it, frozen or not. An agent of the cluster's own
    /// making stops.
    ///
    /// # Errors
    /// As [`crash`](Self::crash).
    pub async fn kill(&mut self, name: &str) -> Result<(), ClusterError> {
        self.end_all(
            [name],
            Happening::Stopped,
            // It was one name.
            |mut names| {
                names
                    .pop()
                    .map_or(RecordedCommand::Stop(names), RecordedCommand::Kill)
            },
            ClusterAgent::must_live,
            ClusterAgent::kill,
        )
        .await
    }

    /// The leadership of an agent runs out at this moment by its own clock, as if its host had been suspended
    /// for so long: it does not lead any more, and finds that out with its next step.
    ///
    /// # Errors
    /// [`ClusterError::NotLeading`]; [`ClusterError::NoLease`] where a leadership lasts until it is lost.
    pub fn expire(&mut self, name: &str) -> Result<(), ClusterError> {
        let agent = self.find(name)?;
        let name = agent.id().clone();
        if !agent.handle.is_leader() {
            let believers = self.believers().into_iter().collect();
            return Err(ClusterError::NotLeading { name, believers });
        }
        let Some(left) = agent.handle.leadership_left() else {
            return Err(ClusterError::NoLease { name });
        };
        // Its last instant is the one before.
        agent
            .clock
            .skip(left.saturating_add(Duration::from_nanos(1)));
        self.command(|| RecordedCommand::Expire(name.clone()));
        open(&self.journal).mark(|| format!("expire {name}"));
        Ok(())
    }

    /// A hung or frozen agent goes on, late for everything.
    ///
    /// # Errors
    /// [`ClusterError::NotHung`], [`ClusterError::Unknown`].
    pub fn resume(&mut self, name: &str) -> Result<(), ClusterError> {
        let agent = self.find_mut(name)?;
        let name = agent.id().clone();
        if !agent.resume() {
            return Err(ClusterError::NotHung { name });
        }
        self.command(|| RecordedCommand::Resume(name.clone()));
        self.record(&name, Happening::Resumed);
        Ok(())
    }

    // ---- coming and going --------------------------------------------------------------------

    /// A new agent joins.
    ///
    /// # Errors
    /// [`ClusterError::Taken`]; [`ClusterError::Start`] when its name breaks the rules.
    pub fn join(&mut self, name: &str, score: impl Into<Score>) -> Result<(), ClusterError> {
        self.admit(name, MemberKind::Voter, Some(score.into()))
    }

    /// A new agent joins that answers, but is never elected.
    ///
    /// # Errors
    /// As [`join`](Self::join).
    pub fn join_witness(&mut self, name: &str) -> Result<(), ClusterError> {
        self.admit(name, MemberKind::Voter, None)
    }

    /// A new agent joins that is told which agent leads, and is never asked.
    ///
    /// # Errors
    /// As [`join`](Self::join).
    pub fn join_observer(&mut self, name: &str) -> Result<(), ClusterError> {
        self.admit(name, MemberKind::Observer, None)
    }

    fn admit(
        &mut self,
        name: &str,
        kind: MemberKind,
        score: Option<Score>,
    ) -> Result<(), ClusterError> {
        let name = full(name);
        if let Some(agent) = self.agents.iter().find(|agent| agent.id().as_str() == name) {
            let name = agent.id().clone();
            return Err(ClusterError::Taken { name });
        }
        let plan = AgentPlan {
            name,
            kind,
            score,
            making: Making::Plain,
        };
        self.agent(plan, StartKind::Late)?;
        // The last is the one that came.
        if let Some(agent) = self.agents.last() {
            let agent = agent.id().clone();
            self.command(|| RecordedCommand::Join { agent, kind, score });
        }
        Ok(())
    }

    /// An agent hands over if it leads, and leaves for good.
    ///
    /// # Errors
    /// [`ClusterError`] when no agent of that name runs; [`ClusterError::Leave`] when it took too
    /// long, and then it has left nevertheless.
    pub async fn leave(&mut self, name: &str) -> Result<(), ClusterError> {
        let agent = self.find(name)?;
        agent.must_run()?;
        let handle = agent.handle.clone();
        let name = handle.id().clone();
        self.command(|| RecordedCommand::Leave(name.clone()));
        self.record(&name, Happening::Left);
        let left = handle.leave(self.timeout).await;
        self.agents.retain(|agent| *agent.id() != name);
        left.map_err(|source| ClusterError::Leave { name, source })
    }

    // ---- commands -----------------------------------------------------------------------------

    /// An agent gets another score; one that is down, for its next incarnation.
    ///
    /// # Errors
    /// [`ClusterError::Unknown`].
    pub fn set_score(&mut self, name: &str, score: impl Into<Score>) -> Result<(), ClusterError> {
        self.rate(name, Some(score.into()))
    }

    /// An agent becomes ineligible; if it leads, it hands over.
    ///
    /// # Errors
    /// [`ClusterError::Unknown`].
    pub fn withdraw_score(&mut self, name: &str) -> Result<(), ClusterError> {
        self.rate(name, None)
    }

    fn rate(&mut self, name: &str, score: Option<Score>) -> Result<(), ClusterError> {
        let agent = self.find_mut(name)?;
        agent.score = score;
        // One that has ended has it when it comes back.
        match score {
            Some(score) => agent.handle.set_score(score).ok(),
            None => agent.handle.withdraw_score().ok(),
        };
        let name = agent.id().clone();
        self.command(|| RecordedCommand::Score {
            agent: name.clone(),
            score,
        });
        let score = score.map_or_else(|| String::from("none"), |score| score.to_string());
        let score = score.replace(['(', ')', ' '], "");
        open(&self.journal).mark(|| format!("score {name} {score}"));
        Ok(())
    }

    /// The leader hands over, to that agent if one is named, and is not a candidate for a while.
    ///
    /// # Errors
    /// [`ClusterError::NotLeading`]; [`ClusterError`] when one of them does not run.
    pub fn step_down(&mut self, name: &str, to: Option<&str>) -> Result<(), ClusterError> {
        let agent = self.find(name)?;
        agent.must_run()?;
        let name = agent.id().clone();
        let to = to.map(|to| self.find(to)).transpose()?;
        if let Some(to) = to {
            to.must_run()?;
        }
        let to = to.map(|agent| agent.id().clone());
        if !agent.handle.is_leader() {
            let believers = self.believers().into_iter().collect();
            return Err(ClusterError::NotLeading { name, believers });
        }
        agent.handle.step_down(to.clone()).ok();
        self.command(|| RecordedCommand::StepDown {
            agent: name.clone(),
            to: to.clone(),
        });
        let to = to.map(|to| format!(" {to}")).unwrap_or_default();
        open(&self.journal).mark(|| format!("step-down {name}{to}"));
        Ok(())
    }

    /// An agent holds an election.
    ///
    /// # Errors
    /// [`ClusterError`] when no agent of that name runs.
    pub fn campaign(&mut self, name: &str) -> Result<(), ClusterError> {
        let agent = self.find(name)?;
        agent.must_run()?;
        agent.handle.campaign().ok();
        let name = agent.id().clone();
        self.command(|| RecordedCommand::Campaign(name.clone()));
        open(&self.journal).mark(|| format!("campaign {name}"));
        Ok(())
    }

    // ---- names -------------------------------------------------------------------------------

    /// A command is given: it is written down, for [recordings](Self::recording).
    pub(super) fn command(&self, command: impl FnOnce() -> RecordedCommand) {
        open(&self.journal).command(command);
    }

    /// Something is done to an agent.
    pub(super) fn record(&self, name: &AgentId, what: Happening) {
        let mut journal = open(&self.journal);
        journal.acted();
        journal.happen(name, what);
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
            known: self
                .agents
                .iter()
                .map(|agent| agent.id().clone())
                .collect::<AgentNames>(),
        }
    }

    /// The names in full, each once.
    pub(super) fn resolve<N: AsRef<str>>(
        &self,
        names: impl IntoIterator<Item = N>,
    ) -> Result<Vec<AgentId>, ClusterError> {
        let mut seen = BTreeSet::new();
        let mut resolved = Vec::new();
        for name in names {
            let name = self.find(name.as_ref())?.id().clone();
            if !seen.insert(name.clone()) {
                return Err(ClusterError::Twice { name });
            }
            resolved.push(name);
        }
        Ok(resolved)
    }
}

/// A number means the agent of that number.
fn full(name: &str) -> String {
    let is_number = !name.is_empty() && name.bytes().all(|digit| digit.is_ascii_digit());
    if is_number {
        format!("agent-{name}")
    } else {
        name.to_owned()
    }
}
