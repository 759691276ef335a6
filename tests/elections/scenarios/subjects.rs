//! The elections under test, each with one or more configurations, and the properties of each election that tests rely
//! on.

use std::{sync::Arc, time::Duration};

use actix_bully::{
    elections::{
        ballot::{Ballot, BallotConfig},
        bully::Preemption,
        invitation::{InvitationConfig, InvitationElection},
        quorum::QuorumConfig,
        reorganization::{Reorganization, ReorganizationConfig, WhenAsked},
        ring::{Ring, RingConfig},
    },
    protocol::{AgentId, Timings},
    testkit::faults::Conditions,
};
use actix_bully_oracles::{
    BallotScenario, InvitationScenario, QuorumScenario, ReorganizationScenario, RingScenario,
    Watched,
};
use bully_core::{
    elections::{
        astra::{Astra, AstraConfig},
        bully::{Bully, BullyConfig},
    },
    protocol::Election,
};
use bully_sim::{
    sim::{Detection, Participant, TermOrder, World, chaos::Scenario},
    trace::Trace,
};

/// Cool-down in most tests. This time and `PATIENCE` are shorter than the quiet time that ends a story (`play.rs`).
const COOLDOWN: Duration = Duration::from_secs(1);
/// Time for which a patient leader stays beside a better agent.
const PATIENCE: Duration = Duration::from_secs(1);

const OBSERVER: &str = "o";

/// A check that must pass after every step.
pub(super) type Promise<E> = Box<dyn FnMut(&World<E>) -> Result<(), String>>;

/// Configuration, promise and bound of the election in one group.
pub(super) struct Rules<E: Election> {
    config: E::Config,
    promise: Promise<E>,
    /// Longest time from the silent death of a leader until all other agents follow the next leader.
    pub(super) failover: Duration,
}

/// An election under test.
pub(super) trait Subject: Election<Message: serde::de::DeserializeOwned> + 'static {
    /// Whether the agent with the highest rank leads in the end, after all faults.
    const BULLIES: bool = true;
    /// Whether the election needs majorities.
    const COUNTS: bool = false;
    /// Whether an election begins only after a command, a reported crash or a changed score, because agents send no
    /// heartbeats. After a loss, such a group may need another command.
    const IS_TOLD: bool = false;
    /// Messages that no scene sends, each with the reason.
    const SPARED: &'static [(&'static str, &'static str)] = &[];
    /// Scenes for messages that only this election sends: the script before, and the script while messages are lost.
    const SCENES: &'static [(&'static str, &'static str)] = &[];

    /// Whether an agent that cools down goes at once if the other agents are dead.
    const IGNORES_THE_DEAD: bool = true;

    /// Returns the longest time by which a cool-down may delay the next leader, if all remaining agents cool down:
    /// eight more steps of the rank-staggered delay.
    fn delay() -> Duration {
        Timings::lan().step() * 8
    }

    /// Returns the rules of a group with these voters. `in_time` is true if no message is lost or late.
    fn rules(voters: &[AgentId], style: Style, in_time: bool) -> Rules<Self>;
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Default,
    /// A leader stays leader when a better agent comes.
    Sticky,
    /// A leader stays leader beside a better agent for [`PATIENCE`].
    Patient,
    /// A member that gets a question begins an election.
    Eager,
    Diskless,
    /// An agent that stepped down lets other agents go first for a minute.
    Cool,
}

impl Style {
    fn cooldown(self) -> Duration {
        match self {
            Self::Cool => Duration::from_secs(60),
            _ => COOLDOWN,
        }
    }
}

/// An election with one configuration.
#[derive(Clone, Copy)]
pub(super) struct Variant {
    pub(super) name: &'static str,
    pub(super) style: Style,
}

impl Variant {
    /// Returns a group that has not started. `scores` has a score for each voter, `-` for a voter without a score, and
    /// `o` for an observer.
    pub(super) fn world<E: Subject>(self, seed: u64, scores: &str, in_time: bool) -> World<E> {
        let scores = scores.split(' ');
        let ids = ('a'..).map(|name| name.to_string().parse().unwrap());
        let voters: Vec<(AgentId, _)> = ids.zip(scores).collect();
        let names = voters.iter().filter(|(_, score)| *score != OBSERVER);
        let names: Vec<_> = names.map(|(name, _)| name.clone()).collect();
        let Rules {
            config, promise, ..
        } = E::rules(&names, self.style, in_time);
        let participant = |(id, score): (AgentId, &str)| {
            let config = config.clone();
            match score {
                OBSERVER => Participant::observer(id, config),
                score => Participant::voter(id, score.parse().ok().map(i32::into), config),
            }
        };
        let told: fn(_) -> _ = match seed % 3 {
            0 if !E::IS_TOLD => Detection::Silent,
            1 if !E::IS_TOLD => Detection::Suspect,
            _ => Detection::Certain,
        };
        let order = if E::IS_TOLD {
            TermOrder::Any
        } else {
            TermOrder::Rising
        };
        let mut world = World::builder(seed)
            .agents(voters.into_iter().map(participant))
            .conditions(in_bounds())
            .detection(told(Duration::ZERO.into()))
            .term_order(order)
            .trace(if in_time {
                Trace::new()
            } else {
                Trace::new().with_repeated()
            })
            .build();
        world.set_invariant(promise);
        world
    }

