//! A group of ballot machines: agents `a`, `b`, … with the scores 1, 2, …. The last agent ranks highest. The oracle
//! checks every property of the scenario after every step.

use std::{sync::Arc, time::Duration};

use actix_bully::{
    elections::ballot::{Ballot, BallotConfig},
    protocol::{AgentId, Event, Timings},
    testkit::faults::{Conditions, ConditionsBuilder},
};
use actix_bully_oracles::BallotScenario;
use bully_sim::sim::{Detection, Participant, World, WorldBuilder, chaos::Scenario};

/// Δ, the length of a round, in milliseconds; `CAP` is the longest round.
pub(crate) const ROUND: u64 = 30;
pub(crate) const CAP: u64 = 120;

pub(crate) const fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

pub(crate) fn id(name: &str) -> AgentId {
    AgentId::new(name).unwrap()
}

pub(crate) fn names(n: usize) -> Vec<AgentId> {
    let alphabet = ('a'..='z').take(n);
    alphabet.map(|name| id(&name.to_string())).collect()
}

pub(crate) fn config(n: usize) -> BallotConfig {
    let config = BallotConfig {
        timings: Timings::in_process(),
        round: Some(ms(ROUND)),
        cap: Some(ms(CAP)),
        cooldown: ms(1_000),
        ..BallotConfig::new(names(n))
    };
    config.check().unwrap();
    config
}

/// Settings of a group. Usually a message takes 0.1 to 1 ms, and only silence shows a crash.
pub(crate) struct Group {
    /// Number of voters.
    pub(crate) n: usize,
    pub(crate) observers: Vec<&'static str>,
    pub(crate) network: ConditionsBuilder,
    pub(crate) detection: Detection,
    pub(crate) starts_within: Duration,
}

impl Group {
    pub(crate) fn of(n: i32) -> Self {
        Self {
            n: usize::try_from(n).unwrap(),
            observers: Vec::new(),
            network: usual(),
            detection: Detection::Silent(Duration::ZERO.into()),
            starts_within: Duration::ZERO,
        }
    }

    pub(crate) fn world(&self, seed: u64) -> Net {
        let mut scenario = BallotScenario::new(config(self.n));
        let config = || Arc::clone(scenario.config());
        let voters = names(self.n).into_iter().zip(1_i32..);
        let voters = voters.map(|(id, score)| Participant::voter(id, Some(score.into()), config()));
        let observers = self.observers.iter();
        let observers = observers.map(|name| Participant::observer(id(name), config()));
        let builder: WorldBuilder<Ballot> = World::builder(seed)
            .agents(voters.collect::<Vec<_>>())
            .agents(observers.collect::<Vec<_>>())
            .conditions(self.network.build().unwrap())
            .detection(self.detection)
            .starts_within(self.starts_within);
        let mut world = builder.build();
        world.set_invariant(move |world| scenario.check(world));
        Net { world }
    }

    /// Returns a world in which one agent leads and all agents follow it.
    pub(crate) fn led(&self, seed: u64) -> Net {
        let mut net = self.world(seed);
        net.settle(ms(3 * ROUND));
        net
    }
}

pub(crate) fn usual() -> ConditionsBuilder {
    Conditions::builder().delay(Duration::from_micros(100)..=ms(1))
}

pub(crate) const SEEDS: std::ops::Range<u64> = 0..20;

/// A world whose properties the oracle checks.
pub(crate) struct Net {
    pub(crate) world: World<Ballot>,
}

impl Net {
    #[track_caller]
    pub(crate) fn settle(&mut self, limit: Duration) -> String {
        match self.world.settle(limit) {
            Ok(leader) => leader.to_string(),
            Err(unsettled) => panic!("{unsettled}; {:?}", self.world.violation()),
        }
    }

    /// Lets time pass, and asserts that no property breaks meanwhile.
    #[track_caller]
    pub(crate) fn run(&mut self, millis: u64) -> &mut Self {
        self.world.run_for(ms(millis));
        assert_eq!(self.world.violation(), None);
        self
    }

    /// Asserts that every running agent follows `name`, and still follows it ten rounds later.
    #[track_caller]
    pub(crate) fn ends_with(&mut self, name: &str) {
        assert_eq!(self.agreed(), name);
        self.run(10 * ROUND);
        assert_eq!(self.agreed(), name);
    }

    pub(crate) fn agreed(&self) -> String {
        let leader = self.world.agreed();
        leader.map_or_else(|| "none".to_owned(), |leader| leader.id.to_string())
    }

    pub(crate) fn believers(&self) -> Vec<String> {
        let believers = self.world.believers();
        believers.iter().map(ToString::to_string).collect()
    }

    /// Returns the number of events that all agents had so far.
    pub(crate) fn events(&self) -> usize {
        let all = self.world.agents();
        all.map(|agent| self.world.events(agent).len()).sum()
    }

    /// Returns the events of one agent, from its `n`th event on.
    pub(crate) fn since(&self, agent: &str, n: usize) -> Vec<Event> {
        let events = self.world.events(agent).iter().skip(n);
        events.map(|(_, event)| event.clone()).collect()
    }
}
