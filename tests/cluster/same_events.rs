//! Plays the same script with real actors and in the simulator, and compares the events and their times. If both agree,
//! a result of the simulator is valid for the actors too.
//!
//! Scenario 84. Every message takes the same time, and no wait has a random part. The tests compare each event that an
//! agent sends to its application: order, term, reason, and millisecond. `Same` lists the exceptions.
#![expect(
    clippy::panic,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "what cannot be done fails the test"
)]

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use actix_bully::{
    elections::{
        AnyBully, AnyConfig,
        bully::Preemption,
        quorum::QuorumConfig,
        ring::{Ring, RingConfig},
    },
    protocol::{AgentId, Event, LostReason, Score, Time, Timings},
    testkit::{cluster::Cluster, faults::Conditions},
};
use bully_core::{elections::bully::BullyConfig, protocol::Election, record::RecordedCommand};
use bully_sim::{
    sim::{Detection, Participant, World},
    trace::What,
};

use crate::{
    command::{self, Command, Verb},
    common,
};

const DELAY: Duration = Duration::from_millis(3);

/// Events that each agent sent to its application, with their times.
type Told = BTreeMap<AgentId, Vec<(Time, Event)>>;

#[derive(Clone, Copy, Debug)]
enum Mode {
    Available,
    Quorum,
}

/// Five agents; `agent-5` has the highest rank.
const AGENTS: u32 = 5;

fn timings() -> Timings {
    let timings = Timings::lan().to_builder().jitter(Duration::ZERO);
    timings.build().unwrap()
}

fn names() -> impl Iterator<Item = AgentId> {
    (1..=AGENTS).map(|number| format!("agent-{number}").parse().unwrap())
}

impl Mode {
    /// Returns the configuration of the mode. A leader of the quorum mode is patient for only a second, so that no
    /// script takes long.
    fn config(self) -> AnyConfig {
        match self {
            Self::Available => AnyConfig::Available(Arc::new(BullyConfig {
                timings: timings(),
                ..BullyConfig::default()
            })),
            Self::Quorum => {
                let config = QuorumConfig {
                    timings: timings(),
                    preemption: Preemption::After(Duration::from_secs(1)),
                    ..QuorumConfig::new(names())
                };
                AnyConfig::Quorum(Arc::new(config))
            }
        }
    }
}

// ---- the actors -------------------------------------------------------------------------------

fn through_actors<E: Election>(config: &E::Config, script: &[Command]) -> Told {
    common::virtual_system().block_on(async {
        let mut cluster = Cluster::<E>::with_config(config.clone())
            .agents(AGENTS)
            .network(Conditions::delayed(DELAY))
            .start()
            .unwrap();
        for command in script.iter().cloned() {
            command.run(&mut cluster).await.unwrap();
        }
        let mut told = Told::new();
        for entry in cluster.trace().entries() {
            if let What::Event { agent, event } = &entry.what {
                let told = told.entry(agent.clone()).or_default();
                told.push((entry.at, event.clone()));
            }
        }
        told
    })
}

// ---- the simulator ----------------------------------------------------------------------------

fn through_simulator<E: Election>(config: &E::Config, script: &[Command]) -> Told {
    let voters = names().zip(1..).map(|(name, score)| {
        let score = Some(Score::from(score));
        Participant::<E>::voter(name, score, config.clone())
    });
    let mut world = World::builder(1)
        .agents(voters)
        .conditions(Conditions::delayed(DELAY))
        .detection(Detection::Certain(Duration::ZERO.into()))
        .build();
    let mut ended = Told::new();
    for command in script {
        play(&mut world, &mut ended, command);
        world.run_for(Duration::ZERO); // as with actors, immediate effects precede the next command
    }
    let mut told = Told::new();
    for name in world.agents() {
        let mut all = world.events(name).to_vec();
        for end in ended.remove(name).unwrap_or_default() {
            // The end follows the events of its own incarnation and precedes the events of the next incarnation.
            let next = all.iter().position(|(at, _)| *at > end.0);
            all.insert(next.unwrap_or(all.len()), end);
        }
        if !all.is_empty() {
            told.insert(name.clone(), all);
        }
    }
    told
}

fn play<E: Election>(world: &mut World<E>, ended: &mut Told, command: &Command) {
    let mut given = match &command.verb {
        Verb::Wait(time) => return world.run_for(*time),
        Verb::Given(given) => given.clone(),
        _ => panic!("the simulator is not told what `{command}` is"),
    };
    for name in given.agents_mut() {
        *name = format!("agent-{name}").parse().unwrap();
    }
    match given {
        RecordedCommand::Heal => world.heal(),
        RecordedCommand::Partition(sides) => world.partition(sides),
        RecordedCommand::Crash(names) => names.iter().for_each(|name| crash(world, ended, name)),
        RecordedCommand::Restart(name) => assert!(world.restart(&name)),
        RecordedCommand::Score { agent, score } => assert!(world.set_score(&agent, score)),
        RecordedCommand::StepDown { agent, to } => assert!(world.step_down(agent, to)),
        _ => panic!("the simulator is not told what `{command}` is"),
    }
}

