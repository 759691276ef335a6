//! A group of watched machines: agents `a`, `b`, … with the scores 1, 2, …. The last agent ranks highest. The oracle
//! checks every invariant after every step.

use std::time::Duration;

use actix_bully::{
    elections::{bully::Preemption, quorum::QuorumConfig},
    protocol::{AgentId, Event, Leader, Term, Time, Timings},
    testkit::faults::Conditions,
};
use actix_bully_oracles::{QuorumScenario, Watch, Watched};
use bully_sim::sim::{Detection, Participant, World, WorldBuilder, chaos::Scenario};

/// Durations of the preset `in_process`, in milliseconds: the heartbeat interval H, the deadline D, the promise P, and
/// the grace period `AFTER` of a leader.
pub(crate) const H: u64 = 25;
pub(crate) const D: u64 = 100;
pub(crate) const P: u64 = 125;
pub(crate) const AFTER: u64 = 300;

pub(crate) const fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

pub(crate) fn id(name: &str) -> AgentId {
    AgentId::new(name).unwrap()
}

/// Settings of a group.
pub(crate) struct Group {
    /// Number of voters.
    pub(crate) n: usize,
    pub(crate) preemption: Preemption,
    pub(crate) detection: Detection,
    /// Drift of each agent's clock, in parts in a million.
    pub(crate) clocks: Vec<i32>,
}

impl Group {
    /// Returns a group of `n` voters in which only silence shows a crash.
    pub(crate) fn of(n: i32) -> Self {
        Self {
            n: usize::try_from(n).unwrap(),
            preemption: Preemption::After(ms(AFTER)),
            detection: Detection::Silent(Duration::ZERO.into()),
            clocks: Vec::new(),
        }
    }

    pub(crate) fn sticky(self) -> Self {
        let preemption = Preemption::Never;
        Self { preemption, ..self }
    }

    pub(crate) fn names(&self) -> Vec<AgentId> {
        let some = ('a'..).take(self.n);
        some.map(|name| id(&name.to_string())).collect()
    }

    pub(crate) fn config(&self) -> QuorumConfig {
        QuorumConfig {
            timings: Timings::in_process(),
            preemption: self.preemption,
            cooldown: ms(1_000),
            ..QuorumConfig::new(self.names())
        }
    }

    /// Returns the builder of a world in which each message takes 0.1 to 1 ms, and its oracle.
    pub(crate) fn builder(&self, seed: u64) -> (WorldBuilder<Watched>, QuorumScenario) {
        let scenario = QuorumScenario::new(self.config());
        let voters = self.names().into_iter().zip(1_i32..).enumerate();
        let voters = voters.map(|(at, (id, score))| Participant {
            clock_offset: ms(1_000 * u64::try_from(at).unwrap()),
            clock_ppm: self.clocks.get(at).copied().unwrap_or(0),
            ..Participant::voter(id, Some(score.into()), scenario.watch().clone())
        });
        let voters: Vec<_> = voters.collect();
        let conditions = Conditions::builder().delay(Duration::from_micros(100)..=ms(1));
        let builder = World::builder(seed)
            .agents(voters)
            .conditions(conditions.build().unwrap())
            .detection(self.detection);
        (builder, scenario)
    }

    /// Returns a world in which the agent with the highest rank leads and has heard all other agents.
    pub(crate) fn led(&self, seed: u64) -> Net {
        let (builder, scenario) = self.builder(seed);
        let mut net = Net::new(builder.build(), scenario);
        let top = self.names().last().unwrap().clone();
        assert_eq!(net.settle(ms(500)), top);
        net.run(H + 5); // all agents have acknowledged the leader
        net
    }
}

/// A world with the record of its oracle.
pub(crate) struct Net {
    pub(crate) world: World<Watched>,
    watch: Watch,
}

impl Net {
    pub(crate) fn new(mut world: World<Watched>, mut scenario: QuorumScenario) -> Self {
        let watch = scenario.watch().clone();
        world.set_invariant(move |world| scenario.check(world));
        Self { world, watch }
    }

    /// Returns the oracle's parameters and its record of the agents.
    pub(crate) fn watch(&self) -> Watch {
        self.watch.clone()
    }

    #[track_caller]
    pub(crate) fn settle(&mut self, limit: Duration) -> AgentId {
        match self.world.settle(limit) {
            Ok(leader) => leader,
            Err(unsettled) => panic!("{unsettled}; {:?}", self.world.violation()),
        }
    }

    /// Lets time pass, and asserts that no invariant breaks meanwhile.
    #[track_caller]
    pub(crate) fn run(&mut self, millis: u64) -> &mut Self {
        self.world.run_for(ms(millis));
        assert_eq!(self.world.violation(), None);
        self
    }

    /// Waits at most `limit` milliseconds until `name` alone leads. Returns the time that passed.
    #[track_caller]
    pub(crate) fn until_leads(&mut self, name: &str, limit: u64) -> Duration {
        let before = self.world.now();
        let leads = |world: &World<Watched>| world.believers() == [id(name)];
        let led = self.world.run_until(leads, ms(limit));
        assert!(led, "{name} does not lead: {:?}", self.world);
        self.world.now().since(before)
    }

    /// Asserts that every running agent follows `name`.
    #[track_caller]
    pub(crate) fn follows(&self, name: &str) {
        let agreed = self.world.agreed().map(|leader| leader.id);
        assert_eq!(agreed, Some(id(name)), "{:?}", self.world);
    }

    pub(crate) fn believers(&self) -> Vec<String> {
        let believers = self.world.believers();
        believers.iter().map(ToString::to_string).collect()
    }

    /// Marks this moment, so that a test can ask for later events.
    pub(crate) fn mark(&self) -> Mark {
        let seen = self.world.agents().map(|id| self.world.events(id).len());
        Mark {
            at: self.world.now(),
            seen: seen.collect(),
        }
    }

    /// Returns the events of all agents since the mark, in order of time.
    pub(crate) fn events_since(&self, then: &Mark) -> Vec<(Time, AgentId, Event)> {
        let mut all = Vec::new();
        for (agent, seen) in self.world.agents().zip(&then.seen) {
            for (at, event) in self.world.events(agent).iter().skip(*seen) {
                all.push((*at, agent.clone(), event.clone()));
            }
        }
        all.sort_by_key(|(at, ..)| *at);
        all
    }

    /// Returns the agents that began to lead since the mark, each with the time.
    pub(crate) fn acquired_since(&self, then: &Mark) -> Vec<(Time, String)> {
        let acquired = |(at, agent, event): (Time, AgentId, Event)| {
            matches!(event, Event::Acquired { .. }).then(|| (at, agent.to_string()))
        };
        let events = self.events_since(then).into_iter();
        events.filter_map(acquired).collect()
    }

    pub(crate) fn leader(&self) -> Leader {
        self.world.agreed().expect("all agree")
    }

    pub(crate) fn durable_term(&self, name: &str) -> Term {
        self.world.durable(name).map(|v| v.term).unwrap_or_default()
    }
}

/// A moment in a run.
pub(crate) struct Mark {
    pub(crate) at: Time,
    seen: Vec<usize>,
}