    pub(super) fn is_eager(self) -> bool {
        self.style == Style::Eager
    }

    /// Returns whether the tests of losses play this variant. They leave out the sticky, patient and eager variants of
    /// an election, because another patience of a leader adds no kind of message.
    pub(super) fn is_default(self) -> bool {
        !["sticky", ", patient", "eager"]
            .iter()
            .any(|word| self.name.contains(word))
    }

    /// Returns this election with a long cool-down, or `None` if the election states no bound on the time without a
    /// leader during a cool-down.
    pub(super) fn cooling_down_for_long(self) -> Option<Self> {
        let names = ["bully", "quorum", "ring", "reorganization", "invitation"];
        let style = Style::Cool;
        names.contains(&self.name).then_some(Self { style, ..self })
    }

    /// Returns the bound on a fail-over in a group of `n` voters.
    pub(super) fn failover<E: Subject>(self, n: usize) -> Duration {
        let names = ('a'..)
            .take(n)
            .map(|name| name.to_string().parse().unwrap());
        E::rules(&names.collect::<Vec<_>>(), self.style, true).failover
    }
}

/// Returns a network in which a message takes any time up to d, the bound on delays.
pub(super) fn in_bounds() -> Conditions {
    let delay = Duration::ZERO..=Timings::lan().delay_bound();
    Conditions::builder().delay(delay).build().unwrap()
}

impl Subject for Bully {
    const SPARED: &'static [(&'static str, &'static str)] = &[(
        "behind",
        "it is said to an agent that missed a later term: chaos has such agents",
    )];

    /// A bully agent that cools down asks in the last slot even if the other agents are dead.
    const IGNORES_THE_DEAD: bool = false;

    fn delay() -> Duration {
        let timings = Timings::lan();
        timings.step() * 8 + timings.deadline() + timings.delay_bound() * 2
    }

    fn rules(_: &[AgentId], style: Style, _: bool) -> Rules<Self> {
        let timings = Timings::lan();
        let failover = timings.worst_case_failover(0).unwrap() + timings.delay_bound();
        let preemption = match style {
            Style::Sticky => Preemption::Never,
            Style::Patient => Preemption::After(PATIENCE),
            _ => Preemption::Immediately,
        };
        Rules {
            config: Arc::new(BullyConfig {
                timings,
                preemption,
                cooldown: style.cooldown(),
                ..BullyConfig::default()
            }),
            promise: Box::new(|_| Ok(())),
            failover,
        }
    }
}

impl Subject for Astra {
    const IS_TOLD: bool = true;
    const SPARED: &'static [(&'static str, &'static str)] = &[
        ("heartbeat", "these rules have none"),
        ("yield", "these rules have none"),
        ("behind", "these rules have none"),
    ];

    fn rules(_: &[AgentId], style: Style, _: bool) -> Rules<Self> {
        let timings = Timings::lan();
        let failover = timings.deadline() + timings.delay_bound() * 2;
        let config = Arc::new(AstraConfig {
            timings,
            cooldown: style.cooldown(),
            ..AstraConfig::default()
        });
        Rules {
            config,
            promise: Box::new(|_| Ok(())),
            failover,
        }
    }
}

const OF_A_CHANGE: &str = "histories in which the voters change lose it";
const OF_A_START: &str = "it is asked again when the other agent is heard: a unit test loses it";

impl Subject for Watched {
    const COUNTS: bool = true;
    const SPARED: &'static [(&'static str, &'static str)] = &[
        (
            "nack",
            "a leader meets a voter of a higher term only after several other losses: chaos has them",
        ),
        (
            "behind",
            "it is said to an agent that missed a later term or epoch: chaos has such agents",
        ),
        ("recall", OF_A_START),
        ("recalled", OF_A_START),
        ("recover", "only voters without disks say it"),
        ("recovered", "only voters without disks say it"),
        ("seal", OF_A_CHANGE),
        ("sealed", OF_A_CHANGE),
        ("install", OF_A_CHANGE),
        ("ask_change", OF_A_CHANGE),
        ("change_answer", OF_A_CHANGE),
        ("enlist", OF_A_CHANGE),
    ];
    /// The two lowest agents ask first, and the other agents object.
    const SCENES: &'static [(&'static str, &'static str)] = &[("", "campaign a; campaign b")];

    const IGNORES_THE_DEAD: bool = false;

    fn rules(voters: &[AgentId], style: Style, _: bool) -> Rules<Self> {
        /// Reading of the wall clocks when a history begins.
        const DAY: u64 = 90_000_000_000;
        let timings = Timings::lan();
        let preemption = match style {
            Style::Sticky => Preemption::Never,
            _ => Preemption::After(PATIENCE),
        };
        let config = QuorumConfig {
            timings: timings.clone(),
            preemption,
            cooldown: style.cooldown(),
            ..QuorumConfig::new(voters.iter().cloned())
        };
        let failover =
            timings.worst_case_quorum_failover(1) + config.wait() + timings.delay_bound();
        let mut scenario = match style {
            Style::Diskless => QuorumScenario::without_disks(&config, true),
            _ => QuorumScenario::new(config),
        };
        let config = match style {
            Style::Diskless => scenario.watch().on_host(DAY),
            _ => scenario.watch().clone(),
        };
        Rules {
            config,
            promise: Box::new(move |world| scenario.check(world)),
            failover,
        }
    }
}