/// Crashes an agent. A machine that crashes cannot report the end of its leadership. With actors, the actor's host
/// reports the end. The simulator has no host, so this function adds the event.
fn crash<E: Election>(world: &mut World<E>, ended: &mut Told, name: &AgentId) {
    let leading = world.view(name).and_then(|view| view.leading);
    assert!(world.crash(name), "{name} runs");
    if let Some(term) = leading {
        let reason = LostReason::Ended;
        let lost = (world.now(), Event::Lost { term, reason });
        ended.entry(name.clone()).or_default().push(lost);
    }
}

// ---- the comparison ---------------------------------------------------------------------------

/// Part of the events that must agree. Each exception is inherent in the drivers.
#[derive(Clone, Copy, Debug)]
enum Same {
    /// Everything: order, terms, reasons, milliseconds.
    All,
    /// All but the times. In quorum mode, an agent repeats a failed attempt after a random part of a round, even
    /// without jitter, and each driver draws its own random numbers.
    ButTimes,
    /// All but the terms. After any change of its members, a group of actors also announces the last term in which an
    /// agent led, even across a partition of the messages. The simulator announces this term only to agents that start.
    /// So the next leader may skip a term.
    ButTerms,
}

impl Same {
    fn of(self, told: &Told) -> BTreeMap<&AgentId, Vec<String>> {
        let line = |(at, event): &(Time, Event)| match self {
            Self::All => format!("{at} ms: {event}"),
            Self::ButTimes => event.to_string(),
            Self::ButTerms => {
                let words = event.to_string();
                let words = words.split(' ').map(|word| word.trim_end_matches(':'));
                let words = words.filter(|word| word.parse::<u64>().is_err());
                format!("{at} ms: {}", words.collect::<Vec<_>>().join(" "))
            }
        };
        let lines = |all: &Vec<_>| all.iter().map(line).collect();
        told.iter().map(|(name, all)| (name, lines(all))).collect()
    }
}

fn same_by<E: Election>(config: &E::Config, script: &str, least: usize, same: Same) {
    let commands = command::read(script).unwrap();
    let actors = through_actors::<E>(config, &commands);
    let simulator = through_simulator::<E>(config, &commands);
    let (left, right) = (same.of(&actors), same.of(&simulator));
    assert_eq!(left, right, "{config:?}, `{script}`: actors, simulator");
    let told: usize = actors.values().map(Vec::len).sum();
    assert!(told >= least, "{config:?}, `{script}`: {actors:#?}");
}

/// Scripts, each with the least number of events, and with the part of the events that must agree in the available mode
/// and in the quorum mode. The number reveals a script in which nothing happens. A mode with `None` does not play the
/// script.
const SCRIPTS: [(&str, usize, Option<Same>, Option<Same>); 15] = {
    use Same::{All, ButTerms, ButTimes};
    let (all, but_times) = (Some(All), Some(ButTimes));
    [
        ("crash 5 4; wait 3s", 9, all, but_times),
        ("crash 3; wait 1s; restart 3; wait 3s", 6, all, all),
        ("crash 5; wait 3s; restart 5; wait 3s", 15, all, all),
        // The leader comes back before the other agents have elected another leader.
        ("crash 5; restart 5; wait 3s", 7, all, all),
        ("crash 5; wait 1ms; restart 5; wait 3s", 7, all, all),
        ("partition 4 5; wait 3s; heal; wait 5s", 10, all, all),
        ("partition 1 2; wait 3s; heal; wait 5s", 5, all, all),
        // No side has a majority. The script does not heal the partition: in quorum mode, chance would decide which
        // agent is first, and each driver draws its own random numbers.
        ("partition 1 2 | 3 4 | 5; wait 3s", 10, all, all),
        // The partition is too short for any agent to notice.
        ("partition 4 5; wait 100ms; heal; wait 3s", 5, all, all),
        (
            "partition 1 2; wait 2s; crash 5; wait 2s; heal; wait 2s; restart 5; wait 5s",
            10,
            Some(ButTerms),
            None,
        ),
        // If no side had a quorum, the random numbers of the candidates would decide which candidate wins after the
        // partition heals. So one side has a quorum.
        (
            "partition 1 2 3; wait 2s; crash 5; wait 2s; heal; wait 2s; restart 5; wait 5s",
            10,
            None,
            but_times,
        ),
        ("step-down 5; wait 3s", 10, all, all),
        ("step-down 5 2; wait 3s", 10, all, all),
        (
            "step-down 5 2; wait 1s; crash 2; wait 3s; restart 2; wait 3s",
            15,
            all,
            but_times,
        ),
        ("score 2 9; wait 3s; score 2 none; wait 3s", 15, all, all),
    ]
};

#[test]
fn actors_and_simulator_tell_the_same() {
    for (script, least, available, quorum) in SCRIPTS {
        let script = format!("wait 2s; {script}");
        for (mode, same) in [(Mode::Available, available), (Mode::Quorum, quorum)] {
            if let Some(same) = same {
                same_by::<AnyBully>(&mode.config(), &script, least, same);
            }
        }
    }
}

#[test]
fn a_ring_whose_members_crash_return_become_better_and_hand_over() {
    let script = "wait 1s; crash 5; wait 2s; restart 5; wait 2s; score 2 9; wait 2s; crash 1 2; \
         wait 2s; step-down 5; wait 2s";
    let config = Arc::new(RingConfig::new(timings()));
    same_by::<Ring>(&config, script, 15, Same::All);
}
