//! Carries out a command, and watches the agent until its state shows the outcome.
//!
//! Decided here: the order of the steps when a node is drained (prepared for its stop), how often the agent's state is
//! read, and which outcome belongs to each answer to a change of voters. Not here: which state shows which outcome
//! (`judge.rs`).

use std::{sync::Arc, time::Duration};

use actix::clock::{Instant, sleep_until, timeout};

use crate::{
    agent::{CommandError, LeaveError, Lifecycle, VoterCount, VotersError, has_timers},
    protocol::{AgentId, Changed, Leader, Member, VoterChange},
};

use super::{
    Command, CommandRefusal, Operated, Order, Outcome, agent::OperatedAgent, judge::Judge, marks,
};

/// Time between two readings of the agent's state. The state has to be read again and again, because only members are
/// notified of a change of the group's members, and this code is not a member.
const LOOK: Duration = Duration::from_millis(5);

impl Operated {
    /// Carries out a command. Returns the outcome, at the latest soon after the longest wait that the order allows.
    ///
    /// The call waits in the caller's task. It blocks no thread, neither the agent's nor the caller's. If the future is
    /// dropped, a command that the agent has already received still takes effect; a drain may stop half-way.
    pub async fn carry_out(&self, order: Order) -> Outcome {
        if !has_timers() {
            return Outcome::Refused(CommandRefusal::NoRuntime);
        }
        let agent = match self.choose(order.group.as_deref(), order.agent.as_ref()) {
            Ok(agent) => agent,
            Err(refusal) => return Outcome::Refused(refusal),
        };
        let now = Instant::now();
        let deadline = now.checked_add(order.patience()).unwrap_or(now);
        match &order.command {
            Command::Drain => self.drain(&**agent, deadline).await,
            Command::ChangeVoters(change) => change_voters(&**agent, change, deadline).await,
            Command::ResetSchedule { schedule } => {
                marks::reset(&**agent, schedule, left(deadline)).await
            }
            Command::StepDown { .. } | Command::SetScore { .. } | Command::WithdrawScore => {
                follow(&**agent, &order.command, deadline).await
            }
        }
    }

    /// Drains a node. First the agent hands over, so that the outcome can contain the successor. Then the agent leaves,
    /// and then the bridge says goodbye.
    async fn drain(&self, agent: &dyn OperatedAgent, deadline: Instant) -> Outcome {
        let (before, _) = agent.moment();
        if before.status.lifecycle == Lifecycle::Ended {
            return Outcome::Refused(CommandRefusal::AgentEnded);
        }
        let lacks = lacks_without(agent);
        let mut leader = before
            .status
            .leader
            .filter(|leader| leader.id != *agent.id());
        if before.status.leading.is_some() {
            // Half of the time is kept for `leave`, so that a hand-over without a successor does not use all of it.
            let half = Instant::now() + left(deadline) / 2;
            leader = successor(follow(agent, &Command::WithdrawScore, half).await);
        }
        agent.drain_mark().set();
        let outcome = match agent.leave(left(deadline)).await {
            Ok(()) => Outcome::Left { leader, lacks },
            Err(LeaveError::TimedOut { .. }) => Outcome::Stopped,
            Err(LeaveError::NoRuntime) => return Outcome::Refused(CommandRefusal::NoRuntime),
        };
        let mut others = self.agents.iter().map(|agent| agent.status().lifecycle);
        if let Some(bridge) = &self.bridge
            && others.all(|lifecycle| lifecycle == Lifecycle::Ended)
        {
            // An error is ignored: a bridge that did not finish in time has stopped anyway.
            bridge.drain(left(deadline).max(LEAST_GOODBYE)).await.ok();
        }
        outcome
    }

    /// Returns the name and the status of the only agent that `group` and `id` select.
    #[cfg(feature = "actix-web")]
    pub(crate) fn knows(
        &self,
        group: Option<&str>,
        id: Option<&AgentId>,
    ) -> Result<(AgentId, crate::agent::Status), CommandRefusal> {
        let agent = self.choose(group, id)?;
        Ok((agent.id().clone(), agent.status()))
    }

    /// Returns the only agent that `group` and `id` select.
    fn choose(
        &self,
        group: Option<&str>,
        id: Option<&AgentId>,
    ) -> Result<&Arc<dyn OperatedAgent>, CommandRefusal> {
        let is_meant = |agent: &&Arc<dyn OperatedAgent>| {
            group.is_none_or(|group| agent.group() == group) && id.is_none_or(|id| agent.id() == id)
        };
        let mut meant = self.agents.iter().filter(is_meant);
        match (meant.next(), meant.next()) {
            (Some(agent), None) => Ok(agent),
            (None, _) => Err(CommandRefusal::NoAgent {
                agents: names(self.agents.iter()),
            }),
            (Some(_), Some(_)) => Err(CommandRefusal::Ambiguous {
                agents: names(self.agents.iter().filter(is_meant)),
            }),
        }
    }
}

