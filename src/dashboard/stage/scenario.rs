//! Scenarios that the page plays: events that happen to the agents, in a fixed order.
//!
//! Decided here: the scenes of each scenario, for any agents. A scene is plain data: `play.rs` plays each scene when
//! the leadership is settled after the scene before it. A scenario does not fix which agent leads in the end: the
//! election decides this, and viewers can see it.

use std::time::Duration;

use serde::Deserialize;

use super::link::StageError;
use crate::{
    protocol::{AgentId, NewVoter, VoterChange},
    record::RecordedCommand,
};

/// A command, and the condition before the next scene.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scene {
    pub(crate) command: RecordedCommand,
    pub(crate) then: Until,
}

/// The condition before the next scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Until {
    /// The leadership is settled, or the longest time that a group may need to settle has passed.
    Settled,
    /// The contained time has passed by the agents' clock.
    Passed(Duration),
}

/// A scenario that the page plays with the agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Story {
    /// The story of ASTRA: the lowest agent calls an election, the highest agent wins, ends, and comes back.
    Astra,
    /// The story of the Go program: the leader crashes, recovers, and crashes together with the next-ranked agent.
    Go,
    /// Each agent reaches only its neighbours, then all links heal.
    Chain,
    /// All agents reach only the lowest agent, then all links heal.
    Star,
    /// More than half of the agents crash, one after the other, and come back.
    QuorumLoss,
    /// The highest agent crashes and comes back, three times.
    Flapping,
    /// The second-ranked agent does not receive the leader's messages, but the leader receives its messages.
    OneWay,
    /// Each agent ends and comes back, one after the other, the leader last, as in an upgrade.
    Rolling,
    /// Each voter of a quorum is removed from the list of voters and added again, one after the other, the leader last.
    RollingChange,
}

impl Story {
    /// All scenarios, in the order of the page.
    pub(crate) const ALL: [Self; 9] = [
        Self::Astra,
        Self::Go,
        Self::Chain,
        Self::Star,
        Self::QuorumLoss,
        Self::Flapping,
        Self::OneWay,
        Self::Rolling,
        Self::RollingChange,
    ];

    /// Returns the scenario's name in a command, and its description.
    pub(crate) const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Astra => (
                "astra",
                "ASTRA's story: the lowest agent calls an election, the highest wins, ends, and comes back",
            ),
            Self::Go => (
                "go",
                "the Go program's story: the leader crashes, recovers, and crashes together with the next",
            ),
            Self::Chain => (
                "chain",
                "each agent reaches its neighbours only, then all links heal",
            ),
            Self::Star => (
                "star",
                "all agents reach the lowest one only, then all links heal",
            ),
            Self::QuorumLoss => (
                "quorum_loss",
                "more than half of the agents crash, one after the other, and come back",
            ),
            Self::Flapping => (
                "flapping",
                "the highest agent crashes and comes back, three times",
            ),
            Self::OneWay => (
                "one_way",
                "the leader is not heard by the next agent, but hears it",
            ),
            Self::Rolling => (
                "rolling",
                "each agent ends and comes back, one after the other and the leader last, as an upgrade does it",
            ),
            Self::RollingChange => (
                "rolling_change",
                "each voter of a quorum is taken off the list and comes back, one after the other and the leader last",
            ),
        }
    }
}

/// Returns a scenario's scenes. `ranked` are the agents that may lead, the highest first.
pub(crate) fn scenes(scenario: Story, ranked: &[AgentId]) -> Result<Vec<Scene>, StageError> {
    let (name, _) = scenario.words();
    let found = ranked.len();
    let [top, next, .., lowest] = ranked else {
        return Err(StageError::TooFew {
            name,
            least: LEAST,
            found,
        });
    };
    let most = MOST_LINKED;
    if matches!(scenario, Story::Chain | Story::Star) && found > most {
        return Err(StageError::TooMany { name, most, found });
    }
    let (top, next) = (top.clone(), next.clone());
    Ok(match scenario {
        Story::Astra => vec![
            settled(RecordedCommand::Campaign(lowest.clone())),
            passed(RecordedCommand::Stop(vec![top.clone()]), 1_000),
            settled(RecordedCommand::Campaign(lowest.clone())),
            passed(RecordedCommand::Restart(top.clone()), 1_000),
            settled(RecordedCommand::Campaign(top)),
        ],
        Story::Go => vec![
            settled(RecordedCommand::Crash(vec![top.clone()])),
            settled(RecordedCommand::Restart(top.clone())),
            settled(RecordedCommand::Crash(vec![top.clone(), next.clone()])),
            passed(RecordedCommand::Restart(next), 0),
            settled(RecordedCommand::Restart(top)),
        ],
        Story::Chain => cut_and_heal(ranked, |one, other| one.abs_diff(other) > 1),
        Story::Star => cut_and_heal(ranked, |one, other| one.max(other) + 1 != found),
        Story::QuorumLoss => quorum_loss(ranked),
        Story::Flapping => {
            let once = [
                settled(RecordedCommand::Crash(vec![top.clone()])),
                settled(RecordedCommand::Restart(top)),
            ];
            once.iter().cycle().take(6).cloned().collect()
        }
        Story::OneWay => {
            let one_way = RecordedCommand::CutOneWay(top, next);
            vec![passed(one_way, 4_000), settled(RecordedCommand::Heal)]
        }
        Story::Rolling => rolling(ranked, &top),
        Story::RollingChange => rolling_change(ranked),
    })
}