impl Subject for Ring {
    const SCENES: &'static [(&'static str, &'static str)] =
        &[("campaign d; settle; partition a b | c d; wait 2s", "heal")];

    fn rules(voters: &[AgentId], style: Style, _: bool) -> Rules<Self> {
        let config = RingConfig {
            challenge_after: match style {
                Style::Patient => PATIENCE,
                _ => Duration::ZERO,
            },
            cooldown: style.cooldown(),
            ..RingConfig::new(Timings::lan())
        };
        let failover = config.worst_case_failover(voters.len(), 1);
        let mut scenario = RingScenario::default();
        Rules {
            config: Arc::new(config),
            promise: Box::new(move |world| scenario.check(world)),
            failover,
        }
    }
}

impl Subject for Ballot {
    const COUNTS: bool = true;
    const BULLIES: bool = false;
    const SPARED: &'static [(&'static str, &'static str)] = &[(
        "nack",
        "it repairs a lost disk, which no scene has: a unit test sends it",
    )];

    fn rules(voters: &[AgentId], style: Style, _: bool) -> Rules<Self> {
        let config = BallotConfig {
            timings: Timings::lan(),
            cooldown: style.cooldown(),
            ..BallotConfig::new(voters.iter().cloned())
        };
        let failover = config.worst_case_failover();
        let mut scenario = BallotScenario::new(config);
        Rules {
            config: Arc::clone(scenario.config()),
            promise: Box::new(move |world| scenario.check(world)),
            failover,
        }
    }
}

impl Subject for Reorganization {
    /// A member that the higher of two agents has halted refuses the lower agent. Two agents that do not hear each
    /// other take the members away from each other.
    const SCENES: &'static [(&'static str, &'static str)] = &[
        (
            "campaign d; settle; crash d; until halt; wait 1ms",
            "restart d",
        ),
        (
            "campaign d; settle; crash d; until new_coordinator",
            "restart d",
        ),
        ("campaign d; settle; crash d; until ready", "restart d"),
        ("campaign d; settle", "cut c d"),
        ("campaign d; settle; partition a b | c d; wait 2s", "heal"),
    ];

    fn delay() -> Duration {
        let timings = Timings::lan();
        timings.step() * 16 + timings.victory_wait() + timings.jitter()
    }

    fn rules(_: &[AgentId], style: Style, in_time: bool) -> Rules<Self> {
        let config = ReorganizationConfig {
            when_asked: match style {
                Style::Eager => WhenAsked::Elect,
                _ => WhenAsked::Answer,
            },
            cooldown: style.cooldown(),
            ..ReorganizationConfig::new(Timings::lan())
        };
        let failover = config.worst_case_failover();
        let mut scenario = ReorganizationScenario::drawn(0).unwrap();
        if in_time {
            scenario = scenario.as_assumed();
        }
        Rules {
            config: Arc::new(config),
            promise: Box::new(move |world| scenario.check(world)),
            failover,
        }
    }
}

impl Subject for InvitationElection {
    /// All agents lead groups of their own and invite each other; two agents that do not hear each other invite the
    /// same agents; a member that does not hear its coordinator asks whether the coordinator is there.
    const SCENES: &'static [(&'static str, &'static str)] = &[
        ("campaign d; settle; partition a b | c d; wait 2s", "heal"),
        ("campaign d; settle; partition a | b | c; wait 2s", "heal"),
        (
            "campaign d; settle; partition a | b | c; wait 2s",
            "heal; cut c d; campaign c; campaign d",
        ),
        ("campaign d; settle; cut d > a; until are_you_there", "heal"),
    ];

    fn delay() -> Duration {
        Timings::lan().step() * 8 + Timings::lan().victory_wait()
    }

    fn rules(_: &[AgentId], style: Style, _: bool) -> Rules<Self> {
        let config = InvitationConfig {
            cooldown: style.cooldown(),
            ..InvitationConfig::new(Timings::lan())
        };
        let again = config.detector().heartbeat + config.worst_case_merge_with_losses();
        let failover = config.worst_case_failover(0) + again;
        let mut scenario = InvitationScenario::drawn(0).unwrap();
        Rules {
            config: Arc::new(config),
            promise: Box::new(move |world| scenario.check(world)),
            failover,
        }
    }
}