/// Shortest time that a bridge gets to say goodbye, even after the deadline. Without a goodbye, its peers would think
/// that the node has crashed.
const LEAST_GOODBYE: Duration = Duration::from_millis(200);

/// Asks the agent for a change of the voters, and waits for the answer.
async fn change_voters(
    agent: &dyn OperatedAgent,
    change: &VoterChange,
    deadline: Instant,
) -> Outcome {
    if agent.status().lifecycle == Lifecycle::Ended {
        return Outcome::Refused(CommandRefusal::AgentEnded);
    }
    match agent.change_voters(change.clone(), left(deadline)).await {
        Ok(Changed {
            epoch,
            voters,
            already,
        }) => Outcome::VotersChanged {
            epoch,
            voters,
            already,
            removed: change.parts().1.cloned(),
        },
        Err(VotersError::TimedOut { .. }) => Outcome::VotersUnknown,
        Err(VotersError::Refused(why)) => Outcome::Refused(CommandRefusal::Voters { why }),
        Err(VotersError::NoVoters) => Outcome::Refused(CommandRefusal::NoVoters),
        Err(VotersError::Ended) => Outcome::Ended,
        Err(VotersError::NoRuntime) => Outcome::Refused(CommandRefusal::NoRuntime),
    }
}

/// Gives a command to an agent, and reads the agent's state until it shows the outcome.
async fn follow(agent: &dyn OperatedAgent, command: &Command, deadline: Instant) -> Outcome {
    // The store is asked for contenders again, because agents may have started or stopped since the store was last
    // read. If the store hangs, the command still ends at its deadline.
    timeout(left(deadline), agent.reader().contenders_now())
        .await
        .ok();
    let (before, members) = agent.moment();
    let given = Judge::new(agent.id(), command, &before, &members)
        .and_then(|judge| give(agent, command).map(|()| judge));
    let mut judge = match given {
        Ok(judge) => judge,
        Err(refusal) => return Outcome::Refused(refusal),
    };
    loop {
        let (now, _) = agent.moment();
        if let Some(outcome) = judge.see(&now) {
            return outcome;
        }
        if left(deadline) == Duration::ZERO {
            return judge.overdue(&now);
        }
        sleep_until(deadline.min(Instant::now() + LOOK)).await;
    }
}

fn give(agent: &dyn OperatedAgent, command: &Command) -> Result<(), CommandRefusal> {
    let given = match command {
        Command::StepDown { to } => agent.step_down(to.clone()),
        Command::SetScore { score } => agent.change_score(Some(*score)),
        Command::WithdrawScore => agent.change_score(None),
        // Other functions carry out these commands.
        Command::ChangeVoters(_) | Command::ResetSchedule { .. } | Command::Drain => Ok(()),
    };
    given.map_err(|error| match error {
        CommandError::NoMember { id } => CommandRefusal::NoMember { to: id },
        CommandError::NoSuccessor { id } => CommandRefusal::NoSuccessor { to: id },
        CommandError::Ended | CommandError::SeveralDraining => CommandRefusal::AgentEnded,
    })
}

/// Returns the number of voters that the group will lack when this agent has left, if the agent is a voter of a quorum.
fn lacks_without(agent: &dyn OperatedAgent) -> Option<VoterCount> {
    let requirements = agent.reader().requirements()?;
    requirements.voters?;
    let members = agent.members();
    let is_voter = members.get(agent.id()).is_some_and(Member::is_voter);
    let is_named = requirements
        .names
        .is_none_or(|names| names.contains(agent.id()));
    let voters = agent.diagnosis().voters.filter(|_| is_voter && is_named)?;
    let reachable = voters.reachable.saturating_sub(1);
    (reachable < voters.needed).then_some(VoterCount {
        reachable,
        ..voters
    })
}

fn successor(outcome: Outcome) -> Option<Leader> {
    if let Outcome::ScoreWithdrawn { leader } = outcome {
        leader
    } else {
        None
    }
}

fn left(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now())
}

fn names<'a>(agents: impl Iterator<Item = &'a Arc<dyn OperatedAgent>>) -> Vec<String> {
    agents
        .map(|agent| format!("{}/{}", agent.group(), agent.id()))
        .collect()
}