/// Returns scenes in which more than half of the agents end, one after the other, and then all of them come back.
fn quorum_loss(ranked: &[AgentId]) -> Vec<Scene> {
    let many = ranked.iter().take(ranked.len() / 2 + 1);
    let ends = many
        .clone()
        .map(|agent| settled(RecordedCommand::Crash(vec![agent.clone()])));
    let returns = many
        .rev()
        .map(|agent| settled(RecordedCommand::Restart(agent.clone())));
    ends.chain(returns).collect()
}

/// Returns scenes that restart each agent. The leader hands over before it ends, like a program that receives a stop
/// signal.
fn rolling(ranked: &[AgentId], top: &AgentId) -> Vec<Scene> {
    let each = ranked.iter().rev().flat_map(|agent| {
        let hand_over = (agent == top).then(|| {
            settled(RecordedCommand::StepDown {
                agent: agent.clone(),
                to: None,
            })
        });
        let restart = [
            settled(RecordedCommand::Stop(vec![agent.clone()])),
            settled(RecordedCommand::Restart(agent.clone())),
        ];
        hand_over.into_iter().chain(restart)
    });
    each.collect()
}

/// Returns scenes that remove and add each voter. A removed voter continues to run, so it can be added again.
fn rolling_change(ranked: &[AgentId]) -> Vec<Scene> {
    let each = ranked.iter().rev().flat_map(|agent| {
        let new = NewVoter {
            id: agent.clone(),
            contact: None,
        };
        [VoterChange::Remove(agent.clone()), VoterChange::Add(new)]
    });
    each.map(|change| settled(RecordedCommand::ChangeVoters(change)))
        .collect()
}

/// Returns scenes that cut at one moment every link between two agents for whose ranks `is_cut` is true, and then heal
/// the links.
fn cut_and_heal(ranked: &[AgentId], is_cut: impl Fn(usize, usize) -> bool) -> Vec<Scene> {
    let mut scenes = Vec::new();
    for (one, from) in ranked.iter().enumerate() {
        for (other, to) in ranked.iter().enumerate().skip(one + 1) {
            if is_cut(one, other) {
                scenes.push(passed(RecordedCommand::Cut(from.clone(), to.clone()), 0));
            }
        }
    }
    if let Some(last) = scenes.last_mut() {
        last.then = Until::Passed(Duration::from_secs(5));
    }
    scenes.push(settled(RecordedCommand::Heal));
    scenes
}

const fn settled(command: RecordedCommand) -> Scene {
    Scene {
        command,
        then: Until::Settled,
    }
}

const fn passed(command: RecordedCommand, millis: u64) -> Scene {
    Scene {
        command,
        then: Until::Passed(Duration::from_millis(millis)),
    }
}

/// Smallest number of agents with which a scenario makes sense.
const LEAST: usize = 3;
/// Largest number of agents for a scenario that cuts links. A picture of more agents would show only links.
const MOST_LINKED: usize = 30;

#[cfg(test)]
mod tests {
    use super::*;

    fn agents(count: usize) -> Vec<AgentId> {
        let names = (1..=count)
            .rev()
            .map(|number| format!("agent-{number}").parse().unwrap());
        names.collect()
    }

    fn cuts(scenario: Story, count: usize) -> usize {
        let scenes = scenes(scenario, &agents(count)).unwrap();
        let is_cut = |scene: &&Scene| matches!(scene.command, RecordedCommand::Cut(..));
        scenes.iter().filter(is_cut).count()
    }

    #[test]
    fn every_scenario_has_scenes_and_ends_with_all_agents_up_and_linked() {
        for scenario in Story::ALL {
            let (name, says) = scenario.words();
            let read = serde_json::from_value::<Story>(name.into());
            assert_eq!(read.unwrap(), scenario);
            for count in [3, 5, 30] {
                let scenes = scenes(scenario, &agents(count)).unwrap();
                assert!(scenes.len() > 1 && !says.is_empty(), "{name}");
                let mut down: Vec<&AgentId> = Vec::new();
                let mut cuts = 0;
                for scene in &scenes {
                    if let RecordedCommand::Crash(names) | RecordedCommand::Stop(names) =
                        &scene.command
                    {
                        down.extend(names);
                    }
                    if let RecordedCommand::Restart(name) = &scene.command {
                        down.retain(|each| *each != name);
                    }
                    if let RecordedCommand::Campaign(name) = &scene.command {
                        assert!(!down.contains(&name));
                    }
                    if let RecordedCommand::Cut(..) = &scene.command {
                        cuts += 1;
                    }
                    if scene.command == RecordedCommand::Heal {
                        cuts = 0;
                    }
                }
                assert!(down.is_empty() && cuts == 0, "{name}: {down:?}, {cuts}");
            }
        }
    }

    #[test]
    fn a_chain_and_a_star_keep_as_many_links_as_they_need() {
        // Ten links among five; a chain keeps four, and so does a star.
        assert_eq!((cuts(Story::Chain, 5), cuts(Story::Star, 5)), (6, 6));
        let star = scenes(Story::Star, &agents(5)).unwrap();
        let hub: AgentId = "agent-1".parse().unwrap();
        let touches = |scene: &Scene| matches!(&scene.command, RecordedCommand::Cut(from, to) if *from == hub || *to == hub);
        assert!(!star.iter().any(touches), "the lowest reaches all");
    }

    #[test]
    fn a_scenario_that_cannot_be_played_is_refused() {
        let refused = |scenario, count| scenes(scenario, &agents(count)).unwrap_err();
        assert!(matches!(
            refused(Story::Go, 2),
            StageError::TooFew { found: 2, .. }
        ));
        assert!(matches!(
            refused(Story::Star, 31),
            StageError::TooMany { .. }
        ));
        assert!(scenes(Story::Go, &agents(200)).is_ok());
    }
}
